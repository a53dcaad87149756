// SPDX-License-Identifier: GPL-2.0-or-later
/* How long writers slept in balance_dirty_pages, counted by the kernel. */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>

#include "json.h"

#define SYSTEM "writeback"
#define EVENT "balance_dirty_pages"
#define SPEC "keys=cgroup_ino:vals=pause" TRACE_COUNT_SIZE
/* The event also comes without a sleep, with a pause that is negative or 0. */
#define FILTER "pause > 0"

struct state {
	struct tallies pauses; /* by cgroup; in milliseconds */
};

static int throttle_start(struct measuring *m, void *data, struct error *error)
{
	return trace_count(m->trace, SYSTEM, EVENT, SPEC, FILTER, error);
}

static int throttle_stop(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;

	return trace_tallies(m->trace, SYSTEM, EVENT, SPEC, FILTER, &state->pauses, error);
}

static void group_report(struct measuring *m, const struct measure *measure,
			 const struct tallies *pauses, json_t *measures)
{
	struct tally sum = measuring_tally(m, measure, pauses, 0);

	if (pauses->dropped)
		measuring_null(m, measures, measure, "the kernel had no room to count %ju pauses",
			       (uintmax_t)pauses->dropped);
	else
		measuring_set(measures, measure, json_rounded(sum.value / 1e3, 3));
}

static int throttle_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			   struct error *error)
{
	struct state *state = data;
	json_t *cgroups = json_object();
	uint64_t ms = 0;
	size_t i;

	for (i = 0; i < state->pauses.n; i++) {
		const struct tally *tally = &state->pauses.items[i];
		json_t *of = json_object();
		char text[24];

		ms += tally->value;
		json_object_set_new(of, "seconds", json_rounded(tally->value / 1e3, 3));
		json_object_set_new(of, "pauses", json_integer(tally->hits));
		json_object_set_new(cgroups, measuring_cgroup_name(m, tally->keys[0], text), of);
	}
	json_object_set_new(measures, "throttled_s",
			    state->pauses.dropped ? json_null() : json_rounded(ms / 1e3, 3));
	for (i = 0; i < m->cell->n_measures; i++) {
		const struct measure *measure = &m->cell->measures[i];

		if (measure->kind == CGWB_THROTTLED)
			group_report(m, measure, &state->pauses, measures);
	}
	json_object_set_new(details, "cgroups", cgroups);
	if (state->pauses.dropped)
		json_object_set_new(details, "not_counted", json_integer(state->pauses.dropped));
	return 0;
}

static void throttle_done(void *data)
{
	struct state *state = data;

	tallies_done(&state->pauses);
}

const struct measure_family measure_throttle = {
	.name = "throttle",
	.state_bytes = sizeof(struct state),
	.start = throttle_start,
	.stop = throttle_stop,
	.report = throttle_report,
	.done = throttle_done,
};
