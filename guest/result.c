// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "clock.h"
#include "engine.h"
#include "program.h"

/* The first word that begins with a digit, or with 'v' or '-' and a digit, and has a dot: "fio-3.33". */
static bool version_find(const char *text, char *version, size_t size)
{
	const char *c;
	size_t n;

	for (c = text; *c; c++) {
		if (!isdigit((unsigned char)*c))
			continue;
		n = strspn(c, "0123456789.");
		if (memchr(c, '.', n) && n < size) {
			memcpy(version, c, n);
			version[n] = '\0';
			return true;
		}
		c += n - 1;
	}
	return false;
}

static void program_add(json_t *programs, const char *program, const char *option)
{
	char *argv[] = { (char *)program, (char *)option, NULL };
	struct error ignored = { "" };
	char *text, version[64];
	int status;

	if (json_object_get(programs, program))
		return;
	if (program_output(argv, &text, &status, &ignored) < 0)
		return;
	if (version_find(text, version, sizeof(version)))
		json_object_set_new(programs, program, json_string(version));
	free(text);
}

static json_t *programs_versions(const struct cell *cell)
{
	json_t *programs = json_object();
	size_t i;

	for (i = 0; i < cell->n_jobs; i++) {
		if (cell->jobs[i].engine == &engine_fio)
			program_add(programs, "fio", "--version");
	}
	for (i = 0; i < cell->n_mounts; i++) {
		const char *mkfs = json_string_value(json_array_get(cell->mounts[i].mkfs, 0));

		if (mkfs)
			program_add(programs, mkfs, "-V");
	}
	return programs;
}

static json_t *kernel_version(void)
{
	json_t *kernel = json_object();
	struct utsname name;

	uname(&name);
	json_object_set_new(kernel, "release", json_string(name.release));
	json_object_set_new(kernel, "version", json_string(name.version));
	return kernel;
}

static json_t *result_build(const struct error *error, json_t *programs, json_t *measures,
			    json_t *details, const struct result_times *times)
{
	json_t *result = json_object();

	json_object_set_new(result, "status", json_string(error->text[0] ? "failed" : "ok"));
	if (error->text[0])
		json_object_set_new(result, "error",
				    json_string(error->text) ?:
							       json_string("the error is not UTF-8"));
	json_object_set_new(result, "kernel", kernel_version());
	json_object_set_new(result, "programs", programs);
	json_object_set_new(result, "measures", measures ?: json_object());
	json_object_set_new(result, "details", details ?: json_object());
	json_object_set_new(result, "boot_s", json_real(clock_seconds(times->boot_ns)));
	json_object_set_new(result, "prepared_s", json_real(clock_seconds(times->prepared_ns)));
	json_object_set_new(result, "virtual_s", json_real(clock_seconds(clock_now_ns())));
	return result;
}

json_t *result_failed(const struct error *error, json_t *details)
{
	struct result_times times = { 0 };

	return result_build(error, json_object(), NULL, details, &times);
}

json_t *result_new(const struct cell *cell, const struct error *error,
		   const struct result_times *times, json_t *measures, json_t *details)
{
	return result_build(error, programs_versions(cell), measures, details, times);
}
