// SPDX-License-Identifier: GPL-2.0-or-later
#include "column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "measure-kind.h"

/* Those of the measured job are the first in measure.h. */
#define N_JOB_MEASURES 5

static void add(struct columns *columns, const char *measure, const char *title, int decimals)
{
	columns->all[columns->n++] = (struct column){ measure, title, decimals };
}

static void add_known(struct columns *columns, size_t from, size_t to)
{
	const struct cgwb_measure *measure;

	for (size_t i = from; i < to && (measure = cgwb_measure_at(i)); i++) {
		if (strcmp(measure->name, "warn"))
			add(columns, measure->name, measure->title, measure->decimals);
	}
}

int columns_init(struct columns *columns, const struct cgwb_scenario *scenario, bool every)
{
	size_t n_own = cgwb_scenario_measures(scenario), n_known = 0;

	while (cgwb_measure_at(n_known))
		n_known++;
	*columns = (struct columns){ .all = calloc(n_own + n_known, sizeof(*columns->all)) };
	if (!columns->all)
		return -ENOMEM;

	if (cgwb_scenario_has_measured_job(scenario))
		add_known(columns, 0, N_JOB_MEASURES);
	for (size_t i = 0; i < n_own; i++) {
		const char *kind = cgwb_scenario_measure_kind(scenario, i);

		add(columns, cgwb_scenario_measure_name(scenario, i),
		    cgwb_scenario_measure_title(scenario, i),
		    cgwb_measure_form(cgwb_measure_kind(kind))->decimals);
	}
	if (every)
		add_known(columns, N_JOB_MEASURES, n_known);
	return 0;
}

void columns_done(struct columns *columns)
{
	free(columns->all);
	*columns = (struct columns){ 0 };
}

void columns_print(const struct columns *columns, struct grid *grid)
{
	for (size_t i = 0; i < columns->n; i++)
		grid_column(grid, columns->all[i].title);
}

void column_print(const struct column *column, struct grid *grid, const double *value)
{
	if (value)
		grid_cell(grid, "%.*f", column->decimals, *value);
	else
		grid_cell(grid, "n/a");
}

void column_print_change(struct grid *grid, double base, double other)
{
	if (base == 0)
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%+.2f%%", (other - base) / base * 100);
}
