// SPDX-License-Identifier: GPL-2.0-or-later
#include "sections.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1U << 20)

static void key_done(struct section_key *key)
{
	free(key->name);
	free(key->value);
	free(key->file);
}

static void section_done(struct section *section)
{
	for (size_t i = 0; i < section->n_keys; i++)
		key_done(&section->keys[i]);
	free(section->keys);
	free(section->kind);
	free(section->name);
}

struct sections *sections_free(struct sections *sections)
{
	if (!sections)
		return NULL;

	for (size_t i = 0; i < sections->n_all; i++)
		section_done(&sections->all[i]);
	free(sections->all);
	free(sections->file);
	free(sections);
	return NULL;
}

static struct sections *sections_new(const char *file)
{
	struct sections *sections = calloc(1, sizeof(*sections));

	if (!sections)
		return NULL;
	sections->file = strdup(file);
	return sections->file ? sections : sections_free(sections);
}

struct section *sections_find(const struct sections *sections, const char *kind, const char *name)
{
	for (size_t i = 0; i < sections->n_all; i++) {
		struct section *section = &sections->all[i];

		if (!strcmp(section->kind, kind) && !strcmp(section->name, name))
			return section;
	}
	return NULL;
}

struct section *sections_add(struct sections *sections, const char *kind, const char *name,
			     unsigned int line)
{
	struct section *section;

	section = reallocarray(sections->all, sections->n_all + 1, sizeof(*section));
	if (!section)
		return NULL;
	sections->all = section;

	section += sections->n_all;
	*section = (struct section){ .kind = strdup(kind), .name = strdup(name), .line = line };
	if (!section->kind || !section->name) {
		section_done(section);
		return NULL;
	}

	sections->n_all++;
	return section;
}

void sections_remove(struct sections *sections, size_t index)
{
	section_done(&sections->all[index]);
	sections->n_all--;
	memmove(&sections->all[index], &sections->all[index + 1],
		(sections->n_all - index) * sizeof(*sections->all));
}

struct section_key *section_get(const struct section *section, const char *name)
{
	for (size_t i = 0; section && i < section->n_keys; i++) {
		if (!strcmp(section->keys[i].name, name))
			return &section->keys[i];
	}
	return NULL;
}

const char *section_value(const struct section *section, const char *name, const char *otherwise)
{
	const struct section_key *key = section_get(section, name);

	return key ? key->value : otherwise;
}

static int section_append(struct section *section, const char *name, const char *value,
			  const char *file, unsigned int line)
{
	struct section_key *key;

	key = reallocarray(section->keys, section->n_keys + 1, sizeof(*key));
	if (!key)
		return -ENOMEM;
	section->keys = key;

	key += section->n_keys;
	*key = (struct section_key){
		.name = strdup(name),
		.value = strdup(value),
		.file = strdup(file),
		.line = line,
	};
	if (!key->name || !key->value || !key->file) {
		key_done(key);
		return -ENOMEM;
	}

	section->n_keys++;
	return 0;
}

int section_set(struct section *section, const char *name, const char *value, const char *file,
		unsigned int line)
{
	struct section_key *key = section_get(section, name), old;
	int err;

	err = section_append(section, name, value, file, line);
	if (err || !key)
		return err;

	/* The new one goes to the place of the old one: order is part of what a reader sees. */
	key = section_get(section, name);
	old = *key;
	*key = section->keys[--section->n_keys];
	key_done(&old);
	return 0;
}

void section_unset(struct section *section, const char *name)
{
	struct section_key *key = section_get(section, name);

	if (!key)
		return;

	key_done(key);
	section->n_keys--;
	memmove(key, key + 1, (section->n_keys - (key - section->keys)) * sizeof(*key));
}

struct sections *sections_copy(const struct sections *sections)
{
	struct sections *copy = sections_new(sections->file);

	for (size_t i = 0; copy && i < sections->n_all; i++) {
		const struct section *from = &sections->all[i];
		struct section *to = sections_add(copy, from->kind, from->name, from->line);

		if (!to)
			return sections_free(copy);

		for (size_t j = 0; j < from->n_keys; j++) {
			const struct section_key *key = &from->keys[j];

			if (section_append(to, key->name, key->value, key->file, key->line))
				return sections_free(copy);
		}
	}
	return copy;
}

/* Where a text in UTF-8 is between two bytes: all zero between two characters. */
struct utf8 {
	unsigned int left; /* bytes of the character still to come */
	unsigned char least, most; /* of the next of them */
	bool control; /* it is one of the control characters that ASCII has not */
};

/* The first byte of a character */
static bool utf8_begin(struct utf8 *utf8, unsigned char byte)
{
	*utf8 = (struct utf8){ .least = 0x80, .most = 0xbf };
	if (byte < 0x80)
		return true;
	if (byte < 0xc2 || byte > 0xf4)
		return false;

	utf8->left = 1 + (byte >= 0xe0) + (byte >= 0xf0);
	/* Neither longer than it must be, nor a surrogate, nor above U+10FFFF. */
	if (byte == 0xe0)
		utf8->least = 0xa0;
	else if (byte == 0xed)
		utf8->most = 0x9f;
	else if (byte == 0xf0)
		utf8->least = 0x90;
	else if (byte == 0xf4)
		utf8->most = 0x8f;
	utf8->control = byte == 0xc2;
	return true;
}

/* Takes the next byte, or EOF; false: that cannot be in UTF-8. */
static bool utf8_next(struct utf8 *utf8, int byte)
{
	if (!utf8->left)
		return byte == EOF || utf8_begin(utf8, byte);
	if (byte < utf8->least || byte > utf8->most)
		return false;

	utf8->left--;
	utf8->control &= byte < 0xa0;
	utf8->least = 0x80;
	utf8->most = 0xbf;
	return true;
}

/*
 * Reading. libinih calls reader_line() for the next line and reader_key() for each key. It would
 * cut off a long line and the end of a long section name, tells nothing of a section without keys,
 * takes an indented line for the end of the line before, and goes on after errors. So section
 * headers are read here and handed on as blank lines, indentation is taken away, and whatever does
 * not fit is an error before libinih sees it.
 */
struct reader {
	FILE *stream;
	struct utf8 utf8;
	struct sections *sections;
	struct cgwb_error *error;
	char line[4096];
	size_t bytes;
	unsigned int line_number;
	bool key_expected; /* the last line handed on must come back as a key */
	int err;
};

static int reader_fail(struct reader *reader, int err, const char *text)
{
	reader->err = cgwb_error_at(reader->error, err, reader->sections->file, reader->line_number,
				    "%s", text);
	return reader->err;
}

char *skip_blanks(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

void strip_blanks(char *text)
{
	size_t length = strlen(text);

	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
}

/* `[kind name]`, then nothing but a comment */
static int reader_section(struct reader *reader, char *text)
{
	char *end = strchr(text, ']'), *kind, *name, *rest;
	const struct section *there;

	if (!end)
		return reader_fail(reader, -EINVAL, "a section is written [kind name]: no ']'");

	rest = skip_blanks(end + 1);
	if (*rest && *rest != ';' && *rest != '#')
		return reader_fail(reader, -EINVAL, "text after the section's ']'");

	*end = '\0';
	kind = skip_blanks(text + 1);
	strip_blanks(kind);
	for (name = kind; *name && !isspace((unsigned char)*name); name++)
		;
	if (*name)
		*name++ = '\0';
	name = skip_blanks(name);

	there = sections_find(reader->sections, kind, name);
	if (there) {
		reader->err = cgwb_error_at(reader->error, -EINVAL, reader->sections->file,
					    reader->line_number,
					    "section [%s%s%s] is already at line %u", kind,
					    *name ? " " : "", name, there->line);
		return reader->err;
	}

	if (!sections_add(reader->sections, kind, name, reader->line_number))
		return reader->err = -ENOMEM;
	return 0;
}

/* The last section read; NULL: none yet */
static struct section *reader_current(const struct reader *reader)
{
	const struct sections *sections = reader->sections;

	return sections->n_all ? &sections->all[sections->n_all - 1] : NULL;
}

/* A carriage return may only end a line. */
static bool is_control(struct reader *reader, int c)
{
	int next;

	if (c == '\r') {
		next = getc(reader->stream);
		ungetc(next, reader->stream);
		return next != '\n' && next != EOF;
	}
	if (!reader->utf8.left && reader->utf8.control)
		return true;
	return (c >= 0 && c < ' ' && c != '\t' && c != '\n') || c == 0x7f;
}

/* Text goes to terminals and into JSON, so it must be fit for both. `c` may be EOF. */
static int reader_check_byte(struct reader *reader, int c)
{
	if (!c)
		return reader_fail(reader, -EINVAL, "a NUL byte in the text");
	if (!utf8_next(&reader->utf8, c))
		return reader_fail(reader, -EINVAL, "not UTF-8");
	if (is_control(reader, c))
		return reader_fail(reader, -EINVAL, "a control character");
	return 0;
}

/*
 * Reads one line into reader->line, without the newline. What does not fit is left out: libinih takes
 * less, so that such a line is an error, unless it is a comment. 0: there is none, or it is not one
 * to go on with.
 */
static int reader_getline(struct reader *reader)
{
	size_t length = 0;
	int c;

	reader->line_number++;
	for (;;) {
		c = getc(reader->stream);
		if (reader_check_byte(reader, c))
			return 0;
		if (c == EOF || c == '\n')
			break;
		if (++reader->bytes > FILE_BYTES_MAX)
			return reader_fail(reader, -EINVAL, "the file is longer than 1 MiB"), 0;
		if (length < sizeof(reader->line) - 1)
			reader->line[length++] = c;
	}
	reader->bytes++;
	reader->line[length] = '\0';

	if (ferror(reader->stream))
		return reader_fail(reader, -EIO, "cannot be read"), 0;
	return c != EOF || length;
}

static char *reader_line(char *buffer, int size, void *user)
{
	const char byte_order_mark[] = "\xef\xbb\xbf";
	struct reader *reader = user;
	const struct section *section;
	char *text;
	int length;

	if (reader->err)
		return NULL;
	if (reader->key_expected) {
		reader_fail(reader, -EINVAL, "a line is written KEY = VALUE: no '='");
		return NULL;
	}
	if (!reader_getline(reader))
		return NULL;

	text = reader->line;
	if (reader->line_number == 1 && !strncmp(text, byte_order_mark, 3))
		text += 3;
	text = skip_blanks(text);
	strip_blanks(text);

	if (*text == '[' && reader_section(reader, text))
		return NULL;
	if (!*text || strchr("[;#", *text))
		return strcpy(buffer, "\n");

	section = reader_current(reader);
	if (!section) {
		reader_fail(reader, -EINVAL, "a key before the first section");
		return NULL;
	}

	if (strcmp(section->kind, "expect") && text[strcspn(text, "=:")] == ':') {
		reader_fail(reader, -EINVAL, "a line is written KEY = VALUE: ':' instead of '='");
		return NULL;
	}

	reader->key_expected = true;
	length = snprintf(buffer, size, "%s%s\n",
			  strcmp(section->kind, "expect") ? "" : CGWB_RELATION " = ", text);
	/* libinih asks for room for one more byte than it uses */
	if (length >= size - 1) {
		reader->err = cgwb_error_at(reader->error, -EINVAL, reader->sections->file,
					    reader->line_number, "the line is longer than %d bytes",
					    size - 3);
		return NULL;
	}
	return buffer;
}

static int reader_key(void *user, const char *unused, const char *name, const char *value)
{
	struct reader *reader = user;
	struct section *section = reader_current(reader);
	const struct section_key *there = section_get(section, name);

	reader->key_expected = false;
	if (!*name) {
		reader_fail(reader, -EINVAL, "a line is written KEY = VALUE: no key");
		return 0;
	}
	if (there && strcmp(section->kind, "expect")) {
		reader->err = cgwb_error_at(reader->error, -EINVAL, reader->sections->file,
					    reader->line_number, "%s is already set at line %u",
					    name, there->line);
		return 0;
	}

	reader->err =
		section_append(section, name, value, reader->sections->file, reader->line_number);
	return !reader->err;
}

int sections_read(FILE *stream, const char *file, struct sections **ret_sections,
		  struct cgwb_error *error)
{
	struct reader reader = { .stream = stream, .error = error };
	int err;

	reader.sections = sections_new(file);
	if (!reader.sections)
		return -ENOMEM;

	err = ini_parse_stream(reader_line, &reader, reader_key, &reader);
	if (!reader.err && err)
		reader_fail(&reader, -EINVAL, "a line is written KEY = VALUE");

	if (reader.err) {
		sections_free(reader.sections);
		return reader.err;
	}
	*ret_sections = reader.sections;
	return 0;
}
