/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engines of our own share: they do one thing after another, paced or not, complain on stderr, and leave a
 * report, an object with `seconds` in it, for PID 1 to collect.
 */
#ifndef GUEST_WORK_H
#define GUEST_WORK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "error.h"

struct job;

/* When the @n-th thing of @per_s a second is due, after the beginning; 0 when it is not paced. */
uint64_t work_due_ns(uint64_t per_s, uint64_t n);

/* Says on stderr what could not be done with @path, by errno; returns -errno. */
int work_complain(const char *what, const char *path);

/* Leaves @report, which is taken over and may be NULL, and the job's seconds in it. */
int work_report(const struct job *job, json_t *report, uint64_t elapsed_ns);

/*
 * Takes up the report: into @details, and its seconds, with how many of @count_key, into @figures, which are valid if
 * the job has not @failed. @ret_report, the caller's, is NULL for a job that failed and left none.
 */
int work_collect(const struct job *job, bool failed, const char *count_key,
		 struct job_figures *figures, json_t *details, json_t **ret_report,
		 struct error *error);

#endif
