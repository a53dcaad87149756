// SPDX-License-Identifier: GPL-2.0-or-later
#include "limit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "clock.h"
#include "job.h"
#include "report.h"
#include "result.h"

static void *limit_wait(void *userdata)
{
	const struct cell *cell = userdata;
	uint64_t limit_ns = cell->limit_ns;
	struct error error = { "" };
	json_t *details;

	clock_sleep_until(limit_ns);
	error_set(&error, -1, "exceeded the limit of %.15g virtual seconds in phase %s",
		  limit_ns / 1e9, report_phase_now());
	details = json_object();
	json_object_set_new(details, "jobs", jobs_output(cell));
	report_result(result_failed(&error, details));
}

int limit_begin(const struct cell *cell, struct error *error)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	if (!cell->limit_ns)
		return 0;
	/* The thread takes no signal: they are for PID 1, which waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&thread, NULL, limit_wait, (void *)cell);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return error_errno(error, err, "cannot watch the limit of virtual time");
	pthread_detach(thread);
	return 0;
}
