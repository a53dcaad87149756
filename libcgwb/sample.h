/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of a measure over the seeds of a run: of one variant, or of two, paired by seed.
 * Results that are not usable (failed, or a warning on the console) are left out and counted; in a
 * pair, one such result leaves out both.
 */
#ifndef CGWB_SAMPLE_H
#define CGWB_SAMPLE_H

#include "result.h"

struct cgwb_sample {
	double *values; /* of the variant; in pairs, of the base */
	double *others; /* in pairs, of the other; else NULL */
	size_t n;
	size_t left_out; /* had results, but not usable ones */
};

/* 0, also if there is no value at all; -ENOMEM. Undo with cgwb_sample_done(). */
int cgwb_sample_variant(const struct cgwb_results *results, const char *variant,
			const char *measure, struct cgwb_sample *ret_sample);
int cgwb_sample_pairs(const struct cgwb_results *results, const char *base, const char *other,
		      const char *measure, struct cgwb_sample *ret_sample);

/* The mean of a variant's values. -ENOENT: it has none; -ENOMEM */
int cgwb_sample_mean(const struct cgwb_results *results, const char *variant, const char *measure,
		     double *ret_mean);

void cgwb_sample_done(struct cgwb_sample *sample);

#endif
