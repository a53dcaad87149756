// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "libcgwb/seed.h"

/* The generator's reference output for the state 1234567, as published with it. */
static void test_reference(void **state)
{
	static const uint64_t want[] = {
		6457827717110365317ULL, 3203168211198807973ULL,	 9817491932198370423ULL,
		4593380528125082431ULL, 16408922859458223821ULL,
	};
	struct cgwb_seed seed = { .state = 1234567 };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_true(cgwb_seed_next(&seed) == want[i]);
}

static void test_streams(void **state)
{
	struct cgwb_seed a = cgwb_seed_init(1, "job hot phase");
	struct cgwb_seed same = cgwb_seed_init(1, "job hot phase");
	struct cgwb_seed seed = cgwb_seed_init(2, "job hot phase");
	struct cgwb_seed name = cgwb_seed_init(1, "job hot data");
	uint64_t first = cgwb_seed_next(&a);

	assert_true(first == cgwb_seed_next(&same));
	assert_true(first != cgwb_seed_next(&seed));
	assert_true(first != cgwb_seed_next(&name));
}

static void test_below(void **state)
{
	struct cgwb_seed seed = cgwb_seed_init(1, "below");
	unsigned int tenths[10] = { 0 };

	for (int i = 0; i < 10007; i++) {
		uint64_t value = cgwb_seed_below(&seed, 1000);

		assert_true(value < 1000);
		tenths[value / 100]++;
	}
	/* 1,000 expected in each, and a standard deviation of 30. */
	for (int i = 0; i < 10; i++)
		assert_in_range(tenths[i], 850, 1150);
	assert_true(cgwb_seed_below(&seed, 1) == 0);
}

static void test_uuid(void **state)
{
	struct cgwb_seed seed = cgwb_seed_init(1, "uuid");
	char first[CGWB_UUID_TEXT], second[CGWB_UUID_TEXT];

	cgwb_seed_uuid(&seed, first);
	cgwb_seed_uuid(&seed, second);
	assert_string_not_equal(first, second);
	assert_int_equal(strlen(first), 36);
	assert_int_equal(strspn(first, "0123456789abcdef-"), 36);
	for (int i = 0; i < 36; i++)
		assert_int_equal(first[i] == '-', i == 8 || i == 13 || i == 18 || i == 23);
	assert_int_equal(first[14], '4');
	assert_non_null(strchr("89ab", first[19]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_uuid),
	};

	return cmocka_run_group_tests_name("seed", tests, NULL, NULL);
}
