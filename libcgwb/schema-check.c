// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether each section of a scenario is right by itself.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "schema.h"
#include "units.h"

static int check_fail(const struct section_key *key, struct cgwb_error *error, const char *what)
{
	return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s = %s: %s", key->name,
			     key->value, what);
}

static int check_choice(const struct section_key *key, const struct schema_key *schema,
			struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key->value);
	char words[256] = "it is one of";

	for (const char *const *choice = schema->choices; *choice; choice++) {
		if (!strcmp(*choice, key->value))
			return 0;
		cgwb_nearest_offer(&nearest, *choice);
		strncat(words, " ", sizeof(words) - strlen(words) - 1);
		strncat(words, *choice, sizeof(words) - strlen(words) - 1);
	}
	check_fail(key, error, words);
	return cgwb_error_nearest(error, -EINVAL, nearest.best);
}

static int check_quantity(const struct section_key *key, const struct schema_key *schema,
			  struct cgwb_error *error)
{
	const char *what = "not a number";
	char bound[CGWB_UNITS_TEXT];
	uint64_t value;
	int err;

	switch (schema->type) {
	case VALUE_BYTES:
		err = cgwb_parse_bytes(key->value, &value);
		what = "not a size (bytes, or with K, M, G, T, P)";
		break;
	case VALUE_NS_OR_OFF:
		if (!strcmp(key->value, "off"))
			return 0;
		/* fall through */
	case VALUE_NS:
		err = cgwb_parse_ns(key->value, &value);
		what = "not a time (a number with ns, us, ms, s, m or h)";
		break;
	default:
		err = cgwb_parse_u64(key->value, &value);
		break;
	}

	if (!err && value > INT64_MAX)
		err = -ERANGE;
	if (err)
		return check_fail(key, error, err == -ERANGE ? "too large" : what);
	if (value >= schema->least && (!schema->most || value <= schema->most))
		return 0;

	what = value < schema->least ? "at least" : "at most";
	value = value < schema->least ? schema->least : schema->most;
	if (schema->type == VALUE_NS || schema->type == VALUE_NS_OR_OFF)
		cgwb_format_ns(value, bound);
	else
		cgwb_format_bytes(value, bound);
	return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s = %s: it is %s %s",
			     key->name, key->value, what, bound);
}

static bool is_path(const char *text)
{
	size_t length = strlen(text);

	if (length < 2 || text[0] != '/' || text[length - 1] == '/' || strstr(text, "//") ||
	    strpbrk(text, " \t"))
		return false;

	for (const char *at = text; (at = strstr(at, "/.")); at++) {
		const char *rest = at + 2 + (at[2] == '.');

		if (!*rest || *rest == '/')
			return false;
	}
	return true;
}

/* Whether a word of `length` bytes stands in the list before it */
static bool is_listed(const char *list, const char *word, size_t length)
{
	while (list < word) {
		size_t n = strcspn(list, ", \t");

		if (n == length && list != word && !strncmp(list, word, n))
			return true;
		list += n;
		list += strspn(list, ", \t");
	}
	return false;
}

static int check_list(const struct section_key *key, struct cgwb_error *error)
{
	const char *at = key->value;

	for (;;) {
		size_t length;

		at += strspn(at, " \t");
		length = strcspn(at, ", \t");
		if (!length)
			return check_fail(key, error, "names are wanted, between commas");
		if (is_listed(key->value, at, length))
			return cgwb_error_at(error, -EINVAL, key->file, key->line,
					     "%s = %s: %.*s stands there twice", key->name,
					     key->value, (int)length, at);
		at += length;
		at += strspn(at, " \t");
		if (!*at)
			return 0;
		if (*at++ != ',')
			return check_fail(key, error, "names are wanted, between commas");
	}
}

static int check_parameters(const struct section_key *key, struct cgwb_error *error)
{
	const char *at = key->value;

	for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
		size_t length = strcspn(at, " \t"), name = strcspn(at, "= \t");

		if (!name || name + 1 >= length)
			return check_fail(key, error, "NAME=VALUE words are wanted");
		at += length;
	}
	return 0;
}

static int check_control(const struct section_key *key, struct cgwb_error *error)
{
	char *value = NULL, *wrong;
	int err;

	err = control_value(key->name, key->value, &value, &wrong);
	free(value);
	if (err == -EINVAL)
		err = cgwb_error_at(error, err, key->file, key->line,
				    "%s = %s: %s is no setting of it", key->name, key->value,
				    wrong ? wrong : "that");
	free(wrong);
	return err;
}

static int check_value(const struct section_key *key, const struct schema_key *schema,
		       struct cgwb_error *error)
{
	if (!*key->value)
		return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s has no value",
				     key->name);

	switch (schema->type) {
	case VALUE_TEXT:
		return 0;
	case VALUE_WORD:
		return strpbrk(key->value, " \t") ? check_fail(key, error, "one word is wanted") :
						    0;
	case VALUE_PATH:
		return is_path(key->value) ? 0 :
					     check_fail(key, error, "an absolute path is wanted");
	case VALUE_LIST:
		return check_list(key, error);
	case VALUE_CHOICE:
		return check_choice(key, schema, error);
	case VALUE_PARAMETERS:
		return check_parameters(key, error);
	case VALUE_CONTROL:
		return check_control(key, error);
	case VALUE_BYTES:
	case VALUE_NS:
	case VALUE_NS_OR_OFF:
	case VALUE_NUMBER:
		break;
	}
	return check_quantity(key, schema, error);
}

static bool is_word(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;

	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("-_.", *text))
			return false;
	}
	return true;
}

static int check_name(const struct sections *sections, const struct section *section,
		      const struct schema_kind *kind, struct cgwb_error *error)
{
	const char *what;

	switch (kind->naming) {
	case NAMING_NONE:
		if (!*section->name)
			return 0;
		what = "this section has no name";
		break;
	case NAMING_WORD:
		if (is_word(section->name))
			return 0;
		what = "its name is wanted: letters, digits, - _ .";
		break;
	case NAMING_PATH:
	default:
		if (is_path(section->name))
			return 0;
		what = "its absolute path is wanted";
		break;
	}

	return cgwb_error_at(error, -EINVAL, sections->file, section->line, "[%s%s%s]: %s",
			     section->kind, *section->name ? " " : "", section->name, what);
}

static int check_keys(const struct section *section, struct cgwb_error *error)
{
	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];
		const struct schema_key *schema = schema_key(section, key->name);
		struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key->name);
		int err;

		if (!schema) {
			schema_offer_keys(section, &nearest);
			cgwb_error_at(error, -EINVAL, key->file, key->line,
				      "unknown key %s in [%s%s%s]", key->name, section->kind,
				      *section->name ? " " : "", section->name);
			return cgwb_error_nearest(error, -EINVAL, nearest.best);
		}

		err = check_value(key, schema, error);
		if (err)
			return err;
	}
	return 0;
}

static int check_required(const struct sections *sections, const struct section *section,
			  const struct schema_key *keys, struct cgwb_error *error)
{
	for (; keys && keys->name; keys++) {
		if (keys->required && !section_get(section, keys->name))
			return cgwb_error_at(error, -EINVAL, sections->file, section->line,
					     "[%s%s%s] has no %s", section->kind,
					     *section->name ? " " : "", section->name, keys->name);
	}
	return 0;
}

static int check_section(const struct sections *sections, const struct section *section,
			 struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(section->kind);
	const struct schema_kind *kind = schema_kind(section->kind);
	const struct section_key *engine;
	int err;

	if (!kind) {
		schema_offer_kinds(&nearest);
		cgwb_error_at(error, -EINVAL, sections->file, section->line, "unknown section [%s]",
			      section->kind);
		return cgwb_error_nearest(error, -EINVAL, nearest.best);
	}

	err = check_name(sections, section, kind, error);
	if (err)
		return err;

	/* What else may stand in a job depends on its engine, so an error in that comes first. */
	engine = strcmp(kind->name, "job") ? NULL : section_get(section, "engine");
	if (engine)
		err = check_value(engine, schema_key(section, "engine"), error);
	if (!err)
		err = check_required(sections, section, engine ? NULL : kind->keys, error);
	/* The keys of the others are those of other sections, checked where they are applied. */
	if (!err && (kind->overridable || !strcmp(kind->name, "expect")))
		err = check_keys(section, error);
	if (!err && engine)
		err = check_required(sections, section, schema_engine_keys(engine->value), error);
	return err;
}

int schema_check(const struct sections *sections, struct cgwb_error *error)
{
	for (size_t i = 0; i < sections->n_all; i++) {
		int err = check_section(sections, &sections->all[i], error);

		if (err)
			return err;
	}

	if (!sections_find(sections, "scenario", ""))
		return cgwb_error_at(error, -EINVAL, sections->file, 0, "no section [scenario]");
	return 0;
}
