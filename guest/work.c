// SPDX-License-Identifier: GPL-2.0-or-later
#include "work.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cell.h"
#include "clock.h"
#include "job.h"

uint64_t work_due_ns(uint64_t per_s, uint64_t n)
{
	/* Not n * (1 / rate): no rounding error may add up. */
	return per_s ? n / per_s * NS_PER_S + n % per_s * NS_PER_S / per_s : 0;
}

int work_complain(const char *what, const char *path)
{
	int err = -errno;

	fprintf(stderr, "cannot %s %s: %s\n", what, path, strerror(-err));
	return err;
}

int work_report(const struct job *job, json_t *report, uint64_t elapsed_ns)
{
	char path[PATH_MAX];
	int r = -1;

	job_path(job, "json", path, sizeof(path));
	if (report && !json_object_set_new(report, "seconds", json_real(clock_seconds(elapsed_ns))))
		r = json_dump_file(report, path, 0);
	json_decref(report);
	return r ? -EIO : 0;
}

int work_collect(const struct job *job, bool failed, const char *count_key,
		 struct job_figures *figures, json_t *details, json_t **ret_report,
		 struct error *error)
{
	json_error_t where;
	char path[PATH_MAX];
	json_t *report;
	double seconds;

	*ret_report = NULL;
	job_path(job, "json", path, sizeof(path));
	report = json_load_file(path, 0, &where);
	if (!report)
		return failed ? 0 :
				error_set(error, -EBADMSG, "job %s: its report: %s", job->name,
					  where.text);
	json_object_update(details, report);
	figures->count = json_integer_value(json_object_get(report, count_key));
	seconds = json_number_value(json_object_get(report, "seconds"));
	figures->valid = !failed && seconds > 0;
	if (figures->valid) {
		figures->seconds = seconds;
		figures->iops = figures->count / seconds;
	}
	*ret_report = report;
	return 0;
}
