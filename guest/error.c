// SPDX-License-Identifier: GPL-2.0-or-later
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t error_format(struct error *error, const char *format, va_list arguments)
{
	int n = vsnprintf(error->text, sizeof(error->text), format, arguments);
	char *c;

	if (n < 0)
		n = 0;
	/* One line, whatever a program or a kernel put into it. */
	for (c = error->text; *c; c++) {
		if ((unsigned char)*c < ' ')
			*c = ' ';
	}
	return c - error->text;
}

int error_set(struct error *error, int err, const char *format, ...)
{
	va_list arguments;

	if (error->text[0])
		return err;
	va_start(arguments, format);
	error_format(error, format, arguments);
	va_end(arguments);
	return err;
}

int error_errno(struct error *error, int err, const char *format, ...)
{
	va_list arguments;
	size_t n;

	if (error->text[0])
		return err;
	va_start(arguments, format);
	n = error_format(error, format, arguments);
	va_end(arguments);
	snprintf(error->text + n, sizeof(error->text) - n, ": %s", strerror(-err));
	return err;
}
