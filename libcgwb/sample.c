// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample.h"

#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

void cgwb_sample_done(struct cgwb_sample *sample)
{
	free(sample->values);
	free(sample->others);
	*sample = (struct cgwb_sample){ 0 };
}

/* A missing measure is `n/a` and neither counts nor is left out: the result may be a good one. */
static void add(struct cgwb_sample *sample, const struct cgwb_result *result,
		const struct cgwb_result *other, const char *measure)
{
	if (!cgwb_result_usable(result) || (other && !cgwb_result_usable(other))) {
		sample->left_out++;
		return;
	}
	if (cgwb_result_measure(result, measure, &sample->values[sample->n]) ||
	    (other && cgwb_result_measure(other, measure, &sample->others[sample->n])))
		return;
	sample->n++;
}

static int collect(const struct cgwb_results *results, const char *variant, const char *with,
		   const char *measure, struct cgwb_sample *ret_sample)
{
	struct cgwb_sample sample = {
		.values = calloc(results->n + 1, sizeof(double)),
		.others = with ? calloc(results->n + 1, sizeof(double)) : NULL,
	};

	if (!sample.values || (with && !sample.others)) {
		cgwb_sample_done(&sample);
		return -ENOMEM;
	}

	for (size_t i = 0; i < results->n; i++) {
		const struct cgwb_result *result = results->all[i], *other = NULL;

		if (strcmp(cgwb_result_variant(result), variant))
			continue;
		if (with)
			other = cgwb_results_find(results, with, cgwb_result_seed(result));
		if (!with || other)
			add(&sample, result, other, measure);
	}
	*ret_sample = sample;
	return 0;
}

int cgwb_sample_variant(const struct cgwb_results *results, const char *variant,
			const char *measure, struct cgwb_sample *ret_sample)
{
	return collect(results, variant, NULL, measure, ret_sample);
}

int cgwb_sample_pairs(const struct cgwb_results *results, const char *base, const char *other,
		      const char *measure, struct cgwb_sample *ret_sample)
{
	return collect(results, base, other, measure, ret_sample);
}

int cgwb_sample_mean(const struct cgwb_results *results, const char *variant, const char *measure,
		     double *ret_mean)
{
	struct cgwb_sample sample;
	int err;

	err = cgwb_sample_variant(results, variant, measure, &sample);
	if (err)
		return err;
	if (sample.n)
		*ret_mean = gsl_stats_mean(sample.values, 1, sample.n);
	else
		err = -ENOENT;
	cgwb_sample_done(&sample);
	return err;
}
