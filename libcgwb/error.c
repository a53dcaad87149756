// SPDX-License-Identifier: GPL-2.0-or-later
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cgwb_error_done(struct cgwb_error *error)
{
	if (!error)
		return;

	free(error->file);
	free(error->text);
	free(error->nearest);
	*error = (struct cgwb_error)CGWB_ERROR_INIT;
}

static void error_vset(struct cgwb_error *error, const char *file, unsigned int line,
		       const char *format, va_list args)
{
	if (!error || error->text)
		return;

	if (vasprintf(&error->text, format, args) < 0) {
		error->text = NULL;
		return;
	}

	error->file = file ? strdup(file) : NULL;
	error->line = line;
}

int cgwb_error_set(struct cgwb_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_vset(error, NULL, 0, format, args);
	va_end(args);
	return err;
}

int cgwb_error_at(struct cgwb_error *error, int err, const char *file, unsigned int line,
		  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_vset(error, file, line, format, args);
	va_end(args);
	return err;
}

int cgwb_error_nearest(struct cgwb_error *error, int err, const char *nearest)
{
	if (error && error->text && !error->nearest && nearest)
		error->nearest = strdup(nearest);
	return err;
}

char *cgwb_error_line(const struct cgwb_error *error, int err)
{
	char place[32] = "";
	char *line = NULL;

	if (!error || !error->text)
		return strdup(strerror(err < 0 ? -err : err));

	if (error->file && error->line)
		snprintf(place, sizeof(place), ":%u: ", error->line);
	else if (error->file)
		snprintf(place, sizeof(place), ": ");

	if (asprintf(&line, "%s%s%s%s%s%s", error->file ? error->file : "", place, error->text,
		     error->nearest ? "; did you mean " : "", error->nearest ? error->nearest : "",
		     error->nearest ? "?" : "") < 0)
		return NULL;
	return line;
}
