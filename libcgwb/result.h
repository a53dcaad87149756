/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a cell: what the guest measured, what it ran on, and whether it can be used.
 *
 * A result is one JSON object, in a file of its own in the run's folder (docs/cell.md has what
 * comes from the guest). Keys stand in a fixed order and numbers have at most 15 digits, so that
 * the same result gives the same bytes; it holds nothing of the host's time, speed or paths. The
 * last key, `digest`, is the SHA-256 of all the others: a file that was edited or damaged is
 * refused.
 */
#ifndef CGWB_RESULT_H
#define CGWB_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

#define CGWB_RESULT_SCHEMA 1

struct cgwb_result;

/* What the lab knows of a cell that it has run. */
struct cgwb_outcome {
	const json_t *cell;
	const json_t *inputs; /* an object: digests of all that decides the result */
	const json_t *guest; /* the guest's `result` frame; NULL: there was none */
	unsigned int warn; /* suspicious lines on the console */
	const char *error; /* what failed, outside of the guest; NULL: nothing */
};

/*
 * Joins them. The result is `failed` if there is an error, no guest's result, or one that says so;
 * the lab's error is kept before the guest's. -EINVAL: the guest's is not as docs/cell.md says;
 * -ENOMEM.
 */
int cgwb_result_new(const struct cgwb_outcome *outcome, struct cgwb_result **ret_result,
		    struct cgwb_error *error);

/*
 * Reads a file. -ENOENT and the like; -EINVAL: it is cut off, no result, one of another schema, or
 * edited: the error says which.
 */
int cgwb_result_read(const char *path, struct cgwb_result **ret_result, struct cgwb_error *error);

/* Writes the file whole: another name, fsync, rename. */
int cgwb_result_write(const struct cgwb_result *result, const char *path, struct cgwb_error *error);

/* NULL-safe, returns NULL */
struct cgwb_result *cgwb_result_free(struct cgwb_result *result);

/* Borrowed */
const json_t *cgwb_result_json(const struct cgwb_result *result);
const char *cgwb_result_scenario(const struct cgwb_result *result);
const char *cgwb_result_variant(const struct cgwb_result *result);
unsigned int cgwb_result_seed(const struct cgwb_result *result);
bool cgwb_result_quick(const struct cgwb_result *result);
const char *cgwb_result_error(const struct cgwb_result *result); /* NULL unless it failed */
unsigned int cgwb_result_warn(const struct cgwb_result *result);

/* Whether it is `ok`; whether it counts in means: ok, and nothing suspicious on the console. */
bool cgwb_result_ok(const struct cgwb_result *result);
bool cgwb_result_usable(const struct cgwb_result *result);

/* -ENOENT: it has no such measure (`n/a`) */
int cgwb_result_measure(const struct cgwb_result *result, const char *name, double *ret_value);

/* Whether the result is of this cell and these inputs, so that it need not be run again. */
bool cgwb_result_is_of(const struct cgwb_result *result, const json_t *cell, const json_t *inputs);

/* The results of a run, in the order in which they were added. */
struct cgwb_results {
	struct cgwb_result **all;
	size_t n;
};

/*
 * Takes the result over; it replaces an earlier one of the same variant and seed. -ENOMEM: it is
 * the caller's still.
 */
int cgwb_results_add(struct cgwb_results *results, struct cgwb_result *result);

/* NULL: there is none */
const struct cgwb_result *cgwb_results_find(const struct cgwb_results *results, const char *variant,
					    unsigned int seed);

/* Frees the results, not the struct. */
void cgwb_results_done(struct cgwb_results *results);

#endif
