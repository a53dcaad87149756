/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: what a job can be. An engine is a table of functions and one file, engine-NAME.c.
 *
 * parse and collect run in PID 1; run is the job itself, in a process of its own that is in its
 * cgroup already and has waited for its time. What a job leaves for collect it writes into files,
 * whose names job_path() knows.
 */
#ifndef GUEST_ENGINE_H
#define GUEST_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cell.h"
#include "error.h"

/* What a measured job is measured by; docs/measures.md. */
struct job_figures {
	bool valid; /* false: the engine has no such figures */
	double seconds, mib_s, iops;
	bool has_latency;
	double mean_ms, p99_ms;
	uint64_t count; /* files made, or requests completed */
};

struct engine {
	const char *name;
	const char *const *keys; /* of the job, besides those that all jobs have */
	/* It does not know of duration_ns: PID 1 ends it by SIGTERM, which is not a failure then. */
	bool stopped_from_outside;
	/* Reads job->parameters, one allocation, from @json. */
	int (*parse)(struct job *job, json_t *json, const char *where, struct error *error);
	/* The job. What it returns is its exit status; its stderr says why it is not 0. */
	int (*run)(const struct job *job);
	/*
	 * After the job has ended: adds to @details, and sets @figures unless it @failed. A negative
	 * return: it failed in a way that its exit status does not show.
	 */
	int (*collect)(const struct job *job, bool failed, struct job_figures *figures,
		       json_t *details, struct error *error);
};

/* NULL: there is none of this name. */
const struct engine *engine_find(const char *name);

extern const struct engine engine_fio, engine_files, engine_pages, engine_exec;

#endif
