// SPDX-License-Identifier: GPL-2.0-or-later
/* What is counted, under each policy, against what the kernel's own tracing counts. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

#define SECONDS 15
#define DIRTIERS 2

static const char *policy;

/*
 * One cgroup dirties the mapping of a disk that the root owns, several times what it may have dirty, and for
 * longer than statistics of a memcg may lag: it has to ask.
 */
static pid_t start_writer(int *ret_fd)
{
	static struct page_writer writer = { "/dev/pt0", 256, 10240, 250000 };
	struct disk_spec spec = { .size = 128 * MIB, .write_bps = 50 * MIB };
	char page[4096] = "owned by the root", name[32];
	int ret = disk_make("pt0", &spec);

	CHECK(!ret, "disk: %d", ret);
	*ret_fd = disk_open("pt0", O_RDWR);
	CHECK(pwrite(*ret_fd, page, sizeof(page), 0) > 0 && !fsync(*ret_fd), "the first page");
	snprintf(name, sizeof(name), "count-%s", policy);
	ret = cgroup_make(name, "64M");
	CHECK(!ret, "cgroup %s: %d", name, ret);
	return cgroup_spawn(name, write_pages, &writer);
}

static void end_writer(pid_t pid, int fd)
{
	char name[32];
	int ret = child_wait(pid, 10 * SECONDS);

	CHECK(!ret, "the writer: %d", ret);
	fsync(fd);
	close(fd);
	CHECK(!disk_rmdir("pt0"), "rmdir of the disk");
	snprintf(name, sizeof(name), "count-%s", policy);
	CHECK(!cgroup_rmdir(name), "rmdir %s", name);
}

/* And others make files, each throttled by its own memory and disk limits, until nothing is left to be written. */
static void run_load(void)
{
	struct dirtier dirtiers[DIRTIERS];
	char names[DIRTIERS][32], directories[DIRTIERS][128], limit[64];
	pid_t pids[DIRTIERS], writer;
	struct stat status;
	int ret, fd;

	NEED(!stat(places.mount, &status), "no %s", places.mount);
	snprintf(limit, sizeof(limit), "%u:%u wbps=2097152", major(status.st_dev),
		 minor(status.st_dev));
	writer = start_writer(&fd);
	for (int i = 0; i < DIRTIERS; i++) {
		snprintf(names[i], sizeof(names[i]), "count-%s%d", policy, i);
		snprintf(directories[i], sizeof(directories[i]), "%s/%s", places.mount, names[i]);
		dirtiers[i] = (struct dirtier){ directories[i], SECONDS };
		ret = cgroup_make(names[i], "32M");
		NEED(!ret, "cgroup %s: %d", names[i], ret);
		ret = cgroup_set(names[i], "io.max", limit);
		CHECK(!ret, "io.max %s: %d", limit, ret);
		pids[i] = cgroup_spawn(names[i], make_files, &dirtiers[i]);
	}
	for (int i = 0; i < DIRTIERS; i++) {
		ret = child_wait(pids[i], 10 * SECONDS);
		CHECK(!ret, "dirtier %d: %d", i, ret);
	}
	end_writer(writer, fd);
	sync();
	sleep(1);
	for (int i = 0; i < DIRTIERS; i++)
		CHECK(!cgroup_rmdir(names[i]), "rmdir %s", names[i]);
}

static void remove_load(void)
{
	char directory[128];

	for (int i = 0; i < DIRTIERS; i++) {
		snprintf(directory, sizeof(directory), "%s/count-%s%d", places.mount, policy, i);
		remove_files(directory);
	}
}

#define CHECK_EQUAL(a, b)                                                                          \
	do {                                                                                       \
		uint64_t va = (a), vb = (b);                                                       \
		CHECK(va == vb, "%s is %llu, %s is %llu", #a, (unsigned long long)va, #b,          \
		      (unsigned long long)vb);                                                     \
	} while (0)

#define D(name) stat_delta(#name)

/* True under every policy: the kernel's tracepoints fire for whatever the module does, and each of its own counts. */
static void compare_counts(void)
{
	CHECK_EQUAL(D(tracked), trace_hits("writeback/track_foreign_dirty"));
	CHECK_EQUAL(D(flushes_stock) + D(flushes_mapping) + D(flushes_stretch) + D(flushes_refused),
		    trace_hits("writeback/flush_foreign"));
	CHECK_EQUAL(D(flushes_stock) + D(flushes_mapping) + D(flushes_stretch) + D(flushes_refused),
		    trace_hits("cgwb/flush"));
	CHECK_EQUAL(D(flushes_stock) + D(flushes_owner) - D(flushes_failed),
		    trace_hits("writeback/writeback_queue"));
	CHECK_EQUAL(D(slices), trace_hits("cgwb/mapping_written"));
	CHECK_EQUAL(D(overflow), 0);
	CHECK_EQUAL(D(flushes_refused), 0);
}

static void count(void (*check)(void))
{
	int ret;

	NEED(!policy_set(policy), "policy %s", policy);
	sync();
	sleep(1);
	ret = trace_begin();
	NEED(!ret, "tracing: %d", ret);
	stats_begin();
	run_load();
	tap_note(
		"%s: tracked %llu bdev %llu, flushes wb %llu mapping %llu stretch %llu, slices %llu pages %llu",
		policy, (unsigned long long)D(tracked), (unsigned long long)D(tracked_bdev),
		(unsigned long long)D(flushes_stock), (unsigned long long)D(flushes_mapping),
		(unsigned long long)D(flushes_stretch), (unsigned long long)D(slices),
		(unsigned long long)D(pages));
	CHECK(D(tracked) > 0 && D(tracked_bdev) > 0, "nothing was tracked");
	/* Each dirties its own files only: what is foreign is the filesystem's metadata. */
	CHECK_EQUAL(D(tracked), D(tracked_bdev));
	compare_counts();
	check();
	trace_end();
	remove_load();
}

static void check_stock(void)
{
	CHECK(D(stock_records) > 0 && D(flushes_stock) > 0, "no flush");
	CHECK_EQUAL(D(records) + D(refreshed) + D(flushes_mapping) + D(slices) + D(skipped), 0);
}

static void check_skip(void)
{
	CHECK_EQUAL(D(skipped), D(tracked_bdev));
	CHECK_EQUAL(D(stock_records) + D(records) + D(flushes_stock) + D(flushes_mapping), 0);
}

static void check_mapping(void)
{
	CHECK(D(records) > 0 && D(flushes_mapping) > 0 && D(pages) > 0, "no flush of the mapping");
	CHECK(D(sweeps) > 0, "no sweep came to its end");
	CHECK_EQUAL(D(stock_records) + D(flushes_stock), 0);
}

static void check_precise(void)
{
	CHECK(D(records) > 0 && D(flushes_stretch) > 0 && D(pages) > 0, "no flush of a stretch");
	CHECK(D(sweeps) > 0, "no sweep came to its end");
	CHECK_EQUAL(D(stock_records) + D(flushes_stock) + D(flushes_mapping) + D(fallbacks), 0);
}

static void check_off(void)
{
	CHECK_EQUAL(D(skipped), D(tracked));
	CHECK_EQUAL(D(stock_records) + D(records) + D(flushes_stock) + D(flushes_mapping), 0);
}

static void under_stock(void)
{
	policy = "stock";
	count(check_stock);
}

static void under_skip(void)
{
	policy = "skip";
	count(check_skip);
}

static void under_mapping(void)
{
	policy = "mapping";
	count(check_mapping);
}

static void under_precise(void)
{
	policy = "precise";
	count(check_precise);
}

static void under_off(void)
{
	policy = "off";
	count(check_off);
}

static void load(void)
{
	int ret = policy_load("policy=stock");

	CHECK(!ret, "loading: %d", ret);
}

static void unload(void)
{
	int ret = policy_unload();

	CHECK(!ret, "unloading: %d", ret);
}

void policy_count_cases(void)
{
	tap_case("load, to count under each policy", load);
	tap_case("stock: whole-wb flushes, as the kernel counts them", under_stock);
	tap_case("skip: nothing is recorded, and the kernel still tells of all", under_skip);
	tap_case("mapping: flushes of the mapping, none of a whole wb", under_mapping);
	tap_case("precise: flushes of a stretch, none of a whole wb", under_precise);
	tap_case("off: nothing is recorded at all", under_off);
	tap_case("unload, having counted", unload);
}
