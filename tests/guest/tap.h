/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tap: test cases of a program that runs in a guest, as TAP on stdout.
 *
 * A case is a function that checks; it fails if any of its checks does, and each one that does says where and what.
 * tap_case() runs them one after another; tap_done() prints the plan and gives main() its exit status.
 */
#ifndef CGWB_TESTS_TAP_H
#define CGWB_TESTS_TAP_H

#include <stdbool.h>

void tap_case(const char *name, void (*run)(void));
int tap_done(void);

/* The case that runs counts as skipped, with a reason; the rest of it is up to the caller. */
void tap_skip(const char *why);
/* A line of what was measured. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Use CHECK. Returns `ok`. */
bool tap_check(bool ok, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The format says what was found, for one who reads only the log. */
#define CHECK(ok, ...) tap_check(ok, __FILE__, __LINE__, __VA_ARGS__)

/* CHECK without which the rest of the case makes no sense. */
#define NEED(ok, ...)                                                                              \
	do {                                                                                       \
		if (!CHECK(ok, __VA_ARGS__))                                                       \
			return;                                                                    \
	} while (0)

#endif
