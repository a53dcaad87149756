// SPDX-License-Identifier: GPL-2.0-or-later
/* fio's report: the figures that are taken, from which direction, and what is no report. */
#include "unit.h"

#include <errno.h>

#include "engine-fio.h"
#include "json.h"

#define DIRECTION(name, bytes, runtime, ios)                                                       \
	"\"" name "\": {\"io_bytes\": " bytes ", \"bw_bytes\": 2097152, \"iops\": 2.0049,"         \
	" \"runtime\": " runtime ", \"total_ios\": " ios ","                                       \
	" \"lat_ns\": {\"min\": 1, \"max\": 9999999, \"mean\": 1234567.8},"                        \
	" \"clat_ns\": {\"mean\": 1000000.0, \"percentile\":"                                      \
	" {\"50.000000\": 1000000, \"99.000000\": 1434451968}}}"
#define NOTHING(name)                                                                              \
	"\"" name "\": {\"io_bytes\": 0, \"bw_bytes\": 0, \"iops\": 0.0, \"runtime\": 0,"          \
	" \"total_ios\": 0, \"lat_ns\": {\"mean\": 0.0}, \"clat_ns\": {\"mean\": 0.0}}"

static int parse(const char *text, struct job_figures *figures, json_t **ret_details,
		 struct error *error)
{
	*figures = (struct job_figures){ 0 };
	*error = (struct error){ "" };
	*ret_details = json_object();
	return fio_report_parse(text, "hot", figures, *ret_details, error);
}

static void test_write(void **unused)
{
	static const char text[] =
		"fio: this is a note\n{\"jobs\": [{\"error\": 0, " NOTHING("read") ", " DIRECTION(
			"write", "4194304", "2009", "4") ", " NOTHING("trim") "}]}\n";
	struct job_figures figures;
	struct error error;
	json_t *details;

	assert_int_equal(parse(text, &figures, &details, &error), 0);
	assert_true(figures.valid && figures.has_latency);
	assert_float_equal(figures.seconds, 2.009, 1e-9);
	assert_float_equal(figures.mib_s, 2.0, 1e-9);
	assert_float_equal(figures.iops, 2.0, 1e-9);
	assert_float_equal(figures.mean_ms, 1.235, 1e-9);
	assert_float_equal(figures.p99_ms, 1434.452, 1e-9);
	assert_int_equal(figures.count, 4);
	assert_non_null(json_object_get(details, "write"));
	assert_null(json_object_get(details, "read"));
	json_decref(details);
}

/* A mixed job is measured by the direction that moved more; its requests are all counted. */
static void test_mixed(void **unused)
{
	static const char text[] = "{\"jobs\": [{\"error\": 0, " DIRECTION(
		"read", "8388608", "3000", "5") ", " DIRECTION("write", "4194304", "2009",
							       "4") "}]}";
	struct job_figures figures;
	struct error error;
	json_t *details;

	assert_int_equal(parse(text, &figures, &details, &error), 0);
	assert_float_equal(figures.seconds, 3.0, 1e-9);
	assert_int_equal(figures.count, 9);
	json_decref(details);
}

static void test_bad(void **unused)
{
	static const struct {
		const char *text;
		int err;
		const char *says;
	} cases[] = {
		{ "", -EBADMSG, "job hot: fio's report: line 1" },
		{ "fio: no such file\n", -EBADMSG, "job hot: fio's report" },
		{ "{\"jobs\": [", -EBADMSG, "job hot: fio's report" },
		{ "{\"jobs\": []}", -EBADMSG, "job hot: fio's report has no job" },
		{ "{}", -EBADMSG, "has no job" },
		{ "{\"jobs\": [{\"error\": 28}]}", -EIO,
		  "job hot: fio reports: No space left on device" },
	};
	struct job_figures figures;
	struct error error;
	json_t *details;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].text, &figures, &details, &error), cases[i].err);
		assert_non_null(strstr(error.text, cases[i].says));
		assert_false(figures.valid);
		json_decref(details);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests_name("fio", tests, NULL, NULL);
}
