// SPDX-License-Identifier: GPL-2.0-or-later
#include "published.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "nearest.h"
#include "sections.h"

struct cgwb_published {
	json_t *json;
};

int cgwb_published_read(const char *path, struct cgwb_published **ret_published,
			struct cgwb_error *error)
{
	struct cgwb_published *published;
	json_error_t json_error;
	json_t *json;

	errno = 0;
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &json_error);
	if (!json && json_error_code(&json_error) == json_error_cannot_open_file)
		return cgwb_error_set(error, errno ? -errno : -EIO, "published figures %s: %s",
				      path, strerror(errno));
	if (!json_is_object(json)) {
		json_decref(json);
		return cgwb_error_at(error, -EINVAL, path,
				     json_error.line > 0 ? json_error.line : 0,
				     "this is not the file of published figures");
	}

	published = calloc(1, sizeof(*published));
	if (!published) {
		json_decref(json);
		return -ENOMEM;
	}
	published->json = json;
	*ret_published = published;
	return 0;
}

struct cgwb_published *cgwb_published_free(struct cgwb_published *published)
{
	if (published)
		json_decref(published->json);
	free(published);
	return NULL;
}

int cgwb_published_check(const struct cgwb_published *published, const char *key,
			 struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key);
	const char *name;
	json_t *value;

	if (json_is_object(json_object_get(published->json, key)))
		return 0;

	json_object_foreach(published->json, name, value) {
		if (json_is_object(value))
			cgwb_nearest_offer(&nearest, name);
	}
	cgwb_error_set(error, -ENOENT, "there are no published figures %s", key);
	return cgwb_error_nearest(error, -ENOENT, nearest.best);
}

static int check_names(const struct cgwb_published *published, const struct section_key *list,
		       struct cgwb_error *error)
{
	struct cgwb_error missing = CGWB_ERROR_INIT;
	char **names;
	int err = names_split(list->value, &names);

	if (err)
		return err;
	for (char **name = names; !err && *name; name++)
		err = cgwb_published_check(published, *name, &missing);
	if (err) {
		err = cgwb_error_at(error, -EINVAL, list->file, list->line, "%s: %s", list->name,
				    missing.text ? missing.text : "no such figures");
		cgwb_error_nearest(error, err, missing.nearest);
	}
	cgwb_error_done(&missing);
	cgwb_names_free(names);
	return err;
}

int published_check_list(const char *data_dir, const struct section_key *list,
			 struct cgwb_error *error)
{
	struct cgwb_published *published;
	char *path;
	int err;

	if (asprintf(&path, "%s/scenarios/published.json", data_dir) < 0)
		return -ENOMEM;
	err = cgwb_published_read(path, &published, error);
	free(path);
	if (err)
		return err;

	err = check_names(published, list, error);
	cgwb_published_free(published);
	return err;
}

static const char *get_string(const struct cgwb_published *published, const char *key,
			      const char *name)
{
	return json_string_value(json_object_get(json_object_get(published->json, key), name));
}

const char *cgwb_published_source(const struct cgwb_published *published, const char *key)
{
	return get_string(published, key, "source");
}

const char *cgwb_published_policy(const struct cgwb_published *published, const char *key)
{
	return get_string(published, key, "policy");
}

/* The patched side of a round, under either name */
static const json_t *patched_side(const json_t *round, const char *policy)
{
	const json_t *side = json_object_get(round, "patched");

	return side || !policy ? side : json_object_get(round, policy);
}

static bool has_warning(const json_t *side)
{
	return json_number_value(json_object_get(side, "warn")) > 0;
}

int cgwb_published_get(const struct cgwb_published *published, const char *key, bool patched,
		       const char *measure, struct cgwb_published_range *ret_range)
{
	const char *policy = cgwb_published_policy(published, key);
	struct cgwb_published_range range = { 0 };
	const json_t *rounds, *round;
	double sum = 0;
	size_t i;

	rounds = json_object_get(json_object_get(published->json, key), "rounds");
	json_array_foreach(rounds, i, round) {
		const json_t *base = json_object_get(round, "base");
		const json_t *other = patched_side(round, policy);
		const json_t *value = json_object_get(patched ? other : base, measure);
		double number = json_number_value(value);

		if (!json_is_number(value) || has_warning(base) || has_warning(other))
			continue;
		if (!range.n || number < range.least)
			range.least = number;
		if (!range.n || number > range.most)
			range.most = number;
		range.n++;
		sum += number;
	}
	if (!range.n)
		return -ENOENT;

	range.mean = sum / range.n;
	*ret_range = range;
	return 0;
}
