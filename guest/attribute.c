// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribute.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int path_write(struct error *error, const char *value, const char *path, int flags)
{
	ssize_t n;
	int fd, err = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return error_errno(error, -errno, "cannot open %s to write '%s'", path, value);
	n = write(fd, value, strlen(value));
	if (n < 0)
		err = error_errno(error, -errno, "cannot write '%s' to %s", value, path);
	else if ((size_t)n != strlen(value))
		err = error_set(error, -EIO, "cannot write '%s' to %s: only %zd bytes were taken",
				value, path, n);
	close(fd);
	return err;
}

#define PATH_FORMAT(path_, format_)                                                                \
	do {                                                                                       \
		va_list arguments_;                                                                \
		va_start(arguments_, format_);                                                     \
		vsnprintf(path_, sizeof(path_), format_, arguments_);                              \
		va_end(arguments_);                                                                \
	} while (0)

int attribute_write(struct error *error, const char *value, const char *format, ...)
{
	char path[PATH_MAX];

	PATH_FORMAT(path, format);
	return path_write(error, value, path, O_TRUNC);
}

int attribute_append(struct error *error, const char *value, const char *format, ...)
{
	char path[PATH_MAX];

	PATH_FORMAT(path, format);
	return path_write(error, value, path, O_APPEND);
}

int attribute_write_u64(struct error *error, uint64_t value, const char *format, ...)
{
	char path[PATH_MAX], text[24];

	PATH_FORMAT(path, format);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return path_write(error, text, path, O_TRUNC);
}

static int path_read(struct error *error, const char *path, char **ret_text)
{
	size_t size = 4096, n = 0;
	char *text = NULL;
	ssize_t got = 1;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return error_errno(error, -errno, "cannot open %s", path);
	while (got > 0) {
		char *grown = NULL;

		if (!text || n == size) {
			size *= text ? 2 : 1;
			grown = realloc(text, size + 1);
			if (!grown) {
				err = error_errno(error, -ENOMEM, "cannot read %s", path);
				goto out;
			}
			text = grown;
		}
		got = read(fd, text + n, size - n);
		if (got < 0) {
			err = error_errno(error, -errno, "cannot read %s", path);
			goto out;
		}
		n += got;
	}
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	*ret_text = text;
	text = NULL;
	err = 0;
out:
	free(text);
	close(fd);
	return err;
}

int attribute_read(struct error *error, char **ret_text, const char *format, ...)
{
	char path[PATH_MAX];

	PATH_FORMAT(path, format);
	return path_read(error, path, ret_text);
}

int attribute_read_u64(struct error *error, uint64_t *ret_value, const char *format, ...)
{
	char path[PATH_MAX], *text, *end;
	int err;

	PATH_FORMAT(path, format);
	err = path_read(error, path, &text);
	if (err < 0)
		return err;
	errno = 0;
	*ret_value = strtoull(text, &end, 10);
	if (end == text || errno)
		err = error_set(error, -EINVAL, "%s does not begin with a number: '%.40s'", path,
				text);
	free(text);
	return err;
}
