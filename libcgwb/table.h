/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run's results as tables of text: under 100 columns, plain ASCII, the same with and without a
 * terminal.
 *
 * What was not measured is `n/a`. A result with warnings on its console is marked `!`, one that
 * failed `failed`; both are shown, are left out of means, and are counted as left out.
 *
 * Each function returns 0 and sets the text, which the caller frees, or -ENOMEM. Results of
 * variants that the list does not name are not shown.
 */
#ifndef CGWB_TABLE_H
#define CGWB_TABLE_H

#include "published.h"
#include "result.h"
#include "scenario.h"

struct cgwb_table {
	const struct cgwb_scenario *scenario;
	const struct cgwb_results *results;
	const char *const *variants; /* in this order; NULL-terminated */
};

/*
 * As published: a round for each seed, a row for each cell
 *
 *   kind             seconds   MiB/s   IOPS  mean_ms   p99_ms  hot_GiB  files  WARN
 *
 * and under them what each variant that is listed after the base changed against it, in percent
 * (what is listed before the base, a floor, is there to be seen). Without a measured job the columns
 * from seconds to p99_ms are not there. No result: an empty text.
 */
int cgwb_table_rounds(const struct cgwb_table *table, char **ret_text);

/* Means over seeds in the same columns, with how many counted and how many were left out. */
int cgwb_table_means(const struct cgwb_table *table, char **ret_text);

/*
 * What another variant changed against the base, for all measures that both have: both means, the
 * change in percent, and the mean of the paired differences with its 95 % confidence interval, if
 * there are at least two pairs.
 */
int cgwb_table_change(const struct cgwb_table *table, const char *base, const char *other,
		      char **ret_text);

/*
 * What was published beside ours: for the base side and for the patched side, whose variant is the
 * one (of `variants`) with the policy that was published. `key` must be in the published file.
 * Empty text: no such variant has run, or only in the quick form, which is another experiment.
 */
int cgwb_table_published(const struct cgwb_table *table, const struct cgwb_published *published,
			 const char *key, char **ret_text);

/*
 * Who wrote a measured file: its device writes in GiB, split by trigger, mean over seeds, a column
 * for each variant. If there is a variant `floor`, the last columns say what is above it. `measure`
 * is one of the scenario's, of the kind file-writes.
 */
int cgwb_table_writes(const struct cgwb_table *table, const char *measure, char **ret_text);

#endif
