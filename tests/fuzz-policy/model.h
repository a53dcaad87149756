/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Model: what the table of records has to hold and to answer, kept in the plainest way: a list, searched from
 * its start.
 *
 * It is exact about live records: which there are, what they say, and when there is no room. What dead and
 * disarmed ones leave behind is the table's own affair. Of the pages that a record counts it knows how many
 * at least and at most.
 *
 * Each function asks the table, compares, and aborts if the answer is wrong.
 */
#ifndef CGWB_TESTS_MODEL_H
#define CGWB_TESTS_MODEL_H

#include "record.h"

#define MODEL_RECORDS 512
#define MODEL_NOTES 16

struct model_record {
	u64 serial; /* 0: free */
	struct cgwb_place place;
	u64 at; /* 0: disarmed */
	unsigned long most; /* pages noted since it was last taken */
	struct {
		u64 at;
		unsigned long pages;
	} notes[MODEL_NOTES]; /* the latest of them */
	unsigned int nr_notes;
};

struct model {
	struct cgwb_table *table;
	struct model_record records[MODEL_RECORDS];
};

/* Returns false when there was no room. */
bool model_note(struct model *model, u64 serial, const struct cgwb_place *place,
		unsigned long nr_pages, const struct cgwb_clock *clock);
/* Returns how many were taken. */
unsigned int model_take(struct model *model, u64 serial, unsigned long min_pages,
			const struct cgwb_clock *clock, struct cgwb_record taken[CGWB_RECORDS]);
/* Directly after a take. */
void model_restore(struct model *model, u64 serial, const struct cgwb_record *record,
		   const struct cgwb_clock *clock);
bool model_spend(struct model *model, u64 serial, const struct cgwb_place *place,
		 unsigned long min_pages, const struct cgwb_clock *clock);
/* Is there a live record of the memcg with this id? */
bool model_has(const struct model *model, u64 serial, u64 id, const struct cgwb_clock *clock);

#endif
