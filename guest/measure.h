/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measuring a cell: from the moment at which everything is prepared to the end of the final sync.
 * What each measure is: docs/measures.md.
 *
 * A family of measures is a table of functions and one file, measure-NAME.c. Families share the
 * trace; each adds its measures and its details to the result.
 */
#ifndef GUEST_MEASURE_H
#define GUEST_MEASURE_H

#include <jansson.h>
#include <stdint.h>

#include "cell.h"
#include "error.h"
#include "job.h"
#include "trace.h"
#include "worker.h"

struct measuring {
	const struct cell *cell;
	struct trace *trace;
	struct workers workers;
	char workers_filter[512]; /* the one filter of workqueue events */
	uint64_t *cgroup_inos; /* of the cell's cgroups, and of the root behind them */
	uint64_t cpu_begin_ns; /* PID 1's own */
	size_t removed; /* cgroups that left before the end ... */
	size_t freed; /* ... and those of them that the kernel has freed, as far as the trace is read */
	bool frees_seen; /* whether these can be known at all */
	json_t *left; /* their details, by path */
	int failed; /* the first failure of an event's handler: a negative errno */
	void **states; /* one for each family */
	uint64_t zero_ns; /* the zero of the jobs' times; set for the report */
	json_t *not_measured; /* of the cell's own measures: why one is null. NULL: none is */
};

struct measure_family {
	const char *name; /* its key in the details */
	size_t state_bytes;
	/* Subscribes to events and takes what is counted from here on. */
	int (*start)(struct measuring *m, void *state, struct error *error);
	/* Tracing has stopped, its last events are not read yet: takes what else counts. May be NULL. */
	int (*stop)(struct measuring *m, void *state, struct error *error);
	/* A cgroup is about to be removed: takes what will be gone with it. May be NULL. */
	int (*leave)(struct measuring *m, void *state, const struct cgroup *cgroup,
		     struct error *error);
	/* Adds to the measures, and fills its own details. */
	int (*report)(struct measuring *m, void *state, json_t *measures, json_t *details,
		      struct error *error);
	void (*done)(void *state);
};

extern const struct measure_family measure_account, measure_cpu, measure_foreign, measure_free,
	measure_throttle, measure_writeback, measure_writes;

int measuring_start(struct measuring *m, const struct cell *cell, struct error *error);
/* Reads what the trace has; about once a virtual second, or it overflows. */
int measuring_drain(struct measuring *m, struct error *error);
/* Before @cgroup is removed. */
int measuring_leave(struct measuring *m, const struct cgroup *cgroup, struct error *error);
int measuring_stop(struct measuring *m, struct error *error);
/* @jobs have been collected. */
int measuring_report(struct measuring *m, const struct jobs *jobs, json_t *measures,
		     json_t *details, struct error *error);
void measuring_done(struct measuring *m);

/* The measured job's, and those of the cell's own that are of a job; all others of its own are null. */
void measuring_jobs(struct measuring *m, const struct jobs *jobs, json_t *measures);

/* One of the cell's own: its value, or null, for a reason (printf) that stands in the details. */
void measuring_set(json_t *measures, const struct measure *measure, json_t *value);
void measuring_null(struct measuring *m, json_t *measures, const struct measure *measure,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the cgroup with this inode number is of the group that the measure is of, or within it. */
bool measuring_of(const struct measuring *m, const struct measure *measure, uint64_t ino);

/* Adds up, in a histogram, the lines of such cgroups: @key is the number of the key that has the inode. */
struct tally measuring_tally(const struct measuring *m, const struct measure *measure,
			     const struct tallies *tallies, unsigned int key);

/*
 * The name of the cgroup with this inode number: its path, "/" for the root, "#N" for one that the
 * cell does not have. @text holds it if it must be made up.
 */
const char *measuring_cgroup_name(const struct measuring *m, uint64_t ino, char text[24]);

/* The name of the disk that the kernel's events call "MAJOR:MINOR"; that itself if it is none of ours. */
const char *measuring_disk_name(const struct measuring *m, const char *bdi);

#endif
