// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_live(const struct model_record *record, const struct cgwb_clock *clock)
{
	return record->serial && record->at && clock->now - record->at < clock->expire;
}

static struct model_record *find(struct model *model, u64 serial, u64 id)
{
	for (int i = 0; i < MODEL_RECORDS; i++)
		if (model->records[i].serial == serial && model->records[i].place.id == id)
			return &model->records[i];
	return NULL;
}

static struct model_record *find_dead(struct model *model, const struct cgwb_clock *clock)
{
	for (int i = 0; i < MODEL_RECORDS; i++)
		if (!is_live(&model->records[i], clock))
			return &model->records[i];
	abort();
}

bool model_has(const struct model *model, u64 serial, u64 id, const struct cgwb_clock *clock)
{
	const struct model_record *record = find((struct model *)model, serial, id);

	return record && is_live(record, clock);
}

/* Other memcgs that have live records. */
static unsigned int other_rows(const struct model *model, u64 serial,
			       const struct cgwb_clock *clock)
{
	u64 seen[CGWB_ROWS + 1];
	unsigned int n = 0;

	for (int i = 0; i < MODEL_RECORDS; i++) {
		const struct model_record *record = &model->records[i];
		unsigned int k = 0;

		if (!is_live(record, clock) || record->serial == serial)
			continue;
		while (k < n && seen[k] != record->serial)
			k++;
		if (k < n)
			continue;
		seen[n++] = record->serial;
		/* The table is bounded. */
		assert(n <= CGWB_ROWS);
	}
	return n;
}

static unsigned int live_records(const struct model *model, u64 serial,
				 const struct cgwb_clock *clock)
{
	unsigned int n = 0;

	for (int i = 0; i < MODEL_RECORDS; i++)
		n += model->records[i].serial == serial && is_live(&model->records[i], clock);
	return n;
}

static bool is_known(const struct model_record *record, const struct cgwb_place *place,
		     const struct cgwb_clock *clock)
{
	return clock->now - record->at <= clock->refresh &&
	       cgwb_place_is_same(&record->place, place) &&
	       record->place.owner_id == place->owner_id && record->place.first <= place->first &&
	       record->place.last >= place->last;
}

static void count(struct model_record *record, unsigned long nr_pages,
		  const struct cgwb_clock *clock)
{
	unsigned int slot = record->nr_notes++ % MODEL_NOTES;

	record->most += nr_pages;
	record->notes[slot].at = clock->now;
	record->notes[slot].pages = nr_pages;
}

static void restart(struct model_record *record)
{
	record->most = 0;
	record->nr_notes = 0;
}

/* What is older than half of the interval, give or take a renewal, may have been forgotten. */
static unsigned long least(const struct model_record *record, const struct cgwb_clock *clock)
{
	unsigned int n = min(record->nr_notes, (unsigned int)MODEL_NOTES);
	unsigned long pages = 0;

	for (unsigned int i = 0; i < n; i++)
		if (clock->now - record->notes[i].at + clock->refresh < clock->expire / 2)
			pages += record->notes[i].pages;
	return pages;
}

bool model_note(struct model *model, u64 serial, const struct cgwb_place *place,
		unsigned long nr_pages, const struct cgwb_clock *clock)
{
	int ret = cgwb_record_note(model->table, serial, place, nr_pages, clock);
	struct model_record *record = find(model, serial, place->id);
	bool was_live = record && is_live(record, clock);

	if (was_live && is_known(record, place, clock)) {
		assert(ret == CGWB_NOTE_KNOWN);
		count(record, nr_pages, clock);
		return true;
	}
	if (other_rows(model, serial, clock) == CGWB_ROWS ||
	    (!was_live && live_records(model, serial, clock) == CGWB_RECORDS)) {
		assert(ret == -ENOSPC);
		return false;
	}
	if (!record) {
		record = find_dead(model, clock);
		memset(record, 0, sizeof(*record));
	}
	if (was_live && cgwb_place_is_same(&record->place, place)) {
		struct cgwb_place whole = *place;

		assert(ret == CGWB_NOTE_REFRESHED);
		whole.first = min(record->place.first, place->first);
		whole.last = max(record->place.last, place->last);
		record->place = whole;
	} else {
		/* One that is dead or disarmed may be there still, and is then not new. */
		assert(ret == CGWB_NOTE_RECORDED || (!was_live && ret == CGWB_NOTE_REFRESHED));
		if (was_live)
			restart(record);
		record->place = *place;
	}
	record->serial = serial;
	record->at = clock->now;
	count(record, nr_pages, clock);
	return true;
}

static void assert_same(const struct cgwb_record *record, const struct model_record *want)
{
	assert(record->at == want->at);
	assert(cgwb_place_is_same(&record->place, &want->place));
	assert(record->place.first == want->place.first && record->place.last == want->place.last);
	assert(record->place.bdi_id == want->place.bdi_id);
	assert(record->place.owner_id == want->place.owner_id);
}

unsigned int model_take(struct model *model, u64 serial, unsigned long min_pages,
			const struct cgwb_clock *clock, struct cgwb_record taken[CGWB_RECORDS])
{
	unsigned int held, expected = 0, n;

	for (int i = 0; i < MODEL_RECORDS; i++)
		expected += model->records[i].serial == serial &&
			    is_live(&model->records[i], clock) &&
			    !cgwb_id_is_wb(model->records[i].place.id);
	n = cgwb_record_take(model->table, serial, min_pages, clock, taken, &held);
	assert(n + held == expected);
	for (unsigned int i = 0; i < n; i++) {
		struct model_record *want = find(model, serial, taken[i].place.id);

		/* Its own, still live, and not taken twice. */
		assert(want && is_live(want, clock));
		assert_same(&taken[i], want);
		assert(want->most >= min_pages);
		want->at = 0;
		restart(want);
	}
	for (int i = 0; min_pages && i < MODEL_RECORDS; i++)
		if (model->records[i].serial == serial && is_live(&model->records[i], clock) &&
		    !cgwb_id_is_wb(model->records[i].place.id))
			assert(least(&model->records[i], clock) < min_pages);
	assert(min_pages || !held);
	return n;
}

void model_restore(struct model *model, u64 serial, const struct cgwb_record *record,
		   const struct cgwb_clock *clock)
{
	struct model_record *mine = find(model, serial, record->place.id);

	assert(mine && !mine->at);
	cgwb_record_restore(model->table, serial, record, clock);
	mine->at = record->at;
}

bool model_spend(struct model *model, u64 serial, const struct cgwb_place *place,
		 unsigned long min_pages, const struct cgwb_clock *clock)
{
	bool is_enough = cgwb_record_spend(model->table, serial, place, min_pages, clock);
	struct model_record *record = find(model, serial, place->id);

	if (!record || !is_live(record, clock)) {
		assert(is_enough);
		return true;
	}
	assert(is_enough ? record->most >= min_pages : least(record, clock) < min_pages);
	if (is_enough)
		restart(record);
	return is_enough;
}
