// SPDX-License-Identifier: GPL-2.0-or-later
#include "deb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

/* libarchive's own errors carry numbers that are not errno's, or none. */
static int archive_err(struct archive *archive)
{
	int err = archive_errno(archive);

	if (err == ENOMEM || err == ENOSPC || err == EACCES || err == EROFS || err == EDQUOT ||
	    err == EIO || err == EFBIG || err == ENOENT)
		return -err;
	return -EBADMSG;
}

/* The inner tar file is read from the outer ar file, block by block. */
struct inner {
	struct archive *ar;
	char block[128 * 1024];
};

static la_ssize_t inner_read(struct archive *archive, void *user, const void **ret_block)
{
	struct inner *inner = user;
	la_ssize_t got = archive_read_data(inner->ar, inner->block, sizeof(inner->block));

	if (got < 0)
		archive_set_error(archive, archive_errno(inner->ar), "%s",
				  archive_error_string(inner->ar));
	*ret_block = inner->block;
	return got;
}

static bool wanted(const char *path)
{
	return strncmp(path, "usr/share/", strlen("usr/share/")) != 0 && *path;
}

static int unpack_entry(struct archive *tar, struct archive *disk, struct archive_entry *entry,
			const char *folder, struct cgwb_error *error)
{
	const char *path = archive_entry_pathname(entry);
	char *target, *link = NULL;
	int ret = 0;

	if (!path)
		return cgwb_error_set(error, -EBADMSG, "a file without a name");
	while (*path == '.' || *path == '/')
		path++;
	if (!wanted(path))
		return 0;

	if (asprintf(&target, "%s/%s", folder, path) < 0)
		return -ENOMEM;
	archive_entry_copy_pathname(entry, target);
	if (archive_entry_hardlink(entry)) {
		const char *from = archive_entry_hardlink(entry);

		while (*from == '.' || *from == '/')
			from++;
		if (asprintf(&link, "%s/%s", folder, from) < 0) {
			free(target);
			return -ENOMEM;
		}
		archive_entry_copy_hardlink(entry, link);
		free(link);
	}

	if (archive_read_extract2(tar, entry, disk) != ARCHIVE_OK) {
		ret = archive_err(tar);
		cgwb_error_set(error, ret, "%s: %s", target, archive_error_string(tar));
	}
	free(target);
	return ret;
}

static int unpack_tar(const struct cgwb_context *context, struct archive *ar, const char *folder,
		      struct cgwb_error *error)
{
	struct archive *tar = archive_read_new();
	struct archive *disk = archive_write_disk_new();
	struct inner *inner = malloc(sizeof(*inner));
	struct archive_entry *entry;
	int ret = 0, got;

	if (!tar || !disk || !inner) {
		ret = -ENOMEM;
		goto out;
	}
	inner->ar = ar;
	archive_read_support_filter_all(tar);
	archive_read_support_format_tar(tar);
	archive_write_disk_set_options(disk, ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_PERM |
						     ARCHIVE_EXTRACT_SECURE_NODOTDOT);

	if (archive_read_open(tar, inner, NULL, inner_read, NULL) != ARCHIVE_OK) {
		ret = archive_err(tar);
		cgwb_error_set(error, ret, "%s", archive_error_string(tar));
		goto out;
	}

	while ((got = archive_read_next_header(tar, &entry)) == ARCHIVE_OK && ret == 0) {
		ret = cgwb_context_cancelled(context) ? -EINTR : 0;
		if (ret == 0)
			ret = unpack_entry(tar, disk, entry, folder, error);
	}
	if (ret == 0 && got != ARCHIVE_EOF) {
		ret = archive_err(tar);
		cgwb_error_set(error, ret, "%s", archive_error_string(tar));
	}
	/* Folder times are set last; not being able to is no loss. */
	archive_write_close(disk);
out:
	archive_write_free(disk);
	archive_read_free(tar);
	free(inner);
	return ret;
}

int cgwb_deb_unpack(const struct cgwb_context *context, const char *deb, const char *folder,
		    struct cgwb_error *error)
{
	struct cgwb_error inner = CGWB_ERROR_INIT;
	struct archive *ar = archive_read_new();
	struct archive_entry *entry;
	int ret = -EBADMSG;

	if (!ar)
		return -ENOMEM;
	archive_read_support_format_ar(ar);

	if (archive_read_open_filename(ar, deb, 64 * 1024) != ARCHIVE_OK) {
		ret = archive_err(ar);
		cgwb_error_set(&inner, ret, "%s", archive_error_string(ar));
	}
	while (archive_read_next_header(ar, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);

		if (name && !strncmp(name, "data.tar", strlen("data.tar"))) {
			ret = unpack_tar(context, ar, folder, &inner);
			break;
		}
	}
	archive_read_free(ar);

	if (ret < 0)
		cgwb_error_set(error, ret, "cannot unpack %s: %s", deb,
			       ret == -EINTR ? "stopped" :
			       inner.text    ? inner.text :
					       "it is no Debian package");
	cgwb_error_done(&inner);
	return ret;
}

int cgwb_decompress_file(const char *path, char **ret_data, size_t *ret_size)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	size_t size = 0, capacity = 0;
	char *data = NULL, *bigger;
	la_ssize_t got = 1;
	int ret = 0;

	if (!archive)
		return -ENOMEM;
	archive_read_support_filter_all(archive);
	archive_read_support_format_raw(archive);
	archive_read_support_format_empty(archive);
	if (archive_read_open_filename(archive, path, 256 * 1024) != ARCHIVE_OK ||
	    archive_read_next_header(archive, &entry) != ARCHIVE_OK) {
		ret = archive_err(archive);
		goto out;
	}

	while (got > 0) {
		if (size == capacity) {
			capacity = capacity ? capacity * 2 : 256 * 1024;
			bigger = realloc(data, capacity);
			if (!bigger) {
				ret = -ENOMEM;
				goto out;
			}
			data = bigger;
		}
		got = archive_read_data(archive, data + size, capacity - size);
		if (got > 0)
			size += got;
		else if (got < 0)
			ret = archive_err(archive);
	}
out:
	archive_read_free(archive);
	if (ret < 0) {
		free(data);
		return ret;
	}
	*ret_data = data;
	*ret_size = size;
	return 0;
}
