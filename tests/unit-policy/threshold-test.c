// SPDX-License-Identifier: GPL-2.0-or-later
/* The arithmetic of background thresholds: the published example, and the corners of each function. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "threshold.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define GIB (1UL << (30 - PAGE_SHIFT))

/* The kernel's defaults. */
static const struct cgwb_dirty_settings defaults = { .ratio = 20, .background_ratio = 10 };

/* Nothing reserved, nothing limited: a part of so much. */
static struct cgwb_part part_of(unsigned long numerator, unsigned long denominator)
{
	return (struct cgwb_part){ .numerator = numerator,
				   .denominator = denominator,
				   .max_percent = 100 };
}

/* 10 % are 409/4096, which is 0.15 % less. */
static void assert_about(unsigned long value, unsigned long want)
{
	assert_in_range(value, want - want / 500, want);
}

/*
 * "mm: correct calculation of wb's bg_thresh in cgroup domain" (2024): a system of 100 GiB, two memcgs of 50 GiB, each
 * with a wb of its own, both as fast. The system's background threshold is 10 GiB, a memcg's 5. Its wb does half of the
 * system's writeout and all of the memcg's: it is written back from 2.5 GiB on before, from 5 GiB on after.
 */
static void test_published(void **state)
{
	struct cgwb_part of_system = part_of(1, 2), of_memcg = part_of(1, 1);
	unsigned long available = cgwb_domain_available(0, 0, 50 * GIB, 100 * GIB, 0);
	unsigned long background =
		cgwb_domain_background(&defaults, available, 100 * GIB, false, 0);

	assert_int_equal(available, 50 * GIB);
	assert_about(background, 5 * GIB);
	assert_about(cgwb_wb_threshold(background, &of_system), 5 * GIB / 2);
	assert_int_equal(cgwb_wb_threshold(background, &of_memcg), background);
}

static void test_available(void **state)
{
	static const struct {
		unsigned long filepages, dirty, headroom, system_available, system_dirty, want;
	} rows[] = {
		/* its limits decide */
		{ 300, 100, 700, 10000, 500, 1000 },
		/* clean memory of others decides: 1000 - 500 are clean, 200 of them its own */
		{ 300, 100, 700, 1000, 500, 300 + 300 },
		/* all clean memory is its own */
		{ 300, 0, 700, 500, 300, 300 },
		/* counters that contradict each other: never less than it has, never more than its headroom */
		{ 300, 400, 700, 1000, 1200, 300 },
		{ 300, 400, 700, 1000, 900, 300 + 100 },
		{ 0, 0, 0, 1000, 0, 0 },
		/* no limit anywhere */
		{ 300, 100, ULONG_MAX / 4096, 1000, 100, 300 + 700 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(cgwb_domain_available(rows[i].filepages, rows[i].dirty,
						       rows[i].headroom, rows[i].system_available,
						       rows[i].system_dirty),
				 rows[i].want);
}

static void test_background(void **state)
{
	static const struct {
		struct cgwb_dirty_settings
			settings; /* ratio, bytes, background_ratio, background_bytes */
		unsigned long available, system_available;
		bool is_realtime;
		unsigned long system_limit, want;
	} rows[] = {
		/* ratios are rounded down to 1/4096: 409/4096 of it */
		{ { 20, 0, 10, 0 }, 4096, 40960, false, 0, 409 },
		{ { 20, 0, 10, 0 }, 0, 40960, false, 0, 0 },
		{ { 100, 0, 0, 0 }, 4096, 4096, false, 0, 0 },
		/* background that is not below the limit: half the limit, 819 / 2 */
		{ { 20, 0, 20, 0 }, 4096, 40960, false, 0, 409 },
		{ { 20, 0, 50, 0 }, 4096, 40960, false, 0, 409 },
		{ { 0, 0, 10, 0 }, 4096, 40960, false, 0, 0 },
		/* bytes of the system become a ratio: 1 MiB of 160 MiB are 26/4096 (rounded up) of this memcg's 16 */
		{ { 0, 4 << 20, 0, 1 << 20 }, 4096, 40960, false, 0, 26 },
		/* and not a whole one more than that, however many */
		{ { 0, 1UL << 40, 0, 1UL << 39 }, 4096, 40960, false, 0, 2048 },
		{ { 0, 1UL << 40, 50, 0 }, 4096, 40960, false, 0, 2048 },
		/* bytes for one, a ratio for the other */
		{ { 20, 0, 0, 1 << 20 }, 4096, 40960, false, 0, 26 },
		{ { 0, 1 << 20, 10, 0 }, 4096, 40960, false, 0, 13 },
		/* a realtime task has a quarter more, and 1/32 of the system's limit */
		{ { 20, 0, 10, 0 }, 4096, 40960, true, 3200, 409 + 102 + 100 },
		/* a limit is at most 2^32 - 1 pages */
		{ { 100, 0, 50, 0 }, 1UL << 34, 1UL << 34, false, 0, UINT_MAX / 2 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(cgwb_domain_background(&rows[i].settings, rows[i].available,
							rows[i].system_available,
							rows[i].is_realtime, rows[i].system_limit),
				 rows[i].want);
}

static void test_percent(void **state)
{
	static const struct {
		unsigned long percent, bandwidth, total, want, want_max;
	} rows[] = {
		{ 50, 30, 100, 15, 15 },
		{ 0, 30, 100, 0, 0 },
		{ 1, 30, 100, 0, 0 },
		/* alone, or missing in the total */
		{ 50, 100, 100, 50, 50 },
		{ 50, 100, 0, 50, 50 },
		/* only a maximum of everything is everybody's */
		{ 100, 30, 100, 30, 100 },
		{ 99, 30, 100, 29, 29 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		assert_int_equal(cgwb_wb_percent(rows[i].percent, rows[i].bandwidth, rows[i].total),
				 rows[i].want);
		assert_int_equal(
			cgwb_wb_max_percent(rows[i].percent, rows[i].bandwidth, rows[i].total),
			rows[i].want_max);
	}
}

static void test_wb_threshold(void **state)
{
	static const struct {
		unsigned long threshold;
		struct cgwb_part part; /* numerator, denominator, reserved, min, max */
		unsigned long want;
	} rows[] = {
		{ 1000, { 1, 1, 0, 0, 100 }, 1000 },
		{ 1000, { 1, 3, 0, 0, 100 }, 333 },
		{ 1000, { 0, 1, 0, 0, 100 }, 0 },
		/* 20 % are reserved for all, 5 % of them for this one */
		{ 1000, { 1, 2, 20, 5, 100 }, 400 + 50 },
		{ 1000, { 0, 1, 20, 5, 100 }, 50 },
		/* no more than its maximum */
		{ 1000, { 1, 2, 0, 0, 30 }, 300 },
		{ 1000, { 1, 2, 0, 20, 60 }, 600 },
		{ 1000, { 1, 2, 0, 0, 50 }, 500 },
		{ 0, { 1, 2, 20, 5, 100 }, 0 },
		/* the largest threshold there is, of a wb that wrote 864 GiB lately: no overflow */
		{ UINT_MAX, { 226492416, 226492416UL * 2, 0, 0, 100 }, UINT_MAX / 2 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(cgwb_wb_threshold(rows[i].threshold, &rows[i].part), rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),    cmocka_unit_test(test_available),
		cmocka_unit_test(test_background),   cmocka_unit_test(test_percent),
		cmocka_unit_test(test_wb_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
