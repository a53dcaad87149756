// SPDX-License-Identifier: GPL-2.0-or-later
#include "outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

static void add(struct cgwb_results *results, const char *variant, unsigned int seed, bool quick,
		unsigned int warn, const char *measures, const char *details)
{
	json_t *inputs = json_object(), *guest = NULL;
	json_t *cell = json_pack("{s:s, s:s, s:i, s:b, s:[]}", "scenario", "t", "variant", variant,
				 "seed", seed, "quick", quick, "measures");
	struct cgwb_outcome outcome = { .cell = cell, .inputs = inputs, .warn = warn };
	struct cgwb_result *result;

	if (measures)
		guest = json_pack("{s:s, s:o, s:o}", "status", "ok", "measures", load(measures),
				  "details", load(details ? details : "{}"));
	outcome.guest = guest;
	assert_int_equal(cgwb_result_new(&outcome, &result, NULL), 0);
	assert_int_equal(cgwb_results_add(results, result), 0);
	json_decref(guest);
	json_decref(cell);
	json_decref(inputs);
}

void outcome_add(struct cgwb_results *results, const char *variant, unsigned int seed,
		 unsigned int warn, const char *measures, const char *details)
{
	add(results, variant, seed, false, warn, measures, details);
}

void outcome_add_quick(struct cgwb_results *results, const char *variant, unsigned int seed,
		       const char *measures)
{
	add(results, variant, seed, true, 0, measures, NULL);
}
