// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of a run that was made up: three seeds, one warning, one failure, one missing measure. The
 * golden files have been read by a person, who did the sums.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/files.h"
#include "libcgwb/table.h"
#include "outcome.h"
#include "text.h"

#define SCENARIO_TEXT                                                                              \
	"[scenario]\ntitle = t\nmeasured_job = fg\nvariants = floor, stock, mapping\n" DISK MOUNT  \
	"[job fg]\nengine = fio\nfilename = /data/fg\nrw = write\nsize = 1M\n"                     \
	"[job d]\nengine = files\ndirectory = /data/d\nduration = 1s\n"                            \
	"[measure hot_gib]\nkind = file-writes\nfile = /data/fg\ntitle = hot_GiB\n"                \
	"[measure made]\nkind = job-count\njob = d\ntitle = files\n"                               \
	"[variant floor]\ndrop = d\n[variant stock]\npolicy = stock\n"                             \
	"[variant mapping]\npolicy = mapping\n[variant unused]\n"

/* seconds, MiB/s, IOPS, mean, p99, hot GiB, files, foreign flushes */
#define MEASURES(s, m, i, a, p, h, f, n)                                                           \
	"{\"seconds\": " #s ", \"mib_s\": " #m ", \"iops\": " #i ", \"mean_ms\": " #a              \
	", \"p99_ms\": " #p ", \"hot_gib\": " #h ", \"made\": " #f ", \"foreign_flushes\": " #n    \
	"}"

/* bytes by trigger */
#define TRIGGERS(text) "{\"writes\": {\"files\": {\"hot_gib\": {\"by_trigger\": {" text "}}}}}"

struct run {
	struct cgwb_scenario *scenario;
	struct cgwb_results results;
	struct cgwb_table table;
};

static void new_run(struct run *run)
{
	*run = (struct run){ .scenario = text_scenario(SCENARIO_TEXT) };
	run->table.scenario = run->scenario;
	run->table.results = &run->results;
	run->table.variants = cgwb_scenario_variants(run->scenario, false);
}

/* Results in the order in which a run makes them, which is not that of tables. */
static void add_results(struct run *run)
{
	struct cgwb_results *results = &run->results;

	outcome_add(results, "stock", 2, 0, MEASURES(104, 158, 158, 201, 1400, 6, 22000, 90),
		    TRIGGERS("\"periodic\": 2147483648, \"foreign_flush\": 4294967296"));
	outcome_add(results, "stock", 1, 0, MEASURES(100, 160, 160, 200, 1500, 5, 20000, 100),
		    TRIGGERS("\"periodic\": 1073741824, \"foreign_flush\": 4294967296"));
	outcome_add(results, "mapping", 1, 0,
		    MEASURES(90.5, 180.25, 180.25, 170, 600, 2.5, 20100, 0),
		    TRIGGERS("\"periodic\": 2147483648, \"mapping_flush\": 536870912"));
	outcome_add(results, "floor", 1, 0, MEASURES(85, 190, 190, 160, 400, 1.25, null, 0),
		    TRIGGERS("\"periodic\": 1342177280"));
	outcome_add(results, "mapping", 2, 0, MEASURES(88.4, 184, 184, 171, 550, 2.4, 22200, 0),
		    TRIGGERS("\"periodic\": 2576980377"));
	outcome_add(results, "stock", 3, 1, MEASURES(150, 100, 100, 300, 9000, 9, 15000, 200),
		    TRIGGERS("\"periodic\": 9663676416"));
	outcome_add(results, "mapping", 3, 0, MEASURES(89, 183, 183, 172, 540, 2.3, 21000, 0),
		    TRIGGERS("\"periodic\": 2469606195"));
	outcome_add(results, "floor", 3, 0, NULL, NULL);
	outcome_add(results, "unused", 1, 0, MEASURES(1, 1, 1, 1, 1, 1, 1, 1), NULL);
}

static void free_run(struct run *run)
{
	cgwb_results_done(&run->results);
	cgwb_scenario_free(run->scenario);
}

/* Compares with the golden file, which must also keep to plain ASCII and 100 columns. */
static void assert_golden(const char *text, const char *name)
{
	char path[512], *want;
	size_t column = 0;

	snprintf(path, sizeof(path), "%s/%s.golden", getenv("CGWB_TEST_GOLDEN"), name);
	if (cgwb_read_file(path, &want, NULL))
		fail_msg("%s cannot be read; the table is\n%s", path, text);
	assert_string_equal(text, want);
	free(want);

	for (; *text; text++) {
		assert_true(*text == '\n' || (*text >= ' ' && *text <= '~'));
		column = *text == '\n' ? 0 : column + 1;
		assert_true(column < 100);
	}
}

static void test_rounds(void **state)
{
	struct run run;
	char *text;

	new_run(&run);
	assert_int_equal(cgwb_table_rounds(&run.table, &text), 0);
	assert_string_equal(text, "");
	free(text);

	add_results(&run);
	assert_int_equal(cgwb_table_rounds(&run.table, &text), 0);
	assert_golden(text, "rounds");
	free(text);
	free_run(&run);
}

static void test_means(void **state)
{
	struct run run;
	char *text;

	new_run(&run);
	add_results(&run);
	assert_int_equal(cgwb_table_means(&run.table, &text), 0);
	assert_golden(text, "means");
	free(text);
	free_run(&run);
}

static void test_change(void **state)
{
	struct run run;
	char *text;

	new_run(&run);
	add_results(&run);
	assert_int_equal(cgwb_table_change(&run.table, "stock", "mapping", &text), 0);
	assert_golden(text, "change");
	free(text);

	/* One pair: no interval. */
	assert_int_equal(cgwb_table_change(&run.table, "floor", "mapping", &text), 0);
	assert_golden(text, "change-one");
	free(text);
	free_run(&run);
}

static void test_writes(void **state)
{
	struct run run;
	char *text;

	new_run(&run);
	add_results(&run);
	assert_int_equal(cgwb_table_writes(&run.table, "hot_gib", &text), 0);
	assert_golden(text, "writes");
	free(text);
	free_run(&run);
}

static struct cgwb_published *made_up(void)
{
	static const char figures[] =
		"{\"about\": \"x\", \"v4\": {\"source\": \"a list\", \"policy\": \"mapping\","
		" \"rounds\": ["
		"  {\"base\": {\"seconds\": 110, \"hot_gib\": 7},"
		"   \"patched\": {\"seconds\": 88, \"hot_gib\": 1.5}},"
		"  {\"base\": {\"seconds\": 100, \"hot_gib\": 5, \"warn\": 0},"
		"   \"patched\": {\"seconds\": 88, \"hot_gib\": 1.7}},"
		"  {\"base\": {\"seconds\": 999, \"hot_gib\": 99, \"warn\": 1},"
		"   \"patched\": {\"seconds\": 1, \"hot_gib\": 0}}]},"
		" \"v3\": {\"policy\": \"skip\", \"rounds\": ["
		"  {\"base\": {\"p99_ms\": 1434}, \"skip\": {\"p99_ms\": 480}}]},"
		" \"none\": {\"source\": \"no rounds\"}}";
	struct cgwb_published *published = NULL;
	char path[] = "/tmp/cgwb-published-XXXXXX";
	FILE *stream = fdopen(mkstemp(path), "w");

	fputs(figures, stream);
	fclose(stream);
	assert_int_equal(cgwb_published_read(path, &published, NULL), 0);
	remove(path);
	return published;
}

static void test_published_get(void **state)
{
	struct cgwb_published *published = made_up();
	struct cgwb_published_range range;
	struct cgwb_error error = CGWB_ERROR_INIT;

	/* The round with a warning does not count, on either side. */
	assert_int_equal(cgwb_published_get(published, "v4", false, "seconds", &range), 0);
	assert_true(range.n == 2 && range.least == 100 && range.most == 110 && range.mean == 105);
	assert_int_equal(cgwb_published_get(published, "v4", true, "hot_gib", &range), 0);
	assert_true(range.n == 2 && range.least == 1.5 && range.most == 1.7);
	/* The patched side under its policy's name */
	assert_int_equal(cgwb_published_get(published, "v3", true, "p99_ms", &range), 0);
	assert_true(range.n == 1 && range.mean == 480);
	assert_int_equal(cgwb_published_get(published, "v3", true, "seconds", &range), -ENOENT);
	assert_int_equal(cgwb_published_get(published, "none", true, "seconds", &range), -ENOENT);
	assert_int_equal(cgwb_published_get(published, "v5", true, "seconds", &range), -ENOENT);

	assert_int_equal(cgwb_published_check(published, "v4", NULL), 0);
	assert_int_equal(cgwb_published_check(published, "about", NULL), -ENOENT);
	assert_int_equal(cgwb_published_check(published, "nune", &error), -ENOENT);
	assert_string_equal(error.text, "there are no published figures nune");
	assert_string_equal(error.nearest, "none");
	cgwb_error_done(&error);
	cgwb_published_free(published);
}

static void test_published(void **state)
{
	struct cgwb_published *published = made_up();
	struct run run;
	char *text;

	new_run(&run);
	/* Nothing has run: nothing to print. */
	assert_int_equal(cgwb_table_published(&run.table, published, "v4", &text), 0);
	assert_string_equal(text, "");
	free(text);

	/* Only the quick form has run, which the published figures are not of. */
	outcome_add_quick(&run.results, "stock", 9, MEASURES(1, 1, 1, 1, 1, 1, 1, 1));
	outcome_add_quick(&run.results, "mapping", 9, MEASURES(1, 1, 1, 1, 1, 1, 1, 1));
	assert_int_equal(cgwb_table_published(&run.table, published, "v4", &text), 0);
	assert_string_equal(text, "");
	free(text);
	cgwb_results_done(&run.results);

	add_results(&run);
	assert_int_equal(cgwb_table_published(&run.table, published, "v4", &text), 0);
	assert_golden(text, "published");
	free(text);
	/* No variant with that policy */
	assert_int_equal(cgwb_table_published(&run.table, published, "v3", &text), 0);
	assert_string_equal(text, "");
	free(text);
	cgwb_published_free(published);
	free_run(&run);
}

static void test_published_bad(void **state)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_published *published;

	assert_int_equal(cgwb_published_read("/proc/nonexistent", &published, &error), -ENOENT);
	assert_string_equal(error.text,
			    "published figures /proc/nonexistent: No such file or directory");
	cgwb_error_done(&error);
	assert_int_equal(cgwb_published_read("/dev/null", &published, &error), -EINVAL);
	assert_string_equal(error.text, "this is not the file of published figures");
	cgwb_error_done(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),	      cmocka_unit_test(test_means),
		cmocka_unit_test(test_change),	      cmocka_unit_test(test_writes),
		cmocka_unit_test(test_published_get), cmocka_unit_test(test_published),
		cmocka_unit_test(test_published_bad),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
