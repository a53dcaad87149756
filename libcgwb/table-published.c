// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ours beside the published figures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "sample.h"
#include "table.h"

struct beside {
	const struct cgwb_table *table;
	const struct cgwb_published *published;
	const char *key;
	const char *base, *patched; /* our variants */
};

/* `103.59-114.74`, or one number if there is no spread */
static void print_range(struct grid *grid, int decimals, const struct cgwb_published_range *range)
{
	if (range->least == range->most)
		grid_cell(grid, "%.*f", decimals, range->least);
	else
		grid_cell(grid, "%.*f-%.*f", decimals, range->least, decimals, range->most);
}

static int print_measure(const struct beside *beside, struct grid *grid,
			 const struct column *column)
{
	const struct cgwb_results *results = beside->table->results;
	struct cgwb_published_range base, patched;
	double our_base = 0, our_patched = 0;
	int base_err, patched_err;

	if (cgwb_published_get(beside->published, beside->key, false, column->measure, &base) ||
	    cgwb_published_get(beside->published, beside->key, true, column->measure, &patched))
		return 0;
	base_err = cgwb_sample_mean(results, beside->base, column->measure, &our_base);
	patched_err = cgwb_sample_mean(results, beside->patched, column->measure, &our_patched);
	if (base_err == -ENOMEM || patched_err == -ENOMEM)
		return -ENOMEM;

	grid_row(grid, "%s", column->title);
	print_range(grid, column->decimals < 2 ? column->decimals : 2, &base);
	column_print(column, grid, base_err ? NULL : &our_base);
	print_range(grid, column->decimals < 2 ? column->decimals : 2, &patched);
	column_print(column, grid, patched_err ? NULL : &our_patched);
	column_print_change(grid, base.mean, patched.mean);
	if (base_err || patched_err)
		grid_cell(grid, "n/a");
	else
		column_print_change(grid, our_base, our_patched);
	return 0;
}

/* The quick form is another experiment, whatever is like in it. */
static bool has_results(const struct cgwb_results *results, const char *variant)
{
	for (size_t i = 0; i < results->n; i++) {
		if (!cgwb_result_quick(results->all[i]) &&
		    !strcmp(cgwb_result_variant(results->all[i]), variant))
			return true;
	}
	return false;
}

/* The first variant that has run with that policy; NULL: none has */
static const char *variant_of(const struct cgwb_table *table, const char *policy)
{
	for (const char *const *variant = table->variants; *variant; variant++) {
		if (!strcmp(cgwb_scenario_policy(table->scenario, *variant), policy) &&
		    has_results(table->results, *variant))
			return *variant;
	}
	return NULL;
}

static int print_table(const struct beside *beside, char **ret_text)
{
	const char *source = cgwb_published_source(beside->published, beside->key);
	struct columns columns;
	struct grid *grid;
	char *text;
	int err;

	err = columns_init(&columns, beside->table->scenario, false);
	if (err)
		return err;
	grid = grid_new();
	if (!grid) {
		columns_done(&columns);
		return -ENOMEM;
	}

	grid_column(grid, "measure");
	grid_column(grid, "published base");
	grid_column(grid, beside->base);
	grid_column(grid, "published patched");
	grid_column(grid, beside->patched);
	grid_column(grid, "change there");
	grid_column(grid, "change here");
	for (size_t i = 0; !err && i < columns.n; i++)
		err = print_measure(beside, grid, &columns.all[i]);
	if (!err)
		err = grid_text(grid, &text);
	grid_free(grid);
	columns_done(&columns);
	if (err)
		return err;

	if (asprintf(ret_text, "%s: %s\n%s", beside->key, source ? source : "", text) < 0)
		err = -ENOMEM;
	free(text);
	return err;
}

int cgwb_table_published(const struct cgwb_table *table, const struct cgwb_published *published,
			 const char *key, char **ret_text)
{
	const char *policy = cgwb_published_policy(published, key);
	struct beside beside = {
		.table = table,
		.published = published,
		.key = key,
		.base = cgwb_scenario_base(table->scenario),
		.patched = policy ? variant_of(table, policy) : NULL,
	};

	if (!beside.patched || !has_results(table->results, beside.base)) {
		*ret_text = strdup("");
		return *ret_text ? 0 : -ENOMEM;
	}
	return print_table(&beside, ret_text);
}
