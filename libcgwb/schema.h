/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may stand in a scenario: the kinds of sections, their keys, and the type of each value. One
 * table of it, from which the reader finds errors, an override finds the section that is meant, and
 * an error names the nearest right word. Internal to libcgwb.
 */
#ifndef CGWB_SCHEMA_H
#define CGWB_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "nearest.h"
#include "sections.h"

enum value_type {
	VALUE_TEXT, /* anything */
	VALUE_WORD, /* no blanks */
	VALUE_PATH, /* absolute, no `..`, no `/` at its end */
	VALUE_LIST, /* words between commas */
	VALUE_BYTES,
	VALUE_NS,
	VALUE_NS_OR_OFF,
	VALUE_NUMBER,
	VALUE_CHOICE,
	VALUE_PARAMETERS, /* NAME=VALUE words between blanks */
	VALUE_CONTROL, /* of a cgroup's control file: see control.h */
};

struct schema_key {
	const char *name;
	enum value_type type;
	bool required;
	uint64_t least; /* of bytes, nanoseconds or numbers */
	uint64_t most; /* 0: no bound */
	const char *const *choices; /* of VALUE_CHOICE; NULL-terminated */
};

enum schema_naming {
	NAMING_NONE, /* the section has no name, and stands once */
	NAMING_WORD, /* letters, digits, - _ . , beginning with a letter or digit */
	NAMING_PATH, /* absolute */
};

struct schema_kind {
	const char *name;
	enum schema_naming naming;
	bool overridable; /* its keys can be named as SECTION.key */
	const struct schema_key *keys; /* ends with a NULL name; NULL: the keys are not in a table */
};

/* NULL: there is no such kind */
const struct schema_kind *schema_kind(const char *name);

/*
 * The key of that name in that section, which for a job depends on its engine. NULL: there is none.
 */
const struct schema_key *schema_key(const struct section *section, const char *name);

/* The keys of a job's engine, besides those of every job; NULL: fio, or no engine that is known. */
const struct schema_key *schema_engine_keys(const char *engine);

/* Offers the names of all kinds, or of all keys of a section. */
void schema_offer_kinds(struct cgwb_nearest *nearest);
void schema_offer_keys(const struct section *section, struct cgwb_nearest *nearest);

/*
 * Checks every section by itself: kind, name, keys, values, required keys. What one says about
 * another is for references_check(). 0, or -EINVAL with the first error in the order of the file;
 * -ENOMEM.
 */
int schema_check(const struct sections *sections, struct cgwb_error *error);

/* Values of keys that have been checked; `otherwise` if the key is not there. */
uint64_t schema_bytes(const struct section *section, const char *name, uint64_t otherwise);
uint64_t schema_ns(const struct section *section, const char *name, uint64_t otherwise);
uint64_t schema_number(const struct section *section, const char *name, uint64_t otherwise);

#endif
