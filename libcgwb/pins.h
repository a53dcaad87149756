/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short names of kernels, from data/kernels.ini. Internal to libcgwb.
 */
#ifndef CGWB_PINS_H
#define CGWB_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "libcgwb/context.h"

struct pin {
	char *name; /* 6.1 */
	char *release;
	char *version; /* of the package */
	char *newest; /* a pattern of package names: what to take when that version is gone */
};

struct pins {
	struct pin *pins;
	size_t n;
};

/* Reads the file, which has been installed with the program. Undo with pins_done(). */
int pins_read(const struct cgwb_context *context, struct pins *pins, struct cgwb_error *error);
void pins_done(struct pins *pins);

/* NULL: no such short name */
const struct pin *pins_find(const struct pins *pins, const char *name);

/* NULL: that release has no short name */
const struct pin *pins_find_release(const struct pins *pins, const char *release);

/* Whether the package of that release's image matches a pattern as in `newest`. */
bool pins_match(const char *pattern, const char *release);

#endif
