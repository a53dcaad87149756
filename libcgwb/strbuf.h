/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text that grows. That memory ran out is remembered, so that only the end needs to look: after a
 * failure nothing is added any more, and strbuf_finish() says so. (open_memstream() does the same,
 * but not its failures: glibc's may close with success and without a text.)
 *
 * Begins as STRBUF_INIT. Internal to libcgwb.
 */
#ifndef CGWB_STRBUF_H
#define CGWB_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *text;
	size_t length, size;
	bool failed;
};

#define STRBUF_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

void strbuf_add(struct strbuf *buf, const char *text, size_t length);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Gives the text away, "" if nothing was added, and makes the buffer STRBUF_INIT again. The caller
 * frees the text. -ENOMEM: there is none.
 */
int strbuf_finish(struct strbuf *buf, char **ret_text);

/* Frees the text and makes the buffer STRBUF_INIT again. */
void strbuf_done(struct strbuf *buf);

#endif
