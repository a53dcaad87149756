/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures that were published, from scenarios/published.json.
 *
 * They are what results are set beside, never what a result is expected to be. A published
 * experiment has rounds, and each round two sides: `base`, an unchanged kernel, and the patched
 * one, under the name of its policy or `patched`. Rounds in which a side has warnings are left out,
 * as the lab leaves out its own.
 */
#ifndef CGWB_PUBLISHED_H
#define CGWB_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct cgwb_published;
struct section_key;

/* Reads the file. -ENOENT and the like; -EINVAL: no such file; -ENOMEM. */
int cgwb_published_read(const char *path, struct cgwb_published **ret_published,
			struct cgwb_error *error);

/* NULL-safe, returns NULL */
struct cgwb_published *cgwb_published_free(struct cgwb_published *published);

/* -ENOENT with the nearest key, if there is no such experiment */
int cgwb_published_check(const struct cgwb_published *published, const char *key,
			 struct cgwb_error *error);

/*
 * Whether every name in a scenario's list is that of an experiment in DATA_DIR/scenarios/published.json.
 * -EINVAL with the line and the nearest name; else what cgwb_published_read() fails with.
 * Internal to libcgwb.
 */
int published_check_list(const char *data_dir, const struct section_key *list,
			 struct cgwb_error *error);

/*
 * Where it was published; the policy that its patched side stands for. Borrowed; NULL: it does not
 * say.
 */
const char *cgwb_published_source(const struct cgwb_published *published, const char *key);
const char *cgwb_published_policy(const struct cgwb_published *published, const char *key);

struct cgwb_published_range {
	size_t n; /* rounds */
	double least, most, mean;
};

/* A measure (by our name for it) over the rounds of one side. -ENOENT: it was not published. */
int cgwb_published_get(const struct cgwb_published *published, const char *key, bool patched,
		       const char *measure, struct cgwb_published_range *ret_range);

#endif
