// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is read from a scenario, how overrides change it, and the scenarios that the project ships.
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

#include "libcgwb/cell.h"
#include "libcgwb/expect.h"
#include "libcgwb/files.h"
#include "libcgwb/published.h"
#include "libcgwb/schema.h"
#include "text.h"

#define JOBS                                                                                       \
	"[cgroup /dirtier]\ncount = 2\nmemory.high = 8M\n"                                         \
	"[job dirtier]\nengine = files\ncgroup = /dirtier\ndirectory = /data/%c\nduration = 1s\n"  \
	"[job hot]\nengine = fio\nfilename = /data/hot.data\nrw = write\nsize = 1M\n"              \
	"[measure dirtier_s]\nkind = throttled\ncgroup = /dirtier\n"                               \
	"[measure dirtier_files]\nkind = job-count\njob = dirtier\n"

#define ALL SCENARIO "policy = stock\n" DISK MOUNT JOBS

static const char *data_dir(void)
{
	return getenv("CGWB_TEST_DATA");
}

static struct cgwb_cell *new_cell(const struct cgwb_scenario *scenario, const char *variant,
				  bool quick)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_cell *cell = NULL;
	int err = cgwb_cell_new(scenario, variant, 1, quick, &cell, &error);

	if (err)
		fail_msg("%s: %s", variant, error.text);
	return cell;
}

/* A value of the cell by its path, as compact JSON. The caller frees it. */
static char *value_at(const json_t *json, const char *path)
{
	char *copy = strdup(path), *rest = copy, *word;

	while (json && (word = strtok_r(rest, " ", &rest))) {
		if (json_is_array(json))
			json = json_array_get(json, atoi(word));
		else
			json = json_object_get(json, word);
	}
	free(copy);
	return json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("absent");
}

/* What one override does to one value of the cell. */
static const struct {
	const char *override;
	const char *path;
	const char *value;
} overrides[] = {
	{ "", "policy", "{\"name\":\"stock\",\"parameters\":{}}" },
	{ "policy = none", "policy", "null" },
	{ "policy = skip", "policy name", "\"skip\"" },
	{ "policy_parameters = dedupe=1 slice_ms=20", "policy parameters",
	  "{\"dedupe\":\"1\",\"slice_ms\":\"20\"}" },
	{ "kernel = 6.12", "kernel", "\"6.12\"" },
	{ "scenario.kernel = 6.12", "kernel", "\"6.12\"" },
	{ "limit = 2m", "limit_virtual_ns", "120000000000" },
	{ "machine.memory = 1G", "machine memory_bytes", "1073741824" },
	{ "sysctl.vm.dirty_ratio = 60", "sysctl", "{\"vm.dirty_ratio\":\"60\"}" },
	{ "nb0.write = 100M", "disks 0 write_bps", "104857600" },
	{ "disk nb0.write = 100M", "disks 0 write_bps", "104857600" },
	{ "nb0.wbt = 2ms", "disks 0 wbt_lat_us", "2000" },
	{ "nb0.max_sectors = 128K", "disks 0 max_sectors_kb", "128" },
	{ "data.type = xfs", "mounts 0 type", "\"xfs\"" },
	{ "/data.options = noatime", "mounts 0 options", "\"noatime\"" },
	{ "mount /data.options = noatime", "mounts 0 options", "\"noatime\"" },
	{ "dirtier.count = 1", "cgroups 1", "absent" },
	{ "dirtier.count = 1", "jobs 0 name", "\"dirtier0\"" },
	{ "dirtier.count = 3", "cgroups 2 path", "\"/dirtier2\"" },
	{ "dirtier.count = 3", "jobs 2 directory", "\"/data/dirtier2\"" },
	{ "dirtier.count =", "cgroups 0 path", "\"/dirtier\"" },
	{ "dirtier.count =", "jobs 0 directory", "\"/data/dirtier\"" },
	{ "dirtier.memory.high = 16M", "cgroups 0 settings memory.high", "\"16777216\"" },
	{ "/dirtier.memory.high = max", "cgroups 1 settings memory.high", "\"max\"" },
	{ "cgroup /dirtier.memory.max = 1G", "cgroups 0 settings",
	  "{\"memory.high\":\"8388608\",\"memory.max\":\"1073741824\"}" },
	{ "dirtier.memory.high =", "cgroups 0 settings", "{}" },
	{ "dirtier.io.max = nb0 wbps=2M riops=max", "cgroups 0 settings io.max",
	  "\"nb0 wbps=2097152 riops=max\"" },
	{ "dirtier.io.latency = nb0 target=10ms", "cgroups 0 settings io.latency",
	  "\"nb0 target=10000\"" },
	{ "dirtier.io.weight = default 50", "cgroups 0 settings io.weight", "\"default 50\"" },
	{ "dirtier.duration = 7s", "jobs 0 duration_ns", "7000000000" },
	{ "dirtier.sync = yes", "jobs 0 sync", "true" },
	{ "job hot.rate = 5M", "jobs 2 fio 3", "[\"rate\",\"5M\"]" },
	{ "hot.rw = randwrite", "jobs 2 fio 1", "[\"rw\",\"randwrite\"]" },
	{ "hot.size =", "jobs 2 fio 2 0", "\"randseed\"" },
	{ "drop = dirtier", "cgroups", "[]" },
	{ "drop = dirtier", "jobs 0 name", "\"hot\"" },
	{ "drop = dirtier", "measures", "[]" },
	{ "drop = hot, dirtier", "jobs", "[]" },
};

static void test_overrides(void **state)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(overrides) / sizeof(*overrides); i++) {
		struct cgwb_scenario *scenario;
		struct cgwb_cell *cell;
		char text[1024], *value;

		snprintf(text, sizeof(text), "%s[variant v]\n%s\n", ALL, overrides[i].override);
		scenario = text_scenario(text);
		cell = new_cell(scenario, "v", false);
		value = value_at(cgwb_cell_json(cell), overrides[i].path);
		if (strcmp(value, overrides[i].value)) {
			print_error("%s: %s is %s, want %s\n", overrides[i].override,
				    overrides[i].path, value, overrides[i].value);
			wrong++;
		}
		free(value);
		cgwb_cell_free(cell);
		cgwb_scenario_free(scenario);
	}
	assert_int_equal(wrong, 0);
}

/* The quick form comes first, so that a variant has the last word. */
static void test_quick(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(
		ALL "[variant a]\n[variant b]\nnb0.write = 3M\n"
		    "[quick]\nseeds = 2\nvariants = b\nnb0.write = 1M\nhot.size = 512K\n");
	static const struct {
		const char *variant;
		bool quick;
		const char *write_bps;
	} cases[] = {
		{ "a", false, "0" },
		{ "a", true, "1048576" },
		{ "b", false, "3145728" },
		{ "b", true, "3145728" },
	};

	assert_int_equal(cgwb_scenario_seeds(scenario, false), 1);
	assert_int_equal(cgwb_scenario_seeds(scenario, true), 2);
	assert_string_equal(cgwb_scenario_variants(scenario, false)[0], "a");
	assert_string_equal(cgwb_scenario_variants(scenario, false)[1], "b");
	assert_null(cgwb_scenario_variants(scenario, false)[2]);
	assert_string_equal(cgwb_scenario_variants(scenario, true)[0], "b");
	assert_null(cgwb_scenario_variants(scenario, true)[1]);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cgwb_cell *cell = new_cell(scenario, cases[i].variant, cases[i].quick);
		char *value = value_at(cgwb_cell_json(cell), "disks 0 write_bps");

		assert_string_equal(value, cases[i].write_bps);
		free(value);
		cgwb_cell_free(cell);
	}
	cgwb_scenario_free(scenario);
}

static void test_accessors(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(
		"[scenario]\ntitle = A title\nsource = somewhere\nseeds = 3\n"
		"variants = s, m\npublished = one, two\nmeasured_job = hot\n" DISK MOUNT JOBS
		"title = files\n"
		"[variant m]\npolicy = mapping\n[variant f]\ndrop = dirtier\n"
		"[variant s]\npolicy = stock\n"
		"[expect]\nm.seconds <= s.seconds  ; faster\n(m.warn) == 0\n");
	const struct cgwb_expectation *const *expectations;

	assert_string_equal(cgwb_scenario_name(scenario), "t");
	assert_string_equal(cgwb_scenario_file(scenario), "t.ini");
	assert_string_equal(cgwb_scenario_title(scenario), "A title");
	assert_string_equal(cgwb_scenario_source(scenario), "somewhere");
	assert_int_equal(cgwb_scenario_seeds(scenario, true), 3);
	assert_string_equal(cgwb_scenario_all_variants(scenario)[1], "f");
	assert_string_equal(cgwb_scenario_variants(scenario, false)[1], "m");
	assert_string_equal(cgwb_scenario_base(scenario), "s");
	assert_string_equal(cgwb_scenario_policy(scenario, "m"), "mapping");
	assert_string_equal(cgwb_scenario_policy(scenario, "f"), "none");
	assert_string_equal(cgwb_scenario_published(scenario)[1], "two");
	assert_null(cgwb_scenario_published(scenario)[2]);
	assert_int_equal(cgwb_scenario_measures(scenario), 2);
	assert_string_equal(cgwb_scenario_measure_name(scenario, 1), "dirtier_files");
	assert_string_equal(cgwb_scenario_measure_title(scenario, 1), "files");
	assert_string_equal(cgwb_scenario_measure_kind(scenario, 0), "throttled");
	assert_string_equal(cgwb_scenario_measure_kind(scenario, 1), "job-count");
	assert_true(cgwb_scenario_has_measured_job(scenario));
	assert_int_equal(cgwb_scenario_expectations(scenario, &expectations), 2);
	assert_string_equal(cgwb_expectation_text(expectations[0]), "m.seconds <= s.seconds");
	assert_string_equal(cgwb_expectation_text(expectations[1]), "(m.warn) == 0");
	cgwb_scenario_free(scenario);
}

static char *add_error(struct cgwb_scenario *scenario, const char *name, const char *from,
		       const char *override)
{
	const char *const list[] = { override, NULL };
	struct cgwb_error error = CGWB_ERROR_INIT;
	int err = cgwb_scenario_add_variant(scenario, name, from, list, "--vary", &error);
	char *line = err ? cgwb_error_line(&error, err) : strdup("");

	cgwb_error_done(&error);
	return line;
}

/* Variants from a command line: checked as those of the file, and not there if they are wrong. */
static void test_add_variant(void **state)
{
	static const struct {
		const char *name, *from, *override, *error;
	} wrong[] = {
		{ "stock", NULL, "kernel=6.12", "--vary: there is already a variant stock" },
		{ "x", "stok", "kernel=6.12",
		  "t.ini: there is no variant stok; did you mean stock?" },
		{ "x", NULL, "kernel", "--vary: kernel: KEY=VALUE is wanted" },
		{ "x", NULL, "dirtier.cuont=4",
		  "--vary: dirtier.cuont: no such key: cuont; did you mean count?" },
		{ "x", NULL, "dirtier.count=0", "--vary: count = 0: it is at least 1" },
	};
	struct cgwb_scenario *scenario = text_scenario(ALL VARIANT "nb0.write = 1M\n");
	struct cgwb_cell *cell;
	char *text;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		text = add_error(scenario, wrong[i].name, wrong[i].from, wrong[i].override);
		assert_string_equal(text, wrong[i].error);
		free(text);
		assert_null(cgwb_scenario_all_variants(scenario)[1]);
	}

	text = add_error(scenario, "count-4", "stock", " dirtier.count = 4 ");
	assert_string_equal(text, "");
	free(text);
	assert_string_equal(cgwb_scenario_all_variants(scenario)[1], "count-4");

	cell = new_cell(scenario, "count-4", false);
	text = value_at(cgwb_cell_json(cell), "cgroups 3 path");
	assert_string_equal(text, "\"/dirtier3\"");
	free(text);
	text = value_at(cgwb_cell_json(cell), "disks 0 write_bps");
	assert_string_equal(text, "1048576");
	free(text);
	cgwb_cell_free(cell);
	cgwb_scenario_free(scenario);
}

/* What `show` prints for a variant is a scenario that makes the same cell. */
static void test_show_round_trip(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(
		ALL "[sysctl]\nvm.dirty_ratio = 30\n"
		    "[variant a]\npolicy = mapping\ndirtier.count = 3\n[quick]\nnb0.write = 1M\n");
	struct cgwb_scenario *shown;
	struct cgwb_cell *cell;
	char *text, *want, *got;

	assert_int_equal(cgwb_scenario_show(scenario, "a", true, &text, NULL), 0);
	shown = text_scenario(text);
	free(text);

	cell = new_cell(scenario, "a", true);
	json_object_set_new((json_t *)cgwb_cell_json(cell), "quick", json_false());
	want = cgwb_cell_text(cell);
	cgwb_cell_free(cell);
	cell = new_cell(shown, "a", false);
	got = cgwb_cell_text(cell);
	cgwb_cell_free(cell);
	assert_string_equal(got, want);

	free(want);
	free(got);
	cgwb_scenario_free(shown);
	cgwb_scenario_free(scenario);
}

static void test_show_all(void **state)
{
	struct cgwb_scenario *scenario =
		text_scenario(SCENARIO DISK VARIANT "[expect]\nstock.warn == 0\n");
	char *text;

	assert_int_equal(cgwb_scenario_show(scenario, NULL, false, &text, NULL), 0);
	assert_string_equal(text, "scenario  t\n"
				  "title     t\n"
				  "file      t.ini\n"
				  "runs      stock\n"
				  "seeds     1\n"
				  "expects   stock.warn == 0\n"
				  "\n[disk nb0]\nsize = 64M\n"
				  "\n[variant stock]\npolicy = stock\n");
	free(text);
	assert_int_equal(cgwb_scenario_show(scenario, "skip", false, &text, NULL), -EINVAL);
	cgwb_scenario_free(scenario);
}

static char *find_error(const char *name)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario = NULL;
	int err = cgwb_scenario_find(data_dir(), name, &scenario, &error);
	char *line = err ? cgwb_error_line(&error, err) : strdup("");

	cgwb_scenario_free(scenario);
	cgwb_error_done(&error);
	return line;
}

static void test_find(void **state)
{
	char *line = find_error("overwrite"), path[512];

	assert_string_equal(line, "");
	free(line);
	snprintf(path, sizeof(path), "%s/scenarios/overwrite.ini", data_dir());
	line = find_error(path);
	assert_string_equal(line, "");
	free(line);

	line = find_error("overwrit");
	assert_non_null(strstr(line, "there is no scenario overwrit in "));
	assert_non_null(strstr(line, "; did you mean overwrite?"));
	free(line);
	line = find_error("./overwrite.ini");
	assert_string_equal(line, "scenario ./overwrite.ini: No such file or directory");
	free(line);
	line = find_error("/");
	assert_string_equal(line, "scenario /: it is a folder");
	free(line);
	line = find_error("/dev/null");
	assert_string_equal(line, "scenario /dev/null: it is a device");
	free(line);
}

/* Every scenario of the project can be read, and what it names in published.json is there. */
static void test_shipped(void **state)
{
	struct cgwb_published *published;
	char path[512], **names;

	snprintf(path, sizeof(path), "%s/scenarios/published.json", data_dir());
	assert_int_equal(cgwb_published_read(path, &published, NULL), 0);
	assert_int_equal(cgwb_scenario_names(data_dir(), &names, NULL), 0);
	assert_non_null(names[0]);
	for (char **name = names; *name; name++) {
		struct cgwb_error error = CGWB_ERROR_INIT;
		struct cgwb_scenario *scenario = NULL;
		int err = cgwb_scenario_find(data_dir(), *name, &scenario, &error);

		if (err)
			fail_msg("%d: %s", err, error.text);
		assert_string_equal(cgwb_scenario_name(scenario), *name);
		for (const char *const *key = cgwb_scenario_published(scenario); *key; key++)
			assert_int_equal(cgwb_published_check(published, *key, NULL), 0);
		cgwb_scenario_free(scenario);
	}
	cgwb_names_free(names);
	cgwb_published_free(published);
}

static char *manual(void)
{
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/man/cgwb-scenario.5.scd", data_dir());
	assert_int_equal(cgwb_read_file(path, &text, NULL), 0);
	return text;
}

/* The example of the manual can be run as it stands. */
static void test_manual_example(void **state)
{
	char *text = manual(), *begin = strstr(text, "# EXAMPLE"), *end;
	struct cgwb_scenario *scenario;

	assert_non_null(begin);
	begin = strstr(begin, "```\n");
	assert_non_null(begin);
	begin += 4;
	end = strstr(begin, "```");
	assert_non_null(end);
	*end = '\0';
	scenario = text_scenario(begin);
	assert_string_equal(cgwb_scenario_base(scenario), "stock");
	cgwb_scenario_free(scenario);
	free(text);
}

/* Every key that may stand in a scenario is in the manual; fio has one of its own. */
static void test_manual_keys(void **state)
{
	static const char *const kinds[] = { "scenario", "machine", "disk",    "mount", "file",
					     "cgroup",	 "job",	    "measure", NULL };
	static const char *const engines[] = { "files", "pages", "exec", NULL };
	char *text = manual(), word[64];

	for (const char *const *kind = kinds; *kind; kind++) {
		const struct schema_key *key = schema_kind(*kind)->keys;

		for (; key->name; key++) {
			snprintf(word, sizeof(word), "*%s*", key->name);
			if (!strstr(text, word))
				fail_msg("the manual has no %s of [%s]", word, *kind);
		}
	}
	for (const char *const *engine = engines; *engine; engine++) {
		const struct schema_key *key = schema_engine_keys(*engine);

		for (; key->name; key++) {
			snprintf(word, sizeof(word), "*%s*", key->name);
			if (!strstr(text, word))
				fail_msg("the manual has no %s of the engine %s", word, *engine);
		}
	}
	free(text);
}

/* Where the programs of exec jobs come from. */
static void test_programs(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(SCENARIO VARIANT);
	struct cgwb_error error = CGWB_ERROR_INIT;
	char folder[] = "/tmp/cgwb-test-XXXXXX", program[64], *path, *line;
	int err;

	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/cgwb-some-test", folder);
	fclose(fopen(program, "w"));

	/* It is not a program yet. */
	setenv("CGWB_PROGRAM_PATH", folder, 1);
	err = cgwb_scenario_program(scenario, "cgwb-some-test", &path, &error);
	line = cgwb_error_line(&error, err);
	assert_string_equal(line, "t.ini: program cgwb-some-test: No such file or directory");
	free(line);
	cgwb_error_done(&error);

	chmod(program, 0755);
	assert_int_equal(cgwb_scenario_program(scenario, "cgwb-some-test", &path, NULL), 0);
	assert_string_equal(path, program);
	free(path);
	assert_int_equal(cgwb_scenario_program(scenario, program, &path, NULL), 0);
	assert_string_equal(path, program);
	free(path);

	unsetenv("CGWB_PROGRAM_PATH");
	assert_int_equal(cgwb_scenario_program(scenario, "cgwb-some-test", &path, NULL), -ENOENT);
	assert_int_equal(cgwb_scenario_program(scenario, "sh", &path, NULL), 0);
	free(path);
	assert_int_equal(cgwb_scenario_program(scenario, "./none", &path, NULL), -ENOENT);

	unlink(program);
	rmdir(folder);
	cgwb_scenario_free(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accessors),
		cmocka_unit_test(test_overrides),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_add_variant),
		cmocka_unit_test(test_show_round_trip),
		cmocka_unit_test(test_show_all),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_manual_example),
		cmocka_unit_test(test_manual_keys),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
