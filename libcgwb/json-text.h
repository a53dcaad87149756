/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as text, all of it or an error: json_dumps() of jansson 2.14 leaves out a piece and succeeds
 * if memory runs out while it writes the key of an object. Internal to libcgwb.
 */
#ifndef CGWB_JSON_TEXT_H
#define CGWB_JSON_TEXT_H

#include <jansson.h>

/* `flags` are jansson's; a newline is put behind the text. The caller frees it. 0 or -ENOMEM. */
int cgwb_json_text(const json_t *json, size_t flags, char **ret_text);

#endif
