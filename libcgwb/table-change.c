// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a variant changed against another, measure by measure, with the paired interval.
 */
#include <errno.h>

#include "column.h"
#include "sample.h"
#include "stats.h"
#include "table.h"

static void print_paired(struct grid *grid, const struct column *column,
			 const struct cgwb_paired *paired)
{
	/* A mean of counts has a fraction. */
	int decimals = column->decimals ? column->decimals : 1;

	grid_row(grid, "%s", column->title);
	grid_cell(grid, "%.*f", decimals, paired->base);
	column_print_change(grid, paired->base, paired->other);
	grid_cell(grid, "%.*f", decimals, paired->other);
	grid_cell(grid, "%+.*f", decimals, paired->difference);
	if (paired->has_interval)
		grid_cell(grid, "%+.*f .. %+.*f", decimals, paired->low, decimals, paired->high);
	else
		grid_cell(grid, "n/a");
	grid_cell(grid, "%zu", paired->n);
}

static int print_measure(struct grid *grid, const struct cgwb_table *table,
			 const struct column *column, const char *base, const char *other)
{
	struct cgwb_sample sample;
	struct cgwb_paired paired;
	int err;

	err = cgwb_sample_pairs(table->results, base, other, column->measure, &sample);
	if (err)
		return err;

	err = cgwb_stats_paired(sample.values, sample.others, sample.n, &paired);
	if (!err)
		print_paired(grid, column, &paired);
	cgwb_sample_done(&sample);
	return err == -EINVAL ? 0 : err;
}

int cgwb_table_change(const struct cgwb_table *table, const char *base, const char *other,
		      char **ret_text)
{
	struct columns columns;
	struct grid *grid;
	int err;

	err = columns_init(&columns, table->scenario, true);
	if (err)
		return err;
	grid = grid_new();
	if (!grid) {
		columns_done(&columns);
		return -ENOMEM;
	}

	grid_column(grid, "measure");
	grid_column(grid, base);
	grid_column(grid, "change");
	grid_column(grid, other);
	grid_column(grid, "difference");
	grid_column(grid, "95% interval");
	grid_column(grid, "pairs");
	for (size_t i = 0; !err && i < columns.n; i++)
		err = print_measure(grid, table, &columns.all[i], base, other);
	if (!err)
		err = grid_text(grid, ret_text);
	grid_free(grid);
	columns_done(&columns);
	return err;
}
