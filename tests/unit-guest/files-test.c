// SPDX-License-Identifier: GPL-2.0-or-later
/* What the engine `files` does when: pace, end, and where data goes. */
#include "unit.h"

#include "clock.h"
#include "engine-files.h"

static void test_due(void **unused)
{
	const struct files_plan plan = { .files_per_s = 7 }, unpaced = { 0 };
	uint64_t n;

	assert_int_equal(files_plan_due_ns(&plan, 0), 0);
	assert_int_equal(files_plan_due_ns(&plan, 1), NS_PER_S / 7);
	/* No rounding error adds up: whole seconds stay whole, days later. */
	for (n = 0; n < 7ull * 86400 * 365; n += 7 * 86400)
		assert_int_equal(files_plan_due_ns(&plan, n), n / 7 * NS_PER_S);
	assert_int_equal(files_plan_due_ns(&unpaced, 12345), 0);
}

static void test_ends(void **unused)
{
	const struct files_plan counted = { .files = 3 }, endless = { 0 };

	assert_false(files_plan_ends(&counted, 2, UINT64_MAX, 0));
	assert_true(files_plan_ends(&counted, 3, 0, 0));
	assert_false(files_plan_ends(&endless, UINT64_MAX, 9, 10));
	assert_true(files_plan_ends(&endless, 0, 10, 10));
	assert_true(files_plan_ends(&counted, 1, 10, 10));
	assert_false(files_plan_ends(&endless, 5, UINT64_MAX, 0));
}

static void test_data(void **unused)
{
	const struct files_plan plan = { .data_every = 50,
					 .data_bytes = 1000,
					 .data_span_bytes = 3500 };
	const struct files_plan never = { .data_bytes = 1000, .data_span_bytes = 3500 };
	/* Whole pieces only: the fourth would end behind the span, so it goes to the beginning. */
	static const uint64_t offsets[] = { 0, 1000, 2000, 0, 1000 };
	uint64_t n, pieces = 0;

	for (n = 0; n < 250; n++) {
		assert_false(files_plan_has_data(&never, n));
		if (!files_plan_has_data(&plan, n))
			continue;
		assert_int_equal((n + 1) % 50, 0);
		assert_int_equal(files_plan_data_offset(&plan, n), offsets[pieces]);
		pieces++;
	}
	assert_int_equal(pieces, ARRAY_SIZE(offsets));
}

static void test_data_every_file(void **unused)
{
	const struct files_plan plan = { .data_every = 1, .data_bytes = 8, .data_span_bytes = 8 };
	uint64_t n;

	for (n = 0; n < 5; n++) {
		assert_true(files_plan_has_data(&plan, n));
		assert_int_equal(files_plan_data_offset(&plan, n), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_data_every_file),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
