// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

int cgwb_stats_of(const double *values, size_t n, struct cgwb_stats *ret_stats)
{
	struct cgwb_stats stats = { .n = n };
	double *sorted;

	if (!n)
		return -EINVAL;
	sorted = calloc(n, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;

	memcpy(sorted, values, n * sizeof(*sorted));
	gsl_sort(sorted, 1, n);
	stats.mean = gsl_stats_mean(sorted, 1, n);
	stats.median = gsl_stats_median_from_sorted_data(sorted, 1, n);
	stats.least = sorted[0];
	stats.most = sorted[n - 1];
	stats.sd = n >= 2 ? gsl_stats_sd_m(sorted, 1, n, stats.mean) : 0;
	free(sorted);

	*ret_stats = stats;
	return 0;
}

int cgwb_stats_paired(const double *base, const double *other, size_t n,
		      struct cgwb_paired *ret_paired)
{
	struct cgwb_paired paired = { .n = n };
	double *differences;

	if (!n)
		return -EINVAL;
	differences = calloc(n, sizeof(*differences));
	if (!differences)
		return -ENOMEM;

	for (size_t i = 0; i < n; i++)
		differences[i] = other[i] - base[i];
	paired.base = gsl_stats_mean(base, 1, n);
	paired.other = gsl_stats_mean(other, 1, n);
	paired.difference = gsl_stats_mean(differences, 1, n);
	if (n >= 2) {
		double t = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, n - 1);
		double half = t * gsl_stats_sd(differences, 1, n) / sqrt(n);

		paired.has_interval = true;
		paired.low = paired.difference - half;
		paired.high = paired.difference + half;
	}
	free(differences);

	*ret_paired = paired;
	return 0;
}

bool cgwb_paired_differs(const struct cgwb_paired *paired)
{
	return paired->has_interval && (paired->low > 0 || paired->high < 0);
}
