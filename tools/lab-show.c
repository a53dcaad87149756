// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "libcgwb/cell.h"
#include "libcgwb/scenario.h"
#include "libcgwb/units.h"
#include "tool.h"

static const char usage[] =
	"Usage: cgwb lab show SCENARIO [--variant NAME] [--quick] [--json [--seed N]]\n"
	"\n"
	"  --variant NAME  the whole scenario with this variant's changes applied\n"
	"  --quick         its quick form\n"
	"  --json          the cell, as its guest gets it (the first variant unless one is named)\n"
	"  --seed N        of that cell (1)\n";

static const struct option options[] = {
	{ "variant", required_argument, NULL, 'v' }, { "quick", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, 'j' },	     { "seed", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },	     { NULL },
};

struct show {
	const char *name;
	const char *variant;
	unsigned int seed;
	bool quick;
	bool json;
};

static int show_cell(const struct cgwb_scenario *scenario, const struct show *show,
		     struct cgwb_error *error)
{
	const char *variant = show->variant;
	struct cgwb_cell *cell;
	int ret;

	if (!variant)
		variant = cgwb_scenario_variants(scenario, show->quick)[0];
	ret = cgwb_cell_new(scenario, variant, show->seed, show->quick, &cell, error);
	if (ret < 0)
		return ret;
	json_dumpf(cgwb_cell_json(cell), stdout, JSON_INDENT(2));
	putchar('\n');
	cgwb_cell_free(cell);
	return 0;
}

static int show_text(const struct cgwb_scenario *scenario, const struct show *show,
		     struct cgwb_error *error)
{
	char *text;
	int ret;

	ret = cgwb_scenario_show(scenario, show->variant, show->quick, &text, error);
	if (ret < 0)
		return ret;
	fputs(text, stdout);
	free(text);
	return 0;
}

static int show_scenario(const struct cgwb_context *context, const struct show *show)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario;
	int ret;

	ret = cgwb_scenario_find(context->data_dir, show->name, &scenario, &error);
	if (ret < 0)
		return tool_error(&error, ret == -ENOENT ? -EINVAL : ret);
	if (show->variant)
		ret = cgwb_scenario_check_variant(scenario, show->variant, &error);
	if (ret == 0)
		ret = show->json ? show_cell(scenario, show, &error) :
				   show_text(scenario, show, &error);
	cgwb_scenario_free(scenario);
	return ret < 0 ? tool_error(&error, ret) : tool_flush();
}

int lab_show_main(int argc, char **argv)
{
	struct show show = { .seed = 1 };
	struct cgwb_context context;
	uint64_t seed;
	int got, status;

	opterr = 0;
	while ((got = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (got) {
		case 'v':
			show.variant = optarg;
			break;
		case 'q':
			show.quick = true;
			break;
		case 'j':
			show.json = true;
			break;
		case 's':
			if (cgwb_parse_u64(optarg, &seed) < 0 || !seed || seed > UINT32_MAX)
				return tool_usage("lab show", "'%s' is no seed", optarg);
			show.seed = seed;
			break;
		case 'h':
			fputs(usage, stdout);
			return tool_flush();
		default:
			return tool_option_error("lab show", options, argc, argv, got);
		}
	}
	if (optind + 1 != argc)
		return tool_usage("lab show",
				  optind == argc ? "which scenario?" : "one scenario at a time");
	show.name = argv[optind];

	status = tool_context(&context);
	if (status)
		return status;
	status = show_scenario(&context, &show);
	tool_context_done(&context);
	return status;
}
