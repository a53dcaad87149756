// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms: the right one of several, its lines in the order of their keys, what was dropped. */
#include "unit.h"

#include "tally.h"

/* As the kernel prints three histograms of one event. */
static const char hist[] =
	"# event histogram\n"
	"#\n"
	"# trigger info: hist:keys=cgroup_ino,page_cgroup_ino:vals=hitcount:sort=hitcount:size=2048 [active]\n"
	"#\n"
	"\n"
	"{ cgroup_ino:       4120, page_cgroup_ino:          1 } hitcount:          2\n"
	"{ cgroup_ino:          1, page_cgroup_ino:       4188 } hitcount:         71\n"
	"{ cgroup_ino:          1, page_cgroup_ino:       4120 } hitcount:         77\n"
	"\n"
	"Totals:\n"
	"    Hits: 150\n"
	"    Entries: 3\n"
	"    Dropped: 0\n"
	"\n"
	"# event histogram\n"
	"#\n"
	"# trigger info: hist:keys=ino:vals=hitcount:sort=hitcount:size=2048 if ino == 266338304 [active]\n"
	"#\n"
	"\n"
	"{ ino:  266338304 } hitcount:        140\n"
	"\n"
	"Totals:\n"
	"    Hits: 147\n"
	"    Entries: 1\n"
	"    Dropped: 7\n"
	"\n"
	"# event histogram\n"
	"#\n"
	"# trigger info: hist:keys=cgroup_ino:vals=hitcount,pause:sort=hitcount:size=2048 if pause > 0 [active]\n"
	"#\n"
	"\n"
	"{ cgroup_ino:       4120 } hitcount:        350  pause:       6308\n"
	"{ cgroup_ino:         12 } hitcount:          1  pause:          4\n"
	"\n"
	"Totals:\n"
	"    Hits: 351\n"
	"    Entries: 2\n"
	"    Dropped: 0\n";

static struct tallies parse(const char *spec, const char *filter)
{
	struct error error = { "" };
	struct tallies tallies;
	char *text = strdup(hist);

	assert_non_null(text);
	assert_int_equal(tallies_parse(text, spec, filter, &tallies, &error), 0);
	assert_string_equal(error.text, "");
	free(text);
	return tallies;
}

static void test_two_keys(void **unused)
{
	struct tallies tallies = parse("keys=cgroup_ino,page_cgroup_ino", NULL);

	assert_int_equal(tallies.n, 3);
	assert_int_equal(tallies_hits(&tallies), 150);
	assert_int_equal(tallies.items[0].keys[0], 1);
	assert_int_equal(tallies.items[0].keys[1], 4120);
	assert_int_equal(tallies.items[0].hits, 77);
	assert_int_equal(tallies.items[1].keys[1], 4188);
	assert_int_equal(tallies.items[2].keys[0], 4120);
	assert_int_equal(tallies.items[2].keys[1], 1);
	assert_int_equal(tallies.dropped, 0);
	tallies_done(&tallies);
	assert_int_equal(tallies.n, 0);
}

static void test_filter(void **unused)
{
	struct tallies tallies = parse("keys=ino", "ino == 266338304");

	assert_int_equal(tallies.n, 1);
	assert_int_equal(tallies.items[0].hits, 140);
	assert_int_equal(tallies.dropped, 7);
	tallies_done(&tallies);
}

static void test_value(void **unused)
{
	struct tallies tallies = parse("keys=cgroup_ino:vals=pause", "pause > 0");

	assert_int_equal(tallies.n, 2);
	assert_int_equal(tallies.items[0].keys[0], 12);
	assert_int_equal(tallies.items[0].value, 4);
	assert_int_equal(tallies.items[1].value, 6308);
	assert_int_equal(tallies.items[1].hits, 350);
	tallies_done(&tallies);
}

/* Keys or filters that only begin alike are others. */
static void test_others(void **unused)
{
	static const struct {
		const char *spec, *filter;
	} cases[] = {
		{ "keys=cgroup_ino", NULL },
		{ "keys=ino", NULL },
		{ "keys=ino", "ino == 2663383040" },
		{ "keys=ino", "ino == 26633830" },
		{ "keys=cgroup_ino:vals=pause", "pause > 00" },
		{ "keys=page_cgroup_ino", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tallies tallies = parse(cases[i].spec, cases[i].filter);

		assert_int_equal(tallies.n, 0);
		tallies_done(&tallies);
	}
	tallies_done(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_keys),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_value),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
