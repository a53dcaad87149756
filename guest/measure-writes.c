// SPDX-License-Identifier: GPL-2.0-or-later
/* Device writes: of files by their extents, of disks, by trigger, and checked against two accounts. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "extent.h"
#include "json.h"
#include "writes.h"

#define GIB 1073741824.0

/* A file whose writes are asked for. */
struct watched {
	struct extents extents;
	int number; /* as writes.h has it; < 0: not measured, and why says the reason */
	struct error why;
};

/* A disk, and the accounts that do not know of the trace, at both ends. */
struct accounted {
	uint32_t dev;
	struct disk_account begin, end;
	bool idle; /* nothing was in flight at either end, so that they can be compared */
};

struct state {
	struct measuring *m;
	struct writes *writes;
	struct watched *watched; /* one for each measure of the cell; of other kinds, empty */
	struct accounted *accounted; /* one for each disk of the cell */
};

enum {
	QUEUE_DEV,
	QUEUE_SECTOR,
	QUEUE_SECTORS,
	QUEUE_RWBS,
	QUEUE_COMM
};
static const char *const queue_fields[] = { "dev", "sector", "nr_sector", "rwbs", "comm", NULL };
enum {
	COMPLETE_DEV,
	COMPLETE_SECTOR,
	COMPLETE_SECTORS,
	COMPLETE_RWBS
};
static const char *const complete_fields[] = { "dev", "sector", "nr_sector", "rwbs", NULL };
static const char *const reason_fields[] = { "reason", NULL };
static const char *const function_fields[] = { "function", NULL };
static const char *const no_fields[] = { NULL };

static void check(struct state *state, int err)
{
	if (err < 0 && !state->m->failed)
		state->m->failed = err;
}

static void on_queue(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	check(state,
	      writes_submit(state->writes, record->pid, trace_text(record, QUEUE_COMM),
			    trace_number(record, QUEUE_DEV), trace_number(record, QUEUE_SECTOR),
			    trace_number(record, QUEUE_SECTORS), trace_text(record, QUEUE_RWBS)));
}

static void on_complete(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	writes_complete(state->writes, trace_number(record, COMPLETE_DEV),
			trace_number(record, COMPLETE_SECTOR),
			trace_number(record, COMPLETE_SECTORS), trace_text(record, COMPLETE_RWBS));
}

static void on_reason_begin(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	const char *reason = trace_symbol(state->m->trace, "writeback", "writeback_start", "reason",
					  trace_number(record, 0));

	check(state, writes_reason_begin(state->writes, record->pid, reason ?: "unnamed_reason"));
}

static void on_reason_end(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	writes_reason_end(state->writes, record->pid);
}

static void on_work_begin(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	check(state, writes_work_begin(state->writes, record->pid,
				       workers_work(&state->m->workers, trace_number(record, 0))));
}

static void on_work_end(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	writes_work_end(state->writes, record->pid);
}

static void on_fsync_begin(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	check(state, writes_fsync_begin(state->writes, record->pid));
}

static void on_fsync_end(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	writes_fsync_end(state->writes, record->pid);
}

static int subscribe(struct state *state, struct error *error)
{
	const char *workers = state->m->workers_filter;
	const struct {
		const char *system, *name, *filter;
		const char *const *fields;
		trace_fn fn;
		bool optional;
	} events[] = {
		{ "block", "block_bio_queue", NULL, queue_fields, on_queue },
		{ "block", "block_rq_complete", NULL, complete_fields, on_complete },
		{ "writeback", "writeback_start", NULL, reason_fields, on_reason_begin },
		{ "writeback", "writeback_written", NULL, no_fields, on_reason_end },
		{ "workqueue", "workqueue_execute_start", workers, function_fields, on_work_begin },
		{ "workqueue", "workqueue_execute_end", workers, function_fields, on_work_end },
		{ "ext4", "ext4_sync_file_enter", NULL, no_fields, on_fsync_begin, true },
		{ "ext4", "ext4_sync_file_exit", NULL, no_fields, on_fsync_end, true },
	};
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int err = trace_subscribe(state->m->trace, events[i].system, events[i].name,
					  events[i].filter, events[i].fields, events[i].fn, state,
					  error);

		if (err == -ENOENT && events[i].optional)
			continue;
		if (err < 0)
			return error_errno(error, err, "cannot trace %s:%s", events[i].system,
					   events[i].name);
	}
	return 0;
}

static int file_watch(struct state *state, const struct measure *measure, struct watched *watched,
		      struct error *error)
{
	uint32_t dev;

	watched->number = -1;
	if (measure->kind != CGWB_FILE_WRITES)
		return 0;
	/* A file that cannot be measured is no reason not to run the cell. */
	if (extents_read(measure->of, &watched->extents, &watched->why) < 0 ||
	    extents_dev(measure->of, &dev, &watched->why) < 0)
		return 0;
	watched->number = writes_file_add(state->writes, dev, &watched->extents);
	return watched->number < 0 ? error_errno(error, -ENOMEM, "cannot watch %s", measure->of) :
				     0;
}

static int writes_start(struct measuring *m, void *data, struct error *error)
{
	const struct cell *cell = m->cell;
	struct state *state = data;
	size_t i;
	int err;

	state->m = m;
	state->writes = writes_new();
	state->watched = calloc(cell->n_measures + 1, sizeof(*state->watched));
	state->accounted = calloc(cell->n_disks + 1, sizeof(*state->accounted));
	if (!state->writes || !state->watched || !state->accounted)
		return error_errno(error, -ENOMEM, "cannot follow device writes");
	for (i = 0; i < cell->n_disks; i++) {
		err = disk_dev(&cell->disks[i], &state->accounted[i].dev, error);
		if (err < 0)
			return err;
		if (writes_disk_add(state->writes, state->accounted[i].dev,
				    cell->disks[i].size_bytes) < 0)
			return error_errno(error, -ENOMEM, "cannot follow the writes of %s",
					   cell->disks[i].name);
	}
	for (i = 0; i < cell->n_measures; i++) {
		err = file_watch(state, &cell->measures[i], &state->watched[i], error);
		if (err < 0)
			return err;
	}
	err = subscribe(state, error);
	for (i = 0; i < cell->n_disks && !err; i++) {
		state->accounted[i].idle = disk_wait_idle(&cell->disks[i], error) == 0;
		err = disk_account_read(&cell->disks[i], &state->accounted[i].begin, error);
	}
	return err;
}

static int writes_stop(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	size_t i;
	int err = 0;

	for (i = 0; i < m->cell->n_disks && !err; i++)
		err = disk_account_read(&m->cell->disks[i], &state->accounted[i].end, error);
	return err;
}

/* Of all triggers, or of the one that the measure asks for. */
static uint64_t measure_bytes(const struct state *state, const struct measure *measure,
			      uint32_t dev, int file)
{
	uint64_t sum = 0;
	const char *name;
	unsigned int i;

	for (i = 0; (name = writes_trigger_name(state->writes, i)); i++) {
		if (!measure->trigger || !strcmp(measure->trigger, name))
			sum += file >= 0 ? writes_file_bytes(state->writes, file, i) :
					   writes_disk_bytes(state->writes, dev, i);
	}
	return sum;
}

/* Bytes of the file, or of the disk if @file < 0; triggers in the order of writes.h. */
static json_t *by_trigger(const struct state *state, uint32_t dev, int file, uint64_t *ret_bytes)
{
	json_t *object = json_object();
	const char *name;
	unsigned int i;

	*ret_bytes = 0;
	for (i = 0; (name = writes_trigger_name(state->writes, i)); i++) {
		uint64_t bytes = file >= 0 ? writes_file_bytes(state->writes, file, i) :
					     writes_disk_bytes(state->writes, dev, i);

		*ret_bytes += bytes;
		if (bytes)
			json_object_set_new(object, name, json_integer(bytes));
	}
	return object;
}

/* Null if the file has moved: then its writes went to places that were not watched. */
static void file_report(const struct state *state, const struct measure *measure,
			struct watched *watched, json_t *measures, json_t *details)
{
	struct extents now = { NULL, 0 };
	json_t *file = json_object();
	uint64_t bytes = 0;

	if (watched->number >= 0 && !extents_read(measure->of, &now, &watched->why) &&
	    !extents_equal(&now, &watched->extents))
		error_set(&watched->why, 0, "%s: its extents have changed since the beginning",
			  measure->of);
	if (watched->number >= 0 && trace_lost(state->m->trace))
		error_set(&watched->why, 0, "events of the trace were lost");
	json_object_set_new(file, "file", json_string(measure->of));
	if (watched->number >= 0) {
		json_t *triggers = by_trigger(state, 0, watched->number, &bytes);

		json_object_set_new(
			file, "file_bytes",
			json_integer(extents_sectors(&watched->extents) * SECTOR_BYTES));
		json_object_set_new(file, "extents", json_integer(watched->extents.n));
		json_object_set_new(file, "bytes", json_integer(bytes));
		json_object_set_new(file, "by_trigger", triggers);
	}
	if (watched->why.text[0])
		measuring_null(state->m, measures, measure, "%s", watched->why.text);
	else
		measuring_set(
			measures, measure,
			json_rounded(measure_bytes(state, measure, 0, watched->number) / GIB, 3));
	json_object_set_new(details, measure->name, file);
	extents_done(&now);
}

static void disk_report(const struct state *state, const struct disk *disk,
			const struct accounted *accounted, json_t *details)
{
	uint64_t disk_bytes = accounted->end.written_bytes - accounted->begin.written_bytes;
	uint64_t block_bytes = accounted->end.block_bytes - accounted->begin.block_bytes;
	json_t *of = json_object(), *triggers;
	uint64_t bytes;

	triggers = by_trigger(state, accounted->dev, -1, &bytes);
	json_object_set_new(of, "bytes", json_integer(bytes));
	json_object_set_new(of, "disk_bytes", json_integer(disk_bytes));
	json_object_set_new(of, "block_layer_bytes", json_integer(block_bytes));
	json_object_set_new(of, "accounts_agree",
			    json_boolean(bytes == disk_bytes && bytes == block_bytes));
	if (!accounted->idle)
		json_object_set_new(of, "in_flight_at_begin", json_true());
	json_object_set_new(of, "by_trigger", triggers);
	json_object_set_new(details, disk->name, of);
}

static void disk_measure(struct state *state, const struct measure *measure, json_t *measures)
{
	const struct cell *cell = state->m->cell;
	size_t i;

	for (i = 0; i < cell->n_disks; i++) {
		if (!strcmp(cell->disks[i].name, measure->of))
			measuring_set(measures, measure,
				      json_rounded(measure_bytes(state, measure,
								 state->accounted[i].dev, -1) /
							   GIB,
						   3));
	}
	if (trace_lost(state->m->trace))
		measuring_null(state->m, measures, measure, "events of the trace were lost");
}

static int writes_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			 struct error *error)
{
	json_t *files = json_object(), *disks = json_object();
	struct state *state = data;
	size_t i;

	for (i = 0; i < m->cell->n_measures; i++) {
		if (m->cell->measures[i].kind == CGWB_FILE_WRITES)
			file_report(state, &m->cell->measures[i], &state->watched[i], measures,
				    files);
		else if (m->cell->measures[i].kind == CGWB_DISK_WRITES)
			disk_measure(state, &m->cell->measures[i], measures);
	}
	for (i = 0; i < m->cell->n_disks; i++)
		disk_report(state, &m->cell->disks[i], &state->accounted[i], disks);
	json_object_set_new(details, "files", files);
	json_object_set_new(details, "disks", disks);
	return 0;
}

static void writes_done(void *data)
{
	struct state *state = data;
	size_t i;

	for (i = 0; state->m && state->watched && i < state->m->cell->n_measures; i++)
		extents_done(&state->watched[i].extents);
	free(state->watched);
	free(state->accounted);
	writes_free(state->writes);
}

const struct measure_family measure_writes = {
	.name = "writes",
	.state_bytes = sizeof(struct state),
	.start = writes_start,
	.stop = writes_stop,
	.report = writes_report,
	.done = writes_done,
};
