// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIGGER_LINE "# trigger info: "
#define DROPPED "Dropped: "

/* "{ a: 1, b: 2 } hitcount: 3  pause: 4" */
static bool tally_parse(const char *line, struct tally *tally)
{
	const char *close = strchr(line, '}'), *c = line;
	size_t i;

	if (line[0] != '{' || !close)
		return false;
	memset(tally, 0, sizeof(*tally));
	for (i = 0; i < sizeof(tally->keys) / sizeof(tally->keys[0]); i++) {
		c = strchr(c, ':');
		if (!c || c > close)
			break;
		tally->keys[i] = strtoull(++c, NULL, 10);
	}
	c = strstr(close, "hitcount:");
	if (!c)
		return false;
	c += strlen("hitcount:");
	tally->hits = strtoull(c, NULL, 10);
	c = strchr(c, ':');
	if (c)
		tally->value = strtoull(c + 1, NULL, 10);
	return true;
}

static int tally_compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	size_t i;

	for (i = 0; i < sizeof(x->keys) / sizeof(x->keys[0]); i++) {
		if (x->keys[i] != y->keys[i])
			return x->keys[i] < y->keys[i] ? -1 : 1;
	}
	return 0;
}

/*
 * The kernel shows all histograms of an event in one file, each below a line with its trigger, in
 * which it has completed the spec: "keys=a" became "keys=a:vals=hitcount:sort=...". So ours is the
 * one that begins with our keys and ends with our filter.
 */
static bool is_trigger_line(const char *line, const char *keys, const char *filter)
{
	const char *found = strstr(line, keys);
	char condition[256];

	if (!found || strncmp(line, TRIGGER_LINE, strlen(TRIGGER_LINE)))
		return false;
	if (found[strlen(keys)] != ':')
		return false;
	if (!filter)
		return !strstr(line, " if ");
	snprintf(condition, sizeof(condition), " if %s [", filter);
	return strstr(line, condition);
}

static int tally_add(struct tallies *tallies, size_t *size, const char *line)
{
	if (tallies->n == *size) {
		size_t grown = *size ? 2 * *size : 64;
		struct tally *items = realloc(tallies->items, grown * sizeof(*items));

		if (!items)
			return -ENOMEM;
		tallies->items = items;
		*size = grown;
	}
	tallies->n += tally_parse(line, &tallies->items[tallies->n]);
	return 0;
}

int tallies_parse(char *text, const char *spec, const char *filter, struct tallies *ret,
		  struct error *error)
{
	struct tallies tallies = { NULL, 0, 0 };
	char keys[256], *line, *rest;
	bool ours = false;
	size_t size = 0;

	snprintf(keys, sizeof(keys), "%.*s", (int)strcspn(spec, ":"), spec);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *dropped = strstr(line, DROPPED);

		if (!strncmp(line, TRIGGER_LINE, strlen(TRIGGER_LINE)))
			ours = is_trigger_line(line, keys, filter);
		if (ours && dropped)
			tallies.dropped = strtoull(dropped + strlen(DROPPED), NULL, 10);
		if (ours && line[0] == '{' && tally_add(&tallies, &size, line) < 0) {
			tallies_done(&tallies);
			return error_errno(error, -ENOMEM, "cannot read a histogram");
		}
	}
	if (tallies.n)
		qsort(tallies.items, tallies.n, sizeof(*tallies.items), tally_compare);
	*ret = tallies;
	return 0;
}

uint64_t tallies_hits(const struct tallies *tallies)
{
	uint64_t hits = 0;
	size_t i;

	for (i = 0; i < tallies->n; i++)
		hits += tallies->items[i].hits;
	return hits;
}

void tallies_done(struct tallies *tallies)
{
	if (!tallies)
		return;
	free(tallies->items);
	*tallies = (struct tallies){ NULL, 0, 0 };
}
