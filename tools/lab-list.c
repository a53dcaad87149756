// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "libcgwb/names.h"
#include "libcgwb/scenario.h"
#include "tool.h"

static const char usage[] = "Usage: cgwb lab list [--json]\n"
			    "\n"
			    "  --json    as a JSON array\n";

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL },
};

static json_t *scenario_json(const struct cgwb_scenario *scenario)
{
	const char *const *variant;
	json_t *variants = json_array();

	for (variant = cgwb_scenario_all_variants(scenario); *variant; variant++)
		json_array_append_new(variants, json_string(*variant));
	return json_pack("{s:s, s:s?, s:s?, s:o, s:i}", "name", cgwb_scenario_name(scenario),
			 "title", cgwb_scenario_title(scenario), "source",
			 cgwb_scenario_source(scenario), "variants", variants, "seeds",
			 (int)cgwb_scenario_seeds(scenario, false));
}

/* A broken scenario is said to be broken, and the others are listed. */
static int list(const struct cgwb_context *context, char **names, json_t *array)
{
	int status = EXIT_OK;

	for (; *names; names++) {
		struct cgwb_error error = CGWB_ERROR_INIT;
		struct cgwb_scenario *scenario;
		int ret = cgwb_scenario_find(context->data_dir, *names, &scenario, &error);

		if (ret < 0) {
			tool_error(&error, ret);
			status = EXIT_FAILED;
			continue;
		}
		if (array)
			json_array_append_new(array, scenario_json(scenario));
		else
			printf("%-16s %s\n", *names, cgwb_scenario_title(scenario));
		cgwb_scenario_free(scenario);
	}
	if (array) {
		json_dumpf(array, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	return status;
}

int lab_list_main(int argc, char **argv)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_context context;
	json_t *array = NULL;
	char **names;
	int got, ret, status;

	opterr = 0;
	while ((got = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (got) {
		case 'j':
			json_decref(array);
			array = json_array();
			break;
		case 'h':
			fputs(usage, stdout);
			return tool_flush();
		default:
			return tool_option_error("lab list", options, argc, argv, got);
		}
	}
	if (optind < argc)
		return tool_usage("lab list", "'%s' is one argument too many", argv[optind]);

	status = tool_context(&context);
	if (status)
		return status;
	ret = cgwb_scenario_names(context.data_dir, &names, &error);
	if (ret < 0) {
		status = tool_error(&error, ret);
	} else {
		status = list(&context, names, array);
		cgwb_names_free(names);
	}
	json_decref(array);
	tool_context_done(&context);
	return tool_flush() ? EXIT_FAILED : status;
}
