/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every part of the lab needs to know of its surroundings: where things are kept, whom to
 * tell, when to stop.
 *
 * Folders are found once, by cgwb_context_init(): a program that runs from its build folder uses
 * the sources it was built from, an installed one what is installed beside it (BIN/../share/cgwb,
 * BIN/../libexec/cgwb), so that an installed tree can be moved as a whole. The cache is
 * $XDG_CACHE_HOME/cgwb, or ~/.cache/cgwb.
 *
 * Long steps look at cgwb_context_cancelled() and return -EINTR; everything they have begun is
 * undone on the way out, as for any other failure. To make that work, the program blocks SIGINT and
 * SIGTERM and gives a signalfd for them.
 */
#ifndef CGWB_CONTEXT_H
#define CGWB_CONTEXT_H

#include <stdbool.h>

#include "libcgwb/error.h"

struct cgwb_context {
	char *cache_dir; /* exists */
	char *data_dir; /* has scenarios/, kernel/policy/, kernel/disk/, data/ */
	char *guest_init; /* the lab guest's PID 1 */

	int cancel_fd; /* readable: stop; -1: nobody will say so */

	/* A step has begun that takes a while ("fetching linux-image-... (26 MB)"). May be NULL. */
	void (*step)(void *user, const char *text);
	/* Something that the user should know, but that stops nothing. May be NULL. */
	void (*notice)(void *user, const char *text);
	void *user;
};

/*
 * Finds the folders and makes that of the cache. cancel_fd is -1, the callbacks are NULL. Undo with
 * _done().
 */
int cgwb_context_init(struct cgwb_context *context, struct cgwb_error *error);
void cgwb_context_done(struct cgwb_context *context);

bool cgwb_context_cancelled(const struct cgwb_context *context);

/*
 * Takes a lock file as cgwb_lock_file() does, but says that it waits, and stops waiting with -EINTR
 * when the user wants to stop: for locks that others may hold for long.
 */
int cgwb_context_lock(const struct cgwb_context *context, const char *path);

void cgwb_context_step(const struct cgwb_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void cgwb_context_notice(const struct cgwb_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
