// SPDX-License-Identifier: GPL-2.0-or-later
/* The cell: read as docs/cell.md has it, and every way of being wrong is named. */
#include "unit.h"

#include <errno.h>

#include "cell.h"
#include "engine.h"
#include "engine-files.h"

static const char good[] =
	"{\"schema\": 1, \"scenario\": \"overwrite\", \"variant\": \"mapping\", \"seed\": 3,"
	" \"quick\": false, \"kernel\": \"6.1\", \"limit_virtual_ns\": 900000000000,"
	" \"machine\": {\"memory_bytes\": 8589934592, \"cpus\": 1},"
	" \"policy\": {\"name\": \"mapping\", \"parameters\": {\"a\": \"1\"}},"
	" \"disks\": [{\"name\": \"nb0\", \"base_bytes\": 10737418240, \"size_bytes\": 8589934592,"
	" \"write_bps\": 209715200, \"read_bps\": 0, \"iops\": 0, \"latency_ns\": 80000,"
	" \"depth\": 1023, \"scheduler\": \"none\", \"wbt_lat_us\": 0, \"max_sectors_kb\": 1024}],"
	" \"mounts\": [{\"path\": \"/data\", \"disk\": \"nb0\", \"type\": \"ext4\", \"options\": \"\","
	" \"mkfs\": [\"mkfs.ext4\", \"-q\"]}],"
	" \"sysctl\": {\"vm.dirty_expire_centisecs\": \"3000\"},"
	" \"files\": [{\"path\": \"/data/hot.data\", \"size_bytes\": 268435456}],"
	" \"cgroups\": [{\"path\": \"/dirtier0\", \"group\": \"/dirtier\", \"name\": \"dirtier0\","
	" \"settings\": {\"memory.high\": \"33554432\", \"io.max\": \"nb0 wbps=2097152\"}}],"
	" \"jobs\": ["
	"{\"name\": \"hot\", \"group\": \"hot\", \"engine\": \"fio\", \"cgroup\": null,"
	" \"start_ns\": 412345678, \"measured\": true, \"fio\": [[\"rw\", \"write\"]]},"
	"{\"name\": \"dirtier0\", \"group\": \"dirtier\", \"engine\": \"files\","
	" \"cgroup\": \"/dirtier0\", \"start_ns\": 0, \"duration_ns\": 150000000000,"
	" \"directory\": \"/data/dirtier0\", \"file_bytes\": 100, \"files_per_directory\": 500,"
	" \"data_every\": 50, \"data_bytes\": 1048576, \"data_span_bytes\": 268435456, \"files\": 0,"
	" \"files_per_s\": 0, \"xattr_bytes\": 0, \"seed\": 77},"
	"{\"name\": \"t\", \"group\": \"t\", \"engine\": \"exec\", \"cgroup\": null, \"start_ns\": 0,"
	" \"duration_ns\": 0, \"argv\": [\"/bin/true\"]}],"
	" \"measures\": [{\"name\": \"hot_gib\", \"kind\": \"file-writes\", \"file\": \"/data/hot.data\"},"
	"{\"name\": \"dirtier_files\", \"kind\": \"job-count\", \"job\": \"dirtier\"}]}";

static void test_good(void **unused)
{
	struct error error = { "" };
	struct cell cell = { 0 };

	assert_int_equal(cell_parse(&cell, good, &error), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(cell.seed, 3);
	assert_int_equal(cell.limit_ns, 900000000000);
	assert_string_equal(cell.policy, "mapping");
	assert_int_equal(cell.n_disks, 1);
	assert_int_equal(cell.disks[0].base_bytes, 10737418240);
	assert_ptr_equal(cell_disk(&cell, "nb0"), &cell.disks[0]);
	assert_null(cell_disk(&cell, "nb1"));
	assert_int_equal(cell.n_jobs, 3);
	assert_null(cell.jobs[0].cgroup);
	assert_true(cell.jobs[0].measured);
	assert_int_equal(cell.jobs[0].start_ns, 412345678);
	assert_ptr_equal(cell.jobs[1].engine, &engine_files);
	assert_string_equal(cell.jobs[1].cgroup, "/dirtier0");
	assert_int_equal(cell.jobs[1].seed, 77);
	assert_int_equal(((struct files_plan *)cell.jobs[1].parameters)->data_bytes, 1048576);
	assert_ptr_equal(cell.jobs[2].engine, &engine_exec);
	assert_int_equal(cell.n_measures, 2);
	assert_int_equal(cell.measures[1].kind, CGWB_JOB_COUNT);
	cell_done(&cell);
}

/* The good cell with the first @from replaced by @to. */
static char *replaced(const char *from, const char *to)
{
	const char *at = strstr(good, from);
	char *text = calloc(1, sizeof(good) + strlen(to));

	assert_non_null(at);
	assert_non_null(text);
	memcpy(text, good, at - good);
	strcat(text, to);
	strcat(text, at + strlen(from));
	return text;
}

static void test_no_policy(void **unused)
{
	char *text = replaced("{\"name\": \"mapping\", \"parameters\": {\"a\": \"1\"}}", "null");
	struct error error = { "" };
	struct cell cell = { 0 };

	assert_int_equal(cell_parse(&cell, text, &error), 0);
	assert_null(cell.policy);
	cell_done(&cell);
	free(text);
}

static void test_bad(void **unused)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{ "\"schema\": 1", "\"schema\": 2", "schema 2, and this guest reads 1" },
		{ "\"schema\": 1, ", "", "the cell has no 'schema'" },
		{ "{\"schema\"", "{\"more\": 1, \"schema\"", "the cell: unknown key 'more'" },
		{ "{\"schema\"", "[{\"schema\"", "line 1" },
		{ "{\"schema\"", "{\"seed\": 1, \"schema\"", "duplicate" },
		{ "\"seed\": 3", "\"seed\": -3", "'seed' is not a whole number of at least 0" },
		{ "\"seed\": 3", "\"seed\": 3.5", "'seed' is not a whole number of at least 0" },
		{ "\"depth\": 1023", "\"depth\": \"x\"",
		  "disks[0]: 'depth' is not a whole number" },
		{ "\"depth\": 1023, ", "", "disks[0] has no 'depth'" },
		{ "\"wbt_lat_us\"", "\"wbt\"", "disks[0]: unknown key 'wbt'" },
		{ "\"disk\": \"nb0\"", "\"disk\": \"nb9\"", "mounts[0]: there is no disk 'nb9'" },
		{ "\"-q\"", "7", "mounts[0]: mkfs[1] is not a string" },
		{ "\"3000\"", "3000", "sysctl 'vm.dirty_expire_centisecs' is not a string" },
		{ "\"33554432\"", "33554432",
		  "cgroups[0]: the setting 'memory.high' is not a string" },
		{ "\"path\": \"/dirtier0\"", "\"path\": \"/../x\"",
		  "'/../x' is not a path of a cgroup" },
		{ "\"a\": \"1\"", "\"a\": 1", "the parameter 'a' is not a string" },
		{ "\"engine\": \"fio\"", "\"engine\": \"fia\"",
		  "jobs[0]: there is no engine 'fia'" },
		{ "\"cgroup\": \"/dirtier0\"", "\"cgroup\": \"/x\"",
		  "jobs[1]: there is no cgroup '/x'" },
		{ "\"name\": \"t\"", "\"name\": \"hot\"", "jobs[2]: a second job 'hot'" },
		{ "\"name\": \"t\"", "\"name\": \"a/b\"",
		  "jobs[2]: 'a/b' cannot be the name of a job" },
		{ "\"seed\": 77", "\"measured\": true",
		  "jobs[1]: a second measured job beside 'hot'" },
		{ "[[\"rw\", \"write\"]]", "[[\"rw\"]]", "jobs[0]: fio[0] is not a pair" },
		{ "[[\"rw\", \"write\"]]", "[[\"rw\", \"a\\nb\"]]",
		  "jobs[0]: fio[0] is not a pair" },
		{ "\"xattr_bytes\": 0", "\"xattr_bytes\": 7",
		  "'xattr_bytes' is not in 8 to 65536" },
		{ "\"files_per_directory\": 500", "\"files_per_directory\": 0",
		  "'files_per_directory' is 0" },
		{ "\"data_span_bytes\": 268435456", "\"data_span_bytes\": 5",
		  "'data_span_bytes' does not hold one 'data_bytes'" },
		{ "\"duration_ns\": 150000000000", "\"duration_ns\": 0",
		  "jobs[1]: neither 'files' nor 'duration_ns' says when it ends" },
		{ "\"seed\": 77", "\"argv\": []", "jobs[1]: unknown key 'argv'" },
		{ "[\"/bin/true\"]", "[]", "jobs[2]: 'argv' is empty" },
		{ "[\"/bin/true\"]", "[1]", "jobs[2]: argv[0] is not a string" },
		{ "\"name\": \"hot_gib\"", "\"name\": \"p99_ms\"",
		  "measures[0]: every cell has a measure 'p99_ms' already" },
		{ "\"name\": \"dirtier_files\"", "\"name\": \"hot_gib\"",
		  "measures[1]: a second measure 'hot_gib'" },
		{ "\"job-count\", \"job\"", "\"job-count\", \"file\"",
		  "measures[1]: unknown key 'file'" },
		{ "\"job-count\", \"job\"", "\"pressure\", \"resource\": \"io\", \"cgroup\"",
		  "measures[1] has no 'share'" },
		{ "\"job-count\"", "\"job-cuont\"",
		  "measures[1]: there is no kind of measure 'job-cuont'" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = replaced(cases[i].from, cases[i].to);
		struct error error = { "" };
		struct cell cell = { 0 };

		assert_int_equal(cell_parse(&cell, text, &error), -EINVAL);
		if (!strstr(error.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", error.text, cases[i].says);
		assert_int_equal(strncmp(error.text, "cell: ", 6), 0);
		cell_done(&cell);
		free(text);
	}
}

/* Cut anywhere, it is an error and nothing else. */
static void test_cut(void **unused)
{
	size_t n;

	for (n = 0; n < sizeof(good) - 1; n += 3) {
		struct error error = { "" };
		struct cell cell = { 0 };
		char *text = strndup(good, n);

		assert_int_equal(cell_parse(&cell, text, &error), -EINVAL);
		assert_string_not_equal(error.text, "");
		cell_done(&cell);
		free(text);
	}
}

static void test_no_file(void **unused)
{
	struct error error = { "" };
	struct cell cell = { 0 };

	assert_int_equal(cell_read(&cell, "/proc/nonexistent/cell.json", &error), -ENOENT);
	assert_string_equal(
		error.text,
		"cannot read the cell /proc/nonexistent/cell.json: No such file or directory");
	cell_done(&cell);
}

/* The first error is kept, on one line. */
static void test_error(void **unused)
{
	struct error error = { "" };

	assert_int_equal(error_set(&error, -EIO, "a\nb\tc %d", 7), -EIO);
	assert_string_equal(error.text, "a b c 7");
	assert_int_equal(error_errno(&error, -EINVAL, "later"), -EINVAL);
	assert_string_equal(error.text, "a b c 7");
	error = (struct error){ "" };
	error_errno(&error, -ENOSPC, "cannot write %s", "x");
	assert_string_equal(error.text, "cannot write x: No space left on device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	cmocka_unit_test(test_no_policy),
		cmocka_unit_test(test_bad),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_no_file), cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests_name("cell", tests, NULL, NULL);
}
