/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the lab need: a folder of their own with an empty cache, a context in it, files
 * with a given content, and the messages that the library gave.
 */
#ifndef RIG_H
#define RIG_H

#include <stddef.h>

#include "libcgwb/context.h"

struct rig {
	char *folder; /* a new one */
	char *old_path; /* of the environment */
	struct cgwb_context context;
	struct cgwb_error error;
	char notices[4096]; /* one a line */
	char steps[4096];
};

/* For cmocka: makes a rig, with tests/unit-lab/bin first in PATH, and removes all of it. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* FOLDER/NAME; lives until the test ends. */
const char *rig_path(struct rig *rig, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a file, with the folders above it. */
void rig_write(const char *path, const void *data, size_t size);
void rig_write_text(const char *path, const char *text);

/* A kernel image as far as its header goes. */
void rig_write_image(const char *path, const char *release);

/* The error as a line, borrowed; empty: none. Forgets it. */
const char *rig_error(struct rig *rig, int err);

/* How many entries a folder has. -1: there is none. */
int rig_entries(const char *path);

#endif
