// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Relations: what they mean, which seeds count, and what is said of them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/expect.h"
#include "outcome.h"
#include "text.h"

#define VARIANTS "[variant a]\n[variant b]\n[variant k-6.12]\n"

static char *judge(const char *relation, const struct cgwb_results *results)
{
	struct cgwb_scenario *scenario = text_scenario(SCENARIO VARIANTS);
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_expectation *expectation;
	struct cgwb_judgement judgement;
	char *line;

	if (cgwb_expectation_new(scenario, relation, "t.ini", 1, &expectation, &error))
		fail_msg("%s: %s", relation, error.text);
	judgement = cgwb_expectation_judge(expectation, results);
	line = cgwb_judgement_line(expectation, &judgement);
	cgwb_expectation_free(expectation);
	cgwb_scenario_free(scenario);
	return line;
}

static const struct {
	const char *relation;
	const char *line; /* after the relation */
} cases[] = {
	/* a: 100, 110; b: 60, 70; k-6.12: 7, 9 */
	{ "a.seconds == 105", "holds|105 == 105, 2 seeds" },
	{ "a.seconds == 104", "fails|105 == 104, 2 seeds" },
	{ "b.seconds <= a.seconds", "holds|65 <= 105, 2 seeds" },
	{ "a.seconds <= b.seconds", "fails|105 <= 65, 2 seeds" },
	{ "a.seconds >= a.seconds", "holds|105 >= 105, 2 seeds" },
	{ "a.seconds > a.seconds", "fails|105 > 105, 2 seeds" },
	{ "a.seconds < a.seconds", "fails|105 < 105, 2 seeds" },
	{ "b.seconds<=0.62*a.seconds", "holds|65 <= 65.1, 2 seeds" },
	{ "b.seconds <= 0.5 * a.seconds + 12", "fails|65 <= 64.5, 2 seeds" },
	{ "b.seconds <= (a.seconds + 25) / 2", "holds|65 <= 65, 2 seeds" },
	{ "a.seconds - b.seconds - 30 == 10", "holds|10 == 10, 2 seeds" },
	{ "100 / 10 / 5 == 2 * 3 - 4 * (2 - 1)", "holds|2 == 2, 2 seeds" },
	{ "a.seconds - (b.seconds - 30) == 70", "holds|70 == 70, 2 seeds" },
	{ "k-6.12.seconds == 8", "holds|8 == 8, 2 seeds" },
	{ "k-6.12.seconds - 8 == 0", "holds|0 == 0, 2 seeds" },
	{ "((((a.seconds)))) > 1", "holds|105 > 1, 2 seeds" },
	/* What is divided by nothing proves nothing. */
	{ "a.seconds / 0 > 1", "unknown|no number" },
	{ "0 / 0 < 1", "unknown|no number" },
	{ "a.warn / b.warn <= 1", "unknown|no number" },
};

static void test_relations(void **state)
{
	struct cgwb_results results = { 0 };
	int wrong = 0;

	outcome_add(&results, "a", 1, 0, "{\"seconds\": 100}", NULL);
	outcome_add(&results, "b", 1, 0, "{\"seconds\": 60.0}", NULL);
	outcome_add(&results, "k-6.12", 1, 0, "{\"seconds\": 7}", NULL);
	outcome_add(&results, "a", 2, 0, "{\"seconds\": 110}", NULL);
	outcome_add(&results, "b", 2, 0, "{\"seconds\": 70.0}", NULL);
	outcome_add(&results, "k-6.12", 2, 0, "{\"seconds\": 9}", NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *line = judge(cases[i].relation, &results), want[256];
		const char *bar = strchr(cases[i].line, '|');

		snprintf(want, sizeof(want), "%.*s: %s (%s)", (int)(bar - cases[i].line),
			 cases[i].line, cases[i].relation, bar + 1);
		if (strcmp(line, want)) {
			print_error("says: %s\nwant: %s\n", line, want);
			wrong++;
		}
		free(line);
	}
	assert_int_equal(wrong, 0);
	cgwb_results_done(&results);
}

static void check(const char *relation, const struct cgwb_results *results, const char *want)
{
	char *line = judge(relation, results);

	assert_string_equal(line, want);
	free(line);
}

/* Only seeds that are good in every variant of the relation count; the others are counted. */
static void test_seeds(void **state)
{
	struct cgwb_results results = { 0 };

	check("a.seconds < 9", &results, "unknown: a.seconds < 9 (no usable result)");

	/* 1: good. 2: a warned. 3: b died. 4: b has no such measure. 5: b has not run. */
	outcome_add(&results, "a", 1, 0, "{\"seconds\": 1}", NULL);
	outcome_add(&results, "b", 1, 0, "{\"seconds\": 2}", NULL);
	outcome_add(&results, "a", 2, 3, "{\"seconds\": 1000}", NULL);
	outcome_add(&results, "b", 2, 0, "{\"seconds\": 4}", NULL);
	outcome_add(&results, "a", 3, 0, "{\"seconds\": 5}", NULL);
	outcome_add(&results, "b", 3, 0, NULL, NULL);
	outcome_add(&results, "a", 4, 0, "{\"seconds\": 6}", NULL);
	outcome_add(&results, "b", 4, 0, "{\"seconds\": null}", NULL);
	outcome_add(&results, "a", 5, 0, "{\"seconds\": 8}", NULL);

	check("a.seconds <= b.seconds", &results,
	      "holds: a.seconds <= b.seconds (1 <= 2, 1 seed, 3 left out: b.seconds is null)");
	check("a.seconds == 5", &results, "holds: a.seconds == 5 (5 == 5, 4 seeds, 1 left out)");
	check("b.seconds == 3", &results,
	      "holds: b.seconds == 3 (3 == 3, 2 seeds, 2 left out: b.seconds is null)");
	check("b.iops < 1", &results,
	      "unknown: b.iops < 1 (no usable result, 4 left out: b.iops is null)");
	check("k-6.12.seconds < 1", &results, "unknown: k-6.12.seconds < 1 (no usable result)");
	cgwb_results_done(&results);
}

static void test_depth(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(SCENARIO VARIANTS);
	struct cgwb_expectation *expectation;
	struct cgwb_error error = CGWB_ERROR_INIT;
	char deep[256];

	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(cgwb_expectation_new(scenario, deep, "t.ini", 1, &expectation, &error),
			 -EINVAL);
	assert_string_equal(error.text, "too many parentheses");
	cgwb_error_done(&error);
	cgwb_scenario_free(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
