// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC "cgwb1 "
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
/* "cgwb1 " type " " length " " crc "\n" */
#define HEADER_MAX_BYTES (MAGIC_BYTES + CGWB_FRAME_TYPE_MAX + 1 + 8 + 1 + 8 + 1)

struct cgwb_frame_parser {
	cgwb_frame_fn fn;
	void *userdata;
	char *buffer; /* what has arrived and is not yet judged, from start to end */
	size_t size, start, end;
	uint64_t torn;
};

struct header {
	char type[CGWB_FRAME_TYPE_MAX + 1];
	size_t bytes; /* of the JSON */
	size_t header_bytes;
	uint32_t crc;
};

static size_t type_bytes(const char *type)
{
	return strspn(type, "abcdefghijklmnopqrstuvwxyz-");
}

static uint32_t crc_of(const void *data, size_t bytes)
{
	return crc32_z(crc32_z(0, NULL, 0), data, bytes);
}

int cgwb_frame_encode(const char *type, const void *json, size_t bytes, char **ret_text,
		      size_t *ret_bytes)
{
	size_t n = type_bytes(type);
	char header[HEADER_MAX_BYTES + 1];
	char *text;
	int header_bytes;

	if (!n || n > CGWB_FRAME_TYPE_MAX || type[n] || bytes > CGWB_FRAME_MAX_BYTES)
		return -EINVAL;
	header_bytes = snprintf(header, sizeof(header), MAGIC "%s %zu %08x\n", type, bytes,
				(unsigned int)crc_of(json, bytes));
	text = malloc(header_bytes + bytes + 2);
	if (!text)
		return -ENOMEM;
	memcpy(text, header, header_bytes);
	memcpy(text + header_bytes, json, bytes);
	text[header_bytes + bytes] = '\n';
	text[header_bytes + bytes + 1] = '\0';
	*ret_text = text;
	*ret_bytes = header_bytes + bytes + 1;
	return 0;
}

struct cgwb_frame_parser *cgwb_frame_parser_new(cgwb_frame_fn fn, void *userdata)
{
	struct cgwb_frame_parser *parser = calloc(1, sizeof(*parser));

	if (!parser)
		return NULL;
	parser->fn = fn;
	parser->userdata = userdata;
	return parser;
}

struct cgwb_frame_parser *cgwb_frame_parser_free(struct cgwb_frame_parser *parser)
{
	if (parser)
		free(parser->buffer);
	free(parser);
	return NULL;
}

uint64_t cgwb_frame_parser_torn(const struct cgwb_frame_parser *parser)
{
	return parser->torn;
}

static int buffer_append(struct cgwb_frame_parser *parser, const void *data, size_t bytes)
{
	size_t held = parser->end - parser->start;

	if (parser->start) {
		memmove(parser->buffer, parser->buffer + parser->start, held);
		parser->start = 0;
		parser->end = held;
	}
	if (held + bytes > parser->size) {
		size_t size = 2 * (held + bytes);
		char *buffer = realloc(parser->buffer, size);

		if (!buffer)
			return -ENOMEM;
		parser->buffer = buffer;
		parser->size = size;
	}
	if (bytes)
		memcpy(parser->buffer + parser->end, data, bytes);
	parser->end += bytes;
	return 0;
}

/* 1: *ret_header is the header at the start of @text; 0: its end has not arrived; -EBADMSG: none. */
static int header_parse(const char *text, size_t bytes, struct header *ret_header)
{
	char line[HEADER_MAX_BYTES + 1];
	const char *newline =
		memchr(text, '\n', bytes < HEADER_MAX_BYTES ? bytes : HEADER_MAX_BYTES);
	char *type, *length, *crc, *end;
	size_t n;

	if (!newline)
		return bytes < HEADER_MAX_BYTES ? 0 : -EBADMSG;
	n = newline - text;
	memcpy(line, text, n);
	line[n] = '\0';
	type = line + MAGIC_BYTES;
	n = type_bytes(type);
	if (!n || n > CGWB_FRAME_TYPE_MAX || type[n] != ' ')
		return -EBADMSG;
	memcpy(ret_header->type, type, n);
	ret_header->type[n] = '\0';
	length = type + n + 1;
	n = strspn(length, "0123456789");
	if (!n || n > 8 || length[n] != ' ')
		return -EBADMSG;
	ret_header->bytes = strtoul(length, NULL, 10);
	crc = length + n + 1;
	if (strspn(crc, "0123456789abcdef") != 8 || crc[8] ||
	    ret_header->bytes > CGWB_FRAME_MAX_BYTES)
		return -EBADMSG;
	ret_header->crc = strtoul(crc, &end, 16);
	ret_header->header_bytes = newline - text + 1;
	return 1;
}

/* Drop what cannot be the beginning of a frame; false if no whole magic is left. */
static bool skip_to_magic(struct cgwb_frame_parser *parser)
{
	while (parser->start < parser->end) {
		char *text = parser->buffer + parser->start;
		size_t left = parser->end - parser->start;
		char *c = memchr(text, MAGIC[0], left);

		if (!c)
			break;
		parser->start += c - text;
		left -= c - text;
		if (!memcmp(c, MAGIC, left < MAGIC_BYTES ? left : MAGIC_BYTES))
			return left >= MAGIC_BYTES;
		parser->start++;
	}
	parser->start = parser->end = 0;
	return false;
}

static int frame_deliver(struct cgwb_frame_parser *parser, const struct header *header, char *json)
{
	struct cgwb_frame frame = { .type = header->type, .json = json, .bytes = header->bytes };

	json[header->bytes] = '\0'; /* over the newline that ends the frame */
	return parser->fn(parser->userdata, &frame);
}

static int parse(struct cgwb_frame_parser *parser, bool at_end)
{
	while (skip_to_magic(parser)) {
		char *text = parser->buffer + parser->start;
		size_t left = parser->end - parser->start;
		struct header header;
		char *json;
		int r = header_parse(text, left, &header);

		if (r > 0 && left < header.header_bytes + header.bytes + 1)
			r = 0;
		if (!r && !at_end)
			return 0;
		json = r > 0 ? text + header.header_bytes : NULL;
		if (r <= 0 || json[header.bytes] != '\n' ||
		    crc_of(json, header.bytes) != header.crc) {
			/* What looked like a frame is none: another may begin within it. */
			parser->torn++;
			parser->start += MAGIC_BYTES;
			continue;
		}
		parser->start += header.header_bytes + header.bytes + 1;
		r = frame_deliver(parser, &header, json);
		if (r < 0)
			return r;
	}
	return 0;
}

int cgwb_frame_parser_feed(struct cgwb_frame_parser *parser, const void *data, size_t bytes)
{
	int r = buffer_append(parser, data, bytes);

	return r < 0 ? r : parse(parser, false);
}

int cgwb_frame_parser_end(struct cgwb_frame_parser *parser)
{
	return parse(parser, true);
}
