/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scenario's own measure can be: the kinds of [measure NAME], and the keys that each takes.
 * docs/measures.md defines what they count. One list, for who reads a scenario and for the guest, which
 * measures: a key has the same name in a scenario and in a cell.
 */
#ifndef CGWB_MEASURE_KIND_H
#define CGWB_MEASURE_KIND_H

#include <stdbool.h>

enum cgwb_measure_kind {
	CGWB_FILE_WRITES,
	CGWB_DISK_WRITES,
	CGWB_JOB_COUNT,
	CGWB_JOB_SECONDS,
	CGWB_JOB_RATE,
	CGWB_JOB_P99,
	CGWB_CPU,
	CGWB_INSTRUCTIONS,
	CGWB_THROTTLED,
	CGWB_FLUSHES,
	CGWB_DIRTIED,
	CGWB_FIRST_FLUSH,
	CGWB_MEMORY_EVENT,
	CGWB_PRESSURE,
	CGWB_POLICY_STAT,
	CGWB_FREE_DELAY,
	CGWB_MEASURE_KINDS
};

/* By their number, NULL-terminated. */
extern const char *const cgwb_measure_kinds[CGWB_MEASURE_KINDS + 1];

struct cgwb_measure_form {
	const char *of; /* the key that says what is measured: a file, a job, a cgroup ... */
	const char *with[3]; /* keys that it needs as well; NULL-terminated */
	const char *maybe; /* a key that it may have; may be NULL */
	int decimals; /* in tables */
};

/* What the keys can be that are no name of something else; NULL-terminated. */
extern const char *const cgwb_measure_events[]; /* of memory.events */
extern const char *const cgwb_measure_resources[], *const cgwb_measure_shares[]; /* of pressure */

extern const char *const cgwb_measure_triggers[];

/* The kind of that name; CGWB_MEASURE_KINDS: there is none. */
enum cgwb_measure_kind cgwb_measure_kind(const char *name);

const struct cgwb_measure_form *cgwb_measure_form(enum cgwb_measure_kind kind);

/* Whether a measure of that kind can have this key, besides those that all have. */
bool cgwb_measure_takes(enum cgwb_measure_kind kind, const char *key);

#endif
