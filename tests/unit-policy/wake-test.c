// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a memcg's reclaim may be content with its own part of the machine's writeback. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "wake.h"

/* Times around which everything turns: due again at 9900, forgotten before 5000. */
static const struct cgwb_wake_clock clock = { .now = 10000, .patience = 100, .memory = 5000 };

static void test_decide(void **state)
{
	static const struct {
		const char *what;
		struct cgwb_waker waker;
		struct cgwb_scope scope; /* dirty, writeback, reached, flushed */
		enum cgwb_wake want;
		u64 want_flushed_at;
	} rows[] = {
		{ "all on its own wbs", { 1 }, { 1000, 0, 1000, 0 }, CGWB_WAKE_SCOPED, 0 },
		{ "just half", { 1 }, { 1000, 0, 500, 0 }, CGWB_WAKE_SCOPED, 0 },
		{ "not half", { 1 }, { 1000, 0, 499, 0 }, CGWB_WAKE_UNREACHABLE, 0 },
		{ "half of an odd number is the larger one",
		  { 1 },
		  { 1001, 0, 500, 0 },
		  CGWB_WAKE_UNREACHABLE,
		  0 },
		{ "of one page", { 1 }, { 1, 0, 0, 0 }, CGWB_WAKE_UNREACHABLE, 0 },
		{ "nothing is dirty, as far as is known",
		  { 1 },
		  { 0, 0, 0, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
		{ "more than all: pages that others dirtied",
		  { 1 },
		  { 10, 0, 1000, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
		{ "none, but a record", { 1 }, { 1000, 0, 0, 1 }, CGWB_WAKE_SCOPED, 10000 },
		/* the records have been taken by the wake-up before, and are being flushed */
		{ "none, a record of a while ago, and it helps",
		  { 1, 9000, 5000, 1000, CGWB_WAKE_SCOPED, false },
		  { 900, 0, 0, 0 },
		  CGWB_WAKE_SCOPED,
		  5000 },
		{ "none, a record of too long ago",
		  { 1, 9000, 4999, 1000, CGWB_WAKE_SCOPED, false },
		  { 900, 0, 0, 0 },
		  CGWB_WAKE_UNREACHABLE,
		  4999 },
		{ "less is dirty than before",
		  { 1, 9000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 999, 0, 999, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
		{ "as much",
		  { 1, 9000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 0, 1000, 0 },
		  CGWB_WAKE_AGAIN,
		  0 },
		{ "as much, though there is a new record",
		  { 1, 9000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 0, 1000, 1 },
		  CGWB_WAKE_AGAIN,
		  10000 },
		{ "as much, and some is being written",
		  { 1, 9000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 1, 1000, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
		{ "being written, but too much is out of reach",
		  { 1, 9000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 1, 10, 0 },
		  CGWB_WAKE_UNREACHABLE,
		  0 },
		{ "not even everything has helped",
		  { 1, 9000, 0, 1000, CGWB_WAKE_AGAIN, false },
		  { 1000, 0, 1000, 0 },
		  CGWB_WAKE_AGAIN,
		  0 },
		{ "everything has helped",
		  { 1, 9000, 0, 1000, CGWB_WAKE_AGAIN, false },
		  { 500, 0, 500, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
		{ "it is still known",
		  { 1, 5000, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 0, 1000, 0 },
		  CGWB_WAKE_AGAIN,
		  0 },
		{ "what was is too long ago",
		  { 1, 4999, 0, 1000, CGWB_WAKE_SCOPED, false },
		  { 1000, 0, 1000, 0 },
		  CGWB_WAKE_SCOPED,
		  0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_waker waker = rows[i].waker;

		waker.has_failed = true;
		print_message("# %s\n", rows[i].what);
		assert_int_equal(cgwb_waker_decide(&waker, &rows[i].scope, &clock), rows[i].want);
		assert_int_equal(waker.wake, rows[i].want);
		assert_int_equal(waker.at, clock.now);
		assert_int_equal(waker.dirty, rows[i].scope.dirty);
		assert_int_equal(waker.flushed_at, rows[i].want_flushed_at);
		assert_false(waker.has_failed);
	}
}

static void test_due(void **state)
{
	static const struct {
		struct cgwb_waker waker;
		bool is_at_max, want;
	} rows[] = {
		{ { 1, 0 }, false, true },
		{ { 1, 10000 }, false, false },
		{ { 1, 9901 }, false, false },
		{ { 1, 9900 }, false, true },
		{ { 1, 1 }, false, true },
		/* its reclaims end with nothing: that is near to OOM only where there is a limit to hit */
		{ { 1, 10000, .has_failed = true }, false, false },
		{ { 1, 10000, .has_failed = true }, true, true },
		{ { 1, 10000, .has_failed = false }, true, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cgwb_waker_is_due(&rows[i].waker, rows[i].is_at_max, &clock),
				 rows[i].want);
}

/* Everybody has a waker until all are in use; one that is forgotten is given away, as good as new. */
static void test_find(void **state)
{
	struct cgwb_waker wakers[CGWB_WAKE_WAYS] = { 0 };
	const struct cgwb_scope scope = { .dirty = 7, .flushed = 1 };
	struct cgwb_wake_clock later = clock;
	struct cgwb_waker *waker;
	u64 serial;

	for (serial = 1; serial <= CGWB_WAKE_WAYS; serial++) {
		waker = cgwb_waker_find(wakers, serial, &clock);
		assert_non_null(waker);
		cgwb_waker_decide(waker, &scope, &clock);
	}
	assert_null(cgwb_waker_find(wakers, serial, &clock));
	for (u64 i = 1; i < serial; i++) {
		waker = cgwb_waker_find(wakers, i, &clock);
		assert_non_null(waker);
		assert_int_equal(waker->serial, i);
		assert_int_equal(waker->dirty, 7);
	}
	later.now += clock.memory;
	assert_null(cgwb_waker_find(wakers, serial, &later));
	later.now++;
	waker = cgwb_waker_find(wakers, serial, &later);
	assert_non_null(waker);
	assert_int_equal(waker->serial, serial);
	assert_int_equal(waker->at + waker->flushed_at + waker->dirty, 0);
	assert_true(cgwb_waker_is_due(waker, false, &later));
}

static void test_failed(void **state)
{
	struct cgwb_waker wakers[CGWB_WAKE_WAYS] = { { 1, 10000 }, { 2, 10000 } };

	cgwb_waker_failed(wakers, 2);
	cgwb_waker_failed(wakers, 3);
	assert_false(wakers[0].has_failed);
	assert_true(wakers[1].has_failed);
	for (int i = 2; i < CGWB_WAKE_WAYS; i++)
		assert_false(wakers[i].has_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
