/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nearest right word for one that is not known.
 *
 * Distance is the number of letters inserted, deleted, changed, or swapped with their neighbour. A
 * word counts as near if that is at most a third of the longer word's length (and at least one
 * letter is always forgiven), so that nobody is offered a word that has nothing to do with theirs.
 */
#ifndef CGWB_NEAREST_H
#define CGWB_NEAREST_H

#include <stddef.h>

/* The distance as defined above; case does not count. (size_t)-1: out of memory. */
size_t cgwb_distance(const char *a, const char *b);

/* A running search; start with CGWB_NEAREST_INIT(word), offer every candidate, read `best`. */
struct cgwb_nearest {
	const char *word;
	const char *best; /* borrowed from the caller's candidates; NULL: none is near */
	size_t distance;
};

#define CGWB_NEAREST_INIT(w)                                                                       \
	{                                                                                          \
		.word = (w), .best = NULL, .distance = (size_t)-1                                  \
	}

/* The first of several at the same distance is kept. A NULL candidate is ignored. */
void cgwb_nearest_offer(struct cgwb_nearest *nearest, const char *candidate);

#endif
