// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What both sides of docs/cell.md must agree on: the guest accepts every cell of every scenario that
 * the project ships, and of one that has everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "writes.h"

#include "libcgwb/cell.h"
#include "libcgwb/scenario.h"
#include "text.h"

static void check_cell(const struct cgwb_scenario *scenario, const char *variant, bool quick)
{
	struct error error = { "" };
	struct cgwb_cell *made;
	struct cell read = { 0 };
	char *text;

	assert_int_equal(cgwb_cell_new(scenario, variant, 7, quick, &made, NULL), 0);
	text = cgwb_cell_text(made);
	if (cell_parse(&read, text, &error))
		fail_msg("%s, %s: %s", cgwb_scenario_name(scenario), variant, error.text);
	assert_string_equal(read.variant, variant);
	assert_int_equal(read.seed, 7);
	cell_done(&read);
	free(text);
	cgwb_cell_free(made);
}

static void check_scenario(const struct cgwb_scenario *scenario)
{
	const char *const *variant = cgwb_scenario_all_variants(scenario);

	for (; *variant; variant++) {
		check_cell(scenario, *variant, false);
		check_cell(scenario, *variant, true);
	}
}

static void test_shipped(void **state)
{
	const char *data_dir = getenv("CGWB_TEST_DATA");
	char **names;

	assert_int_equal(cgwb_scenario_names(data_dir, &names, NULL), 0);
	for (char **name = names; *name; name++) {
		struct cgwb_scenario *scenario;

		assert_int_equal(cgwb_scenario_find(data_dir, *name, &scenario, NULL), 0);
		check_scenario(scenario);
		cgwb_scenario_free(scenario);
	}
	cgwb_names_free(names);
}

/* One of everything that a scenario can have. */
static void test_everything(void **state)
{
	struct cgwb_scenario *scenario = text_scenario(
		"[scenario]\ntitle = t\nmeasured_job = f\nmodules = xfs\npolicy = stock\n"
		"policy_parameters = a=1 b=2\nlimit = 1m\n"
		"[machine]\nmemory = 512M\ncpus = 2\n"
		"[disk a]\nsize = 64M\nwrite = 1M\nread = 2M\niops = 3\nlatency = 4us\ndepth = 5\n"
		"scheduler = bfq\nwbt = 6ms\nmax_sectors = 8K\n[disk b]\nsize = 1G\n"
		"[mount /a]\ndisk = a\ntype = ext2\noptions = noatime\nmkfs = -N 100\n"
		"[mount /b]\ndisk = b\ntype = xfs\n"
		"[sysctl]\nvm.dirty_ratio = 7\n[file /a/x]\nsize = 1M\n"
		"[cgroup /p]\nmemory.max = 1G\n"
		"[cgroup /p/c]\ncount = 3\nio.max = a wbps=1M rbps=max\nio.weight = default 10\n"
		"remove = yes\n"
		"cpu.max = 1000 2000\n"
		"[job f]\nengine = fio\ncgroup = /p\nfilename = /a/x\nrw = write\nsize = 1M\n"
		"[job d]\nengine = files\ncgroup = /p/c\ndirectory = /b/%c\nfiles = 3\n"
		"files_per_s = 4\nfile_size = 5\nfiles_per_directory = 6\nxattr_size = 8\n"
		"data_every = 8\ndata_size = 9\ndata_span = 10\ndelete = yes\nsync = yes\nduration = 1s\n"
		"[job g]\nengine = pages\ncgroup = /p/c\nfilename = /b/g\nsize = 8K\noffset = 4K\n"
		"stride = 8K\npasses = 2\npages_per_s = 3\nduration = 1s\n"
		"[job e]\nengine = exec\nprogram = p\nargs = a b\nduration = 1s\nstart = 1s\n"
		"[measure m]\nkind = file-writes\nfile = /a/x\n"
		"[measure n]\nkind = job-count\njob = d\n"
		"[measure o]\nkind = job-seconds\njob = e\n"
		"[measure p]\nkind = job-rate\njob = d\n"
		"[measure q]\nkind = job-p99\njob = f\n"
		"[measure r]\nkind = throttled\ncgroup = /p/c\n"
		"[measure s]\nkind = flushes\ncgroup = /p/c\n"
		"[measure t]\nkind = dirtied\ncgroup = /p\n"
		"[measure u]\nkind = first-flush\ncgroup = /p\n"
		"[measure v]\nkind = memory-event\ncgroup = /p\nevent = oom\n"
		"[measure w]\nkind = pressure\ncgroup = /p\nresource = io\nshare = full\n"
		"[measure x]\nkind = policy-stat\nstat = tracked\n"
		"[measure y]\nkind = cpu\njob = e\n"
		"[measure z]\nkind = instructions\njob = d\n"
		"[measure A]\nkind = disk-writes\ndisk = a\n"
		"[measure B]\nkind = disk-writes\ndisk = b\ntrigger = foreign_flush\n"
		"[measure D]\nkind = free-delay\ncgroup = /p/c\n"
		"[measure C]\nkind = file-writes\nfile = /a/x\ntrigger = journal\n"
		"[variant v]\n[variant none]\npolicy = none\npolicy_parameters =\n");

	check_scenario(scenario);
	cgwb_scenario_free(scenario);
}

/* The guest knows the kernel's reasons from the kernel, and the others by itself. */
static void test_triggers(void **state)
{
	struct writes *writes = writes_new();
	const char *name;

	for (unsigned int i = 0; (name = writes_trigger_name(writes, i)); i++) {
		const char *const *known = cgwb_measure_triggers;

		while (*known && strcmp(*known, name))
			known++;
		if (!*known)
			fail_msg("a scenario cannot name the trigger %s", name);
	}
	writes_free(writes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_triggers),
	};

	return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
