// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static int wrong(struct error *error, const char *where, const char *key, json_t *value,
		 const char *what)
{
	if (!value)
		return error_set(error, -EINVAL, "cell: %s has no '%s'", where, key);
	return error_set(error, -EINVAL, "cell: %s: '%s' is not %s", where, key, what);
}

int json_get_u64(json_t *object, const char *where, const char *key, uint64_t *ret,
		 struct error *error)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return wrong(error, where, key, value, "a whole number of at least 0");
	*ret = json_integer_value(value);
	return 0;
}

int json_find_u64(json_t *object, const char *where, const char *key, uint64_t *ret,
		  struct error *error)
{
	return json_object_get(object, key) ? json_get_u64(object, where, key, ret, error) : 0;
}

int json_find_bool(json_t *object, const char *where, const char *key, bool *ret,
		   struct error *error)
{
	json_t *value = json_object_get(object, key);

	if (value && !json_is_boolean(value))
		return wrong(error, where, key, value, "true or false");
	if (value)
		*ret = json_is_true(value);
	return 0;
}

int json_get_string(json_t *object, const char *where, const char *key, const char **ret,
		    struct error *error)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return wrong(error, where, key, value, "a string");
	*ret = json_string_value(value);
	return 0;
}

int json_get_array(json_t *object, const char *where, const char *key, json_t **ret,
		   struct error *error)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_array(value))
		return wrong(error, where, key, value, "an array");
	*ret = value;
	return 0;
}

int json_get_object(json_t *object, const char *where, const char *key, json_t **ret,
		    struct error *error)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_object(value))
		return wrong(error, where, key, value, "an object");
	*ret = value;
	return 0;
}

static bool is_in(const char *key, const char *const *keys)
{
	for (; keys && *keys; keys++) {
		if (!strcmp(key, *keys))
			return true;
	}
	return false;
}

int json_check_keys(json_t *object, const char *where, const char *const *known,
		    const char *const *also, struct error *error)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return error_set(error, -EINVAL, "cell: %s is not an object", where);
	json_object_foreach(object, key, value) {
		if (!is_in(key, known) && !is_in(key, also))
			return error_set(error, -EINVAL, "cell: %s: unknown key '%s'", where, key);
	}
	return 0;
}

json_t *json_rounded(double value, unsigned int decimals)
{
	return json_real(round_to(value, decimals));
}

json_t *json_text(char *text)
{
	json_t *string;
	size_t i;

	for (i = 0; text && text[i]; i++) {
		if ((unsigned char)text[i] >= 0x80)
			text[i] = '?';
	}
	string = json_string(text ?: "");
	free(text);
	return string;
}
