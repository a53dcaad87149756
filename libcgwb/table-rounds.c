// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The published table, and its means.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "sample.h"
#include "strbuf.h"
#include "table.h"

static void print_cell(struct grid *grid, const struct columns *columns, const char *variant,
		       const struct cgwb_result *result)
{
	grid_row(grid, "%s%s", variant, cgwb_result_usable(result) ? "" : " !");
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->all[i];
		double value;
		int err;

		err = cgwb_result_measure(result, column->measure, &value);
		column_print(column, grid, err ? NULL : &value);
	}
	if (cgwb_result_ok(result))
		grid_cell(grid, "%u", cgwb_result_warn(result));
	else
		grid_cell(grid, "failed");
}

static void print_change(struct grid *grid, const struct columns *columns,
			 const struct cgwb_result *base, const struct cgwb_result *other)
{
	bool usable = cgwb_result_usable(base) && cgwb_result_usable(other);

	grid_row(grid, "%s -> %s%s", cgwb_result_variant(base), cgwb_result_variant(other),
		 usable ? "" : " !");
	for (size_t i = 0; i < columns->n; i++) {
		double from, to;

		if (cgwb_result_measure(base, columns->all[i].measure, &from) ||
		    cgwb_result_measure(other, columns->all[i].measure, &to))
			grid_cell(grid, "n/a");
		else
			column_print_change(grid, from, to);
	}
	grid_cell(grid, "%s", "");
}

/* What is listed after the base is compared with it; what stands before it is there to be seen. */
static const char *const *after_base(const struct cgwb_table *table)
{
	const char *base = cgwb_scenario_base(table->scenario);
	const char *const *variant = table->variants;

	while (*variant && strcmp(*variant, base))
		variant++;
	return *variant ? variant + 1 : variant;
}

static int print_round(const struct cgwb_table *table, const struct columns *columns,
		       unsigned int seed, char **ret_text)
{
	const char *const *variant;
	const struct cgwb_result *base, *result;
	struct grid *grid = grid_new();
	int err;

	if (!grid)
		return -ENOMEM;

	grid_column(grid, "kind");
	columns_print(columns, grid);
	grid_column(grid, "WARN");
	for (variant = table->variants; *variant; variant++) {
		result = cgwb_results_find(table->results, *variant, seed);
		if (result)
			print_cell(grid, columns, *variant, result);
	}

	base = cgwb_results_find(table->results, cgwb_scenario_base(table->scenario), seed);
	for (variant = after_base(table); base && *variant; variant++) {
		result = cgwb_results_find(table->results, *variant, seed);
		if (result)
			print_change(grid, columns, base, result);
	}

	err = grid_text(grid, ret_text);
	grid_free(grid);
	return err;
}

/* The seeds that have a result of a variant in the list, in the order of the results. */
static size_t collect_seeds(const struct cgwb_table *table, unsigned int *seeds)
{
	size_t n = 0;

	for (size_t i = 0; i < table->results->n; i++) {
		const struct cgwb_result *result = table->results->all[i];
		const char *const *variant = table->variants;
		bool known = false;

		while (*variant && strcmp(*variant, cgwb_result_variant(result)))
			variant++;
		for (size_t j = 0; j < n; j++)
			known |= seeds[j] == cgwb_result_seed(result);
		if (*variant && !known)
			seeds[n++] = cgwb_result_seed(result);
	}
	return n;
}

static int compare_seeds(const void *a, const void *b)
{
	const unsigned int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static int print_rounds(const struct cgwb_table *table, const struct columns *columns,
			const unsigned int *seeds, size_t n, struct strbuf *buf)
{
	for (size_t i = 0; i < n; i++) {
		char *round;
		int err = print_round(table, columns, seeds[i], &round);

		if (err)
			return err;
		strbuf_addf(buf, "%sround %zu, seed %u\n%s", i ? "\n" : "", i + 1, seeds[i], round);
		free(round);
	}
	return 0;
}

int cgwb_table_rounds(const struct cgwb_table *table, char **ret_text)
{
	unsigned int *seeds = calloc(table->results->n + 1, sizeof(*seeds));
	struct strbuf buf = STRBUF_INIT;
	struct columns columns;
	int err = seeds ? columns_init(&columns, table->scenario, false) : -ENOMEM;
	size_t n;

	if (err) {
		free(seeds);
		return err;
	}

	n = collect_seeds(table, seeds);
	qsort(seeds, n, sizeof(*seeds), compare_seeds);
	err = print_rounds(table, &columns, seeds, n, &buf);
	columns_done(&columns);
	free(seeds);
	if (err)
		strbuf_done(&buf);
	else
		err = strbuf_finish(&buf, ret_text);
	return err;
}

/* How many results of a variant count, and how many do not */
static void count(const struct cgwb_results *results, const char *variant, size_t *ret_n,
		  size_t *ret_left_out)
{
	*ret_n = *ret_left_out = 0;
	for (size_t i = 0; i < results->n; i++) {
		if (strcmp(cgwb_result_variant(results->all[i]), variant))
			continue;
		if (cgwb_result_usable(results->all[i]))
			(*ret_n)++;
		else
			(*ret_left_out)++;
	}
}

static int print_mean(struct grid *grid, const struct cgwb_table *table,
		      const struct columns *columns, const char *variant)
{
	size_t n, left_out;

	count(table->results, variant, &n, &left_out);
	if (!n && !left_out)
		return 0;

	grid_row(grid, "%s", variant);
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->all[i];
		double mean;
		int err;

		err = cgwb_sample_mean(table->results, variant, column->measure, &mean);
		if (err == -ENOMEM)
			return err;
		column_print(column, grid, err ? NULL : &mean);
	}
	grid_cell(grid, "%zu", n);
	grid_cell(grid, "%zu", left_out);
	return 0;
}

int cgwb_table_means(const struct cgwb_table *table, char **ret_text)
{
	const char *const *variant = table->variants;
	struct columns columns;
	struct grid *grid;
	int err;

	err = columns_init(&columns, table->scenario, false);
	if (err)
		return err;
	grid = grid_new();
	if (!grid) {
		columns_done(&columns);
		return -ENOMEM;
	}

	grid_column(grid, "mean");
	columns_print(&columns, grid);
	grid_column(grid, "n");
	grid_column(grid, "out");
	for (; !err && *variant; variant++)
		err = print_mean(grid, table, &columns, *variant);
	if (!err)
		err = grid_text(grid, ret_text);
	grid_free(grid);
	columns_done(&columns);
	return err;
}
