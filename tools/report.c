// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/measure.h"
#include "libcgwb/published.h"
#include "libcgwb/sample.h"
#include "libcgwb/stats.h"
#include "libcgwb/table.h"

static bool has_results(const struct report *report, const char *variant)
{
	size_t i;

	for (i = 0; i < report->results->n; i++) {
		if (!strcmp(cgwb_result_variant(report->results->all[i]), variant))
			return true;
	}
	return false;
}

/* Prints what a table function made, with a heading; an empty text is not printed. */
static int print_table(const char *heading, int ret, char *text)
{
	if (ret < 0)
		return ret;
	if (*text)
		printf("\n%s\n\n%s", heading, text);
	free(text);
	return 0;
}

/* The variant that the others are compared with, if it has run. */
static const char *base_variant(const struct report *report)
{
	const char *base = cgwb_scenario_base(report->scenario);

	return base && has_results(report, base) ? base : NULL;
}

static int print_changes(const struct report *report, const struct cgwb_table *table)
{
	const char *base = base_variant(report);
	const char *const *variant;
	char heading[256], *text = NULL;
	int ret = 0;

	for (variant = report->variants; base && *variant && ret == 0; variant++) {
		if (!strcmp(*variant, base) || !has_results(report, *variant))
			continue;
		snprintf(heading, sizeof(heading), "What %s changes against %s", *variant, base);
		ret = cgwb_table_change(table, base, *variant, &text);
		ret = print_table(heading, ret, text);
	}
	return ret;
}

/* Whether the guest has split a file's writes under this measure. */
static bool has_writes(const struct report *report, const char *measure)
{
	size_t i;

	for (i = 0; i < report->results->n; i++) {
		const json_t *json = cgwb_result_json(report->results->all[i]);

		json = json_object_get(json_object_get(json, "details"), "writes");
		if (json_object_get(json_object_get(json, "files"), measure))
			return true;
	}
	return false;
}

static int print_writes(const struct report *report, const struct cgwb_table *table)
{
	size_t n = cgwb_scenario_measures(report->scenario), i;
	char heading[256], *text = NULL;
	int ret = 0;

	for (i = 0; i < n && ret == 0; i++) {
		const char *measure = cgwb_scenario_measure_name(report->scenario, i);

		if (!has_writes(report, measure))
			continue;
		snprintf(heading, sizeof(heading),
			 "Device writes that make up %s, in GiB, by trigger", measure);
		ret = cgwb_table_writes(table, measure, &text);
		ret = print_table(heading, ret, text);
	}
	return ret;
}

static int read_published(const struct report *report, struct cgwb_published **ret_published,
			  struct cgwb_error *error)
{
	char *path;
	int ret;

	*ret_published = NULL;
	if (!cgwb_scenario_published(report->scenario)[0])
		return 0;
	if (asprintf(&path, "%s/scenarios/published.json", report->context->data_dir) < 0)
		return -ENOMEM;
	ret = cgwb_published_read(path, ret_published, error);
	free(path);
	return ret;
}

static int print_published(const struct report *report, const struct cgwb_table *table,
			   struct cgwb_error *error)
{
	const char *const *key = cgwb_scenario_published(report->scenario);
	struct cgwb_published *published;
	char heading[256], *text = NULL;
	int ret;

	ret = read_published(report, &published, error);
	for (; published && *key && ret == 0; key++) {
		ret = cgwb_published_check(published, *key, error);
		if (ret < 0)
			break;
		snprintf(heading, sizeof(heading), "Published: %s",
			 cgwb_published_source(published, *key) ?: *key);
		ret = cgwb_table_published(table, published, *key, &text);
		ret = print_table(heading, ret, text);
	}
	cgwb_published_free(published);
	return ret;
}

static int print_expectations(const struct report *report)
{
	const struct cgwb_expectation *const *expectations;
	size_t n = cgwb_scenario_expectations(report->scenario, &expectations), i;

	if (n)
		printf("\nExpected\n\n");
	for (i = 0; i < n; i++) {
		const struct cgwb_judgement judgement =
			cgwb_expectation_judge(expectations[i], report->results);
		char *line = cgwb_judgement_line(expectations[i], &judgement);

		if (!line)
			return -ENOMEM;
		printf("%s\n", line);
		free(line);
	}
	return 0;
}

int report_print(const struct report *report, struct cgwb_error *error)
{
	const struct cgwb_table table = { report->scenario, report->results, report->variants };
	char *text = NULL;
	int ret;

	ret = cgwb_table_rounds(&table, &text);
	ret = print_table("Cells", ret, text);
	if (ret == 0) {
		ret = cgwb_table_means(&table, &text);
		ret = print_table("Means over seeds", ret, text);
	}
	if (ret == 0)
		ret = print_changes(report, &table);
	if (ret == 0)
		ret = print_writes(report, &table);
	if (ret == 0)
		ret = print_published(report, &table, error);
	if (ret == 0)
		ret = print_expectations(report);
	return ret;
}

static json_t *cells_json(const struct report *report)
{
	json_t *cells = json_array();
	size_t i;

	for (i = 0; i < report->results->n; i++)
		json_array_append(cells, (json_t *)cgwb_result_json(report->results->all[i]));
	return cells;
}

/* The names of all measures that any result has. */
static json_t *measure_names(const struct report *report)
{
	json_t *names = json_object();
	const json_t *value;
	const char *name;
	size_t i;

	for (i = 0; i < report->results->n; i++) {
		const json_t *json = cgwb_result_json(report->results->all[i]);

		json_object_foreach(json_object_get(json, "measures"), name, value)
			json_object_set_new(names, name, json_true());
	}
	return names;
}

static json_t *mean_json(const struct report *report, const char *variant, const char *measure)
{
	struct cgwb_sample sample;
	struct cgwb_stats stats;
	json_t *json = NULL;

	if (cgwb_sample_variant(report->results, variant, measure, &sample) < 0)
		return NULL;
	if (cgwb_stats_of(sample.values, sample.n, &stats) == 0)
		json = json_pack("{s:f, s:f, s:i, s:i}", "mean", stats.mean, "sd", stats.sd,
				 "seeds", (int)sample.n, "left_out", (int)sample.left_out);
	cgwb_sample_done(&sample);
	return json;
}

static json_t *change_json(const struct report *report, const char *base, const char *other,
			   const char *measure)
{
	struct cgwb_sample sample;
	struct cgwb_paired paired;
	json_t *json = NULL;

	if (cgwb_sample_pairs(report->results, base, other, measure, &sample) < 0)
		return NULL;
	if (cgwb_stats_paired(sample.values, sample.others, sample.n, &paired) == 0) {
		json = json_pack("{s:f, s:i, s:i}", "difference", paired.difference, "pairs",
				 (int)paired.n, "left_out", (int)sample.left_out);
		if (paired.has_interval)
			json_object_set_new(json, "interval",
					    json_pack("[f, f]", paired.low, paired.high));
	}
	cgwb_sample_done(&sample);
	return json;
}

/* By variant, then by measure: means, and changes against the base. */
static json_t *means_json(const struct report *report)
{
	json_t *names = measure_names(report), *means = json_object();
	const char *base = base_variant(report), *name;
	const char *const *variant;
	json_t *value, *item, *of;

	for (variant = report->variants; *variant; variant++) {
		of = json_object();
		json_object_foreach(names, name, value) {
			item = mean_json(report, *variant, name);
			if (item && base && strcmp(base, *variant))
				json_object_set_new(item, "against_base",
						    change_json(report, base, *variant, name) ?:
							    json_null());
			if (item)
				json_object_set_new(of, name, item);
		}
		json_object_set_new(means, *variant, of);
	}
	json_decref(names);
	return means;
}

static void add_range(json_t *side, const struct cgwb_published *published, const char *key,
		      bool patched, const char *measure)
{
	struct cgwb_published_range range;

	if (cgwb_published_get(published, key, patched, measure, &range) == 0)
		json_object_set_new(side, measure,
				    json_pack("{s:f, s:f, s:f, s:i}", "least", range.least, "most",
					      range.most, "mean", range.mean, "rounds",
					      (int)range.n));
}

static json_t *side_json(const struct cgwb_scenario *scenario,
			 const struct cgwb_published *published, const char *key, bool patched)
{
	const struct cgwb_measure *measure;
	json_t *side = json_object();
	size_t i;

	for (i = 0; (measure = cgwb_measure_at(i)); i++)
		add_range(side, published, key, patched, measure->name);
	for (i = 0; i < cgwb_scenario_measures(scenario); i++)
		add_range(side, published, key, patched, cgwb_scenario_measure_name(scenario, i));
	return side;
}

static int published_json(const struct report *report, json_t *object, struct cgwb_error *error)
{
	const char *const *key = cgwb_scenario_published(report->scenario);
	struct cgwb_published *published;
	json_t *all = json_object();
	int ret;

	ret = read_published(report, &published, error);
	for (; published && *key; key++)
		json_object_set_new(all, *key,
				    json_pack("{s:s?, s:s?, s:o, s:o}", "source",
					      cgwb_published_source(published, *key), "policy",
					      cgwb_published_policy(published, *key), "base",
					      side_json(report->scenario, published, *key, false),
					      "patched",
					      side_json(report->scenario, published, *key, true)));
	cgwb_published_free(published);
	json_object_set_new(object, "published", all);
	return ret;
}

static json_t *expect_json(const struct report *report)
{
	static const char *const verdicts[] = { "holds", "fails", "unknown" };
	const struct cgwb_expectation *const *expectations;
	size_t n = cgwb_scenario_expectations(report->scenario, &expectations), i;
	json_t *all = json_array();

	for (i = 0; i < n; i++) {
		const struct cgwb_judgement judgement =
			cgwb_expectation_judge(expectations[i], report->results);
		json_t *item = json_pack("{s:s, s:s, s:i, s:i}", "text",
					 cgwb_expectation_text(expectations[i]), "verdict",
					 verdicts[judgement.verdict], "seeds", (int)judgement.seeds,
					 "left_out", (int)judgement.left_out);

		if (item && judgement.verdict != CGWB_UNKNOWN) {
			json_object_set_new(item, "left", json_real(judgement.left));
			json_object_set_new(item, "right", json_real(judgement.right));
		}
		json_array_append_new(all, item);
	}
	return all;
}

int report_json(const struct report *report, json_t *object, struct cgwb_error *error)
{
	json_object_set_new(object, "cells", cells_json(report));
	json_object_set_new(object, "means", means_json(report));
	json_object_set_new(object, "expect", expect_json(report));
	return published_json(report, object, error);
}

bool report_failed(const struct report *report)
{
	const struct cgwb_expectation *const *expectations;
	size_t n = cgwb_scenario_expectations(report->scenario, &expectations), i;

	for (i = 0; i < report->results->n; i++) {
		if (!cgwb_result_ok(report->results->all[i]))
			return true;
	}
	for (i = 0; i < n; i++) {
		if (cgwb_expectation_judge(expectations[i], report->results).verdict == CGWB_FAILS)
			return true;
	}
	return false;
}
