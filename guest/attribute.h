/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's attribute files (sysfs, procfs, configfs, cgroupfs, tracefs): one write or one read
 * each, the path printf-style and last. Errors name the file and the value.
 */
#ifndef GUEST_ATTRIBUTE_H
#define GUEST_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

int attribute_write(struct error *error, const char *value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds to what is there (a second trigger of an event), where writing would replace it. */
int attribute_append(struct error *error, const char *value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
int attribute_write_u64(struct error *error, uint64_t value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The whole file as text, without newlines at its end. The caller frees *ret_text. A missing file is
 * -ENOENT with no error set: whether it may be missing is for the caller to say.
 */
int attribute_read(struct error *error, char **ret_text, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
/* The number that a file begins with; -ENOENT as above, -EINVAL with an error if there is none. */
int attribute_read_u64(struct error *error, uint64_t *ret_value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

#endif
