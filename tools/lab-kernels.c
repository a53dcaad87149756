// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "libcgwb/kernel.h"
#include "libcgwb/nearest.h"
#include "tool.h"

static const char usage[] =
	"Usage: cgwb lab kernels [list] [--json]\n"
	"       cgwb lab kernels fetch NAME... [--json]\n"
	"       cgwb lab kernels prune [--all] [--json]\n"
	"\n"
	"  list    short names, and what is in the cache\n"
	"  fetch   get kernels: a short name (6.1), a release, or a package version\n"
	"  prune   remove from the cache those without a short name, with their modules\n"
	"\n"
	"  --all   prune: those with a short name too\n"
	"  --json  as JSON: list and fetch with paths, prune with what was removed\n";

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL },
};

struct kernels {
	const struct cgwb_context *context;
	bool all;
	bool json;
	char **names; /* for fetch */
	int n_names;
};

static void print_json(json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
}

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static void print_kernel(const json_t *kernel)
{
	printf("%-6s %-32s %-22s %s\n", member(kernel, "name"), member(kernel, "release"),
	       member(kernel, "version"),
	       json_is_true(json_object_get(kernel, "cached")) ? "cached" : "not fetched yet");
}

static int kernels_list(struct kernels *kernels)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	const json_t *kernel;
	json_t *list;
	size_t i;
	int ret;

	ret = cgwb_kernel_list(kernels->context, &list, &error);
	if (ret < 0)
		return tool_error(&error, ret);
	if (kernels->json)
		print_json(list);
	else
		json_array_foreach(list, i, kernel)
			print_kernel(kernel);
	json_decref(list);
	return tool_flush();
}

static int kernels_fetch(struct kernels *kernels)
{
	json_t *list = json_array(), *item;
	int i, ret = 0;

	for (i = 0; i < kernels->n_names && ret == 0; i++) {
		const struct cgwb_kernel_request request = { .name = kernels->names[i] };
		struct cgwb_error error = CGWB_ERROR_INIT;
		struct cgwb_kernel kernel;

		ret = cgwb_kernel_get(kernels->context, &request, &kernel, &error);
		if (ret < 0) {
			json_decref(list);
			return tool_error(&error, ret);
		}
		item = json_pack("{s:s, s:s, s:s*, s:b, s:s, s:s*, s:s*}", "name", kernel.name,
				 "release", kernel.release, "version", kernel.version, "cached", 1,
				 "image", kernel.image, "modules", kernel.modules_dir, "headers",
				 kernel.headers_dir);
		if (!kernels->json)
			print_kernel(item);
		json_array_append_new(list, item);
		cgwb_kernel_done(&kernel);
	}
	if (kernels->json)
		print_json(list);
	json_decref(list);
	return tool_flush();
}

static int kernels_prune(struct kernels *kernels)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	json_t *removed;
	size_t i;
	int ret;

	ret = cgwb_kernel_prune(kernels->context, kernels->all, &removed, &error);
	if (ret < 0)
		return tool_error(&error, ret);
	if (kernels->json)
		print_json(removed);
	for (i = 0; !kernels->json && i < json_array_size(removed); i++)
		printf("removed %s\n", json_string_value(json_array_get(removed, i)));
	json_decref(removed);
	return tool_flush();
}

static int kernels_do(struct kernels *kernels, const char *what)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(what);
	bool fetch = !strcmp(what, "fetch"), prune = !strcmp(what, "prune");

	if (!fetch && !prune && strcmp(what, "list")) {
		cgwb_nearest_offer(&nearest, "list");
		cgwb_nearest_offer(&nearest, "fetch");
		cgwb_nearest_offer(&nearest, "prune");
		return tool_usage("lab kernels", "no '%s'%s%s%s", what,
				  nearest.best ? "; did you mean " : "",
				  nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	}
	if (fetch && !kernels->n_names)
		return tool_usage("lab kernels", "fetch which kernel?");
	if (!fetch && kernels->n_names)
		return tool_usage("lab kernels", "'%s' is one argument too many",
				  kernels->names[0]);
	if (kernels->all && !prune)
		return tool_usage("lab kernels", "--all goes with prune");
	return fetch ? kernels_fetch(kernels) :
	       prune ? kernels_prune(kernels) :
		       kernels_list(kernels);
}

int lab_kernels_main(int argc, char **argv)
{
	struct kernels kernels = { 0 };
	struct cgwb_context context;
	const char *what = "list";
	int got, status;

	opterr = 0;
	while ((got = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (got) {
		case 'a':
			kernels.all = true;
			break;
		case 'j':
			kernels.json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return tool_flush();
		default:
			return tool_option_error("lab kernels", options, argc, argv, got);
		}
	}
	if (optind < argc)
		what = argv[optind++];
	kernels.names = argv + optind;
	kernels.n_names = argc - optind;

	status = tool_context(&context);
	if (status)
		return status;
	kernels.context = &context;
	status = kernels_do(&kernels, what);
	tool_context_done(&context);
	return status;
}
