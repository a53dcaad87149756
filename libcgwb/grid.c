// SPDX-License-Identifier: GPL-2.0-or-later
#include "grid.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
	struct libscols_table *table;
	struct libscols_line *line;
	size_t column;
	bool failed;
};

struct grid *grid_free(struct grid *grid)
{
	if (grid)
		scols_unref_table(grid->table);
	free(grid);
	return NULL;
}

struct grid *grid_new(void)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return NULL;
	grid->table = scols_new_table();
	if (!grid->table)
		return grid_free(grid);

	/* As if there were no terminal: lines are never cut. */
	scols_table_set_termforce(grid->table, SCOLS_TERMFORCE_NEVER);
	return grid;
}

void grid_column(struct grid *grid, const char *title)
{
	int flags = scols_table_get_ncols(grid->table) ? SCOLS_FL_RIGHT : 0;

	if (!scols_table_new_column(grid->table, title, 0, flags))
		grid->failed = true;
}

static void add_cell(struct grid *grid, const char *format, va_list args)
{
	char *text = NULL;

	if (!grid->line || vasprintf(&text, format, args) < 0)
		grid->failed = true;
	else if (scols_line_refer_data(grid->line, grid->column, text)) {
		grid->failed = true;
		free(text);
	}
	grid->column++;
}

void grid_row(struct grid *grid, const char *format, ...)
{
	va_list args;

	grid->line = scols_table_new_line(grid->table, NULL);
	grid->column = 0;
	va_start(args, format);
	add_cell(grid, format, args);
	va_end(args);
}

void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_cell(grid, format, args);
	va_end(args);
}

/* Takes away the blanks at the ends of lines, in place. */
static void trim_lines(char *text)
{
	char *to = text, *blanks = NULL;

	for (; *text; text++) {
		if (*text == '\n' && blanks)
			to = blanks;
		if (*text != ' ')
			blanks = NULL;
		else if (!blanks)
			blanks = to;
		*to++ = *text;
	}
	*(blanks ? blanks : to) = '\0';
}

int grid_text(struct grid *grid, char **ret_text)
{
	char *table = NULL;
	int length;

	if (grid->failed || scols_print_table_to_string(grid->table, &table) || !table) {
		free(table);
		return -ENOMEM;
	}

	trim_lines(table);
	/* libsmartcols leaves out the last newline. */
	length = asprintf(ret_text, "%s%s", table, *table ? "\n" : "");
	free(table);
	return length < 0 ? -ENOMEM : 0;
}
