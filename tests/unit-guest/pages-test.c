// SPDX-License-Identifier: GPL-2.0-or-later
/* What the engine `pages` does when: pace, end, and which page is next. */
#include "unit.h"

#include "clock.h"
#include "engine-pages.h"

static void test_windows(void **unused)
{
	const struct pages_plan plan = { .size_bytes = 3 * PAGES_PAGE, .stride_bytes = PAGES_PAGE };
	/* Every second of five pages: the first, the third and the fifth. */
	const struct pages_plan other = { .size_bytes = 5 * PAGES_PAGE,
					  .stride_bytes = 2 * PAGES_PAGE };
	static const uint64_t pages[] = { 0, 1, 2, 0, 1 }, others[] = { 0, 2, 4, 0, 2 };
	uint64_t n;

	assert_int_equal(pages_plan_pass(&plan), 3);
	assert_int_equal(pages_plan_pass(&other), 3);
	for (n = 0; n < ARRAY_SIZE(pages); n++) {
		assert_int_equal(pages_plan_at(&plan, n), pages[n] * PAGES_PAGE);
		assert_int_equal(pages_plan_at(&other, n), others[n] * PAGES_PAGE);
	}
}

static void test_due(void **unused)
{
	const struct pages_plan plan = { .pages_per_s = 7 }, unpaced = { 0 };

	assert_int_equal(pages_plan_due_ns(&plan, 0), 0);
	assert_int_equal(pages_plan_due_ns(&plan, 1), NS_PER_S / 7);
	assert_int_equal(pages_plan_due_ns(&plan, 7ull * 86400 * 365), 86400 * 365 * NS_PER_S);
	assert_int_equal(pages_plan_due_ns(&unpaced, 12345), 0);
}

static void test_ends(void **unused)
{
	const struct pages_plan counted = { .size_bytes = 3 * PAGES_PAGE,
					    .stride_bytes = PAGES_PAGE,
					    .passes = 2 };
	const struct pages_plan endless = { .size_bytes = PAGES_PAGE, .stride_bytes = PAGES_PAGE };

	assert_false(pages_plan_ends(&counted, 5, UINT64_MAX, 0));
	assert_true(pages_plan_ends(&counted, 6, 0, 0));
	assert_true(pages_plan_ends(&counted, 1, 10, 10));
	assert_false(pages_plan_ends(&endless, UINT64_MAX, 9, 10));
	assert_true(pages_plan_ends(&endless, 0, 10, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
