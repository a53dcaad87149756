/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of the host's that goes into a guest, with all that it needs to start there.
 *
 * The loader itself is asked which libraries these are, so that RPATH and the rest are as it sees
 * them; versions of a library for newer processors are not used, since the guest's processor is a
 * plain one. A script brings its interpreter.
 */
#ifndef CGWB_BINARY_H
#define CGWB_BINARY_H

#include <stddef.h>

#include "libcgwb/context.h"
#include "libcgwb/digest.h"

/* A file of the host's, and where it goes in the guest. */
struct cgwb_binary_file {
	char *path;
	char *guest_path;
};

struct cgwb_binary {
	char *program; /* as it was asked for */
	char *name; /* the last part of its path in the guest */
	char *version; /* what it says of itself; NULL: nothing that looks like a version */
	struct cgwb_binary_file *files; /* the program first, then its loader and libraries */
	size_t n;
	char digest[CGWB_DIGEST_SIZE]; /* of all of them */
};

/*
 * Finds a program (cgwb_find_program()) and its files; it goes to `guest_path`. `version_option`
 * asks it for its version, NULL: it is not asked. Undo with cgwb_binary_done().
 *
 * -ENOENT: no such program; -ENOEXEC: it cannot run in a guest.
 */
int cgwb_binary_find(const struct cgwb_context *context, const char *program,
		     const char *guest_path, const char *version_option,
		     struct cgwb_binary *ret_binary, struct cgwb_error *error);

void cgwb_binary_done(struct cgwb_binary *binary);

#endif
