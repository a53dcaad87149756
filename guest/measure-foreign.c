// SPDX-License-Identifier: GPL-2.0-or-later
/* Foreign records and flushes, of wbs and of mappings: what they asked for and what they wrote. */
#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "disk.h"
#include "json.h"

#define SYSTEM "writeback"
#define RECORDS "track_foreign_dirty"
#define RECORDS_SPEC "keys=cgroup_ino,page_cgroup_ino" TRACE_COUNT_SIZE
#define RECORDS_DIRTIER 1 /* which of its keys */
#define DEVICES_SPEC "keys=ino"
#define FLUSHES "flush_foreign"
#define FLUSHES_SPEC "keys=cgroup_ino" TRACE_COUNT_SIZE
#define REQUESTS_ASKER 0
#define FOREIGN_REASON "foreign_flush"
#define POLICY_SYSTEM "cgwb"
#define POLICY_STATS "/sys/kernel/cgwb/stats"

struct state {
	struct measuring *m;
	int64_t *left; /* by pid: the pages its work had left when it began to write */
	size_t n_left;
	uint64_t flushes, asked, written;
	uint64_t mapping_flushes, mapping_sweeps, mapping_written;
	struct tallies records, requests;
	uint64_t *device_records; /* of each disk's own inode */
	uint64_t *first_ns; /* of each measure that is a first flush; 0: there was none yet */
};

enum {
	WORK_PAGES,
	WORK_REASON
};
static const char *const work_fields[] = { "nr_pages", "reason", NULL };
enum {
	FLUSH_KIND,
	FLUSH_RET
};
static const char *const flush_fields[] = { "kind", "ret", NULL };
static const char *const ask_fields[] = { "cgroup_ino", NULL };
static const char *const written_fields[] = { "pages", NULL };

static bool is_foreign(const struct state *state, const struct trace_record *record)
{
	const char *reason = trace_symbol(state->m->trace, SYSTEM, "writeback_queue", "reason",
					  trace_number(record, WORK_REASON));

	return reason && !strcmp(reason, FOREIGN_REASON);
}

static void on_queue(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	if (!is_foreign(state, record))
		return;
	state->flushes++;
	state->asked += trace_number(record, WORK_PAGES);
}

static int64_t *left_of(struct state *state, int pid)
{
	size_t n = (size_t)pid + 1;

	if (n > state->n_left) {
		size_t size = n < 4096 ? 4096 : 2 * n;
		int64_t *left = realloc(state->left, size * sizeof(*left));

		if (!left) {
			state->m->failed = -ENOMEM;
			return NULL;
		}
		memset(left + state->n_left, 0, (size - state->n_left) * sizeof(*left));
		state->left = left;
		state->n_left = size;
	}
	return &state->left[pid];
}

static void on_start(void *userdata, const struct trace_record *record)
{
	int64_t *left = left_of(userdata, record->pid);

	if (left)
		*left = trace_number(record, WORK_PAGES);
}

static void on_written(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	int64_t *left = left_of(state, record->pid);

	if (left && is_foreign(state, record))
		state->written += *left - (int64_t)trace_number(record, WORK_PAGES);
}

/* The policy's own word for a flush: of a wb (which writeback_queue counts) or of a mapping. */
static void on_policy_flush(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	const char *kind = trace_symbol(state->m->trace, POLICY_SYSTEM, "flush", "kind",
					trace_number(record, FLUSH_KIND));
	int64_t ret = trace_number(record, FLUSH_RET);

	if (!kind || !strcmp(kind, "wb") || ret < 0)
		return;
	state->mapping_flushes++;
	/* The others joined a sweep that was under way. */
	state->mapping_sweeps += ret == 0;
}

static void on_mapping_written(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;

	state->mapping_written += trace_number(record, 0);
}

/* Who asks for the first time. */
static void on_ask(void *userdata, const struct trace_record *record)
{
	struct state *state = userdata;
	const struct cell *cell = state->m->cell;
	size_t i;

	for (i = 0; i < cell->n_measures; i++) {
		if (cell->measures[i].kind == CGWB_FIRST_FLUSH && !state->first_ns[i] &&
		    measuring_of(state->m, &cell->measures[i], trace_number(record, 0)))
			state->first_ns[i] = record->ns;
	}
}

/* Asks come often, so they are counted by the kernel unless the time of one is wanted. */
static int asks_subscribe(struct state *state, struct error *error)
{
	const struct cell *cell = state->m->cell;
	size_t i;
	int err = 0;

	for (i = 0; i < cell->n_measures; i++) {
		if (cell->measures[i].kind != CGWB_FIRST_FLUSH)
			continue;
		err = trace_subscribe(state->m->trace, SYSTEM, FLUSHES, NULL, ask_fields, on_ask,
				      state, error);
		break;
	}
	return err == -ENOENT ? error_errno(error, err, "cannot trace " SYSTEM ":" FLUSHES) : err;
}

static int subscribe(struct state *state, struct error *error)
{
	const struct {
		const char *system, *name;
		const char *const *fields;
		trace_fn fn;
		bool of_policy; /* without the module there are none, and none can happen */
	} events[] = {
		{ SYSTEM, "writeback_queue", work_fields, on_queue },
		{ SYSTEM, "writeback_start", work_fields, on_start },
		{ SYSTEM, "writeback_written", work_fields, on_written },
		{ POLICY_SYSTEM, "flush", flush_fields, on_policy_flush, true },
		{ POLICY_SYSTEM, "mapping_written", written_fields, on_mapping_written, true },
	};
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int err;

		if (events[i].of_policy && !state->m->cell->policy)
			continue;
		err = trace_subscribe(state->m->trace, events[i].system, events[i].name, NULL,
				      events[i].fields, events[i].fn, state, error);
		if (err < 0)
			return error_errno(error, err, "cannot trace %s:%s", events[i].system,
					   events[i].name);
	}
	return 0;
}

/* The inode of a block device is named by the device's number. */
static int device_filter(const struct disk *disk, char *text, size_t size, struct error *error)
{
	uint32_t dev;
	int err = disk_dev(disk, &dev, error);

	if (!err)
		snprintf(text, size, "ino == %u", dev);
	return err;
}

static int foreign_start(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	char filter[32];
	size_t i;
	int err;

	state->m = m;
	state->device_records = calloc(m->cell->n_disks + 1, sizeof(*state->device_records));
	state->first_ns = calloc(m->cell->n_measures + 1, sizeof(*state->first_ns));
	if (!state->device_records || !state->first_ns)
		return error_errno(error, -ENOMEM, "cannot count foreign records");
	err = subscribe(state, error);
	err = err ?: asks_subscribe(state, error);
	err = err ?: trace_count(m->trace, SYSTEM, FLUSHES, FLUSHES_SPEC, NULL, error);
	err = err ?: trace_count(m->trace, SYSTEM, RECORDS, RECORDS_SPEC, NULL, error);
	for (i = 0; i < m->cell->n_disks && !err; i++) {
		err = device_filter(&m->cell->disks[i], filter, sizeof(filter), error);
		err = err ?: trace_count(m->trace, SYSTEM, RECORDS, DEVICES_SPEC, filter, error);
	}
	return err;
}

static int foreign_stop(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	char filter[32];
	size_t i;
	int err;

	err = trace_tallies(m->trace, SYSTEM, RECORDS, RECORDS_SPEC, NULL, &state->records, error);
	err = err   ?:
		      trace_tallies(m->trace, SYSTEM, FLUSHES, FLUSHES_SPEC, NULL, &state->requests,
				    error);
	for (i = 0; i < m->cell->n_disks && !err; i++) {
		struct tallies of = { NULL, 0, 0 };

		err = device_filter(&m->cell->disks[i], filter, sizeof(filter), error);
		err = err   ?:
			      trace_tallies(m->trace, SYSTEM, RECORDS, DEVICES_SPEC, filter, &of,
					    error);
		state->device_records[i] = tallies_hits(&of);
		tallies_done(&of);
	}
	return err;
}

/* Owner, then who dirtied: how often. */
static json_t *records_report(const struct state *state)
{
	json_t *owners = json_object();
	size_t i;

	for (i = 0; i < state->records.n; i++) {
		const struct tally *tally = &state->records.items[i];
		char owner_text[24], dirtier_text[24];
		const char *owner = measuring_cgroup_name(state->m, tally->keys[0], owner_text);
		json_t *of = json_object_get(owners, owner);

		if (!of) {
			of = json_object();
			json_object_set_new(owners, owner, of);
		}
		json_object_set_new(of,
				    measuring_cgroup_name(state->m, tally->keys[1], dirtier_text),
				    json_integer(tally->hits));
	}
	return owners;
}

static json_t *requests_report(const struct state *state)
{
	json_t *askers = json_object();
	char text[24];
	size_t i;

	for (i = 0; i < state->requests.n; i++) {
		const struct tally *tally = &state->requests.items[i];

		json_object_set_new(askers, measuring_cgroup_name(state->m, tally->keys[0], text),
				    json_integer(tally->hits));
	}
	return askers;
}

/* Those of the records that were of a disk's own inode, which has a filesystem's metadata. */
static json_t *device_records_report(const struct state *state)
{
	const struct cell *cell = state->m->cell;
	json_t *devices = json_object();
	size_t i;

	for (i = 0; i < cell->n_disks; i++)
		json_object_set_new(devices, cell->disks[i].name,
				    json_integer(state->device_records[i]));
	return devices;
}

static int name_is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The policy module's own counters, one a file. */
static json_t *policy_stats_report(struct error *error)
{
	json_t *stats = json_object();
	struct dirent **names;
	int n = scandir(POLICY_STATS, &names, name_is_visible, alphasort), i;

	for (i = 0; i < n; i++) {
		uint64_t value;

		if (!attribute_read_u64(error, &value, POLICY_STATS "/%s", names[i]->d_name))
			json_object_set_new(stats, names[i]->d_name, json_integer(value));
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return stats;
}

/* Events of the cgroups that the measure is of. */
static void group_report(struct measuring *m, const struct measure *measure,
			 const struct tallies *tallies, unsigned int key, json_t *measures)
{
	if (tallies->dropped)
		measuring_null(m, measures, measure, "the kernel had no room to count %ju events",
			       (uintmax_t)tallies->dropped);
	else
		measuring_set(measures, measure,
			      json_integer(measuring_tally(m, measure, tallies, key).hits));
}

static void first_report(struct measuring *m, const struct measure *measure, uint64_t first_ns,
			 json_t *measures)
{
	if (trace_lost(m->trace))
		measuring_null(m, measures, measure, "events of the trace were lost");
	else if (!first_ns)
		measuring_null(m, measures, measure, "it asked for none");
	else
		measuring_set(measures, measure,
			      json_rounded((first_ns - (double)m->zero_ns) / 1e9, 3));
}

static int foreign_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			  struct error *error)
{
	struct state *state = data;
	size_t i;

	json_object_set_new(measures, "foreign_records",
			    state->records.dropped ? json_null() :
						     json_integer(tallies_hits(&state->records)));
	json_object_set_new(measures, "foreign_flushes", json_integer(state->flushes));
	json_object_set_new(measures, "foreign_pages_asked", json_integer(state->asked));
	json_object_set_new(measures, "foreign_pages_written", json_integer(state->written));
	json_object_set_new(measures, "mapping_flushes", json_integer(state->mapping_flushes));
	json_object_set_new(measures, "mapping_pages_written",
			    json_integer(state->mapping_written));
	for (i = 0; i < m->cell->n_measures; i++) {
		const struct measure *measure = &m->cell->measures[i];

		if (measure->kind == CGWB_FLUSHES)
			group_report(m, measure, &state->requests, REQUESTS_ASKER, measures);
		else if (measure->kind == CGWB_DIRTIED)
			group_report(m, measure, &state->records, RECORDS_DIRTIER, measures);
		else if (measure->kind == CGWB_FIRST_FLUSH)
			first_report(m, measure, state->first_ns[i], measures);
	}
	json_object_set_new(details, "records", records_report(state));
	json_object_set_new(details, "records_of_devices", device_records_report(state));
	if (state->records.dropped)
		json_object_set_new(details, "records_not_counted",
				    json_integer(state->records.dropped));
	json_object_set_new(details, "requests", requests_report(state));
	if (m->cell->policy) {
		json_object_set_new(details, "mapping_sweeps", json_integer(state->mapping_sweeps));
		json_object_set_new(details, "policy_stats", policy_stats_report(error));
	}
	return 0;
}

static void foreign_done(void *data)
{
	struct state *state = data;

	free(state->left);
	free(state->device_records);
	free(state->first_ns);
	tallies_done(&state->records);
	tallies_done(&state->requests);
}

const struct measure_family measure_foreign = {
	.name = "foreign",
	.state_bytes = sizeof(struct state),
	.start = foreign_start,
	.stop = foreign_stop,
	.report = foreign_report,
	.done = foreign_done,
};
