// SPDX-License-Identifier: GPL-2.0-or-later
/* What each policy records, and the kernel's own records as policy "stock" keeps them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "policy.h"

static void test_verdicts(void **state)
{
	static const struct {
		enum cgwb_policy policy;
		bool is_bdev, is_online;
		enum cgwb_verdict want;
	} rows[] = {
		{ CGWB_POLICY_STOCK, false, true, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_STOCK, true, true, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_STOCK, true, false, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_SKIP, false, true, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_SKIP, true, true, CGWB_RECORD_NOTHING },
		{ CGWB_POLICY_MAPPING, false, true, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_MAPPING, false, false, CGWB_RECORD_STOCK },
		{ CGWB_POLICY_MAPPING, true, true, CGWB_RECORD_MAPPING },
		{ CGWB_POLICY_MAPPING, true, false, CGWB_RECORD_NOTHING },
		{ CGWB_POLICY_PRECISE, false, true, CGWB_RECORD_STRETCH },
		{ CGWB_POLICY_PRECISE, true, true, CGWB_RECORD_STRETCH },
		{ CGWB_POLICY_PRECISE, false, false, CGWB_RECORD_NOTHING },
		{ CGWB_POLICY_PRECISE, true, false, CGWB_RECORD_NOTHING },
		{ CGWB_POLICY_OFF, false, true, CGWB_RECORD_NOTHING },
		{ CGWB_POLICY_OFF, true, true, CGWB_RECORD_NOTHING },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_dirtying dirtying = { rows[i].is_bdev, rows[i].is_online };

		assert_int_equal(cgwb_policy_decide(rows[i].policy, &dirtying), rows[i].want);
	}
}

/* A stretch is whole sixteens of pages, and never beyond the last page there can be. */
static void test_stretch(void **state)
{
	static const struct {
		pgoff_t index;
		unsigned long nr_pages;
		pgoff_t first, last;
	} rows[] = {
		{ 0, 1, 0, 15 },
		{ 15, 1, 0, 15 },
		{ 16, 1, 16, 31 },
		{ 15, 2, 0, 31 },
		{ 512, 512, 512, 1023 }, /* a large folio */
		{ CGWB_LAST_PAGE, 1, CGWB_LAST_PAGE - 15, CGWB_LAST_PAGE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_place place = { 0 };

		cgwb_precise_stretch(&place, rows[i].index, rows[i].nr_pages);
		assert_int_equal(place.first, rows[i].first);
		assert_int_equal(place.last, rows[i].last);
	}
}

/* The three kinds of ids never meet. */
static void test_ids(void **state)
{
	assert_true(cgwb_id_is_bdev(0xffffffff) && !cgwb_id_is_wb(0xffffffff));
	assert_true(cgwb_id_is_wb(cgwb_wb_id(1, 1)) && !cgwb_id_is_bdev(cgwb_wb_id(1, 1)));
	assert_true(cgwb_id_is_wb(cgwb_wb_id(UINT64_MAX, -1)));
	assert_int_not_equal(cgwb_wb_id(1, 2), cgwb_wb_id(2, 1));
	assert_false(cgwb_id_is_wb(0xffff888000000000) || cgwb_id_is_bdev(0xffff888000000000));
}

/* Times around which everything turns: now 10000, records die at 3000, are stamped anew at 250. */
static const struct cgwb_clock clock = { .now = 10000, .expire = 3000, .refresh = 250 };

static void test_stock_note(void **state)
{
	static const struct {
		struct memcg_cgwb_frn slots[MEMCG_CGWB_FRN_CNT];
		enum cgwb_stock_note want;
		int want_slot;
		u64 want_at;
	} rows[] = {
		/* fresh: not written to */
		{ { { 7, 1, 9750, { { 1 }, NULL } }, { 0, 0, 0, { { 1 }, NULL } } },
		  CGWB_STOCK_KNOWN,
		  0,
		  9750 },
		/* one older than the refresh window, though it is being flushed */
		{ { { 0, 0, 0, { { 1 }, NULL } }, { 7, 1, 9749, { { 2 }, NULL } } },
		  CGWB_STOCK_REFRESHED,
		  1,
		  10000 },
		/* disarmed by a flush: armed by the next dirtying */
		{ { { 7, 1, 0, { { 2 }, NULL } } }, CGWB_STOCK_REFRESHED, 0, 10000 },
		/* the oldest idle slot is given away, not the oldest of all */
		{ { { 1, 1, 100, { { 2 }, NULL } },
		    { 2, 1, 300, { { 1 }, NULL } },
		    { 3, 1, 200, { { 1 }, NULL } },
		    { 4, 1, 400, { { 1 }, NULL } } },
		  CGWB_STOCK_RECORDED,
		  2,
		  10000 },
		/* the same bdi of another owner is another record */
		{ { { 7, 2, 9999, { { 1 }, NULL } }, { 0, 0, 0, { { 1 }, NULL } } },
		  CGWB_STOCK_RECORDED,
		  1,
		  10000 },
		/* all are being flushed */
		{ { { 1, 1, 1, { { 2 }, NULL } },
		    { 2, 1, 1, { { 2 }, NULL } },
		    { 3, 1, 1, { { 3 }, NULL } },
		    { 4, 1, 1, { { 2 }, NULL } } },
		  CGWB_STOCK_DROPPED,
		  -1,
		  0 },
		/* all were stamped in this very jiffy */
		{ { { 1, 1, 10000, { { 1 }, NULL } },
		    { 2, 1, 10000, { { 1 }, NULL } },
		    { 3, 1, 10000, { { 1 }, NULL } },
		    { 4, 1, 10000, { { 1 }, NULL } } },
		  CGWB_STOCK_DROPPED,
		  -1,
		  0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct memcg_cgwb_frn slots[MEMCG_CGWB_FRN_CNT];

		memcpy(slots, rows[i].slots, sizeof(slots));
		assert_int_equal(cgwb_stock_note(slots, 7, 1, &clock), rows[i].want);
		for (int j = 0; j < MEMCG_CGWB_FRN_CNT; j++) {
			if (j != rows[i].want_slot) {
				assert_memory_equal(&slots[j], &rows[i].slots[j], sizeof(slots[j]));
				continue;
			}
			assert_int_equal(slots[j].bdi_id, 7);
			assert_int_equal(slots[j].memcg_id, 1);
			assert_int_equal(slots[j].at, rows[i].want_at);
			assert_int_equal(slots[j].done.cnt.counter,
					 rows[i].slots[j].done.cnt.counter);
		}
	}
}

static void test_stock_due(void **state)
{
	static const struct {
		u64 at;
		int cnt;
		bool want;
	} rows[] = {
		{ 10000, 1, true }, { 7001, 1, true },
		{ 7000, 1, false }, /* as old as the interval: dead */
		{ 0, 1, false },    { 9000, 2, false }, /* being flushed */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct memcg_cgwb_frn slot = { 7, 1, rows[i].at, { { rows[i].cnt }, NULL } };

		assert_int_equal(cgwb_stock_is_due(&slot, &clock), rows[i].want);
		cgwb_stock_disarm(&slot);
		assert_false(cgwb_stock_is_due(&slot, &clock));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),  cmocka_unit_test(test_stretch),
		cmocka_unit_test(test_ids),	  cmocka_unit_test(test_stock_note),
		cmocka_unit_test(test_stock_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
