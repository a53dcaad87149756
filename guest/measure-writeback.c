// SPDX-License-Identifier: GPL-2.0-or-later
/* What every wb did: how often it was woken for which reason, what it wrote, how many works queued. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define SYSTEM "writeback"
#define REASONS_MAX 32
#define BUCKETS 256

/* A writeback structure: one cgroup on one disk. */
struct wb {
	struct wb *next;
	char bdi[32];
	uint64_t cgroup_ino;
	uint64_t starts[REASONS_MAX], pages[REASONS_MAX];
	uint64_t pending, peak; /* works queued and not yet begun */
	int64_t left; /* pages its work had left when it began to write; a wb has one worker */
};

struct state {
	struct measuring *m;
	struct wb *buckets[BUCKETS];
	size_t n;
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
	state->n++;
	return wb;
}

static void on_queue(void *userdata, const struct trace_record *record)
{
	struct wb *wb = wb_of(userdata, record);

	if (wb && ++wb->pending > wb->peak)
		wb->peak = wb->pending;
}

static void on_exec(void *userdata, const struct trace_record *record)
{
	struct wb *wb = wb_of(userdata, record);

	/* A work that was queued before the trace began was not counted. */
	if (wb && wb->pending)
		wb->pending--;
}

static void on_start(void *userdata, const struct trace_record *record)
{
	uint64_t reason = trace_number(record, WORK_REASON);
	struct wb *wb = wb_of(userdata, record);

	if (!wb || reason >= REASONS_MAX)
		return;
	wb->starts[reason]++;
	wb->left = trace_number(record, WORK_PAGES);
}

static void on_written(void *userdata, const struct trace_record *record)
{
	uint64_t reason = trace_number(record, WORK_REASON);
	struct wb *wb = wb_of(userdata, record);

	if (wb && reason < REASONS_MAX)
		wb->pages[reason] += wb->left - (int64_t)trace_number(record, WORK_PAGES);
}

static int writeback_start(struct measuring *m, void *data, struct error *error)
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

	state->m = m;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int err = trace_subscribe(m->trace, SYSTEM, events[i].name, NULL, work_fields,
					  events[i].fn, state, error);

		if (err < 0)
			return error_errno(error, err, "cannot trace " SYSTEM ":%s",
					   events[i].name);
	}
	return 0;
}

static json_t *wb_report(const struct state *state, const struct wb *wb)
{
	json_t *of = json_object(), *starts = json_object(), *pages = json_object();
	unsigned int i;

	for (i = 0; i < REASONS_MAX; i++) {
		const char *name;

		if (!wb->starts[i])
			continue;
		name = trace_symbol(state->m->trace, SYSTEM, "writeback_start", "reason", i);
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

static struct wb **wbs_sorted(const struct state *state)
{
	struct wb **sorted = calloc(state->n + 1, sizeof(*sorted)), *wb;
	size_t i, n = 0;

	for (i = 0; sorted && i < BUCKETS; i++) {
		for (wb = state->buckets[i]; wb; wb = wb->next)
			sorted[n++] = wb;
	}
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), wb_compare);
	return sorted;
}

static int writeback_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			    struct error *error)
{
	struct state *state = data;
	struct wb **sorted = wbs_sorted(state);
	json_t *disks = json_object();
	uint64_t peak = 0;
	size_t i;

	if (!sorted)
		return error_errno(error, -ENOMEM, "cannot report on writeback");
	for (i = 0; i < state->n; i++) {
		const char *disk = measuring_disk_name(m, sorted[i]->bdi);
		json_t *of = json_object_get(disks, disk);
		char text[24];

		if (sorted[i]->peak > peak)
			peak = sorted[i]->peak;
		if (!of) {
			of = json_object();
			json_object_set_new(disks, disk, of);
		}
		json_object_set_new(of, measuring_cgroup_name(m, sorted[i]->cgroup_ino, text),
				    wb_report(state, sorted[i]));
	}
	free(sorted);
	json_object_set_new(measures, "works_peak", json_integer(peak));
	json_object_set_new(details, "wbs", disks);
	return 0;
}

static void writeback_done(void *data)
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
}

const struct measure_family measure_writeback = {
	.name = "writeback",
	.state_bytes = sizeof(struct state),
	.start = writeback_start,
	.report = writeback_report,
	.done = writeback_done,
};
