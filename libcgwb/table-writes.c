// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A measured file's device writes by trigger.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "names.h"
#include "table.h"

#define GIB (1024.0 * 1024 * 1024)
#define FLOOR "floor"

/*
 * What the guest says of the file: an object of bytes by trigger. NULL: it could not be measured.
 */
static const json_t *triggers_of(const struct cgwb_result *result, const char *measure)
{
	const json_t *details = json_object_get(cgwb_result_json(result), "details");
	const json_t *files = json_object_get(json_object_get(details, "writes"), "files");
	double value;

	if (!cgwb_result_usable(result) || cgwb_result_measure(result, measure, &value))
		return NULL;
	return json_object_get(json_object_get(files, measure), "by_trigger");
}

/*
 * The mean over seeds in GiB; of the whole file if there is no trigger. -ENOENT: there is no value.
 */
static int mean_gib(const struct cgwb_results *results, const char *variant, const char *measure,
		    const char *trigger, double *ret_gib)
{
	double bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < results->n; i++) {
		const json_t *triggers = NULL, *value;
		const char *name;

		if (!strcmp(cgwb_result_variant(results->all[i]), variant))
			triggers = triggers_of(results->all[i], measure);
		if (!triggers)
			continue;
		json_object_foreach((json_t *)triggers, name, value) {
			if (!trigger || !strcmp(name, trigger))
				bytes += json_number_value(value);
		}
		n++;
	}
	if (!n)
		return -ENOENT;
	*ret_gib = bytes / n / GIB;
	return 0;
}

static bool has_name(char **names, const char *name)
{
	for (; names && *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

/* All triggers that any result has, in the order in which they are met. */
static int collect_triggers(const struct cgwb_results *results, const char *measure,
			    char ***ret_names)
{
	char **names = calloc(1, sizeof(*names));

	for (size_t i = 0; names && i < results->n; i++) {
		const json_t *triggers = triggers_of(results->all[i], measure), *value;
		const char *name;

		json_object_foreach((json_t *)triggers, name, value) {
			if (has_name(names, name) || !json_is_number(value))
				continue;
			if (names_add(&names, name, strlen(name))) {
				cgwb_names_free(names);
				return -ENOMEM;
			}
		}
	}
	*ret_names = names;
	return names ? 0 : -ENOMEM;
}

/* Whether a variant has values to show */
static bool is_shown(const struct cgwb_table *table, const char *variant, const char *measure)
{
	double gib;

	return !mean_gib(table->results, variant, measure, NULL, &gib);
}

static void print_row(const struct cgwb_table *table, struct grid *grid, const char *measure,
		      const char *trigger, bool above)
{
	const char *const *variant;
	double floor_gib = 0, gib = 0;

	if (above)
		mean_gib(table->results, FLOOR, measure, trigger, &floor_gib);

	grid_row(grid, "%s", trigger ? trigger : "all");
	for (variant = table->variants; *variant; variant++) {
		if (is_shown(table, *variant, measure) &&
		    !mean_gib(table->results, *variant, measure, trigger, &gib))
			grid_cell(grid, "%.3f", gib);
	}
	for (variant = table->variants; above && *variant; variant++) {
		if (strcmp(*variant, FLOOR) && is_shown(table, *variant, measure) &&
		    !mean_gib(table->results, *variant, measure, trigger, &gib))
			grid_cell(grid, "%+.3f", gib - floor_gib);
	}
}

static void print_titles(const struct cgwb_table *table, struct grid *grid, const char *measure,
			 bool above)
{
	const char *const *variant;

	grid_column(grid, measure);
	for (variant = table->variants; *variant; variant++) {
		if (is_shown(table, *variant, measure))
			grid_column(grid, *variant);
	}
	for (variant = table->variants; above && *variant; variant++) {
		char title[64];

		if (!strcmp(*variant, FLOOR) || !is_shown(table, *variant, measure))
			continue;
		snprintf(title, sizeof(title), "%s-%s", *variant, FLOOR);
		grid_column(grid, title);
	}
}

int cgwb_table_writes(const struct cgwb_table *table, const char *measure, char **ret_text)
{
	bool above = is_shown(table, FLOOR, measure);
	char **triggers;
	struct grid *grid;
	int err;

	err = collect_triggers(table->results, measure, &triggers);
	if (err)
		return err;
	grid = grid_new();
	if (!grid) {
		cgwb_names_free(triggers);
		return -ENOMEM;
	}

	print_titles(table, grid, measure, above);
	for (char **trigger = triggers; *trigger; trigger++)
		print_row(table, grid, measure, *trigger, above);
	print_row(table, grid, measure, NULL, above);
	err = grid_text(grid, ret_text);
	grid_free(grid);
	cgwb_names_free(triggers);
	return err;
}
