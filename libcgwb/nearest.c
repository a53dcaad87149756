// SPDX-License-Identifier: GPL-2.0-or-later
#include "nearest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static int same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t cgwb_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b), width = b_len + 1;
	size_t *cost, distance;

	/* Three rows would do; the whole table is as simple as it gets, and words are short. */
	cost = calloc((a_len + 1) * width, sizeof(*cost));
	if (!cost)
		return (size_t)-1;

	for (size_t i = 0; i <= a_len; i++)
		cost[i * width] = i;
	for (size_t j = 0; j <= b_len; j++)
		cost[j] = j;

	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			size_t change = !same_letter(a[i - 1], b[j - 1]);
			size_t *here = &cost[i * width + j];

			*here = min3(here[-1] + 1, here[-(ptrdiff_t)width] + 1,
				     here[-(ptrdiff_t)width - 1] + change);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) &&
			    cost[(i - 2) * width + j - 2] + 1 < *here)
				*here = cost[(i - 2) * width + j - 2] + 1;
		}
	}

	distance = cost[a_len * width + b_len];
	free(cost);
	return distance;
}

void cgwb_nearest_offer(struct cgwb_nearest *nearest, const char *candidate)
{
	size_t a_len, b_len, longer, distance, bound;

	if (!candidate)
		return;

	a_len = strlen(nearest->word);
	b_len = strlen(candidate);
	longer = a_len > b_len ? a_len : b_len;
	bound = longer / 3 ? longer / 3 : 1;

	/*
	 * The lengths alone may be too far apart: this also bounds the table for a hostile input.
	 */
	if (longer - (a_len < b_len ? a_len : b_len) > bound)
		return;

	distance = cgwb_distance(nearest->word, candidate);
	if (distance > bound || distance >= longer || distance >= nearest->distance)
		return;

	nearest->distance = distance;
	nearest->best = candidate;
}
