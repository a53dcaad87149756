// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine `fio`: the real one. The cell's pairs go into its job file as they stand; how it
 * reports is ours.
 */
#include "engine-fio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribute.h"
#include "clock.h"
#include "job.h"
#include "json.h"
#include "program.h"

#define MIB 1048576.0
#define NS_PER_MS 1e6

static const char *const keys[] = { "fio", NULL };

struct fio_parameters {
	json_t *pairs; /* borrowed from the cell */
};

static int fio_parse(struct job *job, json_t *json, const char *where, struct error *error)
{
	struct fio_parameters *parameters = calloc(1, sizeof(*parameters));
	json_t *pair;
	size_t i;
	int err;

	if (!parameters)
		return error_errno(error, -ENOMEM, "cannot read %s", where);
	job->parameters = parameters;
	err = json_get_array(json, where, "fio", &parameters->pairs, error);
	if (err < 0)
		return err;
	json_array_foreach(parameters->pairs, i, pair) {
		const char *key = json_string_value(json_array_get(pair, 0));
		const char *value = json_string_value(json_array_get(pair, 1));

		if (json_array_size(pair) != 2 || !key || !value || strpbrk(key, "=\n[") ||
		    strchr(value, '\n'))
			return error_set(error, -EINVAL,
					 "cell: %s: fio[%zu] is not a pair of key and value", where,
					 i);
	}
	return 0;
}

/* The job file; randseed comes first, so that a scenario may still choose its own. */
static int job_file_write(const struct job *job, const char *path)
{
	const struct fio_parameters *parameters = job->parameters;
	FILE *file = fopen(path, "we");
	json_t *pair;
	size_t i;

	if (!file)
		return -errno;
	fprintf(file, "[%s]\n", job->name);
	if (job->seed)
		fprintf(file, "randseed=%" PRIu64 "\n", job->seed);
	json_array_foreach(parameters->pairs, i, pair)
		fprintf(file, "%s=%s\n", json_string_value(json_array_get(pair, 0)),
			json_string_value(json_array_get(pair, 1)));
	/* However many processes the job is, its figures are one. */
	fprintf(file, "group_reporting=1\n");
	return fclose(file) ? -errno : 0;
}

static int fio_run(const struct job *job)
{
	char job_file[512], report[512], output[sizeof(report) + 16];
	char *argv[] = { "fio", "--eta=never", "--output-format=json", output, job_file, NULL };
	int err;

	job_path(job, "fio", job_file, sizeof(job_file));
	job_path(job, "json", report, sizeof(report));
	snprintf(output, sizeof(output), "--output=%s", report);
	err = job_file_write(job, job_file);
	if (err < 0) {
		fprintf(stderr, "cannot write %s: %s\n", job_file, strerror(-err));
		return 126;
	}
	execvpe(argv[0], argv, program_environment);
	fprintf(stderr, "cannot run fio: %s\n", strerror(errno));
	return 127;
}

static double number(json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* One of "read", "write", "trim" of fio's report. */
static void direction_details(json_t *direction, json_t *details)
{
	static const char *const percentiles[] = { "50.000000", "90.000000", "99.000000",
						   "99.900000" };
	json_t *clat = json_object_get(direction, "clat_ns");
	json_t *list = json_object_get(clat, "percentile");
	json_t *clat_ms = json_object();
	size_t i;

	json_object_set_new(details, "bytes", json_integer(number(direction, "io_bytes")));
	json_object_set_new(details, "requests", json_integer(number(direction, "total_ios")));
	json_object_set_new(details, "seconds",
			    json_rounded(number(direction, "runtime") / 1e3, 3));
	json_object_set_new(details, "mib_s", json_rounded(number(direction, "bw_bytes") / MIB, 2));
	json_object_set_new(details, "iops", json_rounded(number(direction, "iops"), 2));
	json_object_set_new(
		details, "mean_ms",
		json_rounded(number(json_object_get(direction, "lat_ns"), "mean") / NS_PER_MS, 3));
	json_object_set_new(
		details, "max_ms",
		json_rounded(number(json_object_get(direction, "lat_ns"), "max") / NS_PER_MS, 3));
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		json_object_set_new(clat_ms, percentiles[i],
				    json_rounded(number(list, percentiles[i]) / NS_PER_MS, 3));
	json_object_set_new(details, "clat_ms", clat_ms);
}

static void direction_figures(json_t *details, struct job_figures *figures)
{
	*figures = (struct job_figures){
		.valid = true,
		.seconds = number(details, "seconds"),
		.mib_s = number(details, "mib_s"),
		.iops = number(details, "iops"),
		.has_latency = true,
		.mean_ms = number(details, "mean_ms"),
		.p99_ms = number(json_object_get(details, "clat_ms"), "99.000000"),
		.count = number(details, "requests"),
	};
}

static int report_read(json_t *report, const char *name, struct job_figures *figures,
		       json_t *details, struct error *error)
{
	static const char *const directions[] = { "read", "write", "trim" };
	json_t *one = json_array_get(json_object_get(report, "jobs"), 0);
	double most = 0;
	uint64_t count = 0;
	size_t i;

	if (!one)
		return error_set(error, -EBADMSG, "job %s: fio's report has no job", name);
	if (number(one, "error"))
		return error_set(error, -EIO, "job %s: fio reports: %s", name,
				 strerror(number(one, "error")));
	for (i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
		json_t *direction = json_object_get(one, directions[i]);
		double bytes = number(direction, "io_bytes");
		json_t *of;

		if (bytes <= 0)
			continue;
		of = json_object();
		direction_details(direction, of);
		count += number(of, "requests");
		/* A mixed job is measured by the direction that moved more. */
		if (bytes > most) {
			direction_figures(of, figures);
			most = bytes;
		}
		json_object_set_new(details, directions[i], of);
	}
	figures->count = count;
	return 0;
}

int fio_report_parse(const char *text, const char *name, struct job_figures *figures,
		     json_t *details, struct error *error)
{
	/* Notes of fio may stand before the report. */
	const char *json = strchr(text, '{');
	json_error_t where;
	json_t *report = json_loads(json ?: text, JSON_DISABLE_EOF_CHECK, &where);
	int err;

	if (!report)
		return error_set(error, -EBADMSG, "job %s: fio's report: line %d: %s", name,
				 where.line, where.text);
	err = report_read(report, name, figures, details, error);
	json_decref(report);
	return err;
}

static int fio_collect(const struct job *job, bool failed, struct job_figures *figures,
		       json_t *details, struct error *error)
{
	char path[512], *text;
	int err;

	if (failed) {
		json_object_set_new(details, "stderr", json_text(job_tail(job, "err", 2000)));
		return 0;
	}
	job_path(job, "json", path, sizeof(path));
	err = attribute_read(error, &text, "%s", path);
	if (err < 0)
		return error_errno(error, err, "job %s: cannot read fio's report", job->name);
	err = fio_report_parse(text, job->name, figures, details, error);
	free(text);
	return err;
}

const struct engine engine_fio = {
	.name = "fio",
	.keys = keys,
	.parse = fio_parse,
	.run = fio_run,
	.collect = fio_collect,
};
