/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sub-commands have in common: how they speak, and what they exit with.
 *
 * Results go to standard output; everything about how it goes, to standard error. A message is one
 * line that begins with `cgwb: `.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "libcgwb/context.h"

enum tool_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* what was measured or asked for failed */
	EXIT_USAGE = 2, /* it was not understood */
};

/* A sub-command. `argv[0]` is its name. */
struct tool_command {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *about;
};

/*
 * Runs the sub-command that argv[1] names, out of a list that ends with a NULL name, or says which
 * there are (`-h`, or `usage` with nothing), or which is the nearest.
 */
int tool_dispatch(const struct tool_command *commands, const char *usage, int argc, char **argv);

/* One line to standard error. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The same for a wrong command line, with a hint at -h of `command` ("lab run"). Returns
 * EXIT_USAGE.
 */
int tool_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Says the error, and frees it. Returns EXIT_USAGE if the user gave something wrong (-EINVAL), else
 * EXIT_FAILED.
 */
int tool_error(struct cgwb_error *error, int err);

struct option;

/*
 * After getopt_long() has returned '?' or ':' with opterr = 0: says which option is unknown, with
 * the nearest, or lacks its argument. Returns EXIT_USAGE.
 */
int tool_option_error(const char *command, const struct option *options, int argc, char **argv,
		      int got);

/*
 * The library's context, with steps and notices to standard error, and a descriptor for the signals
 * that end a program, which are blocked from then on. Says what is wrong. Returns 0 or an exit
 * status.
 */
int tool_context(struct cgwb_context *context);
void tool_context_done(struct cgwb_context *context);

/* A text to standard output, and that it all has arrived: EXIT_OK or EXIT_FAILED. */
int tool_flush(void);

#endif
