// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "files.h"
#include "json-text.h"
#include "measure.h"

/* As many digits as a decimal number keeps on its way through a double and back. */
#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

struct cgwb_result {
	json_t *json;
};

struct cgwb_result *cgwb_result_free(struct cgwb_result *result)
{
	if (result)
		json_decref(result->json);
	free(result);
	return NULL;
}

/* Shares the value of a key, if it is there: round_numbers() makes a copy of the whole. */
static int copy_key(json_t *to, const json_t *from, const char *name)
{
	json_t *value = json_object_get(from, name);

	return value ? json_object_set(to, name, value) : 0;
}

/* In the order of measure.h, then the scenario's, then whatever else the guest has. */
static json_t *join_measures(const struct cgwb_outcome *outcome)
{
	const json_t *from = json_object_get(outcome->guest, "measures"), *measure, *value;
	const struct cgwb_measure *known;
	json_t *measures = json_object();
	const char *name;
	size_t i;
	int failed = !measures;

	for (i = 0; !failed && (known = cgwb_measure_at(i)); i++) {
		if (strcmp(known->name, "warn"))
			failed = copy_key(measures, from, known->name);
	}
	json_array_foreach(json_object_get(outcome->cell, "measures"), i, measure) {
		name = json_string_value(json_object_get(measure, "name"));
		if (!failed && name)
			failed = copy_key(measures, from, name);
	}
	json_object_foreach((json_t *)from, name, value) {
		if (!failed && !json_object_get(measures, name))
			failed = copy_key(measures, from, name);
	}
	if (!failed)
		failed = json_object_set_new(measures, "warn", json_integer(outcome->warn));
	if (failed) {
		json_decref(measures);
		return NULL;
	}
	return measures;
}

static const char *outcome_error(const struct cgwb_outcome *outcome)
{
	const char *status = json_string_value(json_object_get(outcome->guest, "status"));
	const char *error = json_string_value(json_object_get(outcome->guest, "error"));

	if (outcome->error)
		return outcome->error;
	if (!outcome->guest)
		return "the guest ended without a result";
	if (strcmp(status, "ok"))
		return error ? error : "the guest failed without saying why";
	return NULL;
}

static json_t *join(const struct cgwb_outcome *outcome)
{
	static const char *const from_cell[] = { "scenario", "variant", "seed", "quick" };
	static const char *const from_guest[] = { "details", "boot_s", "prepared_s", "virtual_s" };
	const char *error = outcome_error(outcome);
	json_t *json = json_pack("{s:i}", "schema", CGWB_RESULT_SCHEMA);
	int failed = !json;

	for (size_t i = 0; i < 4; i++)
		failed |= copy_key(json, outcome->cell, from_cell[i]);
	failed |= json_object_set_new(json, "status", json_string(error ? "failed" : "ok"));
	if (error)
		failed |= json_object_set_new(json, "error", json_string(error));
	failed |= copy_key(json, outcome->guest, "kernel");
	failed |= json_object_set(json, "inputs", (json_t *)outcome->inputs);
	failed |= copy_key(json, outcome->guest, "programs");
	failed |= json_object_set_new(json, "measures", join_measures(outcome));
	for (size_t i = 0; i < 4; i++)
		failed |= copy_key(json, outcome->guest, from_guest[i]);

	if (failed) {
		json_decref(json);
		return NULL;
	}
	return json;
}

/* What is written and read again is the same from then on. The value is taken over. */
static json_t *round_numbers(json_t *json)
{
	json_t *rounded = NULL;
	char *text;

	if (json && !cgwb_json_text(json, DUMP_FLAGS, &text)) {
		rounded = json_loads(text, 0, NULL);
		free(text);
	}
	json_decref(json);
	return rounded;
}

/* Puts the digest of everything behind everything. */
static int add_digest(json_t *json)
{
	char digest[CGWB_DIGEST_SIZE];
	int err = cgwb_digest_json(json, digest);

	if (!err && json_object_set_new(json, "digest", json_sprintf("sha256:%s", digest)))
		err = -ENOMEM;
	return err;
}

/* Whether the digest is that of everything else. -EINVAL: it is not; -ENOMEM */
static int check_digest(json_t *json)
{
	json_t *digest = json_incref(json_object_get(json, "digest"));
	int err;

	json_object_del(json, "digest");
	err = add_digest(json);
	if (!err && !json_equal(digest, json_object_get(json, "digest")))
		err = -EINVAL;
	json_decref(digest);
	return err;
}

/* The name of a measure that is neither a number nor null (`n/a`); NULL: there is none */
static const char *wrong_measure(const json_t *measures)
{
	const json_t *value;
	const char *name;

	json_object_foreach((json_t *)measures, name, value) {
		if (!json_is_number(value) && !json_is_null(value))
			return name;
	}
	return NULL;
}

int cgwb_result_new(const struct cgwb_outcome *outcome, struct cgwb_result **ret_result,
		    struct cgwb_error *error)
{
	const json_t *measures = json_object_get(outcome->guest, "measures");
	struct cgwb_result *result;
	int err;

	if (outcome->guest && !json_is_string(json_object_get(outcome->guest, "status")))
		return cgwb_error_set(error, -EINVAL, "the guest's result has no status");
	if (outcome->guest && (measures ? !json_is_object(measures) : !outcome_error(outcome)))
		return cgwb_error_set(error, -EINVAL, "the guest's result has no measures");
	if (wrong_measure(measures))
		return cgwb_error_set(error, -EINVAL,
				      "the guest's result: the measure %s is no number",
				      wrong_measure(measures));

	result = calloc(1, sizeof(*result));
	if (!result)
		return -ENOMEM;

	result->json = round_numbers(join(outcome));
	err = result->json ? add_digest(result->json) : -ENOMEM;
	if (err) {
		cgwb_result_free(result);
		return err;
	}
	*ret_result = result;
	return 0;
}

/* Whether the object is a result, whole and unchanged. */
static int check(json_t *json, const char *path, struct cgwb_error *error)
{
	static const struct {
		const char *name;
		json_type type;
	} keys[] = {
		{ "scenario", JSON_STRING }, { "variant", JSON_STRING },  { "seed", JSON_INTEGER },
		{ "status", JSON_STRING },   { "measures", JSON_OBJECT }, { "digest", JSON_STRING },
	};
	const json_t *schema = json_object_get(json, "schema");
	int err;

	if (!json_is_integer(schema))
		return cgwb_error_at(error, -EINVAL, path, 0, "this is no result of a cell");
	if (json_integer_value(schema) != CGWB_RESULT_SCHEMA)
		return cgwb_error_at(error, -EINVAL, path, 0,
				     "a result of version %lld, and only version %d can be read",
				     (long long)json_integer_value(schema), CGWB_RESULT_SCHEMA);

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json_t *value = json_object_get(json, keys[i].name);

		if (!value || json_typeof(value) != keys[i].type)
			return cgwb_error_at(error, -EINVAL, path, 0,
					     "this is no result of a cell: no %s", keys[i].name);
	}

	err = check_digest(json);
	if (err == -EINVAL)
		return cgwb_error_at(error, err, path, 0,
				     "the result has been changed since it was written");
	if (err)
		return err;
	if (wrong_measure(json_object_get(json, "measures")))
		return cgwb_error_at(error, -EINVAL, path, 0, "the measure %s is no number",
				     wrong_measure(json_object_get(json, "measures")));
	return 0;
}

int cgwb_result_read(const char *path, struct cgwb_result **ret_result, struct cgwb_error *error)
{
	struct cgwb_result *result;
	json_error_t json_error;
	char *text;
	size_t size;
	json_t *json;
	int err;

	err = cgwb_read_file(path, &text, &size);
	if (err)
		return cgwb_error_set(error, err, "result %s: %s", path, strerror(-err));
	json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
	free(text);
	if (!json)
		return cgwb_error_at(error, -EINVAL, path,
				     json_error.line > 0 ? json_error.line : 0,
				     "the result is cut off or damaged");

	err = check(json, path, error);
	result = err ? NULL : calloc(1, sizeof(*result));
	if (!result) {
		json_decref(json);
		return err ? err : -ENOMEM;
	}
	result->json = json;
	*ret_result = result;
	return 0;
}

int cgwb_result_write(const struct cgwb_result *result, const char *path, struct cgwb_error *error)
{
	char *text;
	int err = cgwb_json_text(result->json, DUMP_FLAGS, &text);

	if (!err) {
		err = cgwb_write_file(path, text, strlen(text));
		free(text);
	}
	if (err)
		cgwb_error_set(error, err, "writing the result %s: %s", path, strerror(-err));
	return err;
}

const json_t *cgwb_result_json(const struct cgwb_result *result)
{
	return result->json;
}

static const char *get_string(const struct cgwb_result *result, const char *name)
{
	return json_string_value(json_object_get(result->json, name));
}

const char *cgwb_result_scenario(const struct cgwb_result *result)
{
	return get_string(result, "scenario");
}

const char *cgwb_result_variant(const struct cgwb_result *result)
{
	return get_string(result, "variant");
}

unsigned int cgwb_result_seed(const struct cgwb_result *result)
{
	return json_integer_value(json_object_get(result->json, "seed"));
}

bool cgwb_result_quick(const struct cgwb_result *result)
{
	return json_is_true(json_object_get(result->json, "quick"));
}

const char *cgwb_result_error(const struct cgwb_result *result)
{
	return get_string(result, "error");
}

unsigned int cgwb_result_warn(const struct cgwb_result *result)
{
	double warn;

	return cgwb_result_measure(result, "warn", &warn) ? 0 : warn;
}

bool cgwb_result_ok(const struct cgwb_result *result)
{
	return !strcmp(get_string(result, "status"), "ok");
}

bool cgwb_result_usable(const struct cgwb_result *result)
{
	return cgwb_result_ok(result) && !cgwb_result_warn(result);
}

int cgwb_result_measure(const struct cgwb_result *result, const char *name, double *ret_value)
{
	const json_t *value = json_object_get(json_object_get(result->json, "measures"), name);

	if (!json_is_number(value))
		return -ENOENT;
	*ret_value = json_number_value(value);
	return 0;
}

bool cgwb_result_is_of(const struct cgwb_result *result, const json_t *cell, const json_t *inputs)
{
	static const char *const keys[] = { "scenario", "variant", "seed", "quick" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!json_equal(json_object_get(result->json, keys[i]),
				json_object_get(cell, keys[i])))
			return false;
	}
	return json_equal(json_object_get(result->json, "inputs"), inputs);
}

static struct cgwb_result **find(const struct cgwb_results *results, const char *variant,
				 unsigned int seed)
{
	for (size_t i = 0; i < results->n; i++) {
		struct cgwb_result *result = results->all[i];

		if (cgwb_result_seed(result) == seed &&
		    !strcmp(cgwb_result_variant(result), variant))
			return &results->all[i];
	}
	return NULL;
}

const struct cgwb_result *cgwb_results_find(const struct cgwb_results *results, const char *variant,
					    unsigned int seed)
{
	struct cgwb_result **found = find(results, variant, seed);

	return found ? *found : NULL;
}

int cgwb_results_add(struct cgwb_results *results, struct cgwb_result *result)
{
	struct cgwb_result **there, **all;

	there = find(results, cgwb_result_variant(result), cgwb_result_seed(result));
	if (there) {
		cgwb_result_free(*there);
		*there = result;
		return 0;
	}

	all = reallocarray(results->all, results->n + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	all[results->n++] = result;
	results->all = all;
	return 0;
}

void cgwb_results_done(struct cgwb_results *results)
{
	for (size_t i = 0; i < results->n; i++)
		cgwb_result_free(results->all[i]);
	free(results->all);
	*results = (struct cgwb_results){ 0 };
}
