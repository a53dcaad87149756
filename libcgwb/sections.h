/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a scenario as sections of keys, before anything knows what they mean.
 *
 * A file is read by libinih: `[kind name]`, `key = value`, comments from `;` or `#` at the start of
 * a line, or from a `;` after a blank. Every key remembers the file and line that it came from,
 * also after an override has replaced it, so that an error can always point at the line to mend. In
 * `[expect]` a whole line is one value, of a key `relation`.
 *
 * Sections and keys keep the order of the file. A key stands once in a section (but for
 * `relation`), a section once in a file. Internal to libcgwb.
 */
#ifndef CGWB_SECTIONS_H
#define CGWB_SECTIONS_H

#include <stdio.h>

#include "error.h"

#define CGWB_RELATION "relation"

struct section_key {
	char *name;
	char *value;
	char *file; /* or the command-line option that it comes from, then line is 0 */
	unsigned int line;
};

struct section {
	char *kind; /* "scenario", "disk", ... */
	char *name; /* "" if the section has none */
	unsigned int line;
	struct section_key *keys;
	size_t n_keys;
};

struct sections {
	char *file;
	struct section *all;
	size_t n_all;
};

/*
 * Reads to the end of the stream, which is not closed. `file` is the name for errors. -EINVAL: not
 * such a text, which is UTF-8 without control characters but for tabs, or above 1 MiB, which no
 * scenario is; -EIO; -ENOMEM.
 */
int sections_read(FILE *stream, const char *file, struct sections **ret_sections,
		  struct cgwb_error *error);

/* NULL: out of memory */
struct sections *sections_copy(const struct sections *sections);

/* NULL-safe, returns NULL */
struct sections *sections_free(struct sections *sections);

/* The section of that kind and name ("" for none); NULL: there is none. Borrowed. */
struct section *sections_find(const struct sections *sections, const char *kind, const char *name);

/*
 * Appends an empty section; NULL: out of memory. Pointers to sections got earlier are no longer
 * valid.
 */
struct section *sections_add(struct sections *sections, const char *kind, const char *name,
			     unsigned int line);

/* Removes sections[index]. */
void sections_remove(struct sections *sections, size_t index);

/* NULL: there is none. Borrowed. */
struct section_key *section_get(const struct section *section, const char *name);

/* The value, or `otherwise` (which may be NULL) if there is no such key. Borrowed. */
const char *section_value(const struct section *section, const char *name, const char *otherwise);

/*
 * Sets a key of that name, which takes the place of the one that was there, or else the last. 0 or
 * -ENOMEM.
 */
int section_set(struct section *section, const char *name, const char *value, const char *file,
		unsigned int line);

/* Removes a key if it is there. */
void section_unset(struct section *section, const char *name);

/* The first byte that is no blank; cuts off the blanks at the end. */
char *skip_blanks(char *text);
void strip_blanks(char *text);

#endif
