// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read back, and what the disk says it has done. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "disk_rig.h"
#include "disk_test.h"
#include "tap.h"

#define SIZE (8 * MIB)

static void fill(char *data, uint64_t bytes)
{
	for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t r = rig_random();

		memcpy(data + i, &r, 8);
	}
	for (uint64_t i = bytes & ~7ULL; i < bytes; i++)
		data[i] = rig_random();
}

/* The first position at which two pieces of memory differ; bytes if none does. */
static uint64_t first_difference(const char *a, const char *b, uint64_t bytes)
{
	uint64_t i = 0;

	while (i < bytes && a[i] == b[i])
		i++;
	return i;
}

/* The whole disk, past the page cache, against what it should hold. */
static void check_disk(int fd, const char *expected, uint64_t size, const char *what)
{
	char *data = rig_alloc(MIB);

	for (uint64_t pos = 0; pos < size; pos += MIB) {
		uint64_t bytes = size - pos < MIB ? size - pos : MIB, same;

		memset(data, 0xa5, MIB);
		NEED(pread(fd, data, bytes, pos) == (ssize_t)bytes, "%s: read at %llu: %s", what,
		     (unsigned long long)pos, strerror(errno));
		same = first_difference(data, expected + pos, bytes);
		CHECK(same == bytes, "%s: byte %llu is wrong", what,
		      (unsigned long long)(pos + same));
	}
	free(data);
}

struct patient {
	int direct, buffered;
	char *expected; /* SIZE bytes */
	char *data; /* 2 MiB and a page */
};

static uint64_t random_range(uint64_t grain, uint64_t max, uint64_t *ret_pos)
{
	uint64_t bytes = grain * (1 + rig_random() % (max / grain));

	*ret_pos = rig_random() % ((SIZE - bytes) / grain + 1) * grain;
	return bytes;
}

/* At any byte, through the page cache: the kernel reads and writes whole blocks around it. */
static bool write_buffered(struct patient *p)
{
	uint64_t pos, bytes = random_range(1, 40000, &pos);

	fill(p->data, bytes);
	memcpy(p->expected + pos, p->data, bytes);
	return pwrite(p->buffered, p->data, bytes, pos) == (ssize_t)bytes;
}

/* Whole blocks from memory that lies across pages, so that a block comes in pieces. */
static bool write_direct(struct patient *p)
{
	uint64_t pos, bytes = random_range(BLOCK, 2 * MIB, &pos);
	char *data = p->data + 512 * (rig_random() % 8);

	fill(data, bytes);
	memcpy(p->expected + pos, data, bytes);
	return !fsync(p->buffered) && pwrite(p->direct, data, bytes, pos) == (ssize_t)bytes;
}

static bool read_direct(struct patient *p)
{
	uint64_t pos, bytes = random_range(BLOCK, 2 * MIB, &pos);
	char *data = p->data + 512 * (rig_random() % 8);

	return !fsync(p->buffered) && pread(p->direct, data, bytes, pos) == (ssize_t)bytes &&
	       first_difference(data, p->expected + pos, bytes) == bytes;
}

static bool read_buffered(struct patient *p)
{
	uint64_t pos, bytes = random_range(1, 40000, &pos);

	return pread(p->buffered, p->data, bytes, pos) == (ssize_t)bytes &&
	       first_difference(p->data, p->expected + pos, bytes) == bytes;
}

static bool clear(struct patient *p, unsigned long how)
{
	uint64_t range[2], pos;

	range[1] = random_range(BLOCK, 2 * MIB, &pos);
	range[0] = pos;
	memset(p->expected + range[0], 0, range[1]);
	return !fsync(p->buffered) && !ioctl(p->buffered, how, range);
}

static bool discard(struct patient *p)
{
	return clear(p, BLKDISCARD);
}

static bool zeroout(struct patient *p)
{
	return clear(p, BLKZEROOUT);
}

static bool drop_cache(struct patient *p)
{
	return !fsync(p->buffered) && !ioctl(p->buffered, BLKFLSBUF);
}

static void data_comes_back(void)
{
	static const struct {
		const char *name;
		bool (*run)(struct patient *p);
	} steps[] = {
		{ "buffered write", write_buffered },
		{ "direct write", write_direct },
		{ "direct read", read_direct },
		{ "buffered read", read_buffered },
		{ "discard", discard },
		{ "zeroout", zeroout },
		{ "drop the cache", drop_cache },
	};
	struct disk_spec spec = { .size = SIZE, .write_bps = 500 * MIB, .latency_ns = 10 * US };
	struct patient p = { .expected = rig_alloc(SIZE), .data = rig_alloc(2 * MIB + BLOCK) };
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	p.direct = disk_open("dt0", O_RDWR | O_DIRECT);
	p.buffered = disk_open("dt0", O_RDWR);
	check_disk(p.direct, p.expected, SIZE, "a new disk");
	for (int i = 0; i < 400; i++) {
		size_t step = rig_random() % (sizeof(steps) / sizeof(steps[0]));

		NEED(steps[step].run(&p), "step %d, %s: %s", i, steps[step].name, strerror(errno));
	}
	CHECK(!fsync(p.buffered), "fsync: %s", strerror(errno));
	check_disk(p.direct, p.expected, SIZE, "after all");
	close(p.direct);
	close(p.buffered);
	free(p.expected);
	free(p.data);
	disk_rmdir("dt0");
}

static void a_new_disk_is_empty(void)
{
	struct disk_spec spec = { .size = SIZE };
	char *zeros = rig_alloc(SIZE), *data = rig_alloc(SIZE);
	int ret = disk_make("dt0", &spec), fd;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	fill(data, SIZE);
	CHECK(pwrite(fd, data, SIZE, 0) == (ssize_t)SIZE, "write: %s", strerror(errno));
	check_disk(fd, data, SIZE, "what was written");
	close(fd);
	CHECK(!disk_set("dt0", "power", 0), "off");
	CHECK(!disk_set("dt0", "power", 1), "on");
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	check_disk(fd, zeros, SIZE, "after power off and on");
	/* A part of a block's neighbours must not come back with it. */
	CHECK(pwrite(fd, data, BLOCK, 3 * BLOCK) == (ssize_t)BLOCK, "write: %s", strerror(errno));
	memcpy(zeros + 3 * BLOCK, data, BLOCK);
	check_disk(fd, zeros, SIZE, "with one block");
	close(fd);
	free(zeros);
	free(data);
	disk_rmdir("dt0");
}

static void a_disk_has_an_end(void)
{
	struct disk_spec first = { .size = SIZE }, second = { .base = SIZE, .size = SIZE };
	char *data = rig_alloc(2 * BLOCK), *expected = rig_alloc(SIZE);
	int ret = disk_make("dt0", &first), fd, other;

	NEED(!ret, "making the first: %d", ret);
	ret = disk_make("dt1", &second);
	NEED(!ret, "making the second: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	other = disk_open("dt1", O_RDWR | O_DIRECT);
	fill(data, 2 * BLOCK);
	CHECK(pwrite(fd, data, BLOCK, SIZE - BLOCK) == (ssize_t)BLOCK, "the last block: %s",
	      strerror(errno));
	CHECK(pwrite(fd, data, BLOCK, SIZE) < 0 && errno == ENOSPC, "behind the last block");
	CHECK(pwrite(fd, data, 2 * BLOCK, SIZE - BLOCK) <= (ssize_t)BLOCK, "across the end");
	CHECK(pread(fd, data, BLOCK, SIZE) == 0, "read behind the end");
	CHECK(pwrite(fd, data, 512, 0) < 0 && errno == EINVAL, "part of a block");
	CHECK(pwrite(fd, data, BLOCK, 512) < 0 && errno == EINVAL, "a block out of place");
	check_disk(other, expected, SIZE, "the disk behind it");
	close(fd);
	close(other);
	free(data);
	free(expected);
	disk_rmdir("dt0");
	disk_rmdir("dt1");
}

/* Data is there at once: a read behind a write that is still in flight sees it. */
static void reads_see_writes_in_flight(void)
{
	struct disk_spec spec = { .size = SIZE, .write_bps = MIB };
	char *data = rig_alloc(3 * MIB);
	int ret = disk_make("dt0", &spec);
	struct io ios[2];

	NEED(!ret, "making it: %d", ret);
	fill(data, MIB);
	ios[0] = (struct io){ .write = true, .bytes = MIB, .data = data };
	ios[1] = (struct io){ .write = false, .bytes = MIB, .data = data + MIB };
	ios[0].fd = ios[1].fd = disk_open("dt0", O_RDWR | O_DIRECT);
	io_reset_order();
	ret = io_start(ios, 2);
	NEED(!ret, "submit: %d", ret);
	NEED(io_wait(2, 60 * SECOND) == 2, "not both ended");
	CHECK(ios[1].order == 0 && ios[0].order == 1, "the read did not end first");
	CHECK(first_difference(data, data + MIB, MIB) == MIB, "the read saw old data");
	close(ios[0].fd);
	free(data);
	disk_rmdir("dt0");
}

struct stat_line {
	unsigned long long reads, read_sectors, writes, write_sectors, discards, discard_sectors;
};

static bool read_stat(const char *name, struct stat_line *s)
{
	char text[512];

	return !block_read(name, "stat", text, sizeof(text)) &&
	       sscanf(text, "%llu %*u %llu %*u %llu %*u %llu %*u %*u %*u %*u %llu %*u %llu",
		      &s->reads, &s->read_sectors, &s->writes, &s->write_sectors, &s->discards,
		      &s->discard_sectors) == 6;
}

static void check_account(const char *attribute, uint64_t expected)
{
	uint64_t is = disk_get("dt0", attribute);

	CHECK(is == expected, "%s is %llu, not %llu", attribute, (unsigned long long)is,
	      (unsigned long long)expected);
}

/* Against what the test did, and against the block layer's own count. */
static void account_is_exact(void)
{
	struct disk_spec spec = { .size = 64 * MIB, .write_bps = 300 * MIB, .latency_ns = 20 * US };
	struct load loads[] = {
		{ .write = true, .bytes = 12 * KIB, .count = 1009, .span = 64 * MIB, .depth = 31 },
		{ .write = false, .bytes = 20 * KIB, .count = 757, .span = 64 * MIB, .depth = 17 },
	};
	uint64_t discarded[2] = { 3 * BLOCK, 13 * BLOCK }, zeroed[2] = { 0, 7 * BLOCK };
	int ret = disk_make("dt0", &spec);
	struct stat_line stat;

	NEED(!ret, "making it: %d", ret);
	loads[0].fd = loads[1].fd = disk_open("dt0", O_RDWR | O_DIRECT);
	ret = load_run(loads, 2);
	NEED(!ret, "load: %d", ret);
	for (int i = 0; i < 11; i++)
		CHECK(!ioctl(loads[0].fd, BLKDISCARD, discarded), "discard");
	for (int i = 0; i < 5; i++)
		CHECK(!ioctl(loads[0].fd, BLKZEROOUT, zeroed), "zeroout");
	CHECK(!fsync(loads[0].fd), "fsync");

	check_account("write_requests", 1009);
	check_account("write_bytes", 1009 * 12 * KIB);
	check_account("read_requests", 757);
	check_account("read_bytes", 757 * 20 * KIB);
	check_account("discard_requests", 11);
	check_account("discard_bytes", 11 * 13 * BLOCK);
	check_account("write_zeroes_requests", 5);
	check_account("write_zeroes_bytes", 5 * 7 * BLOCK);
	check_account("flush_requests", 0);
	check_account("failed_requests", 0);
	check_account("in_flight", 0);
	CHECK(disk_get("dt0", "drained") >= 1 && disk_get("dt0", "drained") <= 1009 + 757 + 16,
	      "drained is %llu", (unsigned long long)disk_get("dt0", "drained"));
	tap_note("the latest of these requests ended %llu ns after it was due",
		 (unsigned long long)disk_get("dt0", "late_max_ns"));

	NEED(read_stat("dt0", &stat), "cannot read stat");
	CHECK(stat.reads == 757 && stat.read_sectors == 757 * 40, "stat: reads");
	CHECK(stat.writes == 1009 + 5 && stat.write_sectors == 1009 * 24 + 5 * 56, "stat: writes");
	CHECK(stat.discards == 11 && stat.discard_sectors == 11 * 104, "stat: discards");
	close(loads[0].fd);

	CHECK(!disk_set("dt0", "power", 0), "off");
	check_account("write_requests", 1009);
	CHECK(!disk_set("dt0", "power", 1), "on");
	check_account("write_requests", 0);
	disk_rmdir("dt0");
}

/* What is in flight is counted as such, and falls to zero. */
static void in_flight_is_exact(void)
{
	struct disk_spec spec = { .size = SIZE, .write_bps = MIB };
	char *data = rig_alloc(BLOCK);
	struct io ios[37];
	int ret = disk_make("dt0", &spec), fd;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	for (int i = 0; i < 37; i++)
		ios[i] = (struct io){
			.fd = fd, .write = true, .pos = 2 * i * BLOCK, .bytes = BLOCK, .data = data
		};
	ret = io_start(ios, 37);
	NEED(!ret, "submit: %d", ret);
	check_account("in_flight", 37);
	check_account("write_requests", 0);
	CHECK(io_wait(37, 60 * SECOND) == 37, "not all ended");
	check_account("in_flight", 0);
	check_account("write_requests", 37);
	check_account("drained", 1);
	close(fd);
	free(data);
	disk_rmdir("dt0");
}

void disk_data_cases(void)
{
	tap_case("what is read is what was written", data_comes_back);
	tap_case("a disk is all zeros when it is powered on", a_new_disk_is_empty);
	tap_case("a disk has an end", a_disk_has_an_end);
	tap_case("reads see writes in flight", reads_see_writes_in_flight);
	tap_case("the account is exact", account_is_exact);
	tap_case("what is in flight is counted", in_flight_is_exact);
}
