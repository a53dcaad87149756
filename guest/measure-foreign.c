// SPDX-License-Identifier: GPL-2.0-or-later
/* Foreign records and flushes, what they asked for and what they wrote, and every wb's works. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "json.h"

#define SYSTEM "writeback"
#define RECORDS "track_foreign_dirty"
#define RECORDS_SPEC "keys=cgroup_ino,page_cgroup_ino"
#define FLUSHES "flush_foreign"
#define FLUSHES_SPEC "keys=cgroup_ino"
#define FOREIGN_REASON "foreign_flush"
#define REASONS_MAX 32
#define BUCKETS 256

/* A writeback structure: one cgroup on one disk. */
struct wb {
	struct wb *next;
	char bdi[32];
	uint64_t cgroup_ino;
	uint64_t starts[REASONS_MAX], pages[REASONS_MAX];
	uint64_t pending, peak; /* works queued and not yet begun */
};

/* A worker between writeback_start and writeback_written. */
struct open_work {
	int64_t pages; /* left to write when it began */
};

struct tallies {
	struct trace_tally *items;
	size_t n;
	uint64_t dropped;
};

struct state {
	struct measuring *m;
	struct wb *buckets[BUCKETS];
	struct open_work *open; /* by pid */
	size_t n_open;
	uint64_t flushes, asked, written;
	uint64_t mapping_flushes, mapping_written;
	bool has_policy_events;
	struct tallies records, requests;
};

enum {
	WORK_BDI,
	WORK_CGROUP,
	WORK_PAGES,
	WORK_REASON
};
static const char *const work_fields[] = { "name", "cgroup_ino", "nr_pages", "reason", NULL };

static struct wb *wb_of(struct state *state, const struct trace_record *record)
{
	uint64_t ino = trace_number(record, WORK_CGROUP);
	const char *bdi = trace_text(record, WORK_BDI);
	struct wb **bucket = &state->buckets[ino % BUCKETS], *wb;

	for (wb = *bucket; wb; wb = wb->next) {
		if (wb->cgroup_ino == ino && !strncmp(wb->bdi, bdi, sizeof(wb->bdi)))
			return wb;
	}
	wb = calloc(1, sizeof(*wb));
	if (!wb) {
		state->m->failed = -ENOMEM;
		return NULL;
	}
	snprintf(wb->bdi, sizeof(wb->bdi), "%s", bdi);
	wb->cgroup_ino = ino;
	wb->next = *bucket;
	*bucket = wb;
	return wb;
}

static const char *reason_name(const struct state *state, uint64_t reason)
{
	return trace_symbol(state->m->trace, SYSTEM, "writeback_start", "reason", reason);
}

static bool is_foreign(const struct state *state, const struct trace_record *record)
{
	const char *name = reason_name(state, trace_number(record, WORK_REASON));

	return name && !strcmp(name, FOREIGN_REASON);
}

static void on_queue(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct wb *wb = wb_of(state, record);

	if (!wb)
		return;
	if (++wb->pending > wb->peak)
		wb->peak = wb->pending;
	if (is_foreign(state, record)) {
		state->flushes++;
		state->asked += trace_number(record, WORK_PAGES);
	}
}

static void on_exec(void *userdata, const struct trace_record *record)
{
	struct wb *wb = wb_of(userdata, record);

	/* A work that was queued before the trace began was not counted. */
	if (wb && wb->pending)
		wb->pending--;
}

static struct open_work *open_of(struct state *state, int pid)
{
	size_t n = (size_t)pid + 1;

	if (n > state->n_open) {
		size_t size = n < 4096 ? 4096 : 2 * n;
		struct open_work *open = realloc(state->open, size * sizeof(*open));

		if (!open) {
			state->m->failed = -ENOMEM;
			return NULL;
		}
		memset(open + state->n_open, 0, (size - state->n_open) * sizeof(*open));
		state->open = open;
		state->n_open = size;
	}
	return &state->open[pid];
}

static void on_start(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct open_work *open = open_of(state, record->pid);
	uint64_t reason = trace_number(record, WORK_REASON);
	struct wb *wb = wb_of(state, record);

	if (!open || !wb || reason >= REASONS_MAX)
		return;
	wb->starts[reason]++;
	open->pages = trace_number(record, WORK_PAGES);
}

static void on_written(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	struct open_work *open = open_of(state, record->pid);
	uint64_t reason = trace_number(record, WORK_REASON);
	struct wb *wb = wb_of(state, record);
	int64_t written;

	if (!open || !wb || reason >= REASONS_MAX)
		return;
	written = open->pages - (int64_t)trace_number(record, WORK_PAGES);
	wb->pages[reason] += written;
	if (is_foreign(state, record))
		state->written += written;
}

static void on_mapping_flush(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	state->mapping_flushes++;
}

static void on_mapping_written(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	state->mapping_written += trace_number(record, 0);
}

/* The policy module's own events; without the module there are none, and none can happen. */
static int policy_subscribe(struct state *state, struct error *error)
{
	static const char *const no_fields[] = { NULL };
	static const char *const written_fields[] = { "pages", NULL };
	int err;

	if (!state->m->cell->policy)
		return 0;
	err = trace_subscribe(state->m->trace, "cgwb", "flush", NULL, no_fields, on_mapping_flush,
			      state, error);
	err = err   ?:
		      trace_subscribe(state->m->trace, "cgwb", "mapping_written", NULL,
				      written_fields, on_mapping_written, state, error);
	return err == -ENOENT ? error_errno(error, err, "the policy module has no trace events") :
				err;
}

static int foreign_start(struct measuring *m, void *data, struct error *error)
{
	const struct {
		const char *name;
		trace_fn fn;
	} events[] = {
		{ "writeback_queue", on_queue },
		{ "writeback_exec", on_exec },
		{ "writeback_start", on_start },
		{ "writeback_written", on_written },
	};
	struct state *state = data;
	size_t i;
	int err;

	state->m = m;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		err = trace_subscribe(m->trace, SYSTEM, events[i].name, NULL, work_fields,
				      events[i].fn, state, error);
		if (err < 0)
			return error_errno(error, err, "cannot trace " SYSTEM ":%s",
					   events[i].name);
	}
	err = trace_count(m->trace, SYSTEM, RECORDS, RECORDS_SPEC, NULL, error);
	err = err ?: trace_count(m->trace, SYSTEM, FLUSHES, FLUSHES_SPEC, NULL, error);
	return err ?: policy_subscribe(state, error);
}

static int tallies_read(struct measuring *m, const char *event, const char *spec,
			struct tallies *tallies, struct error *error)
{
	return trace_tallies(m->trace, SYSTEM, event, spec, NULL, &tallies->items, &tallies->n,
			     &tallies->dropped, error);
}

static int foreign_stop(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	int err = tallies_read(m, RECORDS, RECORDS_SPEC, &state->records, error);

	return err ?: tallies_read(m, FLUSHES, FLUSHES_SPEC, &state->requests, error);
}

static uint64_t tallies_hits(const struct tallies *tallies)
{
	uint64_t hits = 0;
	size_t i;

	for (i = 0; i < tallies->n; i++)
		hits += tallies->items[i].hits;
	return hits;
}

/* Owner, then who dirtied: how often. */
static json_t *records_report(const struct state *state)
{
	const struct cell *cell = state->m->cell;
	json_t *owners = json_object();
	size_t i;

	for (i = 0; i < state->records.n; i++) {
		const struct trace_tally *tally = &state->records.items[i];
		char owner_text[24], dirtier_text[24];
		const char *owner = cgroup_name(cell, tally->keys[0], owner_text);
		json_t *of = json_object_get(owners, owner);

		if (!of) {
			of = json_object();
			json_object_set_new(owners, owner, of);
		}
		json_object_set_new(of, cgroup_name(cell, tally->keys[1], dirtier_text),
				    json_integer(tally->hits));
	}
	return owners;
}

static json_t *requests_report(const struct state *state)
{
	json_t *askers = json_object();
	char text[24];
	size_t i;

	for (i = 0; i < state->requests.n; i++)
		json_object_set_new(
			askers, cgroup_name(state->m->cell, state->requests.items[i].keys[0], text),
			json_integer(state->requests.items[i].hits));
	return askers;
}

static json_t *wb_report(const struct state *state, const struct wb *wb)
{
	json_t *of = json_object(), *starts = json_object(), *pages = json_object();
	unsigned int i;

	for (i = 0; i < REASONS_MAX; i++) {
		const char *name = reason_name(state, i);

		if (!wb->starts[i])
			continue;
		json_object_set_new(starts, name ?: "unnamed_reason", json_integer(wb->starts[i]));
		json_object_set_new(pages, name ?: "unnamed_reason", json_integer(wb->pages[i]));
	}
	json_object_set_new(of, "starts", starts);
	json_object_set_new(of, "pages", pages);
	json_object_set_new(of, "works_peak", json_integer(wb->peak));
	return of;
}

/* Disk, then cgroup; in the order of the disks' numbers and the cgroups' age. */
static int wb_compare(const void *a, const void *b)
{
	const struct wb *x = *(const struct wb *const *)a, *y = *(const struct wb *const *)b;
	int order = strcmp(x->bdi, y->bdi);

	return order ?: x->cgroup_ino < y->cgroup_ino ? -1 : x->cgroup_ino > y->cgroup_ino;
}

static json_t *wbs_report(const struct state *state, uint64_t *ret_peak, struct error *error)
{
	json_t *disks = json_object();
	struct wb *wb, **sorted;
	size_t i, n = 0;

	for (i = 0; i < BUCKETS; i++) {
		for (wb = state->buckets[i]; wb; wb = wb->next)
			n++;
	}
	sorted = calloc(n + 1, sizeof(*sorted));
	if (!sorted)
		return disks;
	n = 0;
	for (i = 0; i < BUCKETS; i++) {
		for (wb = state->buckets[i]; wb; wb = wb->next)
			sorted[n++] = wb;
	}
	qsort(sorted, n, sizeof(*sorted), wb_compare);
	*ret_peak = 0;
	for (i = 0; i < n; i++) {
		const char *disk = measuring_disk_name(state->m, sorted[i]->bdi);
		json_t *of = json_object_get(disks, disk);
		char text[24];

		if (sorted[i]->peak > *ret_peak)
			*ret_peak = sorted[i]->peak;
		if (!of) {
			of = json_object();
			json_object_set_new(disks, disk, of);
		}
		json_object_set_new(of, cgroup_name(state->m->cell, sorted[i]->cgroup_ino, text),
				    wb_report(state, sorted[i]));
	}
	free(sorted);
	return disks;
}

static int foreign_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			  struct error *error)
{
	struct state *state = data;
	uint64_t peak = 0;
	json_t *wbs;

	json_object_set_new(measures, "foreign_records",
			    state->records.dropped ? json_null() :
						     json_integer(tallies_hits(&state->records)));
	json_object_set_new(measures, "foreign_flushes", json_integer(state->flushes));
	json_object_set_new(measures, "foreign_pages_asked", json_integer(state->asked));
	json_object_set_new(measures, "foreign_pages_written", json_integer(state->written));
	json_object_set_new(measures, "mapping_flushes", json_integer(state->mapping_flushes));
	json_object_set_new(measures, "mapping_pages_written",
			    json_integer(state->mapping_written));
	wbs = wbs_report(state, &peak, error);
	json_object_set_new(details, "works_peak", json_integer(peak));
	json_object_set_new(details, "records", records_report(state));
	json_object_set_new(details, "requests", requests_report(state));
	if (state->records.dropped)
		json_object_set_new(details, "records_not_counted",
				    json_integer(state->records.dropped));
	json_object_set_new(details, "wbs", wbs);
	return 0;
}

static void foreign_done(void *data)
{
	struct state *state = data;
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		while (state->buckets[i]) {
			struct wb *next = state->buckets[i]->next;

			free(state->buckets[i]);
			state->buckets[i] = next;
		}
	}
	free(state->open);
	free(state->records.items);
	free(state->requests.items);
}

const struct measure_family measure_foreign = {
	.name = "foreign",
	.state_bytes = sizeof(struct state),
	.start = foreign_start,
	.stop = foreign_stop,
	.report = foreign_report,
	.done = foreign_done,
};
