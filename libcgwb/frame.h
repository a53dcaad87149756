/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames: how a lab guest sends JSON to the host over a serial port (docs/cell.md).
 *
 * A serial port has no end of file and no errors, a guest may die in the middle of a line, and a
 * kernel may print into it. So every message says how long it is and carries a checksum:
 *
 *	cgwb1 <type> <length> <crc32 in 8 hex digits>\n<length bytes of JSON>\n
 *
 * The bytes are opaque here; what is in them is the business of who sends and who receives. A
 * frame that is torn, damaged or longer than CGWB_FRAME_MAX_BYTES is skipped, and what follows it
 * is found again: a reader sees either a whole frame or nothing.
 */
#ifndef CGWB_FRAME_H
#define CGWB_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* No sane message is longer; a longer length is damage, and waiting for its end would be endless. */
#define CGWB_FRAME_MAX_BYTES (64u << 20)
/* A type is 1 to 31 letters a-z and '-'. */
#define CGWB_FRAME_TYPE_MAX 31

#define CGWB_FRAME_PROGRESS "progress"
#define CGWB_FRAME_RESULT "result"

/*
 * cgwb_frame_encode - make the bytes of one frame
 *
 * On success *ret_text holds @bytes of JSON as a frame of *ret_bytes bytes (and a terminating NUL
 * that is not counted); the caller frees it. -EINVAL: the type or the length is not allowed;
 * -ENOMEM.
 */
int cgwb_frame_encode(const char *type, const void *json, size_t bytes, char **ret_text,
		      size_t *ret_bytes);

/* A whole frame; type and json (NUL-terminated, bytes long) live until the callback returns. */
struct cgwb_frame {
	const char *type;
	const char *json;
	size_t bytes;
};

/* Called for each whole frame; a negative return stops the parser and is what feed returns. */
typedef int (*cgwb_frame_fn)(void *userdata, const struct cgwb_frame *frame);

/* A push parser: feed it what arrives, in pieces of any size. Not safe for several threads. */
struct cgwb_frame_parser;

struct cgwb_frame_parser *cgwb_frame_parser_new(cgwb_frame_fn fn, void *userdata);
/* NULL-safe, returns NULL. */
struct cgwb_frame_parser *cgwb_frame_parser_free(struct cgwb_frame_parser *parser);

/*
 * cgwb_frame_parser_feed - take @bytes more bytes, call back for each frame that is now whole
 *
 * 0, -ENOMEM, or what the callback returned.
 */
int cgwb_frame_parser_feed(struct cgwb_frame_parser *parser, const void *data, size_t bytes);

/*
 * cgwb_frame_parser_end - nothing more will come
 *
 * A frame that is still open is torn; whole frames may stand behind its header (it was damaged, and
 * the parser has been waiting for its end), and are called back now. Returns as feed does.
 */
int cgwb_frame_parser_end(struct cgwb_frame_parser *parser);

/* Headers that were seen and whose frame was torn or damaged. */
uint64_t cgwb_frame_parser_torn(const struct cgwb_frame_parser *parser);

#endif
