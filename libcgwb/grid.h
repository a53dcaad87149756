/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows and columns of text, by libsmartcols: the first column to the left, the others to the right.
 * Plain ASCII, never cut to the width of a terminal, the same wherever it is printed. Internal to
 * libcgwb.
 *
 * Rows are filled cell by cell, from the left. What fails is remembered until grid_text().
 */
#ifndef CGWB_GRID_H
#define CGWB_GRID_H

#include <stddef.h>

struct grid;

/* NULL: out of memory */
struct grid *grid_new(void);

/* NULL-safe, returns NULL */
struct grid *grid_free(struct grid *grid);

void grid_column(struct grid *grid, const char *title);

/* Begins a row with its first cell. */
void grid_row(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next cell of the row. */
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole, with newlines; the caller frees it. 0 or -ENOMEM. */
int grid_text(struct grid *grid, char **ret_text);

#endif
