// SPDX-License-Identifier: GPL-2.0-or-later
/* Pulling the plug: whatever goes on, it ends at once, with errors, and the place is free. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk_rig.h"
#include "disk_test.h"
#include "tap.h"

#define SIZE (64 * MIB)
#define BATCH 128

/* How long a removal may take, however slow the disk: it waits for grace periods of RCU, and for no cap. */
#define REMOVAL_NS SECOND

static int power_off(void)
{
	return disk_set("dt0", "power", 0);
}

static int remove_dir(void)
{
	return disk_rmdir("dt0");
}

/* Requests that would take half a minute more end now, each with an error. */
static void remove_under_load(int (*removal)(void))
{
	struct disk_spec spec = { .size = SIZE, .write_bps = 16384, .iops = 1000, .latency_ns = MS };
	char *data = rig_alloc(BLOCK);
	struct io ios[BATCH];
	int ret = disk_make("dt0", &spec), fd, failed = 0;
	uint64_t begin;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	for (int i = 0; i < BATCH; i++)
		ios[i] = (struct io){
			.fd = fd, .write = i % 4, .pos = 2 * i * BLOCK, .bytes = BLOCK, .data = data
		};
	ret = io_start(ios, BATCH);
	NEED(!ret, "submit: %d", ret);
	usleep(600000);
	begin = rig_now();
	ret = removal();
	CHECK(!ret, "removal: %d", ret);
	CHECK(rig_now() - begin < REMOVAL_NS, "removal took %llu ns",
	      (unsigned long long)(rig_now() - begin));
	CHECK(io_wait(BATCH, SECOND) == BATCH, "not all requests ended");
	for (int i = 0; i < BATCH; i++) {
		CHECK(ios[i].result == (long)BLOCK || ios[i].result == -EIO, "request %d: %ld", i,
		      ios[i].result);
		failed += ios[i].result == -EIO;
	}
	CHECK(failed > BATCH / 2 && failed < BATCH, "%d requests failed", failed);
	CHECK(access("/dev/dt0", F_OK) && errno == ENOENT, "there is still a /dev/dt0");
	CHECK(pwrite(fd, data, BLOCK, 0) < 0, "a write to what is no more");
	CHECK(pread(fd, data, BLOCK, 0) <= 0, "a read from what is no more");
	fsync(fd);
	if (removal == power_off) {
		CHECK(disk_get("dt0", "in_flight") == 0, "in flight");
		CHECK(disk_get("dt0", "failed_requests") == (uint64_t)failed, "failed_requests");
		CHECK(disk_get("dt0", "write_requests") + disk_get("dt0", "read_requests") ==
			      (uint64_t)(BATCH - failed),
		      "the account of what did not fail");
	}
	close(fd);
	free(data);
	disk_rmdir("dt0");
}

static void power_off_under_load(void)
{
	remove_under_load(power_off);
}

static void rmdir_under_load(void)
{
	remove_under_load(remove_dir);
}

/* Somebody still has the old disk open: he keeps getting errors and never sees the new one, nor is its backlog left. */
static void another_in_its_place(void)
{
	struct disk_spec spec = { .size = SIZE, .write_bps = 16384 };
	char *data = rig_alloc(BLOCK);
	struct io ios[BATCH];
	struct stat old, new;
	int ret = disk_make("dt0", &spec), old_fd, fd;
	uint64_t begin;

	NEED(!ret, "making it: %d", ret);
	old_fd = disk_open("dt0", O_RDWR | O_DIRECT);
	memset(data, 'x', BLOCK);
	for (int i = 0; i < BATCH; i++)
		ios[i] = (struct io){ .fd = old_fd,
				      .write = true,
				      .pos = 2 * i * BLOCK,
				      .bytes = BLOCK,
				      .data = data };
	ret = io_start(ios, BATCH);
	NEED(!ret, "submit: %d", ret);
	CHECK(!disk_rmdir("dt0"), "rmdir");
	CHECK(io_wait(BATCH, SECOND) == BATCH, "not all requests ended");
	ret = disk_make("dt0", &spec);
	NEED(!ret, "making another: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	CHECK(!fstat(old_fd, &old) && !fstat(fd, &new) && old.st_rdev != new.st_rdev,
	      "the new disk has the number of the old one");
	CHECK(pwrite(old_fd, data, BLOCK, 0) < 0, "a write through the old descriptor");
	begin = rig_now();
	CHECK(pread(fd, data, BLOCK, 0) == (ssize_t)BLOCK && data[0] == 0, "the new disk's data");
	CHECK(rig_now() - begin < 100 * MS, "the new disk has the old one's backlog");
	begin = rig_now();
	CHECK(pwrite(fd, data, BLOCK, 0) == (ssize_t)BLOCK, "a write to the new disk");
	CHECK(rig_now() - begin < 300 * MS, "the new disk has the old one's backlog of writes");
	close(old_fd);
	close(fd);
	free(data);
	disk_rmdir("dt0");
}

/* A process that writes through the page cache and syncs, until it gets an error or is told to stop. */
static pid_t start_writer(const char *path)
{
	pid_t pid = fork();
	char *data;
	int fd;

	if (pid)
		return pid;
	alarm(60);
	data = rig_alloc(MIB);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	for (int i = 0; fd >= 0; i++) {
		if (pwrite(fd, data, MIB, i % 32 * MIB) < 0)
			break;
		if (i % 8 == 7 && fsync(fd))
			break;
	}
	_exit(fd < 0 ? 1 : 0);
}

static void check_writer(pid_t pid)
{
	int status;

	NEED(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
	      "a writer did not end with an I/O error: status %x", status);
}

static void removal_under_buffered_writers(void)
{
	struct disk_spec spec = { .size = SIZE, .write_bps = 20 * MIB, .latency_ns = 100 * US };
	int ret = disk_make("dt0", &spec);
	pid_t writers[3];
	uint64_t begin;

	NEED(!ret, "making it: %d", ret);
	for (int i = 0; i < 3; i++)
		writers[i] = start_writer("/dev/dt0");
	usleep(1500000);
	begin = rig_now();
	ret = power_off();
	CHECK(!ret, "removal: %d", ret);
	CHECK(rig_now() - begin < 2 * REMOVAL_NS, "removal took %llu ns",
	      (unsigned long long)(rig_now() - begin));
	for (int i = 0; i < 3; i++)
		check_writer(writers[i]);
	CHECK(disk_get("dt0", "in_flight") == 0, "in flight");
	disk_rmdir("dt0");
}

static bool make_filesystem(const char *device)
{
	static const char *const programs[] = { "/bin/mkfs.ext4", "/sbin/mkfs.ext4",
						"/usr/sbin/mkfs.ext4" };
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 3; i++)
			execl(programs[i], "mkfs.ext4", "-q", "-F", device, NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void removal_under_a_filesystem(void)
{
	struct disk_spec spec = { .size = SIZE, .write_bps = 20 * MIB, .latency_ns = 100 * US };
	int ret = disk_make("dt0", &spec);
	pid_t writers[2];

	NEED(!ret, "making it: %d", ret);
	mkdir("/tmp/dt", 0755);
	if (!make_filesystem("/dev/dt0") || mount("/dev/dt0", "/tmp/dt", "ext4", 0, "")) {
		tap_skip("no mkfs.ext4 or no ext4 here");
		disk_rmdir("dt0");
		return;
	}
	writers[0] = start_writer("/tmp/dt/a");
	writers[1] = start_writer("/tmp/dt/b");
	usleep(1500000);
	ret = remove_dir();
	CHECK(!ret, "removal: %d", ret);
	check_writer(writers[0]);
	check_writer(writers[1]);
	ret = disk_make("dt0", &spec);
	CHECK(!ret, "another disk while the old one is mounted: %d", ret);
	CHECK(!umount("/tmp/dt"), "umount: %s", strerror(errno));
	CHECK(make_filesystem("/dev/dt0") && !mount("/dev/dt0", "/tmp/dt", "ext4", 0, ""),
	      "a filesystem on the new disk");
	CHECK(!umount("/tmp/dt"), "umount of the new disk: %s", strerror(errno));
	disk_rmdir("dt0");
}

static uint64_t free_memory(void)
{
	unsigned long long kib = 0;
	FILE *meminfo = fopen("/proc/meminfo", "re");
	char line[128];

	while (meminfo && fgets(line, sizeof(line), meminfo))
		if (sscanf(line, "MemFree: %llu", &kib) == 1)
			break;
	if (meminfo)
		fclose(meminfo);
	return kib * KIB;
}

/* A disk's tags alone are some hundred KiB: thirty lost disks do not hide in what else goes on. */
#define LEAK_MAX (4 * MIB)

/* On and off, over and over, with somebody reading it: nothing is left over, nor stops the next. */
static void on_and_off(void)
{
	struct disk_spec spec = { .size = SIZE, .latency_ns = MS };
	char *data = rig_alloc(BLOCK);
	uint64_t before = 0, after;
	int ret = disk_make("dt0", &spec), fd;

	NEED(!ret, "making it: %d", ret);
	for (int i = 0; i < 35; i++) {
		struct io io = { .bytes = BLOCK, .data = data };

		if (i == 5)
			before = free_memory();
		fd = disk_open("dt0", O_RDWR | O_DIRECT);
		io.fd = fd;
		NEED(fd >= 0 && !io_start(&io, 1), "round %d: submit", i);
		ret = disk_set("dt0", "power", 0);
		NEED(!ret, "round %d: off: %d", i, ret);
		NEED(io_wait(1, SECOND) == 1, "round %d: the request did not end", i);
		close(fd);
		ret = disk_set("dt0", "power", 1);
		NEED(!ret, "round %d: on: %d", i, ret);
	}
	after = free_memory();
	CHECK(before && after + LEAK_MAX > before, "%llu bytes are gone",
	      (unsigned long long)(before - after));
	free(data);
	disk_rmdir("dt0");
}

void disk_removal_cases(void)
{
	tap_case("power off under load ends everything at once", power_off_under_load);
	tap_case("rmdir under load ends everything at once", rmdir_under_load);
	tap_case("another disk in its place is another disk", another_in_its_place);
	tap_case("removal under buffered writers", removal_under_buffered_writers);
	tap_case("removal under a mounted filesystem", removal_under_a_filesystem);
	tap_case("on and off again", on_and_off);
}
