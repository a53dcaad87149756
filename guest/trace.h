/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's trace events, in an instance of our own.
 *
 * Two ways. A subscription reads every event of a kind from the raw ring buffers, in the order of
 * their time, at trace_drain(). A histogram is counted by the kernel and read at the end: for events
 * that come too often to be streamed. Fields are found by name in the event's own format file, so
 * nothing here knows a layout.
 *
 * Buffers have a size; what does not fit is lost, and trace_lost() says how much: the caller must
 * not call a figure exact then.
 */
#ifndef GUEST_TRACE_H
#define GUEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "tally.h"

struct trace;
struct trace_field;

struct trace_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	int pid; /* of the task in whose context it happened */
	const void *data;
	const struct trace_field *fields;
};

/* Field @i of the subscription's list. A text is valid until the handler returns. */
uint64_t trace_number(const struct trace_record *record, unsigned int i);
const char *trace_text(const struct trace_record *record, unsigned int i);

typedef void (*trace_fn)(void *userdata, const struct trace_record *record);

int trace_new(struct trace **ret, struct error *error);
/* Stops tracing and removes the instance. NULL-safe, returns NULL. */
struct trace *trace_free(struct trace *trace);

/*
 * Calls @fn for each event SYSTEM:NAME that passes @filter (NULL: all; the kernel's syntax). Several
 * subscriptions of one event must not have filters that differ: the last one is in force.
 * @fields is NULL-terminated and lives as long as the trace. -ENOENT without an error: this kernel
 * has no such event.
 */
int trace_subscribe(struct trace *trace, const char *system, const char *name, const char *filter,
		    const char *const *fields, trace_fn fn, void *userdata, struct error *error);

/* The word that the event's print format has for @value of @field; NULL: none. */
const char *trace_symbol(struct trace *trace, const char *system, const char *name,
			 const char *field, uint64_t value);

/*
 * For a spec whose keys may be many (cgroups, pairs of them): room for 8192 lines. The kernel's own
 * choice is 2048; what finds no room is dropped.
 */
#define TRACE_COUNT_SIZE ":size=8192"

/* Lets the kernel count: @spec as for a `hist:` trigger, without a filter, which is apart. */
int trace_count(struct trace *trace, const char *system, const char *name, const char *spec,
		const char *filter, struct error *error);

/* Reads such a histogram; tallies_done() in any case. */
int trace_tallies(struct trace *trace, const char *system, const char *name, const char *spec,
		  const char *filter, struct tallies *ret, struct error *error);

int trace_start(struct trace *trace, struct error *error);
int trace_drain(struct trace *trace, struct error *error);
/* No event after this. Histograms are final; what is in the buffers is read by trace_finish(). */
int trace_stop(struct trace *trace, struct error *error);
int trace_finish(struct trace *trace, struct error *error);

/* Events that no subscription saw because a buffer was full. */
uint64_t trace_lost(const struct trace *trace);
/* Events that were read. */
uint64_t trace_events(const struct trace *trace);

#endif
