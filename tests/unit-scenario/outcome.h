/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results for tests, made as the lab makes them: from a cell and what a guest would have said.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "libcgwb/result.h"

/*
 * Adds a result of [variant, seed]. `measures` is JSON as the guest gives it; NULL: the guest died.
 * `details` is JSON, or NULL for none.
 */
void outcome_add(struct cgwb_results *results, const char *variant, unsigned int seed,
		 unsigned int warn, const char *measures, const char *details);

/* The same in the quick form, with nothing suspicious on its console. */
void outcome_add_quick(struct cgwb_results *results, const char *variant, unsigned int seed,
		       const char *measures);

#endif
