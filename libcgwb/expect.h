/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scenario expects of its results: relations between variants, such as
 *
 *   mapping.hot_gib <= 0.60 * stock.hot_gib
 *
 * Two sides of numbers and VARIANT.MEASURE, joined by + - * / and parentheses, with <=, >=, <, > or
 * == between them. A minus has blanks around it, since names may contain one. Names are checked
 * when the relation is read.
 *
 * A relation is evaluated on means over seeds. A seed counts if each variant that the relation
 * names has a usable result of it (no failure, no warning) with the measures that are named; the
 * others are left out and counted. With no seed left, or a division by 0, the relation is unknown,
 * which is no failure.
 */
#ifndef CGWB_EXPECT_H
#define CGWB_EXPECT_H

#include <stddef.h>

#include "error.h"
#include "result.h"

struct cgwb_scenario;
struct cgwb_expectation;

enum cgwb_verdict {
	CGWB_HOLDS,
	CGWB_FAILS,
	CGWB_UNKNOWN, /* nothing to judge it by */
};

struct cgwb_judgement {
	enum cgwb_verdict verdict;
	double left; /* both sides; not set if unknown */
	double right;
	unsigned int seeds; /* how many counted */
	unsigned int left_out; /* how many had results, but not usable ones */
	/* A measure that is null in a usable result; borrowed from the expectation, NULL: none. */
	const char *null_variant;
	const char *null_measure;
};

/* Reads a relation; file and line are where it stands. -EINVAL with what is wrong; -ENOMEM. */
int cgwb_expectation_new(const struct cgwb_scenario *scenario, const char *text, const char *file,
			 unsigned int line, struct cgwb_expectation **ret_expectation,
			 struct cgwb_error *error);

/* NULL-safe, returns NULL */
struct cgwb_expectation *cgwb_expectation_free(struct cgwb_expectation *expectation);

/* As it was written; borrowed. */
const char *cgwb_expectation_text(const struct cgwb_expectation *expectation);

struct cgwb_judgement cgwb_expectation_judge(const struct cgwb_expectation *expectation,
					     const struct cgwb_results *results);

/*
 * One line, the caller frees it: `holds: TEXT (2.64 <= 3.18, 3 seeds, 1 left out)`, `fails: ...`,
 * `unknown: TEXT (no usable result)`; behind that, which measure is null. NULL: out of memory.
 */
char *cgwb_judgement_line(const struct cgwb_expectation *expectation,
			  const struct cgwb_judgement *judgement);

#endif
