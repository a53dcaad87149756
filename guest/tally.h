/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of trace events: what the kernel counted, from the text of an event's `hist` file. */
#ifndef GUEST_TALLY_H
#define GUEST_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* One line of a histogram. */
struct tally {
	uint64_t keys[4]; /* in the order of the spec */
	uint64_t hits;
	uint64_t value; /* the sum of the spec's one `vals` field, if it has one */
};

struct tallies {
	struct tally *items; /* sorted by keys */
	size_t n;
	uint64_t dropped; /* events that the kernel had no room to count */
};

/*
 * Takes the histogram with @spec ("keys=a,b:vals=c") and @filter (may be NULL) from @text, which has
 * all of the event's, one behind the other; @text is taken apart. None of that spec: no items. -ENOMEM.
 */
int tallies_parse(char *text, const char *spec, const char *filter, struct tallies *ret,
		  struct error *error);

uint64_t tallies_hits(const struct tallies *tallies);

/* Frees the items. NULL-safe. */
void tallies_done(struct tallies *tallies);

#endif
