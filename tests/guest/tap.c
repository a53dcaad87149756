// SPDX-License-Identifier: GPL-2.0-or-later
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int cases, failures;
static bool failed;
static const char *skipped;

void tap_case(const char *name, void (*run)(void))
{
	failed = false;
	skipped = NULL;
	run();
	cases++;
	failures += failed;
	printf("%sok %d - %s%s%s\n", failed ? "not " : "", cases, name, skipped ? " # SKIP " : "",
	       skipped ? skipped : "");
	fflush(stdout);
}

int tap_done(void)
{
	printf("1..%d\n", cases);
	fflush(stdout);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

void tap_skip(const char *why)
{
	skipped = why;
}

static void print_line(const char *format, va_list args)
{
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

void tap_note(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

bool tap_check(bool ok, const char *file, int line, const char *format, ...)
{
	va_list args;

	if (ok)
		return true;
	failed = true;
	printf("# %s:%d: ", file, line);
	va_start(args, format);
	print_line(format, args);
	va_end(args);
	return false;
}
