// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes by trigger: sequences of events as the kernel gives them, and whom each byte is put down to. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "writes.h"

#define DEV (254u << 20)
#define OTHER_DEV (254u << 20 | 1)
#define DISK_BYTES (1u << 20)
#define KIB 1024

#define FLUSHER 30
#define JBD2 40
#define TASK 100

static int setup(void **state)
{
	struct writes *writes = writes_new();

	if (!writes || writes_disk_add(writes, DEV, DISK_BYTES) < 0)
		return -1;
	*state = writes;
	return 0;
}

static int teardown(void **state)
{
	return writes_free(*state) ? -1 : 0;
}

static uint64_t disk_bytes(struct writes *writes, const char *trigger)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = writes_trigger_name(writes, i)); i++) {
		if (!strcmp(name, trigger))
			return writes_disk_bytes(writes, DEV, i);
	}
	return 0;
}

static uint64_t file_bytes(struct writes *writes, int file, const char *trigger)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = writes_trigger_name(writes, i)); i++) {
		if (!strcmp(name, trigger))
			return writes_file_bytes(writes, file, i);
	}
	return 0;
}

static uint64_t all_bytes(struct writes *writes)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; writes_trigger_name(writes, i); i++)
		bytes += writes_disk_bytes(writes, DEV, i);
	return bytes;
}

/* Submits and completes one write. */
static void write_one(struct writes *writes, int pid, const char *comm, uint64_t sector, uint32_t n,
		      const char *rwbs)
{
	assert_int_equal(writes_submit(writes, pid, comm, DEV, sector, n, rwbs), 0);
	writes_complete(writes, DEV, sector, n, rwbs);
}

static void test_reason(void **state)
{
	struct writes *writes = *state;

	writes_work_begin(writes, FLUSHER, WORK_FLUSHER);
	writes_reason_begin(writes, FLUSHER, "periodic");
	write_one(writes, FLUSHER, "kworker/u2:1", 0, 8, "W");
	writes_reason_end(writes, FLUSHER);
	writes_reason_begin(writes, FLUSHER, "foreign_flush");
	write_one(writes, FLUSHER, "kworker/u2:1", 8, 16, "W");
	writes_reason_end(writes, FLUSHER);
	write_one(writes, FLUSHER, "kworker/u2:1", 8, 8, "W");
	assert_int_equal(disk_bytes(writes, "periodic"), 4 * KIB);
	assert_int_equal(disk_bytes(writes, "foreign_flush"), 8 * KIB);
	assert_int_equal(disk_bytes(writes, "other"), 4 * KIB);
	assert_int_equal(all_bytes(writes), 16 * KIB);
}

/* The completion comes later, when the worker is at something else. */
static void test_late_completion(void **state)
{
	struct writes *writes = *state;

	writes_reason_begin(writes, FLUSHER, "background");
	writes_submit(writes, FLUSHER, "kworker/u2:1", DEV, 0, 8, "W");
	writes_reason_end(writes, FLUSHER);
	writes_reason_begin(writes, FLUSHER, "vmscan");
	writes_submit(writes, FLUSHER, "kworker/u2:1", DEV, 8, 8, "W");
	assert_int_equal(all_bytes(writes), 0);
	/* Merged into one request. */
	writes_complete(writes, DEV, 0, 16, "W");
	assert_int_equal(disk_bytes(writes, "background"), 4 * KIB);
	assert_int_equal(disk_bytes(writes, "vmscan"), 4 * KIB);
}

static void test_two_workers(void **state)
{
	struct writes *writes = *state;

	writes_reason_begin(writes, FLUSHER, "background");
	writes_reason_begin(writes, FLUSHER + 1, "sync");
	write_one(writes, FLUSHER + 1, "kworker/u2:2", 0, 8, "WS");
	write_one(writes, FLUSHER, "kworker/u2:1", 8, 8, "W");
	assert_int_equal(disk_bytes(writes, "sync"), 4 * KIB);
	assert_int_equal(disk_bytes(writes, "background"), 4 * KIB);
}

static void test_trigger_of_task(void **state)
{
	static const struct {
		int pid;
		const char *comm, *rwbs;
		enum work work;
		bool in_fsync;
		const char *want;
	} cases[] = {
		{ TASK, "fio", "WS", WORK_NONE, false, "direct" },
		{ TASK, "fio", "WFS", WORK_NONE, false, "direct" },
		{ TASK, "fio", "W", WORK_NONE, false, "other" },
		{ TASK, "fio", "WS", WORK_NONE, true, "fsync" },
		{ TASK, "fio", "WSM", WORK_NONE, true, "fsync" },
		{ TASK, "fio", "WSM", WORK_NONE, false, "checkpoint" },
		{ JBD2, "jbd2/nb0-8", "WS", WORK_NONE, false, "journal" },
		{ JBD2, "jbd2/nb0-8", "FWFSM", WORK_NONE, false, "journal" },
		{ 36, "kswapd0", "W", WORK_NONE, false, "reclaim" },
		{ 1, "cgwb-guest", "WS", WORK_NONE, false, "sync" },
		{ FLUSHER, "kworker/u2:1", "WM", WORK_MAPPING, false, "mapping_flush" },
		{ 9, "kworker/0:1", "W", WORK_THROTTLE, false, "throttled" },
		{ 9, "kworker/0:1", "WS", WORK_NONE, false, "other" },
		/* A worker between two rounds of writeback is at no reason. */
		{ FLUSHER, "kworker/u2:1", "W", WORK_FLUSHER, false, "other" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct writes *writes = writes_new();

		assert_int_equal(writes_disk_add(writes, DEV, DISK_BYTES), 0);
		writes_work_begin(writes, cases[i].pid, cases[i].work);
		if (cases[i].in_fsync)
			writes_fsync_begin(writes, cases[i].pid);
		write_one(writes, cases[i].pid, cases[i].comm, 16, 8, cases[i].rwbs);
		if (disk_bytes(writes, cases[i].want) != 4 * KIB)
			fail_msg("%s %s is not put down to %s", cases[i].comm, cases[i].rwbs,
				 cases[i].want);
		assert_int_equal(all_bytes(writes), 4 * KIB);
		writes_free(writes);
	}
	(void)state;
}

/* What ends is over. */
static void test_ends(void **state)
{
	struct writes *writes = *state;

	writes_fsync_begin(writes, TASK);
	writes_fsync_end(writes, TASK);
	write_one(writes, TASK, "fio", 0, 8, "WS");
	writes_work_begin(writes, FLUSHER, WORK_MAPPING);
	writes_work_end(writes, FLUSHER);
	write_one(writes, FLUSHER, "kworker/u2:1", 8, 8, "WM");
	assert_int_equal(disk_bytes(writes, "direct"), 4 * KIB);
	assert_int_equal(disk_bytes(writes, "other"), 4 * KIB);
	/* An end whose begin was before the trace. */
	writes_reason_end(writes, 31000);
	writes_work_end(writes, 31000);
	writes_fsync_end(writes, 31000);
}

static void test_not_writes(void **state)
{
	static const char *const others[] = { "R", "RA", "RSM", "D", "DS", "DE",
					      "F", "FF", "FS",	"N", "" };
	struct writes *writes = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		write_one(writes, TASK, "fio", 0, 8, others[i]);
	write_one(writes, TASK, "fio", 0, 0, "WS");
	assert_int_equal(all_bytes(writes), 0);
}

static void test_unknown(void **state)
{
	struct writes *writes = *state;

	/* Submitted before the trace began; on a disk that is not ours; beyond the disk's end. */
	writes_complete(writes, DEV, 0, 8, "W");
	writes_submit(writes, TASK, "fio", OTHER_DEV, 0, 8, "WS");
	writes_complete(writes, OTHER_DEV, 0, 8, "WS");
	writes_submit(writes, TASK, "fio", DEV, 1ull << 40, 8, "WS");
	writes_complete(writes, DEV, 1ull << 40, 8, "WS");
	assert_int_equal(disk_bytes(writes, "unknown"), 8 * KIB);
	assert_int_equal(all_bytes(writes), 8 * KIB);
}

/* Sectors count as they are, though triggers are remembered by the 4 KiB. */
static void test_sectors(void **state)
{
	struct writes *writes = *state;

	write_one(writes, TASK, "fio", 3, 2, "WS");
	write_one(writes, JBD2, "jbd2/nb0-8", 12, 7, "WS");
	assert_int_equal(disk_bytes(writes, "direct"), 1 * KIB);
	assert_int_equal(disk_bytes(writes, "journal"), 7 * KIB / 2);
}

static void test_rewritten(void **state)
{
	struct writes *writes = *state;
	int i;

	for (i = 0; i < 3; i++)
		write_one(writes, TASK, "fio", 0, 8, "WS");
	writes_reason_begin(writes, FLUSHER, "periodic");
	write_one(writes, FLUSHER, "kworker/u2:1", 0, 8, "W");
	assert_int_equal(disk_bytes(writes, "direct"), 12 * KIB);
	assert_int_equal(disk_bytes(writes, "periodic"), 4 * KIB);
}

static void test_files(void **state)
{
	struct extent first[] = { { 16, 24 }, { 64, 80 } }, second[] = { { 24, 32 } };
	const struct extents a = { first, ARRAY_SIZE(first) }, b = { second, ARRAY_SIZE(second) };
	struct writes *writes = *state;
	int file_a = writes_file_add(writes, DEV, &a), file_b = writes_file_add(writes, DEV, &b);
	int elsewhere = writes_file_add(writes, OTHER_DEV, &a);

	/* Over the end of one file into the other, and what lies around them. */
	write_one(writes, TASK, "fio", 8, 32, "WS");
	writes_reason_begin(writes, FLUSHER, "periodic");
	write_one(writes, FLUSHER, "kworker/u2:1", 72, 16, "W");
	assert_int_equal(file_bytes(writes, file_a, "direct"), 4 * KIB);
	assert_int_equal(file_bytes(writes, file_b, "direct"), 4 * KIB);
	assert_int_equal(file_bytes(writes, file_a, "periodic"), 4 * KIB);
	assert_int_equal(file_bytes(writes, file_b, "periodic"), 0);
	assert_int_equal(file_bytes(writes, elsewhere, "direct"), 0);
	assert_int_equal(all_bytes(writes), 24 * KIB);
}

/* Names are the kernel's; there may be more of them than there is room for, and none gets lost. */
static void test_many_reasons(void **state)
{
	struct writes *writes = *state;
	char name[32];
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "reason_%d", i);
		writes_reason_begin(writes, FLUSHER, name);
		write_one(writes, FLUSHER, "kworker/u2:1", 8 * i, 8, "W");
	}
	assert_int_equal(disk_bytes(writes, "reason_0"), 4 * KIB);
	assert_int_equal(all_bytes(writes), 400 * KIB);
	assert_true(disk_bytes(writes, "other") > 0);
	assert_null(writes_trigger_name(writes, 1000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reason),	 TEST(test_late_completion),
		TEST(test_two_workers),	 TEST(test_trigger_of_task),
		TEST(test_ends),	 TEST(test_not_writes),
		TEST(test_unknown),	 TEST(test_sectors),
		TEST(test_rewritten),	 TEST(test_files),
		TEST(test_many_reasons),
	};

	return cmocka_run_group_tests_name("writes", tests, NULL, NULL);
}
