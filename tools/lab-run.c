// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/run.h"
#include "libcgwb/units.h"
#include "progress.h"
#include "report.h"
#include "tool.h"

#define COMMAND "lab run"
#define SEEDS_MAX 1000

static const char usage[] =
	"Usage: cgwb lab run SCENARIO [options]\n"
	"\n"
	"  --variants A,B     these variants, in this order\n"
	"  --seeds N|LIST     seeds 1 to N; or a list (2,5 or 4-6; one seed: 7-7)\n"
	"  --quick            the quick form of the scenario\n"
	"  --jobs N           guests at once (as many as processors and memory allow)\n"
	"  --kernel WHICH     6.1, 6.12, a release, a package version, or the path of a bzImage\n"
	"  --modules DIR      for a bzImage: its modules\n"
	"  --headers DIR      for a bzImage: what modules are built with (DIR/build of --modules)\n"
	"  --timeout TIME     limit of real time for a cell, such as 20m\n"
	"  --fresh            run also cells that are finished\n"
	"  --out DIR          the run's folder; an earlier run's: go on with it\n"
	"  --dry-run          only say what would run, and QEMU's command lines\n"
	"  --json             one JSON document instead of tables\n";

static const struct option options[] = {
	{ "variants", required_argument, NULL, 'v' }, { "seeds", required_argument, NULL, 's' },
	{ "quick", no_argument, NULL, 'q' },	      { "jobs", required_argument, NULL, 'J' },
	{ "kernel", required_argument, NULL, 'k' },   { "modules", required_argument, NULL, 'm' },
	{ "headers", required_argument, NULL, 'H' },  { "timeout", required_argument, NULL, 't' },
	{ "fresh", no_argument, NULL, 'f' },	      { "out", required_argument, NULL, 'o' },
	{ "dry-run", no_argument, NULL, 'd' },	      { "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },	      { NULL },
};

struct lab_run {
	const char *scenario;
	struct cgwb_run_options options;
	const char **variants;
	unsigned int *seeds;
	bool dry_run;
	bool json;
};

/* Splits `text`, which is changed, at commas. */
static int take_variants(struct lab_run *run, char *text)
{
	size_t n = 0;
	char *name;

	free(run->variants);
	run->variants = calloc(strlen(text) + 2, sizeof(*run->variants));
	if (!run->variants)
		return -ENOMEM;
	while ((name = strsep(&text, ","))) {
		name += strspn(name, " ");
		name[strcspn(name, " ")] = '\0';
		if (*name)
			run->variants[n++] = name;
	}
	run->options.variants = run->variants;
	return n ? 0 : tool_usage(COMMAND, "--variants names no variant");
}

static int add_seeds(struct lab_run *run, uint64_t first, uint64_t last)
{
	uint64_t seed;
	size_t i;

	if (!first || first > last || last > UINT32_MAX ||
	    last - first >= SEEDS_MAX - run->options.n_seeds)
		return -EINVAL;
	for (i = 0; i < run->options.n_seeds; i++) {
		if (run->seeds[i] >= first && run->seeds[i] <= last)
			return -EEXIST;
	}
	for (seed = first; seed <= last; seed++)
		run->seeds[run->options.n_seeds++] = seed;
	return 0;
}

/* "3", "1,2", "4-6" */
static int parse_seeds(struct lab_run *run, char *text)
{
	uint64_t first, last;
	char *item, *dash;
	int ret = 0;

	run->options.n_seeds = 0;
	run->options.seeds = run->seeds;
	if (!strpbrk(text, ",-")) {
		ret = cgwb_parse_u64(text, &last);
		return ret < 0 || !last ? -EINVAL : add_seeds(run, 1, last);
	}
	while ((item = strsep(&text, ",")) && ret == 0) {
		if (!*item)
			continue;
		dash = strchr(item, '-');
		if (dash)
			*dash = '\0';
		ret = cgwb_parse_u64(item, &first);
		last = first;
		if (ret == 0 && dash)
			ret = cgwb_parse_u64(dash + 1, &last);
		if (ret == 0)
			ret = add_seeds(run, first, last);
	}
	if (ret == 0 && !run->options.n_seeds)
		ret = -EINVAL;
	return ret;
}

static int take_seeds(struct lab_run *run, const char *text)
{
	char *copy = strdup(text);
	int ret = -ENOMEM;

	if (!run->seeds)
		run->seeds = calloc(SEEDS_MAX, sizeof(*run->seeds));
	if (copy && run->seeds)
		ret = parse_seeds(run, copy);
	free(copy);
	if (ret == -EEXIST)
		return tool_usage(COMMAND, "--seeds %s: a seed is named twice", text);
	if (ret < 0)
		return tool_usage(COMMAND,
				  "--seeds %s: a number of seeds (3), or a list (1,2 or 4-6), at "
				  "most %d",
				  text, SEEDS_MAX);
	return 0;
}

static int take_number(unsigned int *ret_number, const char *option, const char *text)
{
	uint64_t value;

	if (cgwb_parse_u64(text, &value) < 0 || !value || value > 1024)
		return tool_usage(COMMAND, "--%s %s: not a number from 1 to 1024", option, text);
	*ret_number = value;
	return 0;
}

static int take_timeout(struct lab_run *run, const char *text)
{
	uint64_t ns;

	if (cgwb_parse_ns(text, &ns) < 0 || ns < 1000000000 || ns / 1000000000 > 1000000)
		return tool_usage(COMMAND, "--timeout %s: not a time from 1s on, such as 20m",
				  text);
	run->options.timeout_s = ns / 1000000000;
	return 0;
}

static int take_option(struct lab_run *run, int got)
{
	switch (got) {
	case 'v':
		return take_variants(run, optarg);
	case 's':
		return take_seeds(run, optarg);
	case 'q':
		run->options.quick = true;
		return 0;
	case 'J':
		return take_number(&run->options.jobs, "jobs", optarg);
	case 'k':
		run->options.kernel.name = optarg;
		return 0;
	case 'm':
		run->options.kernel.modules_dir = optarg;
		return 0;
	case 'H':
		run->options.kernel.headers_dir = optarg;
		return 0;
	case 't':
		return take_timeout(run, optarg);
	case 'f':
		run->options.fresh = true;
		return 0;
	case 'o':
		run->options.folder = optarg;
		return 0;
	case 'd':
		run->dry_run = true;
		return 0;
	case 'j':
		run->json = true;
		return 0;
	}
	return -EINVAL;
}

static void print_list(FILE *out, const struct cgwb_run *run)
{
	const char *const *variant = cgwb_run_variants(run);
	size_t i, n = cgwb_run_plan(run)->cells;
	unsigned int least = UINT32_MAX, most = 0;

	for (; *variant; variant++)
		fprintf(out, "%s%s", *variant, variant[1] ? ", " : "");
	for (i = 0; i < n; i++) {
		const struct cgwb_run_cell cell = cgwb_run_cell(run, i);

		least = cell.seed < least ? cell.seed : least;
		most = cell.seed > most ? cell.seed : most;
	}
	if (least == most)
		fprintf(out, "; seed %u", least);
	else
		fprintf(out, "; seeds %u to %u", least, most);
}

/* What will run, on what, and what it takes. */
static void print_plan(FILE *out, const struct lab_run *lab, const struct cgwb_scenario *scenario,
		       const struct cgwb_run *run)
{
	const struct cgwb_plan *plan = cgwb_run_plan(run);
	const struct cgwb_kernel *kernel = cgwb_run_kernel(run);
	char duration[24];

	fprintf(out, "%s%s: %s\n", cgwb_scenario_name(scenario),
		lab->options.quick ? " (quick)" : "", cgwb_scenario_title(scenario));
	if (cgwb_scenario_source(scenario))
		fprintf(out, "after: %s\n", cgwb_scenario_source(scenario));
	fprintf(out, "on: kernel %s%s%s%s, QEMU %s, virtual time\n", kernel->release,
		kernel->version ? " (" : "", kernel->version ? kernel->version : "",
		kernel->version ? ")" : "", cgwb_run_qemu_version(run));
	fprintf(out, "cells: %zu (", plan->cells);
	print_list(out, run);
	fprintf(out, ")");
	if (plan->to_run < plan->cells)
		fprintf(out, ", %zu of them finished before with the same inputs",
			plan->cells - plan->to_run);
	fprintf(out, "\n");
	if (plan->to_run)
		fprintf(out,
			"takes: about %s, %u guest%s at once, up to %.1f of %.1f GB memory, "
			"%.1f of %.0f GB disk\n",
			progress_duration(plan->wall_s, duration), plan->jobs,
			plan->jobs > 1 ? "s" : "", (double)plan->memory_bytes / 1e9,
			(double)plan->memory_available_bytes / 1e9, (double)plan->disk_bytes / 1e9,
			(double)plan->disk_available_bytes / 1e9);
	fprintf(out, "folder: %s\n", cgwb_run_folder(run));
	fflush(out);
}

static json_t *plan_json(const struct cgwb_scenario *scenario, const struct cgwb_run *run)
{
	const struct cgwb_plan *plan = cgwb_run_plan(run);
	const struct cgwb_kernel *kernel = cgwb_run_kernel(run);
	json_t *variants = json_array();
	const char *const *variant;

	for (variant = cgwb_run_variants(run); *variant; variant++)
		json_array_append_new(variants, json_string(*variant));
	return json_pack("{s:s, s:s?, s:s, s:o, s:{s:s, s:s, s:s?}, s:s, s:{s:i, s:i, s:i, s:f, "
			 "s:I, s:I, s:I, s:I}}",
			 "scenario", cgwb_scenario_name(scenario), "title",
			 cgwb_scenario_title(scenario), "folder", cgwb_run_folder(run), "variants",
			 variants, "kernel", "name", kernel->name, "release", kernel->release,
			 "version", kernel->version, "qemu", cgwb_run_qemu_version(run), "plan",
			 "cells", (int)plan->cells, "to_run", (int)plan->to_run, "jobs",
			 (int)plan->jobs, "wall_s", plan->wall_s, "memory_bytes",
			 (json_int_t)plan->memory_bytes, "memory_available_bytes",
			 (json_int_t)plan->memory_available_bytes, "disk_bytes",
			 (json_int_t)plan->disk_bytes, "disk_available_bytes",
			 (json_int_t)plan->disk_available_bytes);
}

static int print_json(json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(json);
	return tool_flush();
}

/* Each cell with its command line, as text or as JSON. */
static int dry_run(const struct lab_run *lab, const struct cgwb_scenario *scenario,
		   const struct cgwb_run *run)
{
	static const char *const sources[] = { "run", "kept", "cache" };
	struct cgwb_error error = CGWB_ERROR_INIT;
	json_t *cells = json_array(), *json;
	size_t i;

	for (i = 0; i < cgwb_run_plan(run)->cells; i++) {
		const struct cgwb_run_cell cell = cgwb_run_cell(run, i);
		char *text;
		int ret = cgwb_run_command_line(run, i, &text, &error);

		if (ret < 0) {
			json_decref(cells);
			return tool_error(&error, ret);
		}
		if (!lab->json)
			printf("\n%s%s\n%s\n", cell.name,
			       cell.source == CGWB_CELL_RUN ? ":" : ": finished; it was:", text);
		json_array_append_new(cells,
				      json_pack("{s:s, s:s, s:s, s:f}", "name", cell.name, "source",
						sources[cell.source], "command", text,
						"expected_wall_s", cell.expected_wall_s));
		free(text);
	}
	if (!lab->json) {
		json_decref(cells);
		return tool_flush();
	}
	json = plan_json(scenario, run);
	json_object_set_new(json, "cells", cells);
	return print_json(json);
}

static int show_results(const struct lab_run *lab, const struct cgwb_context *context,
			const struct cgwb_scenario *scenario, const struct cgwb_run *run)
{
	const struct report report = { context, scenario, cgwb_run_results(run),
				       cgwb_run_variants(run) };
	struct cgwb_error error = CGWB_ERROR_INIT;
	int ret, status;

	if (lab->json) {
		json_t *json = plan_json(scenario, run);

		ret = report_json(&report, json, &error);
		status = print_json(json);
	} else {
		ret = report_print(&report, &error);
		status = tool_flush();
	}
	if (ret < 0)
		return tool_error(&error, ret);
	return status == EXIT_OK && report_failed(&report) ? EXIT_FAILED : status;
}

static int stopped(const struct lab_run *lab, const struct cgwb_run *run)
{
	tool_say("stopped; what is finished is kept. To go on: cgwb lab run %s%s ... --out %s",
		 lab->scenario, lab->options.quick ? " --quick" : "", cgwb_run_folder(run));
	return EXIT_FAILED;
}

static int run_cells(const struct lab_run *lab, const struct cgwb_context *context,
		     const struct cgwb_scenario *scenario, struct cgwb_run *run)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct progress progress;
	const struct cgwb_run_watch watch = { progress_changed, &progress };
	int ret;

	progress_init(&progress);
	ret = cgwb_run_execute(run, &watch, &error);
	progress_clear(&progress);
	if (ret == -EINTR) {
		cgwb_error_done(&error);
		return stopped(lab, run);
	}
	if (ret < 0)
		return tool_error(&error, ret);
	return show_results(lab, context, scenario, run);
}

static int run_scenario(struct lab_run *lab, struct cgwb_context *context)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario;
	struct cgwb_run *run;
	int ret, status;

	ret = cgwb_scenario_find(context->data_dir, lab->scenario, &scenario, &error);
	if (ret < 0)
		return tool_error(&error, ret == -ENOENT ? -EINVAL : ret);
	ret = cgwb_run_new(context, scenario, &lab->options, &run, &error);
	if (ret < 0) {
		cgwb_scenario_free(scenario);
		return tool_error(&error, ret);
	}

	if (!lab->json || !lab->dry_run)
		print_plan(lab->json ? stderr : stdout, lab, scenario, run);
	status = lab->dry_run ? dry_run(lab, scenario, run) :
				run_cells(lab, context, scenario, run);
	cgwb_run_free(run);
	cgwb_scenario_free(scenario);
	return status;
}

static int parse(struct lab_run *run, int argc, char **argv)
{
	int got, status;

	opterr = 0;
	while ((got = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (got == 'h') {
			fputs(usage, stdout);
			return tool_flush();
		}
		if (got == '?' || got == ':')
			return tool_option_error(COMMAND, options, argc, argv, got);
		status = take_option(run, got);
		if (status)
			return status < 0 ? EXIT_FAILED : status;
	}
	if (optind + 1 != argc)
		return tool_usage(COMMAND,
				  optind == argc ? "which scenario?" : "one scenario at a time");
	run->scenario = argv[optind];
	return 0;
}

int lab_run_main(int argc, char **argv)
{
	struct lab_run run = { 0 };
	struct cgwb_context context;
	int status;

	status = parse(&run, argc, argv);
	if (status == 0 && run.scenario) {
		status = tool_context(&context);
		if (status == 0) {
			status = run_scenario(&run, &context);
			tool_context_done(&context);
		}
	}
	free(run.variants);
	free(run.seeds);
	return status;
}
