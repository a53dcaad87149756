/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a run goes, on standard error: on a terminal a block of lines that is kept up to date,
 * elsewhere a line for each running cell every 15 seconds. That a cell has ended is a line that
 * stays.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

#include "libcgwb/run.h"

struct progress {
	bool terminal;
	unsigned int lines; /* of the block, below which the cursor is */
	double last_s; /* when it was last said, elsewhere */
};

/* Sets it up for standard error. */
void progress_init(struct progress *progress);

/* For struct cgwb_run_watch; `user` is the progress. */
void progress_changed(void *user, const struct cgwb_run *run, const struct cgwb_run_cell *cell);

/* Removes the block, before anything else is printed. */
void progress_clear(struct progress *progress);

/* "45 s", "6 min", "1 h 20 min": about. */
const char *progress_duration(double seconds, char text[24]);

#endif
