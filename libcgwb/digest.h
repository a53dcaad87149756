/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SHA-256 of what a result depends on, in hexadecimal digits.
 *
 * A digest of several things is that of the text that lists their names and digests, one a line:
 * order counts, so the caller sorts. Functions return 0 or a negative errno.
 */
#ifndef CGWB_DIGEST_H
#define CGWB_DIGEST_H

#include <jansson.h>
#include <stddef.h>

#define CGWB_DIGEST_SIZE 65 /* with the 0 byte */

int cgwb_digest_file(const char *path, char digest[CGWB_DIGEST_SIZE]);
int cgwb_digest_bytes(const void *data, size_t size, char digest[CGWB_DIGEST_SIZE]);

/* Of the value, however it is written: keys sorted, no blanks. */
int cgwb_digest_json(const json_t *json, char digest[CGWB_DIGEST_SIZE]);

#endif
