// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a flush of a mapping owes, and what the table of records holds.
 *
 * The mapping is that of a raw disk, which a test can dirty page by page. The test's own process, in the root
 * cgroup, dirties the first page, so the root's wb owns the inode, and every cgroup is foreign to it.
 * Periodic writeback is off: what is written is written because somebody asked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

/* Memory of a cgroup whose tasks may have some 10 MiB dirty, and no more. */
#define HIGH "64M"
/* 24 MiB: more than it may have dirty at any time. */
#define PAGES 6144
#define PAUSE_US 250000
/* Rows of a bucket of the module's table: what memcgs=1 comes to. */
#define ROWS 16

static long periodic;
static int fds[2] = { -1, -1 };

static void remove_disks(void)
{
	char text[32];

	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	fds[0] = fds[1] = -1;
	disk_rmdir("pt0");
	disk_rmdir("pt1");
	snprintf(text, sizeof(text), "%ld", periodic);
	file_write(PERIODIC, text);
}

/* One disk or two, their mappings owned by the root's wb, and clean. */
static int make_disks(int n, uint64_t write_bps)
{
	static const char *const names[] = { "pt0", "pt1" };
	char page[4096] = "owned by the root";

	periodic = file_number(PERIODIC);
	for (int i = 0; i < n; i++) {
		struct disk_spec spec = { .base = i * 128 * MIB,
					  .size = 128 * MIB,
					  .write_bps = write_bps,
					  .latency_ns = 100 * US };
		int ret = disk_make(names[i], &spec);

		if (ret)
			return ret;
		fds[i] = disk_open(names[i], O_RDWR);
		if (fds[i] < 0 || pwrite(fds[i], page, sizeof(page), 0) < 0 || fsync(fds[i]))
			return -1;
	}
	return file_write(PERIODIC, NEVER);
}

/* Under skip nobody hears the throttled writer: its pages stay where they are. */
static void skip_leaves_it(void)
{
	struct page_writer writer = { "/dev/pt0", 256, PAGES, PAUSE_US };
	uint64_t dirty;
	pid_t pid;
	int ret;

	NEED(!policy_load("policy=skip"), "load");
	ret = make_disks(1, 50 * MIB);
	NEED(!ret, "disk: %d", ret);
	ret = cgroup_make("need", HIGH);
	NEED(!ret, "cgroup: %d", ret);
	pid = cgroup_spawn("need", write_pages, &writer);
	ret = child_wait(pid, 120);
	CHECK(!ret, "the writer ended with %d", ret);
	sleep(5);
	dirty = cgroup_stat("need", "file_dirty");
	CHECK(dirty == PAGES * 4096, "%llu bytes are dirty: the test proves nothing",
	      (unsigned long long)dirty);
	fsync(fds[0]);
	CHECK(!cgroup_rmdir("need"), "rmdir");
	remove_disks();
	CHECK(!policy_unload(), "unload");
}

struct interval {
	unsigned long first, last;
};

static int by_first(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* In the trace: from the last ask on, do the slices cover the whole mapping? */
static bool last_ask_is_covered(const char *trace)
{
	const char *line, *ask = NULL;
	struct interval slices[256];
	unsigned long next = 0;
	int n = 0;

	for (line = trace; (line = strstr(line, "kind=mapping")); line++)
		ask = line;
	for (line = ask; line && (line = strstr(line, "mapping_written:")) && n < 256; line++)
		n += sscanf(line, "mapping_written: dev=%*d:%*d ino=%*u first=%lu last=%lu",
			    &slices[n].first, &slices[n].last) == 2;
	qsort(slices, n, sizeof(slices[0]), by_first);
	for (int i = 0; i < n; i++) {
		if (slices[i].first > next)
			break;
		if (slices[i].last >= next)
			next = slices[i].last + 1;
	}
	return ask && next > 1UL << 50;
}

/*
 * Under mapping its pages are written, although nobody else dirties anything, and it nothing while it is throttled; and
 * whoever asked last has been served by slices that began after. What it dirtied behind its last ask is owed to nobody.
 */
static void mapping_serves_it_at(uint64_t write_bps)
{
	struct page_writer writer = { "/dev/pt0", 256, PAGES, PAUSE_US };
	static char trace[1 << 20];
	uint64_t dirty;
	pid_t pid;
	int ret;

	NEED(!policy_load("policy=mapping"), "load");
	ret = make_disks(1, write_bps);
	NEED(!ret, "disk: %d", ret);
	ret = cgroup_make("need", HIGH);
	NEED(!ret, "cgroup: %d", ret);
	file_write("/sys/kernel/tracing/trace", "0");
	file_write("/sys/kernel/tracing/events/cgwb/enable", "1");
	pid = cgroup_spawn("need", write_pages, &writer);
	ret = child_wait(pid, 120);
	CHECK(!ret, "the writer ended with %d", ret);
	CHECK(wait_for(60, targets_are_at_rest), "a sweep does not end");
	file_write("/sys/kernel/tracing/events/cgwb/enable", "0");
	file_text("/sys/kernel/tracing/trace", trace, sizeof(trace));
	CHECK(stat_get("flushes_mapping") > 0, "it never asked");
	CHECK(stat_get("flushes_stock") == 0, "somebody else was asked");
	CHECK(last_ask_is_covered(trace), "the last ask was not served:\n%s", trace);
	sleep(5);
	dirty = cgroup_stat("need", "file_dirty");
	CHECK(dirty < PAGES * 4096 / 2, "%llu bytes are still dirty", (unsigned long long)dirty);
	tap_note("asks %llu joined %llu, sweeps %llu slices %llu, pages %llu missed %llu",
		 (unsigned long long)stat_get("flushes_mapping"),
		 (unsigned long long)stat_get("flushes_joined"),
		 (unsigned long long)stat_get("sweeps"), (unsigned long long)stat_get("slices"),
		 (unsigned long long)stat_get("pages"), (unsigned long long)stat_get("missed"));
	CHECK(!policy_unload(), "unload");
	fsync(fds[0]);
	CHECK(!cgroup_rmdir("need"), "rmdir");
	remove_disks();
}

static void mapping_serves_it(void)
{
	mapping_serves_it_at(50 * MIB);
}

static void mapping_serves_it_slowly(void)
{
	mapping_serves_it_at(2 * MIB);
}

/* What was recorded under one policy is flushed under another. */
static void switch_loses_nothing(void)
{
	struct page_writer record = { "/dev/pt0", 256, 8 };
	char path[256];
	struct page_writer own = { path, 0, PAGES, PAUSE_US };
	pid_t pid;
	int ret;

	NEED(!policy_load("policy=mapping"), "load");
	ret = make_disks(1, 50 * MIB);
	NEED(!ret, "disk: %d", ret);
	snprintf(path, sizeof(path), "%s/own", places.mount);
	ret = cgroup_make("need", HIGH);
	NEED(!ret, "cgroup: %d", ret);
	ret = child_wait(cgroup_spawn("need", write_pages, &record), 20);
	CHECK(!ret, "the writer of a few pages: %d", ret);
	CHECK(stat_get("records") == 1 && stat_get("flushes_mapping") == 0, "not just recorded");
	CHECK(!policy_set("stock"), "switch");
	pid = cgroup_spawn("need", write_pages, &own);
	ret = child_wait(pid, 120);
	CHECK(!ret, "the throttled writer: %d", ret);
	CHECK(stat_get("flushes_mapping") == 1, "%llu flushes of what was recorded",
	      (unsigned long long)stat_get("flushes_mapping"));
	CHECK(wait_for(20, targets_are_at_rest), "a sweep does not end");
	CHECK(stat_get("pages") == 8, "%llu pages written", (unsigned long long)stat_get("pages"));
	unlink(path);
	CHECK(!cgroup_rmdir("need"), "rmdir");
	remove_disks();
	CHECK(!policy_unload(), "unload");
}

/* Of one memcg more than there is room for the record is the kernel's. */
static void overflow(void)
{
	const int memcgs = ROWS + 4;
	char name[16];
	int ret;

	NEED(!policy_load("policy=mapping memcgs=1"), "load");
	ret = make_disks(1, 0);
	NEED(!ret, "disks: %d", ret);
	for (int i = 0; i < memcgs; i++) {
		struct page_writer writer = { "/dev/pt0", 256 + i, 1 };

		snprintf(name, sizeof(name), "over%d", i);
		ret = cgroup_make(name, HIGH);
		NEED(!ret, "cgroup: %d", ret);
		ret = child_wait(cgroup_spawn(name, write_pages, &writer), 20);
		CHECK(!ret, "writer %d: %d", i, ret);
	}
	CHECK(stat_get("tracked") >= (uint64_t)memcgs, "tracked %llu",
	      (unsigned long long)stat_get("tracked"));
	CHECK(stat_get("records") == ROWS, "records %llu", (unsigned long long)stat_get("records"));
	CHECK(stat_get("overflow") == 4, "overflow %llu", (unsigned long long)stat_get("overflow"));
	CHECK(stat_get("stock_records") == 4, "stock_records %llu",
	      (unsigned long long)stat_get("stock_records"));

	for (int i = 0; i < memcgs; i++) {
		snprintf(name, sizeof(name), "over%d", i);
		CHECK(!cgroup_rmdir(name), "rmdir %s", name);
	}
	remove_disks();
	CHECK(!policy_unload(), "unload");
}

/*
 * Two cgroups that are throttled at the same time want the same wb flushed, and the disk is slow: with dedupe there is
 * one flush at a time, and without it nobody waits for another's.
 */
static void ask_for_one_wb(bool is_deduped)
{
	struct page_writer one = { "/dev/pt0", 256, PAGES, PAUSE_US };
	struct page_writer two = { "/dev/pt0", 256 + PAGES, PAGES, PAUSE_US };
	uint64_t queued;
	pid_t pids[2];
	int ret;

	NEED(!policy_load(is_deduped ? "policy=stock dedupe=1" : "policy=stock"), "load");
	ret = make_disks(1, 4 * MIB);
	NEED(!ret, "disk: %d", ret);
	CHECK(!cgroup_make("need", HIGH) && !cgroup_make("need2", HIGH), "cgroups");
	pids[0] = cgroup_spawn("need", write_pages, &one);
	pids[1] = cgroup_spawn("need2", write_pages, &two);
	CHECK(!child_wait(pids[0], 120) && !child_wait(pids[1], 120), "the writers");
	queued = stat_get("flushes_stock");
	tap_note("flushes %llu deduped %llu", (unsigned long long)queued,
		 (unsigned long long)stat_get("deduped"));
	CHECK(queued > 0, "nobody asked");
	if (is_deduped)
		CHECK(stat_get("deduped") > 0, "nobody had to wait: the test proves nothing");
	else
		CHECK(stat_get("deduped") == 0, "somebody waited");
	fsync(fds[0]);
	CHECK(!cgroup_rmdir("need") && !cgroup_rmdir("need2"), "rmdir");
	remove_disks();
	CHECK(!policy_unload(), "unload");
}

static void dedupe(void)
{
	ask_for_one_wb(true);
}

static void no_dedupe(void)
{
	ask_for_one_wb(false);
}

static bool none_is_dying(void)
{
	char text[256];

	file_write("/proc/sys/vm/drop_caches", "3");
	file_text("/sys/fs/cgroup/cgroup.stat", text, sizeof(text));
	return strstr(text, "nr_dying_descendants 0\n");
}

/* A record pins nothing: the cgroup is freed while it is live. */
static void record_pins_nothing(void)
{
	struct page_writer writer = { "/dev/pt0", 256, 16 };
	int ret;

	CHECK(wait_for(40, none_is_dying), "cgroups of earlier cases are still there");
	NEED(!policy_load("policy=mapping"), "load");
	ret = make_disks(1, 0);
	NEED(!ret, "disk: %d", ret);
	ret = cgroup_make("dying", HIGH);
	NEED(!ret, "cgroup: %d", ret);
	ret = child_wait(cgroup_spawn("dying", write_pages, &writer), 20);
	CHECK(!ret, "writer: %d", ret);
	CHECK(stat_get("records") == 1, "no record");
	fsync(fds[0]);
	CHECK(!cgroup_rmdir("dying"), "rmdir");
	CHECK(wait_for(10, none_is_dying), "the cgroup is still dying");
	remove_disks();
	CHECK(!policy_unload(), "unload");
}

void policy_sweep_cases(void)
{
	tap_case("skip leaves a throttled writer alone", skip_leaves_it);
	tap_case("mapping serves a throttled writer that dirties nothing", mapping_serves_it);
	tap_case("mapping serves it on a slow disk", mapping_serves_it_slowly);
	tap_case("switching the policy loses no record", switch_loses_nothing);
	tap_case("a full table uses the kernel's records, and counts", overflow);
	tap_case("dedupe: one flush of a wb at a time", dedupe);
	tap_case("without it nobody waits for another's", no_dedupe);
	tap_case("a record pins no cgroup", record_pins_nothing);
}
