// SPDX-License-Identifier: GPL-2.0-or-later
#include "strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `length` bytes and a 0 behind them. */
static bool grow(struct strbuf *buf, size_t length)
{
	size_t need = buf->length + length + 1;
	char *text;

	if (buf->failed || need <= buf->size)
		return !buf->failed;

	/* By half more than is needed, so that many small pieces do not take many moves. */
	need += need / 2;
	text = realloc(buf->text, need);
	if (!text) {
		buf->failed = true;
		return false;
	}
	buf->text = text;
	buf->size = need;
	return true;
}

void strbuf_add(struct strbuf *buf, const char *text, size_t length)
{
	if (!grow(buf, length))
		return;

	memcpy(buf->text + buf->length, text, length);
	buf->length += length;
	buf->text[buf->length] = '\0';
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0) {
		buf->failed = true;
		return;
	}
	if (!grow(buf, length))
		return;

	va_start(args, format);
	vsnprintf(buf->text + buf->length, length + 1, format, args);
	va_end(args);
	buf->length += length;
}

int strbuf_finish(struct strbuf *buf, char **ret_text)
{
	if (!grow(buf, 0)) {
		strbuf_done(buf);
		return -ENOMEM;
	}

	buf->text[buf->length] = '\0';
	*ret_text = buf->text;
	*buf = (struct strbuf)STRBUF_INIT;
	return 0;
}

void strbuf_done(struct strbuf *buf)
{
	free(buf->text);
	*buf = (struct strbuf)STRBUF_INIT;
}
