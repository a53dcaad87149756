/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs while they run: one process each, placed in its cgroup before it does anything, woken at its
 * own time by the kernel and not by PID 1, so that starts are exact.
 */
#ifndef GUEST_JOB_H
#define GUEST_JOB_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "cell.h"
#include "engine.h"
#include "error.h"

struct job_run {
	const struct job *job;
	pid_t pid; /* 0: not started, or ended and reaped */
	int status; /* as wait() gives it */
	uint64_t end_ns;
	uint64_t cpu_us; /* user and system, of its process and of those that it has waited for */
	bool stopped; /* by PID 1 at the end of its duration */
	struct job_figures figures;
};

struct jobs {
	struct job_run *runs;
	size_t n;
	uint64_t zero_ns; /* CLOCK_MONOTONIC that start_ns counts from */
	int go; /* the jobs wait until this pipe says zero_ns */
};

/* Forks the jobs and places them; none runs before jobs_release(). */
int jobs_prepare(struct jobs *jobs, const struct cell *cell, struct error *error);

/* The moment from which start_ns counts. */
int jobs_release(struct jobs *jobs, struct error *error);

/* How many have not ended. */
size_t jobs_left(const struct jobs *jobs);

/*
 * Reaps until @until_ns or until a job has ended, whatever is first. -ECHILD: a job failed (others
 * may still be running); the error says which and how.
 */
int jobs_wait(struct jobs *jobs, uint64_t until_ns, struct error *error);

void jobs_kill(struct jobs *jobs);

/* Figures and details of all jobs, by name. -EIO and an error if one of them failed after all. */
int jobs_collect(struct jobs *jobs, json_t *details, struct error *error);

/* What the jobs have printed so far, by name; needs nothing but the cell, and waits for nothing. */
json_t *jobs_output(const struct cell *cell);

void jobs_done(struct jobs *jobs);

/* The file in which a job leaves @what ("out", "err", ...), for its engine. */
void job_path(const struct job *job, const char *what, char *path, size_t size);

/*
 * Writes anew what a job that has ended left in its files: they are in memory, and charged to its
 * cgroup, which could not be freed as long as they are.
 */
int job_release(const struct job *job, struct error *error);

/* The last @max bytes of that file as text, "" if there is none. The caller frees it. */
char *job_tail(const struct job *job, const char *what, size_t max);

#endif
