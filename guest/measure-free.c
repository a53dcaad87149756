// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the kernel takes to free the memory controller's part of a removed cgroup: it waits there for
 * the foreign flushes that the cgroup asked for. There is no trace event of it, so it is probed.
 *
 * Which cgroup is freed cannot be seen from outside of the kernel's structures, so all that are freed
 * are taken together: only those that the cell removes are.
 */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribute.h"
#include "json.h"

#define PROBES "/sys/kernel/tracing/kprobe_events"
#define SYSTEM "cgwb_lab"
#define FUNCTION "mem_cgroup_css_free"
/* It sleeps, and more of it may be under way than the kernel would keep room for. */
#define UNDER_WAY "256"

struct freeing {
	int pid; /* of the worker */
	uint64_t begin_ns, end_ns; /* 0: not yet */
};

struct state {
	struct measuring *m;
	struct freeing *freeings;
	size_t n;
};

static const char *const no_fields[] = { NULL };

static void on_begin(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct freeing *grown = realloc(state->freeings, (state->n + 1) * sizeof(*state->freeings));

	if (!grown) {
		state->m->failed = -ENOMEM;
		return;
	}
	state->freeings = grown;
	grown[state->n++] = (struct freeing){ .pid = record->pid, .begin_ns = record->ns };
}

static void on_end(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	size_t i;

	for (i = 0; i < state->n; i++) {
		if (state->freeings[i].pid == record->pid && !state->freeings[i].end_ns) {
			state->freeings[i].end_ns = record->ns;
			state->m->freed++;
		}
	}
}

static int free_start(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	int err;

	state->m = m;
	if (!cell_removes(m->cell) || access(PROBES, W_OK) < 0)
		return 0;
	err = attribute_append(error, "p:" SYSTEM "/free_begin " FUNCTION, PROBES);
	err = err   ?:
		      attribute_append(error, "r" UNDER_WAY ":" SYSTEM "/free_end " FUNCTION,
				       PROBES);
	err = err   ?:
		      trace_subscribe(m->trace, SYSTEM, "free_begin", NULL, no_fields, on_begin,
				      state, error);
	err = err   ?:
		      trace_subscribe(m->trace, SYSTEM, "free_end", NULL, no_fields, on_end, state,
				      error);
	m->frees_seen = !err;
	return err == -ENOENT ? error_errno(error, err, "cannot probe " FUNCTION) : err;
}

/* Those that ended, in the order in which they began. */
static json_t *freeings_report(const struct state *state, double *ret_longest_s, double *ret_mean_s)
{
	json_t *list = json_array();
	size_t i, n = 0;
	double sum_s = 0;

	*ret_longest_s = 0;
	for (i = 0; i < state->n; i++) {
		const struct freeing *freeing = &state->freeings[i];
		double begin_s = (freeing->begin_ns - (double)state->m->zero_ns) / 1e9;
		double s = (freeing->end_ns - (double)freeing->begin_ns) / 1e9;

		if (!freeing->end_ns)
			continue;
		if (s > *ret_longest_s)
			*ret_longest_s = s;
		sum_s += s;
		n++;
		json_array_append_new(
			list, json_pack("[o, o]", json_rounded(begin_s, 3), json_rounded(s, 6)));
	}
	*ret_mean_s = n ? sum_s / n : 0;
	return list;
}

static int free_report(struct measuring *m, void *data, json_t *measures, json_t *details,
		       struct error *error)
{
	struct state *state = data;
	double longest_s, mean_s;
	json_t *list;
	size_t i;

	if (!cell_removes(m->cell))
		return 0;
	list = freeings_report(state, &longest_s, &mean_s);
	json_object_set_new(details, "removed", json_integer(m->removed));
	json_object_set_new(details, "freed", json_integer(m->freed));
	json_object_set_new(details, "mean_s", json_rounded(mean_s, 6));
	json_object_set_new(details, "freeings", list);
	for (i = 0; i < m->cell->n_measures; i++) {
		const struct measure *measure = &m->cell->measures[i];

		if (measure->kind != CGWB_FREE_DELAY)
			continue;
		if (!m->frees_seen)
			measuring_null(m, measures, measure, "this kernel has no kprobe events");
		else if (trace_lost(m->trace))
			measuring_null(m, measures, measure, "events of the trace were lost");
		else if (m->freed < m->removed)
			measuring_null(m, measures, measure,
				       "of %zu cgroups that were removed, %zu were freed",
				       m->removed, m->freed);
		else
			measuring_set(measures, measure, json_rounded(longest_s, 6));
	}
	return 0;
}

static void free_done(void *data)
{
	struct state *state = data;

	free(state->freeings);
}

const struct measure_family measure_free = {
	.name = "free",
	.state_bytes = sizeof(struct state),
	.start = free_start,
	.report = free_report,
	.done = free_done,
};
