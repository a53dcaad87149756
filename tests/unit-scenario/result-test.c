// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Result files: what is in them, that they stay the same, and that a bad one is refused by name.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/files.h"
#include "libcgwb/result.h"

#define CELL                                                                                       \
	"{\"schema\": 1, \"scenario\": \"overwrite\", \"variant\": \"mapping\", \"seed\": 2,"      \
	" \"quick\": true, \"measures\": [{\"name\": \"hot_gib\"}, {\"name\": \"files\"}]}"
#define INPUTS "{\"cell\": \"sha256:aa\", \"modules\": {\"cgwb\": \"sha256:bb\"}}"
#define GUEST                                                                                      \
	"{\"virtual_s\": 170.9, \"status\": \"ok\", \"programs\": {\"fio\": \"3.33\"},"            \
	" \"details\": {\"x\": [1, 2.5]},"                                                         \
	" \"measures\": {\"files\": 23104, \"extra\": 7, \"hot_gib\": 2.6400000000000001,"         \
	" \"p99_ms\": null, \"seconds\": 88.431},"                                                 \
	" \"kernel\": {\"release\": \"6.1.0\"}, \"boot_s\": 3.0}"

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

/* The error's text, or "" with a result. The caller frees both. */
static char *new_result(const char *guest_text, unsigned int warn, const char *lab_error,
			struct cgwb_result **ret_result)
{
	json_t *cell = load(CELL), *inputs = load(INPUTS);
	json_t *guest = guest_text ? load(guest_text) : NULL;
	struct cgwb_outcome outcome = {
		.cell = cell,
		.inputs = inputs,
		.guest = guest,
		.warn = warn,
		.error = lab_error,
	};
	struct cgwb_error error = CGWB_ERROR_INIT;
	int err = cgwb_result_new(&outcome, ret_result, &error);
	char *line = err ? cgwb_error_line(&error, err) : strdup("");

	cgwb_error_done(&error);
	json_decref(cell);
	json_decref(inputs);
	json_decref(guest);
	return line;
}

static struct cgwb_result *good_result(void)
{
	struct cgwb_result *result = NULL;
	char *line = new_result(GUEST, 0, NULL, &result);

	assert_string_equal(line, "");
	free(line);
	return result;
}

/* A file of its own for each test. */
static char *new_path(void)
{
	char *path = strdup("/tmp/cgwb-result-XXXXXX");

	close(mkstemp(path));
	return path;
}

static void free_path(char *path)
{
	unlink(path);
	free(path);
}

/* The order of keys is that of the format, whatever the guest's is. */
static void test_format(void **state)
{
	struct cgwb_result *result = good_result();
	char *path = new_path(), *text, *digest;

	assert_int_equal(cgwb_result_write(result, path, NULL), 0);
	assert_int_equal(cgwb_read_file(path, &text, NULL), 0);
	digest = strstr(text, "\"sha256:");
	digest = strstr(digest + 1, "\"sha256:");
	digest = strstr(digest + 1, "\"sha256:");
	assert_int_equal(strspn(digest + 8, "0123456789abcdef"), 64);
	*digest = '\0';
	assert_string_equal(text, "{\n"
				  "  \"schema\": 1,\n"
				  "  \"scenario\": \"overwrite\",\n"
				  "  \"variant\": \"mapping\",\n"
				  "  \"seed\": 2,\n"
				  "  \"quick\": true,\n"
				  "  \"status\": \"ok\",\n"
				  "  \"kernel\": {\n"
				  "    \"release\": \"6.1.0\"\n"
				  "  },\n"
				  "  \"inputs\": {\n"
				  "    \"cell\": \"sha256:aa\",\n"
				  "    \"modules\": {\n"
				  "      \"cgwb\": \"sha256:bb\"\n"
				  "    }\n"
				  "  },\n"
				  "  \"programs\": {\n"
				  "    \"fio\": \"3.33\"\n"
				  "  },\n"
				  "  \"measures\": {\n"
				  "    \"seconds\": 88.431,\n"
				  "    \"p99_ms\": null,\n"
				  "    \"hot_gib\": 2.64,\n"
				  "    \"files\": 23104,\n"
				  "    \"extra\": 7,\n"
				  "    \"warn\": 0\n"
				  "  },\n"
				  "  \"details\": {\n"
				  "    \"x\": [\n"
				  "      1,\n"
				  "      2.5\n"
				  "    ]\n"
				  "  },\n"
				  "  \"boot_s\": 3.0,\n"
				  "  \"virtual_s\": 170.9,\n"
				  "  \"digest\": ");
	free(text);
	free_path(path);
	cgwb_result_free(result);
}

static void test_accessors(void **state)
{
	struct cgwb_result *result = good_result();
	double value;

	assert_string_equal(cgwb_result_scenario(result), "overwrite");
	assert_string_equal(cgwb_result_variant(result), "mapping");
	assert_int_equal(cgwb_result_seed(result), 2);
	assert_true(cgwb_result_quick(result));
	assert_null(cgwb_result_error(result));
	assert_true(cgwb_result_ok(result));
	assert_true(cgwb_result_usable(result));
	assert_int_equal(cgwb_result_measure(result, "hot_gib", &value), 0);
	assert_true(value == 2.64);
	/* `n/a` in both cases */
	assert_int_equal(cgwb_result_measure(result, "p99_ms", &value), -ENOENT);
	assert_int_equal(cgwb_result_measure(result, "iops", &value), -ENOENT);
	cgwb_result_free(result);
}

static void test_status(void **state)
{
	static const struct {
		const char *guest;
		unsigned int warn;
		const char *lab_error;
		bool ok, usable;
		const char *error;
	} cases[] = {
		{ GUEST, 0, NULL, true, true, NULL },
		{ GUEST, 2, NULL, true, false, NULL },
		{ GUEST, 0, "the disk is full", false, false, "the disk is full" },
		{ NULL, 0, NULL, false, false, "the guest ended without a result" },
		{ NULL, 1, "panic", false, false, "panic" },
		{ "{\"status\": \"failed\", \"error\": \"mkfs: no space\"}", 0, NULL, false, false,
		  "mkfs: no space" },
		{ "{\"status\": \"failed\"}", 0, NULL, false, false,
		  "the guest failed without saying why" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cgwb_result *result;
		char *line = new_result(cases[i].guest, cases[i].warn, cases[i].lab_error, &result);

		assert_string_equal(line, "");
		free(line);
		assert_int_equal(cgwb_result_ok(result), cases[i].ok);
		assert_int_equal(cgwb_result_usable(result), cases[i].usable);
		assert_int_equal(cgwb_result_warn(result), cases[i].warn);
		if (cases[i].error)
			assert_string_equal(cgwb_result_error(result), cases[i].error);
		else
			assert_null(cgwb_result_error(result));
		cgwb_result_free(result);
	}
}

static void test_bad_guest(void **state)
{
	static const struct {
		const char *guest;
		const char *error;
	} cases[] = {
		{ "{}", "the guest's result has no status" },
		{ "[]", "the guest's result has no status" },
		{ "{\"status\": 0}", "the guest's result has no status" },
		{ "{\"status\": \"ok\"}", "the guest's result has no measures" },
		{ "{\"status\": \"ok\", \"measures\": []}", "the guest's result has no measures" },
		{ "{\"status\": \"ok\", \"measures\": {\"seconds\": \"88\"}}",
		  "the guest's result: the measure seconds is no number" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cgwb_result *result;
		char *line = new_result(cases[i].guest, 0, NULL, &result);

		assert_string_equal(line, cases[i].error);
		free(line);
	}
}

/* Written, read and written again: the same bytes. */
static void test_round_trip(void **state)
{
	static const char *const guests[] = {
		GUEST,
		/* sums that have no short decimal form */
		"{\"status\": \"ok\", \"measures\": {\"seconds\": 0.30000000000000004, "
		"\"hot_gib\": 3.3333333333333335, \"iops\": 1e-7, \"mib_s\": 1e300, \"files\": -0.0}}",
		NULL,
	};

	for (size_t i = 0; i < sizeof(guests) / sizeof(*guests); i++) {
		char *path = new_path(), *first, *second, *line;
		struct cgwb_result *result, *again;

		line = new_result(guests[i], 0, NULL, &result);
		assert_string_equal(line, "");
		free(line);
		assert_int_equal(cgwb_result_write(result, path, NULL), 0);
		assert_int_equal(cgwb_read_file(path, &first, NULL), 0);
		assert_int_equal(cgwb_result_read(path, &again, NULL), 0);
		assert_true(json_equal(cgwb_result_json(result), cgwb_result_json(again)));
		assert_int_equal(cgwb_result_write(again, path, NULL), 0);
		assert_int_equal(cgwb_read_file(path, &second, NULL), 0);
		assert_string_equal(first, second);
		free(first);
		free(second);
		free_path(path);
		cgwb_result_free(result);
		cgwb_result_free(again);
	}
}

/* The error of reading a file with that content, without its path. */
static char *read_error(const char *text, size_t size)
{
	char *path = new_path(), *line = NULL, *cut;
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_result *result = NULL;
	int err;

	assert_int_equal(cgwb_write_file(path, text, size), 0);
	err = cgwb_result_read(path, &result, &error);
	cgwb_result_free(result);
	if (err) {
		line = cgwb_error_line(&error, err);
		assert_memory_equal(line, path, strlen(path));
		cut = strdup(line + strlen(path));
		free(line);
		line = cut;
	}
	cgwb_error_done(&error);
	free_path(path);
	return line ? line : strdup("");
}

static void replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);

	assert_non_null(at);
	assert_int_equal(strlen(from), strlen(to));
	memcpy(at, to, strlen(to));
}

static void test_bad_files(void **state)
{
	static const struct {
		const char *from, *to; /* of the same length; "" cuts the file off there */
		const char *error;
	} cases[] = {
		{ "88.431", "68.431", ": the result has been changed since it was written" },
		{ "\"ok\"", "\"OK\"", ": the result has been changed since it was written" },
		{ "6.1.0", "6.1.1", ": the result has been changed since it was written" },
		{ "\"schema\": 1", "\"schema\": 0",
		  ": a result of version 0, and only version 1 can be read" },
		{ "\"schema\": 1", "\"schema\": 2",
		  ": a result of version 2, and only version 1 can be read" },
		{ "\"schema\": 1", "\"schena\": 1", ": this is no result of a cell" },
		{ "\"variant\"", "\"vraiant\"", ": this is no result of a cell: no variant" },
		{ "\"digest\"", "\"digits\"", ": this is no result of a cell: no digest" },
		{ "88.431", "\"fast\"", ": the result has been changed since it was written" },
	};
	struct cgwb_result *result = good_result();
	char *path = new_path(), *text, *line;
	size_t size;

	assert_int_equal(cgwb_result_write(result, path, NULL), 0);
	assert_int_equal(cgwb_read_file(path, &text, &size), 0);
	line = read_error(text, size);
	assert_string_equal(line, "");
	free(line);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *copy = strdup(text);

		replace(copy, cases[i].from, cases[i].to);
		line = read_error(copy, size);
		assert_string_equal(line, cases[i].error);
		free(line);
		free(copy);
	}

	/* Cut off anywhere but before the last newline, it is not JSON any more. */
	for (size_t cut = 0; cut < size - 1; cut++) {
		line = read_error(text, cut);
		assert_non_null(strstr(line, ": the result is cut off or damaged"));
		free(line);
	}
	free(text);
	free_path(path);
	cgwb_result_free(result);
}

static void test_missing(void **state)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_result *result = good_result();
	char *line;
	int err;

	err = cgwb_result_read("/proc/nonexistent/r.json", &result, &error);
	line = cgwb_error_line(&error, err);
	assert_string_equal(line, "result /proc/nonexistent/r.json: No such file or directory");
	free(line);
	cgwb_error_done(&error);
	assert_int_equal(cgwb_result_write(result, "/proc/nonexistent/r.json", &error), -ENOENT);
	cgwb_error_done(&error);
	cgwb_result_free(result);
}

/* What decides whether a finished cell is reused. */
static void test_is_of(void **state)
{
	struct cgwb_result *result = good_result();
	json_t *cell = load(CELL), *inputs = load(INPUTS);

	assert_true(cgwb_result_is_of(result, cell, inputs));
	json_object_set_new(cell, "seed", json_integer(3));
	assert_false(cgwb_result_is_of(result, cell, inputs));
	json_object_set_new(cell, "seed", json_integer(2));
	json_object_set_new(inputs, "cell", json_string("sha256:ab"));
	assert_false(cgwb_result_is_of(result, cell, inputs));
	json_decref(cell);
	json_decref(inputs);
	cgwb_result_free(result);
}

/* A later result of the same cell takes the place of the earlier one. */
static void test_results(void **state)
{
	struct cgwb_results results = { 0 };
	struct cgwb_result *first = good_result(), *second = good_result();

	assert_null(cgwb_results_find(&results, "mapping", 2));
	assert_int_equal(cgwb_results_add(&results, first), 0);
	assert_int_equal(cgwb_results_add(&results, second), 0);
	assert_int_equal(results.n, 1);
	assert_ptr_equal(cgwb_results_find(&results, "mapping", 2), second);
	assert_null(cgwb_results_find(&results, "mapping", 1));
	assert_null(cgwb_results_find(&results, "stock", 2));
	cgwb_results_done(&results);
	assert_int_equal(results.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),	   cmocka_unit_test(test_accessors),
		cmocka_unit_test(test_status),	   cmocka_unit_test(test_bad_guest),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_missing),	   cmocka_unit_test(test_is_of),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
