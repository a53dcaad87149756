// SPDX-License-Identifier: GPL-2.0-or-later
/* What configfs takes and what it refuses, and what kind of block device comes out of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk_rig.h"
#include "disk_test.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void names_are_checked(void)
{
	static const char *const bad[] = { "a.b", "a b", "a!b", ".x", "\xc3\xa4" };
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = disk_mkdir(bad[i]);
		CHECK(ret == -EINVAL, "mkdir '%s': %d", bad[i], ret);
	}
	ret = disk_mkdir("a2345678901234567890123456789012");
	CHECK(ret == -ENAMETOOLONG, "32 characters: %d", ret);
	ret = disk_mkdir("a234567890123456789012345678-_1");
	CHECK(!ret, "31 characters: %d", ret);
	ret = disk_mkdir("a234567890123456789012345678-_1");
	CHECK(ret == -EEXIST, "the same again: %d", ret);
	ret = disk_rmdir("a234567890123456789012345678-_1");
	CHECK(!ret, "rmdir: %d", ret);
}

static void values_are_checked(void)
{
	static const struct {
		const char *attribute, *value;
		int expected;
	} cases[] = {
		{ "base_bytes", "4095", -EINVAL },
		{ "base_bytes", "\n", -EINVAL },
		{ "base_bytes", "-4096", -EINVAL },
		{ "base_bytes", "4096 8192", -EINVAL },
		{ "base_bytes", "18446744073709551616", -ERANGE },
		{ "base_bytes", "4096", 0 },
		{ "base_bytes", "0x100000", 0 },
		{ "size_bytes", "512", -EINVAL },
		{ "size_bytes", "4M", -EINVAL },
		{ "size_bytes", "4096", 0 },
		{ "write_bps", "0", 0 },
		{ "write_bps", "4095", -ERANGE },
		{ "write_bps", "4096", 0 },
		{ "write_bps", "1125899906842624", 0 },
		{ "write_bps", "1125899906842625", -ERANGE },
		{ "read_bps", "1", -ERANGE },
		{ "read_bps", "fast", -EINVAL },
		{ "read_bps", "209715200", 0 },
		{ "iops", "0", 0 },
		{ "iops", "1", 0 },
		{ "iops", "1000000001", -ERANGE },
		{ "latency_ns", "0", 0 },
		{ "latency_ns", "3600000000000", 0 },
		{ "latency_ns", "3600000000001", -ERANGE },
		{ "depth", "0", -ERANGE },
		{ "depth", "1", 0 },
		{ "depth", "10240", 0 },
		{ "depth", "10241", -ERANGE },
		{ "max_sectors_kb", "0", -ERANGE },
		{ "max_sectors_kb", "6", -EINVAL },
		{ "max_sectors_kb", "4", 0 },
		{ "max_sectors_kb", "16384", 0 },
		{ "max_sectors_kb", "16388", -ERANGE },
		{ "power", "2", -EINVAL },
		{ "power", "\n", -EINVAL },
		{ "power", "0", 0 },
		{ "write_bytes", "0", -EACCES },
		{ "in_flight", "0", -EACCES },
	};
	int ret = disk_mkdir("dt0");

	NEED(!ret, "mkdir: %d", ret);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t was = disk_get("dt0", cases[i].attribute);

		ret = disk_write("dt0", cases[i].attribute, cases[i].value);
		CHECK(ret == cases[i].expected, "%s = '%s': %d, not %d", cases[i].attribute,
		      cases[i].value, ret, cases[i].expected);
		if (cases[i].expected)
			CHECK(disk_get("dt0", cases[i].attribute) == was,
			      "%s = '%s' was refused and is no longer %llu", cases[i].attribute,
			      cases[i].value, (unsigned long long)was);
		else
			CHECK(disk_get("dt0", cases[i].attribute) ==
				      strtoull(cases[i].value, NULL, 0),
			      "%s = '%s' reads back as %llu", cases[i].attribute, cases[i].value,
			      (unsigned long long)disk_get("dt0", cases[i].attribute));
	}
	disk_rmdir("dt0");
}

static int try_power(uint64_t base, uint64_t size)
{
	int ret = disk_set("dt0", "base_bytes", base);

	ret = ret ? ret : disk_set("dt0", "size_bytes", size);
	return ret ? ret : disk_set("dt0", "power", 1);
}

/* The end of the last piece of System RAM below `limit`; 0 if /proc/iomem does not say. */
static uint64_t system_ram_end(uint64_t limit)
{
	unsigned long long first, last;
	FILE *iomem = fopen("/proc/iomem", "re");
	uint64_t end = 0;
	char line[256];

	while (iomem && fgets(line, sizeof(line), iomem))
		if (strstr(line, " : System RAM") &&
		    sscanf(line, "%llx-%llx", &first, &last) == 2 && last < limit)
			end = last + 1;
	if (iomem)
		fclose(iomem);
	return end;
}

static void regions_are_checked(void)
{
	uint64_t ram_end = system_ram_end(rig_base);
	int ret = disk_mkdir("dt0");

	NEED(!ret, "mkdir: %d", ret);
	ret = disk_set("dt0", "power", 1);
	CHECK(ret == -EINVAL, "no size: %d", ret);
	CHECK(ram_end, "/proc/iomem shows no System RAM");
	ret = try_power(ram_end - MIB, 4096);
	CHECK(ret == -EBUSY, "in System RAM: %d", ret);
	ret = try_power(ram_end - 4096, 8192);
	CHECK(ret == -EBUSY, "a page of System RAM, and one beyond: %d", ret);
	ret = try_power(0, 16 * MIB);
	CHECK(ret == -EBUSY, "from address 0: %d", ret);
	ret = try_power(0, rig_base + rig_size);
	CHECK(ret == -EBUSY, "all memory: %d", ret);
	ret = try_power(1ULL << 60, 4096);
	CHECK(ret == -ERANGE, "more than the CPU can address: %d", ret);
	ret = try_power(rig_base, 1ULL << 62);
	CHECK(ret == -ERANGE, "so large that it cannot be addressed: %d", ret);
	ret = try_power(UINT64_MAX - 4095, 8192);
	CHECK(ret == -ERANGE, "beyond the end of 64 bits: %d", ret);
	ret = try_power(1ULL << 39, 4096);
	CHECK(ret == -ENXIO, "where there is no memory: %d", ret);
	CHECK(disk_get("dt0", "power") == 0, "refused, and yet on");
	ret = try_power(rig_base, 4096);
	CHECK(!ret, "the smallest disk: %d", ret);
	disk_rmdir("dt0");
}

static void stores_do_not_overlap(void)
{
	static const struct {
		uint64_t base, size;
		int expected;
	} cases[] = {
		{ 16 * MIB, 16 * MIB, -EBUSY },
		{ 15 * MIB, MIB + 4096, -EBUSY },
		{ 32 * MIB - 4096, 8192, -EBUSY },
		{ 0, 64 * MIB, -EBUSY },
		{ 20 * MIB, 4096, -EBUSY },
		{ 15 * MIB, MIB, 0 },
		{ 32 * MIB, MIB, 0 },
	};
	struct disk_spec spec = { .base = 16 * MIB, .size = 16 * MIB };
	int ret = disk_make("dt1", &spec);

	NEED(!ret, "making the first: %d", ret);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		disk_mkdir("dt0");
		ret = try_power(rig_base + cases[i].base, cases[i].size);
		CHECK(ret == cases[i].expected, "case %zu: %d", i, ret);
		disk_rmdir("dt0");
	}
	disk_rmdir("dt1");
	disk_mkdir("dt0");
	ret = try_power(rig_base + 16 * MIB, 16 * MIB);
	CHECK(!ret, "the place is free again: %d", ret);
	disk_rmdir("dt0");
}

static void what_is_powered_is_fixed(void)
{
	static const char *const fixed[] = { "base_bytes", "size_bytes", "depth",
					     "max_sectors_kb" };
	static const char *const free_[] = { "write_bps", "read_bps", "iops", "latency_ns" };
	struct disk_spec spec = { .size = 16 * MIB };
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		ret = disk_set("dt0", fixed[i], 4096);
		CHECK(ret == -EBUSY, "%s: %d", fixed[i], ret);
	}
	for (size_t i = 0; i < ARRAY_SIZE(free_); i++) {
		ret = disk_set("dt0", free_[i], 1000000);
		CHECK(!ret && disk_get("dt0", free_[i]) == 1000000, "%s: %d", free_[i], ret);
	}
	ret = disk_set("dt0", "power", 1);
	CHECK(!ret, "on, when it is on: %d", ret);
	ret = disk_set("dt0", "power", 0);
	CHECK(!ret, "off: %d", ret);
	ret = disk_set("dt0", "power", 0);
	CHECK(!ret, "off, when it is off: %d", ret);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		ret = disk_set("dt0", fixed[i], 4096);
		CHECK(!ret, "%s when off: %d", fixed[i], ret);
	}
	disk_rmdir("dt0");
}

/* A disk must not take another block device's name, whoever made that. */
static void taken_names_are_refused(void)
{
	struct disk_spec spec = { .size = 16 * MIB };
	struct stat st;
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	NEED(!stat("/dev/dt0", &st), "no /dev/dt0");
	NEED(!mknod("/dev/dt1", S_IFBLK | 0600, st.st_rdev), "mknod: %s", strerror(errno));
	spec.base = 16 * MIB;
	ret = disk_make("dt1", &spec);
	CHECK(ret == -EEXIST, "%d", ret);
	unlink("/dev/dt1");
	ret = disk_set("dt1", "power", 1);
	CHECK(!ret, "when the name is free: %d", ret);
	disk_rmdir("dt1");
	disk_rmdir("dt0");
}

static void queue_is_as_said(void)
{
	static const struct {
		const char *file, *expected;
	} cases[] = {
		{ "size", "32768\n" },
		{ "queue/logical_block_size", "4096\n" },
		{ "queue/physical_block_size", "4096\n" },
		{ "queue/max_sectors_kb", "1024\n" },
		{ "queue/max_hw_sectors_kb", "1024\n" },
		{ "queue/nr_requests", "77\n" },
		{ "queue/rotational", "0\n" },
		{ "queue/write_cache", "write through\n" },
		{ "queue/fua", "0\n" },
		{ "queue/discard_granularity", "4096\n" },
		{ "queue/read_ahead_kb", "128\n" },
		{ "stat", NULL },
	};
	struct disk_spec spec = { .size = 16 * MIB, .depth = 77 };
	int ret = disk_make("dt0", &spec);
	char text[512];

	NEED(!ret, "making it: %d", ret);
	for (size_t i = 0; cases[i].expected; i++) {
		ret = block_read("dt0", cases[i].file, text, sizeof(text));
		CHECK(!ret && !strcmp(text, cases[i].expected), "%s: %d, %s", cases[i].file, ret,
		      text);
	}
	ret = block_read("dt0", "queue/scheduler", text, sizeof(text));
	CHECK(!ret && !strncmp(text, "[none]", 6), "scheduler: %d, %s", ret, text);
	ret = block_write("dt0", "queue/scheduler", "none");
	CHECK(!ret, "set scheduler: %d", ret);
	ret = block_write("dt0", "queue/wbt_lat_usec", "0");
	CHECK(!ret, "set wbt_lat_usec: %d", ret);
	ret = block_write("dt0", "queue/max_sectors_kb", "256");
	CHECK(!ret, "set max_sectors_kb: %d", ret);
	disk_rmdir("dt0");

	spec.depth = 0;
	disk_mkdir("dt0");
	disk_set("dt0", "max_sectors_kb", 8192);
	try_power(rig_base, 16 * MIB);
	ret = block_read("dt0", "queue/max_sectors_kb", text, sizeof(text));
	CHECK(!ret && !strcmp(text, "8192\n"), "max_sectors_kb of 8192: %d, %s", ret, text);
	disk_rmdir("dt0");
}

static void new_disk_has_done_nothing(void)
{
	static const char *const zero[] = {
		"read_requests",      "read_bytes",
		"write_requests",     "write_bytes",
		"discard_requests",   "discard_bytes",
		"write_zeroes_bytes", "write_zeroes_requests",
		"flush_requests",     "failed_requests",
		"in_flight",	      "drained",
		"late_max_ns",
	};
	struct disk_spec spec = { .size = 16 * MIB };
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	for (size_t i = 0; i < ARRAY_SIZE(zero); i++)
		CHECK(disk_get("dt0", zero[i]) == 0, "%s is %llu", zero[i],
		      (unsigned long long)disk_get("dt0", zero[i]));
	disk_rmdir("dt0");
}

static void module_stays_while_there_are_disks(void)
{
	int ret = disk_mkdir("dt0");

	NEED(!ret, "mkdir: %d", ret);
	ret = syscall(SYS_delete_module, "cgwb_disk", O_NONBLOCK) ? -errno : 0;
	CHECK(ret == -EAGAIN || ret == -EBUSY, "unloading: %d", ret);
	disk_rmdir("dt0");
}

void disk_config_cases(void)
{
	tap_case("names are checked", names_are_checked);
	tap_case("values are checked", values_are_checked);
	tap_case("regions are checked", regions_are_checked);
	tap_case("stores do not overlap", stores_do_not_overlap);
	tap_case("what is powered is fixed, but for caps and latency", what_is_powered_is_fixed);
	tap_case("taken names are refused", taken_names_are_refused);
	tap_case("the queue is as documented", queue_is_as_said);
	tap_case("a new disk has done nothing", new_disk_has_done_nothing);
	tap_case("the module stays while there are disks", module_stays_while_there_are_disks);
}
