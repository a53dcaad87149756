// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

int text_read(const char *text, struct cgwb_scenario **ret_scenario, struct cgwb_error *error)
{
	FILE *stream = fmemopen((char *)text, strlen(text), "r");
	int err;

	assert_non_null(stream);
	err = cgwb_scenario_read_stream(stream, "t.ini", ret_scenario, error);
	fclose(stream);
	return err;
}

struct cgwb_scenario *text_scenario(const char *text)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario = NULL;
	int err = text_read(text, &scenario, &error);

	if (err)
		fail_msg("%d: %s", err, error.text);
	return scenario;
}

char *text_error(const char *text)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario = NULL;
	int err = text_read(text, &scenario, &error);
	char *line = err ? cgwb_error_line(&error, err) : strdup("");

	cgwb_scenario_free(scenario);
	cgwb_error_done(&error);
	return line;
}
