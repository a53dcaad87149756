// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells: layout of memory, mkfs lines, what a seed changes, and one whole cell that a person has
 * read.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/cell.h"
#include "libcgwb/layout.h"
#include "libcgwb/mkfs.h"
#include "text.h"

#define M (1ULL << 20)
#define G (1ULL << 30)

static void test_layout(void **state)
{
	static const struct {
		uint64_t memory, disks[3];
		uint64_t limit, bases[3], ram;
	} cases[] = {
		/* Above 4 GiB everything is 2 GiB higher than it would be without the hole. */
		{ 8 * G, { 8 * G }, 10 * G, { 10 * G }, 16 * G },
		{ 8 * G, { G, 2 * G, 3 * G }, 10 * G, { 10 * G, 11 * G, 13 * G }, 14 * G },
		/* A disk begins at a multiple of 2 MiB, whatever the one before it is. */
		{ 3 * G, { 5 * M, M }, 5 * G, { 5 * G, 5 * G + 6 * M }, 3 * G + 8 * M },
		/* The hole is not used for disks. */
		{ 2 * G, { G }, 2 * G, { 4 * G }, 3 * G },
		{ 600 * M, { G, G }, 600 * M, { 4 * G, 5 * G }, 4 * G },
		{ 2 * G + 2 * M, { G }, 4 * G + 2 * M, { 4 * G + 2 * M }, 3 * G + 2 * M },
		/* No disk: no more than the kernel has. */
		{ 8 * G, { 0 }, 10 * G, { 0 }, 8 * G },
		{ 512 * M, { 0 }, 512 * M, { 0 }, 512 * M },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct layout layout;
		uint64_t base;

		assert_int_equal(layout_init(&layout, cases[i].memory), 0);
		assert_true(layout.mem_limit_bytes == cases[i].limit);
		for (int j = 0; j < 3 && cases[i].disks[j]; j++) {
			assert_int_equal(layout_add(&layout, cases[i].disks[j], &base), 0);
			assert_true(base == cases[i].bases[j]);
			assert_true(base >= layout.mem_limit_bytes);
		}
		assert_true(layout_ram_bytes(&layout) == cases[i].ram);
	}
}

static void test_layout_refused(void **state)
{
	struct layout layout;
	uint64_t base;

	assert_int_equal(layout_init(&layout, 0), -ENOSPC);
	assert_int_equal(layout_init(&layout, 510 * M), -ENOSPC);
	assert_int_equal(layout_init(&layout, 512 * M + 4096), -EINVAL);
	assert_int_equal(layout_init(&layout, 1024 * G), -ERANGE);
	assert_int_equal(layout_init(&layout, UINT64_MAX), -ERANGE);
	assert_int_equal(layout_init(&layout, 8 * G), 0);
	assert_int_equal(layout_add(&layout, 1014 * G + 1, &base), -ERANGE);
	assert_int_equal(layout_add(&layout, UINT64_MAX, &base), -ERANGE);
	assert_int_equal(layout_add(&layout, 1014 * G, &base), 0);
	assert_int_equal(layout_add(&layout, 1, &base), -ERANGE);
}

/* U and H stand for the UUID and the hash seed. */
static void test_mkfs(void **state)
{
	static const struct {
		const char *type, *options, *argv;
	} cases[] = {
		{ "ext4", NULL, "mkfs.ext4 -q -F -U U -E hash_seed=H" },
		{ "ext2", "", "mkfs.ext2 -q -F -U U -E hash_seed=H" },
		{ "ext4", "-E lazy_itable_init=0",
		  "mkfs.ext4 -q -F -U U -E lazy_itable_init=0,hash_seed=H" },
		/* mke2fs honours only the last -E, so there is one. */
		{ "ext4", "-E nodiscard -N 60000 -Elazy_itable_init=0  -b 1024",
		  "mkfs.ext4 -q -F -U U -N 60000 -b 1024 -E "
		  "nodiscard,lazy_itable_init=0,hash_seed=H" },
		{ "xfs", "-b size=4096", "mkfs.xfs -q -f -m uuid=U -b size=4096" },
		{ "ext4", "-qE nodiscard -Rstride=2",
		  "mkfs.ext4 -q -F -U U -q -E nodiscard,stride=2,hash_seed=H" },
		{ "btrfs", "-E x", "mkfs.btrfs -q -f -U U -E x" },
	};
	struct cgwb_seed seed = cgwb_seed_init(1, "x"), copy = seed;
	char uuid[CGWB_UUID_TEXT], hash[CGWB_UUID_TEXT];

	cgwb_seed_uuid(&copy, uuid);
	cgwb_seed_uuid(&copy, hash);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512] = "", *at;
		const char *wrong;
		json_t *argv, *word;
		size_t j;

		assert_int_equal(mkfs_argv(cases[i].type, cases[i].options, seed, &argv, &wrong),
				 0);
		json_array_foreach(argv, j, word)
			sprintf(text + strlen(text), "%s%s", j ? " " : "", json_string_value(word));
		json_decref(argv);
		while ((at = strstr(text, uuid)) || (at = strstr(text, hash))) {
			*at = strncmp(at, uuid, 36) ? 'H' : 'U';
			memmove(at + 1, at + 36, strlen(at + 36) + 1);
		}
		assert_string_equal(text, cases[i].argv);
	}
}

static char *cell_text(const struct cgwb_scenario *scenario, const char *variant, unsigned int seed)
{
	struct cgwb_cell *cell;
	char *text;

	assert_int_equal(cgwb_cell_new(scenario, variant, seed, false, &cell, NULL), 0);
	text = cgwb_cell_text(cell);
	cgwb_cell_free(cell);
	return text;
}

static struct cgwb_scenario *overwrite(void)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario = NULL;
	int err = cgwb_scenario_find(getenv("CGWB_TEST_DATA"), "overwrite", &scenario, &error);

	if (err)
		fail_msg("%d: %s", err, error.text);
	return scenario;
}

/* The same again is the same; the seed changes what the seed decides, and nothing else. */
static void test_seed(void **state)
{
	struct cgwb_scenario *scenario = overwrite();
	char *one = cell_text(scenario, "stock", 1), *again = cell_text(scenario, "stock", 1);
	char *two = cell_text(scenario, "stock", 2), *skip = cell_text(scenario, "skip", 1);
	json_t *a = json_loads(one, 0, NULL), *b = json_loads(two, 0, NULL);
	json_t *c = json_loads(skip, 0, NULL);

	assert_string_equal(one, again);
	for (const char *const *key =
		     (const char *const[]){ "scenario", "variant", "kernel", "machine", "policy",
					    "disks", "sysctl", "files", "cgroups", "measures",
					    "limit_virtual_ns", NULL };
	     *key; key++)
		assert_true(json_equal(json_object_get(a, *key), json_object_get(b, *key)));
	assert_false(json_equal(json_object_get(a, "mounts"), json_object_get(b, "mounts")));
	assert_false(json_equal(json_object_get(a, "jobs"), json_object_get(b, "jobs")));

	/* Pairs: with one seed, two policies have the same disks, starts and data. */
	assert_true(json_equal(json_object_get(a, "mounts"), json_object_get(c, "mounts")));
	assert_true(json_equal(json_object_get(a, "jobs"), json_object_get(c, "jobs")));

	json_decref(a);
	json_decref(b);
	json_decref(c);
	free(one);
	free(again);
	free(two);
	free(skip);
	cgwb_scenario_free(scenario);
}

/* Every job starts within a second of its time, no two at the same. */
static void test_phases(void **state)
{
	struct cgwb_scenario *scenario = overwrite();
	char *text = cell_text(scenario, "stock", 3);
	json_t *cell = json_loads(text, 0, NULL), *job;
	json_int_t seen[16];
	size_t i;

	json_array_foreach(json_object_get(cell, "jobs"), i, job) {
		json_int_t start = json_integer_value(json_object_get(job, "start_ns"));
		const char *name = json_string_value(json_object_get(job, "name"));

		if (!strcmp(name, "foreground"))
			start -= 8000000000;
		assert_true(start >= 0 && start < 1000000000);
		for (size_t j = 0; j < i; j++)
			assert_true(seen[j] != start);
		seen[i] = start;
		assert_int_equal(json_is_true(json_object_get(job, "measured")),
				 !strcmp(name, "foreground"));
	}
	assert_int_equal(i, 6);
	json_decref(cell);
	free(text);
	cgwb_scenario_free(scenario);
}

static void test_golden(void **state)
{
	struct cgwb_scenario *scenario = overwrite();
	struct cgwb_cell *cell;
	char path[512], *got, want[32768] = "";
	FILE *stream;

	assert_int_equal(cgwb_cell_new(scenario, "stock", 1, false, &cell, NULL), 0);
	assert_string_equal(cgwb_cell_name(cell), "stock-1");
	got = json_dumps(cgwb_cell_json(cell), JSON_INDENT(2));
	snprintf(path, sizeof(path), "%s/overwrite-stock-1.json", getenv("CGWB_TEST_GOLDEN"));
	stream = fopen(path, "r");
	assert_non_null(stream);
	want[fread(want, 1, sizeof(want) - 1, stream)] = '\0';
	fclose(stream);
	want[strcspn(want, "\n") ? strlen(want) - 1 : 0] = '\0';
	assert_string_equal(got, want);
	free(got);
	cgwb_cell_free(cell);
	cgwb_scenario_free(scenario);
}

static void test_exec(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(
		SCENARIO "modules = xfs, btrfs\n"
			 "[cgroup /a]\n[cgroup /a/b]\ncount = 2\n"
			 "[job t]\nengine = exec\ncgroup = /a/b\nprogram = ./dir/some-test\n"
			 "args = -n 3 \"two words\" \"\" %c\nduration = 5s\n" VARIANT);
	const struct cgwb_program *programs;
	struct cgwb_cell *cell;
	const json_t *job;
	char *argv;

	assert_int_equal(cgwb_cell_new(scenario, "stock", 1, false, &cell, NULL), 0);
	job = json_array_get(json_object_get(cgwb_cell_json(cell), "jobs"), 1);
	argv = json_dumps(json_object_get(job, "argv"), JSON_COMPACT);
	assert_string_equal(argv, "[\"/bin/some-test\",\"-n\",\"3\",\"two words\",\"\",\"b1\"]");
	free(argv);
	assert_string_equal(json_string_value(json_object_get(job, "name")), "t1");
	assert_string_equal(json_string_value(json_object_get(job, "group")), "t");
	assert_string_equal(json_string_value(json_object_get(job, "cgroup")), "/a/b1");
	assert_int_equal(json_integer_value(json_object_get(job, "duration_ns")), 5000000000);

	assert_int_equal(cgwb_cell_programs(cell, &programs), 1);
	assert_string_equal(programs[0].program, "./dir/some-test");
	assert_string_equal(programs[0].guest_path, "/bin/some-test");
	assert_string_equal(cgwb_cell_modules(cell)[0], "xfs");
	assert_string_equal(cgwb_cell_modules(cell)[1], "btrfs");
	assert_null(cgwb_cell_modules(cell)[2]);
	cgwb_cell_free(cell);
	cgwb_scenario_free(scenario);
}

/* Each job of a group dirties its own part of the file. */
static void test_windows(void **state)
{
	struct cgwb_scenario *scenario =
		text_scenario(SCENARIO "[disk nb0]\nsize = 1G\n" MOUNT "[cgroup /a]\ncount = 3\n"
				       "[job p]\nengine = pages\ncgroup = /a\nfilename = /data/%c\n"
				       "offset = 1M\nsize = 8K\nduration = 1s\n" VARIANT);
	struct cgwb_cell *cell;
	const json_t *jobs;

	assert_int_equal(cgwb_cell_new(scenario, "stock", 1, false, &cell, NULL), 0);
	jobs = json_object_get(cgwb_cell_json(cell), "jobs");
	assert_int_equal(json_array_size(jobs), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *job = json_array_get(jobs, i);
		char filename[32];

		snprintf(filename, sizeof(filename), "/data/a%zu", i);
		assert_string_equal(json_string_value(json_object_get(job, "filename")), filename);
		assert_int_equal(json_integer_value(json_object_get(job, "offset_bytes")),
				 (1 << 20) + i * 8192);
		assert_int_equal(json_integer_value(json_object_get(job, "size_bytes")), 8192);
		assert_int_equal(json_integer_value(json_object_get(job, "stride_bytes")), 4096);
	}
	cgwb_cell_free(cell);
	cgwb_scenario_free(scenario);
}

/* By hand: what is touched, and how long the disk and the jobs take. */
static void test_estimate(void **state)
{
	static const struct {
		const char *jobs;
		double memory_mib, virtual_s;
	} cases[] = {
		/* the kernel, a filesystem's metadata; 10 s around everything */
		{ "", 192 + 64, 10 },
		/* 100 MiB at 50 MiB/s; through the page cache once more */
		{ "[job f]\nengine = fio\nfilename = /data/f\nrw = write\nsize = 100M\n",
		  192 + 100 + 64 + 100, 12 },
		{ "[job f]\nengine = fio\nfilename = /data/f\nrw = write\nsize = 100M\n"
		  "direct = 1\nio_size = 1000M\n",
		  192 + 64 + 100, 30 },
		{ "[job f]\nengine = fio\nfilename = /data/f\nrw = randread\nsize = 100M\n"
		  "runtime = 60\n",
		  192 + 100 + 64 + 100, 70 },
		{ "[job f]\nengine = fio\nfilename = /data/f\nrw = write\nsize = 100M\n"
		  "rate = 1M\nstart = 5s\n",
		  192 + 100 + 64 + 100, 115 },
		/* at most the disk */
		{ "[job f]\nengine = fio\nfilename = /data/f\nrw = write\nsize = 10G\ndirect = 1\n"
		  "io_size = 1M\n",
		  192 + 1024, 10 },
		/* 1,024 files of 3 KiB with 5 KiB around each: 8 MiB */
		{ "[job d]\nengine = files\ndirectory = /data/d\nfiles = 1024\nfiles_per_s = 64\n"
		  "file_size = 3K\n",
		  192 + 8 + 64 + 8, 26 },
		/* 10 times 100 MiB at 50 MiB/s */
		{ "[job p]\nengine = pages\nfilename = /data/f\nsize = 100M\npasses = 10\n",
		  192 + 100 + 64 + 100, 30 },
		/* every second of 25,600 pages, 128 a second */
		{ "[job p]\nengine = pages\nfilename = /data/f\nsize = 100M\npasses = 1\n"
		  "stride = 8K\npages_per_s = 128\n",
		  192 + 100 + 64 + 100, 110 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cgwb_scenario *scenario;
		struct cgwb_cell *cell;
		char text[1024];
		double memory_mib;

		snprintf(text, sizeof(text),
			 SCENARIO "[disk nb0]\nsize = 1G\nwrite = 50M\n" MOUNT "%s" VARIANT,
			 cases[i].jobs);
		scenario = text_scenario(text);
		assert_int_equal(cgwb_cell_new(scenario, "stock", 1, false, &cell, NULL), 0);
		memory_mib = cgwb_cell_host_memory_bytes(cell) / 1048576.0;
		if (memory_mib != cases[i].memory_mib ||
		    cgwb_cell_virtual_s(cell) < cases[i].virtual_s ||
		    cgwb_cell_virtual_s(cell) > cases[i].virtual_s + 1)
			fail_msg("%s: %g MiB, %g s; want %g, %g", cases[i].jobs, memory_mib,
				 cgwb_cell_virtual_s(cell), cases[i].memory_mib,
				 cases[i].virtual_s);
		cgwb_cell_free(cell);
		cgwb_scenario_free(scenario);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),	 cmocka_unit_test(test_layout_refused),
		cmocka_unit_test(test_mkfs),	 cmocka_unit_test(test_seed),
		cmocka_unit_test(test_phases),	 cmocka_unit_test(test_golden),
		cmocka_unit_test(test_exec),	 cmocka_unit_test(test_windows),
		cmocka_unit_test(test_estimate),
	};

	return cmocka_run_group_tests_name("cell", tests, NULL, NULL);
}
