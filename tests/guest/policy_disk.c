// SPDX-License-Identifier: GPL-2.0-or-later
/* Disks that go away in the middle of a sweep, or never answer. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

#define PAGES 6144

static int fd = -1;
static pid_t writer_pid;

static bool is_sweeping(void)
{
	return !targets_are_at_rest();
}

static void finish(void)
{
	if (writer_pid > 0)
		child_kill(writer_pid);
	writer_pid = 0;
	if (fd >= 0)
		close(fd);
	fd = -1;
	CHECK(!disk_rmdir("pt0"), "rmdir of the disk");
	CHECK(!cgroup_rmdir("stuck"), "rmdir of the cgroup");
	file_write(PERIODIC, "500");
}

/* A throttled writer on a disk so slow, and so short a queue, that the sweep is stuck in it for minutes. */
static bool start(void)
{
	struct disk_spec spec = { .size = 128 * MIB, .write_bps = 4096, .depth = 2 };
	static struct page_writer writer = { "/dev/pt0", 256, PAGES, 250000 };
	char page[4096] = "owned by the root";
	int ret = disk_make("pt0", &spec);

	CHECK(!ret, "disk: %d", ret);
	ret = policy_load("policy=mapping");
	CHECK(!ret, "load: %d", ret);
	file_write(PERIODIC, NEVER);
	fd = disk_open("pt0", O_RDWR);
	CHECK(pwrite(fd, page, sizeof(page), 0) > 0 && !fsync(fd), "the first page");
	ret = cgroup_make("stuck", "64M");
	CHECK(!ret, "cgroup: %d", ret);
	writer_pid = cgroup_spawn("stuck", write_pages, &writer);
	if (CHECK(wait_for(30, is_sweeping), "no sweep began"))
		return true;
	finish();
	policy_unload();
	return false;
}

/* The plug is pulled during a sweep: it ends, and the module can go. */
static void removal_during_a_sweep(void)
{
	int ret;

	if (!start())
		return;
	sleep(2);
	CHECK(is_sweeping(), "the sweep has ended already: the test proves nothing");
	ret = disk_set("pt0", "power", 0);
	CHECK(!ret, "power off: %d", ret);
	CHECK(wait_for(30, targets_are_at_rest), "the sweep does not end");
	finish();
	ret = policy_unload();
	CHECK(!ret, "unloading: %d", ret);
}

/* The disk does not answer: the livepatch ends, its module stays and says why, and goes when the disk has ended. */
static void unload_with_a_dead_disk(void)
{
	int ret;

	if (!start())
		return;
	sleep(1);
	kernel_log_begin();
	ret = livepatch_disable("cgwb");
	CHECK(!ret, "disabling: %d", ret);
	ret = module_unload("cgwb");
	CHECK(ret == -EAGAIN || ret == -EBUSY, "unloading: %d", ret);
	sleep(7);
	CHECK(kernel_log_has("writes to disk pt0", "have not ended"), "the disk was not named");
	ret = module_unload("cgwb");
	CHECK(ret == -EAGAIN || ret == -EBUSY, "unloading: %d", ret);
	CHECK(is_sweeping(), "the sweep has ended already: the test proves nothing");
	CHECK(stat_get("abandoned") == 0, "abandoned in the middle of a slice");

	ret = disk_set("pt0", "power", 0);
	CHECK(!ret, "power off: %d", ret);
	for (int i = 0; i < 500; i++) {
		ret = module_unload("cgwb");
		if (ret != -EAGAIN && ret != -EBUSY)
			break;
		usleep(20000);
	}
	CHECK(!ret, "unloading at last: %d", ret);
	finish();
}

void policy_disk_cases(void)
{
	tap_case("a disk is removed during a sweep", removal_during_a_sweep);
	tap_case("a dead disk keeps the module, which names it", unload_with_a_dead_disk);
}
