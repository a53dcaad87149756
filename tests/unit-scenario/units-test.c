// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/nearest.h"
#include "libcgwb/units.h"

struct unit_case {
	const char *text;
	int err;
	uint64_t value;
};

static const struct unit_case sizes[] = {
	{ "0", 0, 0 },
	{ "1", 0, 1 },
	{ "512B", 0, 512 },
	{ "1K", 0, 1024 },
	{ "1k", 0, 1024 },
	{ "3KiB", 0, 3072 },
	{ "256M", 0, 268435456 },
	{ "8G", 0, 8589934592 },
	{ "2T", 0, 2199023255552 },
	{ "1P", 0, 1125899906842624 },
	{ "1.5M", 0, 1572864 },
	{ "0.5K", 0, 512 },
	{ "18446744073709551615", 0, UINT64_MAX },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "16384P", -ERANGE, 0 },
	{ "99999999999999999999999G", -ERANGE, 0 },
	/* a third of a byte */
	{ "0.3", -EINVAL, 0 },
	{ "1.5B", -EINVAL, 0 },
	{ "0.0001K", -EINVAL, 0 },
	{ "1.0000000001M", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "M", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ "1 M", -EINVAL, 0 },
	{ " 1M", -EINVAL, 0 },
	{ "1MM", -EINVAL, 0 },
	{ "1Mb/s", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
	{ "1.", -EINVAL, 0 },
	{ ".5M", -EINVAL, 0 },
	{ "1.2.3M", -EINVAL, 0 },
	{ "1,5M", -EINVAL, 0 },
	{ "max", -EINVAL, 0 },
};

static const struct unit_case times[] = {
	{ "0", 0, 0 },
	{ "0s", 0, 0 },
	{ "17ns", 0, 17 },
	{ "80us", 0, 80000 },
	{ "250ms", 0, 250000000 },
	{ "8s", 0, 8000000000 },
	{ "1.5s", 0, 1500000000 },
	{ "0.000000001s", 0, 1 },
	{ "15m", 0, 900000000000 },
	{ "2h", 0, 7200000000000 },
	{ "18446744073s", 0, 18446744073000000000ULL },
	{ "18446744074s", -ERANGE, 0 },
	{ "5124095577h", -ERANGE, 0 },
	{ "0.5ns", -EINVAL, 0 },
	/* of what? */
	{ "10", -EINVAL, 0 },
	{ "10S", -EINVAL, 0 },
	{ "10M", -EINVAL, 0 },
	{ "10 s", -EINVAL, 0 },
	{ "10sec", -EINVAL, 0 },
	{ "-1s", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
};

static const struct unit_case numbers[] = {
	{ "0", 0, 0 },	       { "007", 0, 7 },	     { "18446744073709551615", 0, UINT64_MAX },
	{ "1.0", -EINVAL, 0 }, { "1K", -EINVAL, 0 }, { "18446744073709551616", -ERANGE, 0 },
	{ "-0", -EINVAL, 0 },  { "", -EINVAL, 0 },   { "4 ", -EINVAL, 0 },
};

static void check_table(const struct unit_case *cases, size_t n,
			int (*parse)(const char *text, uint64_t *ret_value))
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0xdead;
		int err = parse(cases[i].text, &value);

		if (err != cases[i].err || value != (err ? 0xdead : cases[i].value))
			fail_msg("\"%s\": %d, %llu; want %d, %llu", cases[i].text, err,
				 (unsigned long long)value, cases[i].err,
				 (unsigned long long)cases[i].value);
	}
}

static void test_sizes(void **state)
{
	check_table(sizes, sizeof(sizes) / sizeof(*sizes), cgwb_parse_bytes);
}

static void test_times(void **state)
{
	check_table(times, sizeof(times) / sizeof(*times), cgwb_parse_ns);
}

static void test_numbers(void **state)
{
	check_table(numbers, sizeof(numbers) / sizeof(*numbers), cgwb_parse_u64);
}

static void test_percent(void **state)
{
	static const struct {
		const char *text;
		int err;
		double percent;
	} cases[] = {
		{ "20", 0, 20 },	 { "20%", 0, 20 },	 { "0", 0, 0 },
		{ "100%", 0, 100 },	 { "12.5%", 0, 12.5 },	 { "101", -ERANGE, 0 },
		{ "100.1", -ERANGE, 0 }, { "20%%", -EINVAL, 0 }, { "%", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double percent = -1;

		assert_int_equal(cgwb_parse_percent(cases[i].text, &percent), cases[i].err);
		if (!cases[i].err)
			assert_true(percent == cases[i].percent);
	}
}

/* What is printed is the shortest form, and reads back as the same. */
static void test_formats(void **state)
{
	static const struct {
		uint64_t value;
		const char *bytes;
		const char *ns;
	} cases[] = {
		{ 0, "0", "0" },
		{ 1, "1", "1ns" },
		{ 1000, "1000", "1us" },
		{ 1024, "1K", "1024ns" },
		{ 80000, "80000", "80us" },
		{ 268435456, "256M", "268435456ns" },
		{ 900000000000, "878906250K", "15m" },
		{ UINT64_MAX, "18446744073709551615", "18446744073709551615ns" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[CGWB_UNITS_TEXT];
		uint64_t value;

		assert_string_equal(cgwb_format_bytes(cases[i].value, text), cases[i].bytes);
		assert_int_equal(cgwb_parse_bytes(text, &value), 0);
		assert_true(value == cases[i].value);
		assert_string_equal(cgwb_format_ns(cases[i].value, text), cases[i].ns);
		assert_int_equal(cgwb_parse_ns(text, &value), 0);
		assert_true(value == cases[i].value);
	}
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} cases[] = {
		{ "", "", 0 },
		{ "a", "", 1 },
		{ "stock", "stock", 0 },
		{ "stock", "STOCK", 0 },
		{ "stok", "stock", 1 },
		{ "sotck", "stock", 1 },
		{ "latancy", "latency", 1 },
		{ "abc", "xyz", 3 },
		{ "kitten", "sitting", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(cgwb_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(cgwb_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}

static void test_nearest(void **state)
{
	static const char *const words[] = { "none", "stock", "skip", "mapping", "a", NULL };
	static const struct {
		const char *word;
		const char *nearest;
	} cases[] = {
		{ "stock", "stock" }, { "stok", "stock" },
		{ "skp", "skip" },    { "mappin", "mapping" },
		{ "precise", NULL },  { "x", NULL },
		{ "", NULL },	      { "mappingmappingmapping", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cgwb_nearest nearest = CGWB_NEAREST_INIT(cases[i].word);

		for (const char *const *word = words; *word; word++)
			cgwb_nearest_offer(&nearest, *word);
		cgwb_nearest_offer(&nearest, NULL);
		if (cases[i].nearest)
			assert_string_equal(nearest.best, cases[i].nearest);
		else
			assert_null(nearest.best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	cmocka_unit_test(test_times),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_percent),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
