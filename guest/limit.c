// SPDX-License-Identifier: GPL-2.0-or-later
#include "limit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "clock.h"
#include "report.h"
#include "result.h"

static uint64_t limit_ns;

static void *limit_wait(void *unused)
{
	struct error error = { "" };

	clock_sleep_until(limit_ns);
	error_set(&error, -1, "exceeded the limit of %.15g virtual seconds in phase %s",
		  limit_ns / 1e9, report_phase_now());
	report_result(result_failed(&error));
}

int limit_begin(uint64_t ns, struct error *error)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	if (!ns)
		return 0;
	limit_ns = ns;
	/* The thread takes no signal: they are for PID 1, which waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&thread, NULL, limit_wait, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return error_errno(error, err, "cannot watch the limit of virtual time");
	pthread_detach(thread);
	return 0;
}
