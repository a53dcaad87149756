// SPDX-License-Identifier: GPL-2.0-or-later
#include "digest.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <sha2.h>

#include "json-text.h"

_Static_assert(CGWB_DIGEST_SIZE == SHA256_DIGEST_STRING_LENGTH, "SHA-256 in hexadecimal");

int cgwb_digest_file(const char *path, char digest[CGWB_DIGEST_SIZE])
{
	return SHA256File(path, digest) ? 0 : -errno;
}

int cgwb_digest_bytes(const void *data, size_t size, char digest[CGWB_DIGEST_SIZE])
{
	return SHA256Data(data, size, digest) ? 0 : -errno;
}

int cgwb_digest_json(const json_t *json, char digest[CGWB_DIGEST_SIZE])
{
	char *text;
	int ret;

	ret = cgwb_json_text(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY, &text);
	if (ret < 0)
		return ret;
	/* without the newline */
	ret = cgwb_digest_bytes(text, strlen(text) - 1, digest);
	free(text);
	return ret;
}
