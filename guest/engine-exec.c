// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine `exec`: any program of the initramfs. Tests that run in a guest are such programs. */
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "json.h"
#include "program.h"

#define OUTPUT_BYTES (64u << 10)

static const char *const keys[] = { "argv", NULL };

struct exec_parameters {
	json_t *argv; /* borrowed from the cell */
};

static int exec_parse(struct job *job, json_t *json, const char *where, struct error *error)
{
	struct exec_parameters *parameters = calloc(1, sizeof(*parameters));
	json_t *word;
	size_t i;
	int err;

	if (!parameters)
		return error_errno(error, -ENOMEM, "cannot read %s", where);
	job->parameters = parameters;
	err = json_get_array(json, where, "argv", &parameters->argv, error);
	if (err < 0)
		return err;
	if (!json_array_size(parameters->argv))
		return error_set(error, -EINVAL, "cell: %s: 'argv' is empty", where);
	json_array_foreach(parameters->argv, i, word) {
		if (!json_is_string(word))
			return error_set(error, -EINVAL, "cell: %s: argv[%zu] is not a string",
					 where, i);
	}
	return 0;
}

static int exec_run(const struct job *job)
{
	const struct exec_parameters *parameters = job->parameters;
	size_t n = json_array_size(parameters->argv), i;
	char **argv = calloc(n + 1, sizeof(*argv));

	if (!argv)
		return 126;
	for (i = 0; i < n; i++)
		argv[i] = (char *)json_string_value(json_array_get(parameters->argv, i));
	execvpe(argv[0], argv, program_environment);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	free(argv);
	return 127;
}

static int exec_collect(const struct job *job, bool failed, struct job_figures *figures,
			json_t *details, struct error *error)
{
	json_object_set_new(details, "stdout", json_text(job_tail(job, "out", OUTPUT_BYTES)));
	json_object_set_new(details, "stderr", json_text(job_tail(job, "err", OUTPUT_BYTES)));
	return 0;
}

const struct engine engine_exec = {
	.name = "exec",
	.keys = keys,
	.stopped_from_outside = true,
	.parse = exec_parse,
	.run = exec_run,
	.collect = exec_collect,
};
