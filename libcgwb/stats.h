/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of measures over seeds, by GSL.
 *
 * In virtual time a cell has no noise: the spread is that of the seeds. Two variants with the same
 * seed are a pair, since the seed gives them the same disk layout and the same start times, and it
 * is the paired differences that say whether a variant changed anything. One value has no spread,
 * and one pair no interval; nothing is made up for them.
 */
#ifndef CGWB_STATS_H
#define CGWB_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct cgwb_stats {
	size_t n;
	double mean;
	double median;
	double least;
	double most;
	double sd; /* with n - 1; 0 unless n >= 2 */
};

/* -EINVAL: no values; -ENOMEM */
int cgwb_stats_of(const double *values, size_t n, struct cgwb_stats *ret_stats);

struct cgwb_paired {
	size_t n;
	double base; /* mean */
	double other; /* mean */
	double difference; /* mean of other - base */
	bool has_interval; /* n >= 2 */
	double low, high; /* 95 % confidence interval of the difference, by Student's t */
};

/* Of pairs base[i], other[i]. -EINVAL: no pairs; -ENOMEM */
int cgwb_stats_paired(const double *base, const double *other, size_t n,
		      struct cgwb_paired *ret_paired);

/* Whether the interval says that there is a difference: it does not contain 0. */
bool cgwb_paired_differs(const struct cgwb_paired *paired);

#endif
