// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SAY_EVERY_S 15

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_init(struct progress *progress)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){ .last_s = now_s() };
	progress->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

const char *progress_duration(double seconds, char text[24])
{
	unsigned int s = seconds < 0 ? 0 : (unsigned int)(seconds + 0.5);

	if (s < 90)
		snprintf(text, 24, "%u s", s);
	else if (s < 90 * 60)
		snprintf(text, 24, "%u min", (s + 30) / 60);
	else
		snprintf(text, 24, "%u h %02u min", s / 3600, s % 3600 / 60);
	return text;
}

void progress_clear(struct progress *progress)
{
	if (progress->lines)
		fprintf(stderr, "\033[%uA\r\033[J", progress->lines);
	progress->lines = 0;
}

static unsigned int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 80;
	return size.ws_col;
}

/* A line of the block: one that wrapped would be two. */
static void block_line(struct progress *progress, const char *text)
{
	fprintf(stderr, "%.*s\n", (int)terminal_columns() - 1, text);
	progress->lines++;
}

static void cell_text(const struct cgwb_run_cell *cell, char *text, size_t size)
{
	double left = cell->expected_wall_s - cell->wall_s;
	char wall[24], rest[24];

	if (cell->virtual_s > 0.2 * cell->expected_virtual_s)
		left = cell->wall_s * (cell->expected_virtual_s / cell->virtual_s - 1);
	snprintf(text, size, "%-14s %-8s %4.0f of ~%.0f virtual s, %s so far, %s%s", cell->name,
		 cell->phase, cell->virtual_s, cell->expected_virtual_s,
		 progress_duration(cell->wall_s, wall), left > 0 ? "~" : "late",
		 left > 0 ? progress_duration(left, rest) : "");
	if (left > 0)
		strncat(text, " left", size - strlen(text) - 1);
}

static void say_ended(const struct cgwb_run_cell *cell)
{
	static const char *const how[] = { "", " (kept)", " (same inputs as before: reused)" };
	const char *error = cgwb_result_error(cell->result);
	unsigned int warn = cgwb_result_warn(cell->result);
	char wall[24];

	if (error) {
		fprintf(stderr, "cgwb: %s: failed: %s%s%s\n", cell->name, error,
			cell->console ? "; console: " : "", cell->console ? cell->console : "");
		return;
	}
	if (cell->source == CGWB_CELL_RUN)
		fprintf(stderr, "cgwb: %s: done in %s\n", cell->name,
			progress_duration(cell->wall_s, wall));
	else
		fprintf(stderr, "cgwb: %s: done%s\n", cell->name, how[cell->source]);
	if (warn)
		fprintf(stderr, "cgwb: %s: %u kernel warning%s; console: %s\n", cell->name, warn,
			warn > 1 ? "s" : "", cell->console ? cell->console : "-");
}

static void block_draw(struct progress *progress, const struct cgwb_run *run)
{
	const struct cgwb_plan *plan = cgwb_run_plan(run);
	char text[256], rest[24];
	size_t i, done = 0;

	progress_clear(progress);
	for (i = 0; i < plan->cells; i++) {
		const struct cgwb_run_cell cell = cgwb_run_cell(run, i);

		done += cell.state == CGWB_CELL_DONE;
		if (cell.state != CGWB_CELL_RUNNING)
			continue;
		cell_text(&cell, text, sizeof(text));
		block_line(progress, text);
	}
	snprintf(text, sizeof(text), "%zu of %zu cells done, about %s left", done, plan->cells,
		 progress_duration(cgwb_run_remaining_s(run), rest));
	block_line(progress, text);
}

static void say_lines(const struct cgwb_run *run)
{
	const struct cgwb_plan *plan = cgwb_run_plan(run);
	char text[256];
	size_t i;

	for (i = 0; i < plan->cells; i++) {
		const struct cgwb_run_cell cell = cgwb_run_cell(run, i);

		if (cell.state != CGWB_CELL_RUNNING)
			continue;
		cell_text(&cell, text, sizeof(text));
		fprintf(stderr, "cgwb: %s\n", text);
	}
}

void progress_changed(void *user, const struct cgwb_run *run, const struct cgwb_run_cell *cell)
{
	struct progress *progress = user;

	if (cell && cell->state == CGWB_CELL_DONE) {
		progress_clear(progress);
		say_ended(cell);
	}
	if (progress->terminal) {
		block_draw(progress, run);
	} else if (!cell && now_s() - progress->last_s >= SAY_EVERY_S) {
		progress->last_s = now_s();
		say_lines(run);
	}
}
