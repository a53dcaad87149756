// SPDX-License-Identifier: GPL-2.0-or-later
#include "json-text.h"

#include <errno.h>

#include "strbuf.h"

static int add(const char *text, size_t size, void *buf)
{
	strbuf_add(buf, text, size);
	return 0;
}

int cgwb_json_text(const json_t *json, size_t flags, char **ret_text)
{
	struct strbuf buf = STRBUF_INIT;

	if (json_dump_callback(json, add, &buf, flags)) {
		strbuf_done(&buf);
		return -ENOMEM;
	}
	strbuf_add(&buf, "\n", 1);
	return strbuf_finish(&buf, ret_text);
}
