/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of JSON objects, with errors that say where. @where names the object for the user
 * ("disks[0]"). Strings and containers are borrowed from the object.
 *
 * The _get functions want the member to be there; the _find functions leave *ret as it is when the
 * member is absent.
 */
#ifndef GUEST_JSON_H
#define GUEST_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"

int json_get_u64(json_t *object, const char *where, const char *key, uint64_t *ret,
		 struct error *error);
int json_find_u64(json_t *object, const char *where, const char *key, uint64_t *ret,
		  struct error *error);
int json_find_bool(json_t *object, const char *where, const char *key, bool *ret,
		   struct error *error);
int json_get_string(json_t *object, const char *where, const char *key, const char **ret,
		    struct error *error);
int json_get_array(json_t *object, const char *where, const char *key, json_t **ret,
		   struct error *error);
int json_get_object(json_t *object, const char *where, const char *key, json_t **ret,
		    struct error *error);

/* -EINVAL unless every key of @object is in @known or @also (NULL-terminated; @also may be NULL). */
int json_check_keys(json_t *object, const char *where, const char *const *known,
		    const char *const *also, struct error *error);

/* A string of @text, which is freed. JSON is UTF-8 and a program may print anything: what is not ASCII
 * becomes '?'. NULL: empty. */
json_t *json_text(char *text);

/* A real with @decimals decimals and no more. */
json_t *json_rounded(double value, unsigned int decimals);

#endif
