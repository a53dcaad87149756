/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run's results say: as text, or as JSON.
 */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>

#include "libcgwb/context.h"
#include "libcgwb/expect.h"
#include "libcgwb/result.h"
#include "libcgwb/scenario.h"

struct report {
	const struct cgwb_context *context;
	const struct cgwb_scenario *scenario;
	const struct cgwb_results *results;
	const char *const *variants; /* in this order; NULL-terminated */
};

/*
 * Prints to standard output the tables as published, means, changes, who wrote, ours beside the
 * published figures, and each expectation. Returns 0 or a negative errno.
 */
int report_print(const struct report *report, struct cgwb_error *error);

/* The same as members of an object: `cells`, `means`, `published`, `expect`. */
int report_json(const struct report *report, json_t *object, struct cgwb_error *error);

/* Whether a cell failed, or an expectation does not hold. */
bool report_failed(const struct report *report);

#endif
