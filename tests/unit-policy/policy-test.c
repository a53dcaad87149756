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
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_dirtying dirtying = { rows[i].is_bdev, rows[i].is_online };

		assert_int_equal(cgwb_policy_decide(rows[i].policy, &dirtying), rows[i].want);
	}
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
		{ { { 7, 1, 9750, { { 1 } } }, { 0, 0, 0, { { 1 } } } }, CGWB_STOCK_KNOWN, 0, 9750 },
		/* one older than the refresh window, though it is being flushed */
		{ { { 0, 0, 0, { { 1 } } }, { 7, 1, 9749, { { 2 } } } },
		  CGWB_STOCK_REFRESHED,
		  1,
		  10000 },
		/* disarmed by a flush: armed by the next dirtying */
		{ { { 7, 1, 0, { { 2 } } } }, CGWB_STOCK_REFRESHED, 0, 10000 },
		/* the oldest idle slot is given away, not the oldest of all */
		{ { { 1, 1, 100, { { 2 } } },
		    { 2, 1, 300, { { 1 } } },
		    { 3, 1, 200, { { 1 } } },
		    { 4, 1, 400, { { 1 } } } },
		  CGWB_STOCK_RECORDED,
		  2,
		  10000 },
		/* the same bdi of another owner is another record */
		{ { { 7, 2, 9999, { { 1 } } }, { 0, 0, 0, { { 1 } } } },
		  CGWB_STOCK_RECORDED,
		  1,
		  10000 },
		/* all are being flushed */
		{ { { 1, 1, 1, { { 2 } } },
		    { 2, 1, 1, { { 2 } } },
		    { 3, 1, 1, { { 3 } } },
		    { 4, 1, 1, { { 2 } } } },
		  CGWB_STOCK_DROPPED,
		  -1,
		  0 },
		/* all were stamped in this very jiffy */
		{ { { 1, 1, 10000, { { 1 } } },
		    { 2, 1, 10000, { { 1 } } },
		    { 3, 1, 10000, { { 1 } } },
		    { 4, 1, 10000, { { 1 } } } },
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

static void test_stock_take(void **state)
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
		struct memcg_cgwb_frn slot = { 7, 1, rows[i].at, { { rows[i].cnt } } };

		assert_int_equal(cgwb_stock_take(&slot, &clock), rows[i].want);
		assert_int_equal(slot.at, rows[i].want ? 0 : rows[i].at);
		assert_false(cgwb_stock_take(&slot, &clock));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_stock_note),
		cmocka_unit_test(test_stock_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
