// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU time of flushers: what workers spend on a CPU while they are in the flusher's work function, or
 * in one of the policy module's. Interrupts that hit them are in it.
 */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* Flushers run on unbound workers only. */
#define SWITCH_FILTER "prev_comm ~ \"kworker/u*\" || next_comm ~ \"kworker/u*\""

struct worker {
	uint8_t work;
	bool on_cpu;
	uint64_t since_ns; /* on the CPU at this work */
};

struct state {
	struct measuring *m;
	struct worker *workers; /* by pid */
	size_t n;
	uint64_t flusher_ns, mapping_ns, works;
};

static const char *const function_fields[] = { "function", NULL };
enum {
	SWITCH_PREV,
	SWITCH_NEXT
};
static const char *const switch_fields[] = { "prev_pid", "next_pid", NULL };

static struct worker *worker_of(struct state *state, int pid)
{
	size_t n = (size_t)pid + 1;

	if (n > state->n) {
		size_t size = n < 4096 ? 4096 : 2 * n;
		struct worker *workers = realloc(state->workers, size * sizeof(*workers));

		if (!workers) {
			state->m->failed = -ENOMEM;
			return NULL;
		}
		memset(workers + state->n, 0, (size - state->n) * sizeof(*workers));
		state->workers = workers;
		state->n = size;
	}
	return &state->workers[pid];
}

static void account(struct state *state, struct worker *worker, uint64_t now_ns)
{
	uint64_t *ns = worker->work == WORK_FLUSHER ? &state->flusher_ns : &state->mapping_ns;

	if (worker->on_cpu && (worker->work == WORK_FLUSHER || worker->work == WORK_MAPPING))
		*ns += now_ns - worker->since_ns;
	worker->since_ns = now_ns;
}

static void on_begin(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct worker *worker = worker_of(state, record->pid);

	if (!worker)
		return;
	worker->work = workers_work(&state->m->workers, trace_number(record, 0));
	worker->on_cpu = true;
	worker->since_ns = record->ns;
	state->works += worker->work == WORK_FLUSHER;
}

static void on_end(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct worker *worker = worker_of(state, record->pid);

	if (!worker)
		return;
	account(state, worker, record->ns);
	worker->work = WORK_NONE;
}

static void on_switch(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct worker *prev = worker_of(state, trace_number(record, SWITCH_PREV));
	struct worker *next = worker_of(state, trace_number(record, SWITCH_NEXT));

	/* Growing the table for the second may have moved the first. */
	prev = worker_of(state, trace_number(record, SWITCH_PREV));
	if (!prev || !next)
		return;
	account(state, prev, record->ns);
	prev->on_cpu = false;
	next->on_cpu = true;
	next->since_ns = record->ns;
}

static int cpu_start(struct measuring *m, void *data, struct error *error)
{
	const char *filter = m->workers_filter;
	struct state *state = data;
	int err;

	state->m = m;
	err = trace_subscribe(m->trace, "workqueue", "workqueue_execute_start", filter,
			      function_fields, on_begin, state, error);
	err = err   ?:
		      trace_subscribe(m->trace, "workqueue", "workqueue_execute_end", filter,
				      function_fields, on_end, state, error);
	err = err   ?:
		      trace_subscribe(m->trace, "sched", "sched_switch", SWITCH_FILTER,
				      switch_fields, on_switch, state, error);
	return err == -ENOENT ? error_errno(error, err, "cannot trace the flushers") : err;
}

static int cpu_report(struct measuring *m, void *data, json_t *measures, json_t *details,
		      struct error *error)
{
	struct state *state = data;

	json_object_set_new(measures, "flusher_cpu_s",
			    json_rounded((state->flusher_ns + state->mapping_ns) / 1e9, 3));
	json_object_set_new(details, "flusher_s", json_rounded(state->flusher_ns / 1e9, 6));
	json_object_set_new(details, "mapping_s", json_rounded(state->mapping_ns / 1e9, 6));
	json_object_set_new(details, "flusher_works", json_integer(state->works));
	return 0;
}

static void cpu_done(void *data)
{
	struct state *state = data;

	free(state->workers);
}

const struct measure_family measure_cpu = {
	.name = "cpu",
	.state_bytes = sizeof(struct state),
	.start = cpu_start,
	.report = cpu_report,
	.done = cpu_done,
};
