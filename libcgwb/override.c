// SPDX-License-Identifier: GPL-2.0-or-later
#include "override.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "nearest.h"
#include "schema.h"

int override_prepare(struct sections *sections)
{
	static const char *const kinds[] = { "scenario", "machine", "sysctl", NULL };

	for (const char *const *kind = kinds; *kind; kind++) {
		if (!sections_find(sections, *kind, "") && !sections_add(sections, *kind, "", 0))
			return -ENOMEM;
	}
	return 0;
}

static int fail(const struct section_key *key, struct cgwb_error *error, const char *what,
		const char *word, const char *nearest)
{
	cgwb_error_at(error, -EINVAL, key->file, key->line, "%s: %s%s", key->name, what, word);
	return cgwb_error_nearest(error, -EINVAL, nearest);
}

static bool name_is(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && !strncmp(name, text, length);
}

/* A name, with or without a path's slash */
static bool path_is(const char *name, const char *text, size_t length)
{
	return name_is(name, text, length) || (name[0] == '/' && name_is(name + 1, text, length));
}

static bool is_name_of(const struct section *section, const char *text, size_t length)
{
	return path_is(section->name, text, length);
}

static bool is_spec_of(const struct section *section, const char *spec, size_t length)
{
	size_t kind = strlen(section->kind);

	if (!schema_kind(section->kind) || !schema_kind(section->kind)->overridable)
		return false;
	if (!*section->name)
		return name_is(section->kind, spec, length);
	if (is_name_of(section, spec, length))
		return true;
	return length > kind && !strncmp(section->kind, spec, kind) && spec[kind] == ' ' &&
	       is_name_of(section, spec + kind + 1, length - kind - 1);
}

/* What an override's name can mean. */
struct search {
	struct section *section; /* the last that was found */
	const char *key; /* within the override's name */
	size_t found;
	char candidates[160]; /* for the error */
	struct cgwb_nearest nearest; /* of the keys of sections that have no such key */
};

/* The section is one that is meant, but it has no such key: perhaps another of its keys is meant. */
static void search_offer_keys(struct search *search, const struct section *section, const char *key)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key);

	schema_offer_keys(section, &nearest);
	if (!search->nearest.word || nearest.distance < search->nearest.distance)
		search->nearest = nearest;
}

static void search_offer(struct search *search, struct section *section, const char *key)
{
	char *text = search->candidates;
	size_t size = sizeof(search->candidates);

	if (!schema_key(section, key)) {
		search_offer_keys(search, section, key);
		return;
	}

	snprintf(text + strlen(text), size - strlen(text), "%s[%s%s%s]",
		 search->found ? " or " : "", section->kind, *section->name ? " " : "",
		 section->name);
	search->section = section;
	search->key = key;
	search->found++;
}

/* Names may contain dots, and so may keys: every dot may be the one between them. */
static void search_all(struct search *search, struct sections *sections, const char *name)
{
	for (const char *dot = name; (dot = strchr(dot, '.')); dot++) {
		for (size_t i = 0; i < sections->n_all; i++) {
			struct section *section = &sections->all[i];

			if (is_spec_of(section, name, dot - name))
				search_offer(search, section, dot + 1);
		}
	}
}

/* Nothing goes by that name: says what comes nearest. */
static int fail_unknown(const struct sections *sections, const struct section_key *key,
			struct cgwb_error *error)
{
	struct cgwb_nearest best = CGWB_NEAREST_INIT(key->name);

	for (const char *dot = key->name; (dot = strchr(dot, '.')); dot++) {
		char *spec = strndup(key->name, dot - key->name);
		struct cgwb_nearest nearest;

		if (!spec)
			return -ENOMEM;
		nearest = (struct cgwb_nearest)CGWB_NEAREST_INIT(spec);
		for (size_t i = 0; i < sections->n_all; i++) {
			const struct section *section = &sections->all[i];

			if (!schema_kind(section->kind)->overridable)
				continue;
			cgwb_nearest_offer(&nearest,
					   *section->name ? section->name : section->kind);
			if (*section->name == '/')
				cgwb_nearest_offer(&nearest, section->name + 1);
		}
		if (nearest.best && nearest.distance < best.distance) {
			best.best = nearest.best;
			best.distance = nearest.distance;
		}
		free(spec);
	}

	return fail(key, error, "no section has that name", "", best.best);
}

/* A key without a dot is one of [scenario]. */
static int find_scenario_key(struct sections *sections, const struct section_key *key,
			     struct search *search, struct cgwb_error *error)
{
	struct section *scenario = sections_find(sections, "scenario", "");
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key->name);

	if (schema_key(scenario, key->name)) {
		search->section = scenario;
		search->key = key->name;
		return 0;
	}

	schema_offer_keys(scenario, &nearest);
	cgwb_nearest_offer(&nearest, "drop");
	return fail(key, error, "neither drop, nor a key of [scenario], nor SECTION.KEY", "",
		    nearest.best);
}

static int find_target(struct sections *sections, const struct section_key *key,
		       struct search *search, struct cgwb_error *error)
{
	if (!strchr(key->name, '.'))
		return find_scenario_key(sections, key, search, error);

	search_all(search, sections, key->name);
	if (search->found == 1)
		return 0;
	if (search->found)
		return fail(key, error, "which one? ", search->candidates, NULL);
	if (search->nearest.word)
		return fail(key, error, "no such key: ", search->nearest.word,
			    search->nearest.best);
	return fail_unknown(sections, key, error);
}

static int apply_key(struct sections *sections, const struct section_key *key,
		     struct cgwb_error *error)
{
	struct search search = { 0 };
	int err;

	err = find_target(sections, key, &search, error);
	if (err)
		return err;

	if (!*key->value) {
		section_unset(search.section, search.key);
		return 0;
	}
	return section_set(search.section, search.key, key->value, key->file, key->line);
}

/* Whether `drop = name` takes that section away */
static bool is_dropped(const struct section *section, const char *name)
{
	if (!strcmp(section->kind, "job") || !strcmp(section->kind, "cgroup"))
		return is_name_of(section, name, strlen(name));

	/* What is left out cannot be measured; `n/a` says so in the table. */
	return !strcmp(section->kind, "measure") &&
	       (!strcmp(section_value(section, "job", ""), name) ||
		path_is(section_value(section, "cgroup", ""), name, strlen(name)));
}

static int drop_name(struct sections *sections, const struct section_key *key, const char *name,
		     struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(name);
	bool found = false;

	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		if (strcmp(section->kind, "job") && strcmp(section->kind, "cgroup"))
			continue;
		cgwb_nearest_offer(&nearest, section->name);
		found |= is_dropped(section, name);
	}
	if (!found)
		return fail(key, error, "no job or cgroup ", name, nearest.best);

	for (size_t i = sections->n_all; i-- > 0;) {
		if (is_dropped(&sections->all[i], name))
			sections_remove(sections, i);
	}
	return 0;
}

static int apply_drop(struct sections *sections, const struct section_key *key,
		      struct cgwb_error *error)
{
	char **names;
	int err = names_split(key->value, &names);

	if (err)
		return err;
	for (char **name = names; !err && *name; name++)
		err = drop_name(sections, key, *name, error);
	cgwb_names_free(names);
	return err;
}

int override_apply(struct sections *sections, const struct section *overrides,
		   struct cgwb_error *error)
{
	const struct section_key *drop = section_get(overrides, "drop");
	int err = drop ? apply_drop(sections, drop, error) : 0;

	for (size_t i = 0; !err && i < overrides->n_keys; i++) {
		if (&overrides->keys[i] != drop)
			err = apply_key(sections, &overrides->keys[i], error);
	}
	return err;
}
