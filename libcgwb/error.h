/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What went wrong, for the person at the keyboard.
 *
 * libcgwb never prints and never exits. Functions that can fail for a reason worth a sentence take
 * a `struct cgwb_error *`, which the caller has set to CGWB_ERROR_INIT, and which may be NULL if
 * nobody will read it. The negative errno that such a function returns is for the program; the
 * error is for its user: one line, with what was attempted on what, the file and line if it is
 * about a file, and the nearest right word if a name was not known.
 *
 * The first error set is kept, later ones are dropped: the innermost cause is the one worth
 * reading, and clean-up that fails on the way out must not hide it. The caller frees the content
 * with cgwb_error_done().
 */
#ifndef CGWB_ERROR_H
#define CGWB_ERROR_H

struct cgwb_error {
	char *file; /* what the error is in; NULL: nothing in particular */
	unsigned int line; /* 0: no line */
	char *text; /* NULL: no error has been set */
	char *nearest; /* the nearest right word; NULL: none is near */
};

#define CGWB_ERROR_INIT                                                                            \
	{                                                                                          \
		0                                                                                  \
	}

/* Frees the content and makes it CGWB_ERROR_INIT again. NULL-safe. */
void cgwb_error_done(struct cgwb_error *error);

/*
 * Sets the text, printf-style, unless one is set already. Returns `err` as it was given, so that a
 * function can end with `return cgwb_error_set(error, -EINVAL, ...)`. Out of memory leaves the
 * error unset.
 */
int cgwb_error_set(struct cgwb_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, about a place in a file. `file` (copied) may be NULL, `line` may be 0. */
int cgwb_error_at(struct cgwb_error *error, int err, const char *file, unsigned int line,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Names the nearest right word (copied; NULL is ignored), once an error is set. Returns `err`. */
int cgwb_error_nearest(struct cgwb_error *error, int err, const char *nearest);

/*
 * The whole as one line without newline: `FILE:LINE: TEXT; did you mean NEAREST?`. The caller frees
 * it. NULL: out of memory. If no error was set, the text is that of `err`.
 */
char *cgwb_error_line(const struct cgwb_error *error, int err);

#endif
