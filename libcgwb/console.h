/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest's kernel complained about on its console.
 *
 * One complaint is one event, however many lines it has: the first line of a WARNING, BUG, oops,
 * stall, hung task, lockdep report, sanitizer report, failed allocation, OOM kill, I/O or
 * filesystem error, or panic. A call trace counts as one of its own only if no such line stands
 * shortly before it. These are what the measure `warn` counts.
 */
#ifndef CGWB_CONSOLE_H
#define CGWB_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct cgwb_console {
	unsigned int warn; /* complaints */
	char *first; /* the first complaint's first line, without its time; NULL: none */
	bool panicked; /* the last thing that happened */
	char *panic; /* its line; NULL: none */
};

/* Scans `size` bytes. Returns 0 or -ENOMEM. */
int cgwb_console_scan(struct cgwb_console *console, const char *text, size_t size);

/* Scans a file. Returns 0 or a negative errno. */
int cgwb_console_scan_file(struct cgwb_console *console, const char *path);

void cgwb_console_done(struct cgwb_console *console);

#endif
