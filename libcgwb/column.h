/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measures that a table shows, in order, and how a value of each is printed. Internal to
 * libcgwb.
 */
#ifndef CGWB_COLUMN_H
#define CGWB_COLUMN_H

#include "grid.h"
#include "scenario.h"

struct column {
	const char *measure;
	const char *title;
	int decimals;
};

struct columns {
	struct column *all;
	size_t n;
};

/*
 * Those of the published table: the five of the measured job, if there is one, and the scenario's
 * own. With `every`, all that a cell has, but for `warn`. 0 or -ENOMEM; undo with columns_done().
 */
int columns_init(struct columns *columns, const struct cgwb_scenario *scenario, bool every);
void columns_done(struct columns *columns);

/* The columns' titles, to the grid. */
void columns_print(const struct columns *columns, struct grid *grid);

/* A value of a column; NULL: `n/a` */
void column_print(const struct column *column, struct grid *grid, const double *value);

/* The change from base to other in percent, or n/a if there is none to speak of. */
void column_print_change(struct grid *grid, double base, double other);

#endif
