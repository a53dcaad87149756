// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics against data whose answers are known: the ten pairs of Student's paper of 1908, for
 * which any textbook gives t = 4.0621 and the interval 0.7001 to 2.4599, and small sums by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "libcgwb/sample.h"
#include "libcgwb/stats.h"
#include "outcome.h"

/* Additional hours of sleep gained with two drugs, Biometrika 6, p. 20 */
static const double drug_1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double drug_2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

static void assert_near(double value, double want, double tolerance)
{
	if (!(fabs(value - want) <= tolerance))
		fail_msg("%.9g is not %.9g", value, want);
}

static void test_student(void **state)
{
	struct cgwb_paired paired;

	assert_int_equal(cgwb_stats_paired(drug_1, drug_2, 10, &paired), 0);
	assert_int_equal(paired.n, 10);
	assert_near(paired.base, 0.75, 1e-12);
	assert_near(paired.other, 2.33, 1e-12);
	assert_near(paired.difference, 1.58, 1e-12);
	assert_true(paired.has_interval);
	assert_near(paired.low, 0.7001142, 1e-7);
	assert_near(paired.high, 2.4598858, 1e-7);
	assert_true(cgwb_paired_differs(&paired));

	/* The other way round it is the same with the sign changed. */
	assert_int_equal(cgwb_stats_paired(drug_2, drug_1, 10, &paired), 0);
	assert_near(paired.low, -2.4598858, 1e-7);
	assert_near(paired.high, -0.7001142, 1e-7);
	assert_true(cgwb_paired_differs(&paired));
}

static void test_few(void **state)
{
	static const double base[] = { 1, 2, 3 }, other[] = { 2, 1, 3.5 };
	struct cgwb_paired paired;

	assert_int_equal(cgwb_stats_paired(base, other, 0, &paired), -EINVAL);

	/* One pair is a difference, and no more. */
	assert_int_equal(cgwb_stats_paired(base, other, 1, &paired), 0);
	assert_true(paired.difference == 1);
	assert_false(paired.has_interval);
	assert_false(cgwb_paired_differs(&paired));

	/* Two: the mean of 1 and -1, and t(0.975, 1) = 12.7062 times 1. */
	assert_int_equal(cgwb_stats_paired(base, other, 2, &paired), 0);
	assert_true(paired.difference == 0);
	assert_near(paired.low, -12.7062047, 1e-6);
	assert_near(paired.high, 12.7062047, 1e-6);
	assert_false(cgwb_paired_differs(&paired));

	/* The same values: an interval of no width, around 0. */
	assert_int_equal(cgwb_stats_paired(base, base, 3, &paired), 0);
	assert_true(paired.has_interval && paired.low == 0 && paired.high == 0);
	assert_false(cgwb_paired_differs(&paired));
}

static void test_stats(void **state)
{
	static const double values[] = { 4, 1, 7, 2 };
	struct cgwb_stats stats;

	assert_int_equal(cgwb_stats_of(values, 0, &stats), -EINVAL);
	assert_int_equal(cgwb_stats_of(values, 1, &stats), 0);
	assert_true(stats.mean == 4 && stats.median == 4 && stats.sd == 0);
	assert_int_equal(cgwb_stats_of(values, 3, &stats), 0);
	assert_true(stats.mean == 4 && stats.median == 4 && stats.sd == 3);
	assert_int_equal(cgwb_stats_of(values, 4, &stats), 0);
	assert_true(stats.mean == 3.5 && stats.median == 3 && stats.n == 4);
	assert_true(stats.least == 1 && stats.most == 7);
	assert_near(stats.sd, 2.6457513, 1e-7);
	assert_int_equal(cgwb_stats_of(drug_1, 10, &stats), 0);
	assert_near(stats.sd, 1.7890097, 1e-7);
}

/* Pairs are made by seed, whatever the order, and one bad half leaves out both. */
static void test_sample(void **state)
{
	struct cgwb_results results = { 0 };
	struct cgwb_sample sample;

	outcome_add(&results, "b", 2, 0, "{\"seconds\": 20}", NULL);
	outcome_add(&results, "a", 1, 0, "{\"seconds\": 1}", NULL);
	outcome_add(&results, "a", 2, 0, "{\"seconds\": 2}", NULL);
	outcome_add(&results, "b", 1, 0, "{\"seconds\": 10}", NULL);
	outcome_add(&results, "a", 3, 0, "{\"seconds\": 3}", NULL);
	outcome_add(&results, "b", 3, 1, "{\"seconds\": 30}", NULL);
	outcome_add(&results, "a", 4, 0, "{\"seconds\": null}", NULL);
	outcome_add(&results, "b", 4, 0, "{\"seconds\": 40}", NULL);
	outcome_add(&results, "a", 5, 0, "{\"seconds\": 5}", NULL);

	assert_int_equal(cgwb_sample_pairs(&results, "a", "b", "seconds", &sample), 0);
	assert_int_equal(sample.n, 2);
	assert_int_equal(sample.left_out, 1);
	assert_true(sample.values[0] == 1 && sample.others[0] == 10);
	assert_true(sample.values[1] == 2 && sample.others[1] == 20);
	cgwb_sample_done(&sample);

	assert_int_equal(cgwb_sample_variant(&results, "b", "seconds", &sample), 0);
	assert_int_equal(sample.n, 3);
	assert_int_equal(sample.left_out, 1);
	assert_null(sample.others);
	cgwb_sample_done(&sample);

	assert_int_equal(cgwb_sample_variant(&results, "c", "seconds", &sample), 0);
	assert_int_equal(sample.n + sample.left_out, 0);
	cgwb_sample_done(&sample);
	cgwb_results_done(&results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
