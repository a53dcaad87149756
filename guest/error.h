/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one line that says why a cell failed. The first error is kept: what fails while cleaning up
 * after it must not hide it. Nothing is allocated, so it also works when memory is what ran out.
 */
#ifndef GUEST_ERROR_H
#define GUEST_ERROR_H

struct error {
	char text[512]; /* empty: no error */
};

/* Sets the text (printf), unless one is set; returns @err (a negative errno) for `return error_set(...)`. */
int error_set(struct error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, followed by ": " and @err in words. */
int error_errno(struct error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
