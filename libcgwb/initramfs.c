// SPDX-License-Identifier: GPL-2.0-or-later
#include "initramfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "libcgwb/deb.h"

/* Big enough to be quick, small enough for a stack. */
#define COPY_BYTES (64 * 1024)

struct entry {
	char *path; /* without the first '/' */
	mode_t mode; /* with S_IFREG or S_IFDIR */
	char *host_path; /* where its content is; NULL: in `data` */
	bool module;
	char *data;
	size_t size;
};

struct cgwb_initramfs {
	struct entry *entries;
	size_t n;
	size_t capacity;
};

struct cgwb_initramfs *cgwb_initramfs_new(void)
{
	return calloc(1, sizeof(struct cgwb_initramfs));
}

struct cgwb_initramfs *cgwb_initramfs_free(struct cgwb_initramfs *initramfs)
{
	size_t i;

	if (!initramfs)
		return NULL;
	for (i = 0; i < initramfs->n; i++) {
		free(initramfs->entries[i].path);
		free(initramfs->entries[i].host_path);
		free(initramfs->entries[i].data);
	}
	free(initramfs->entries);
	free(initramfs);
	return NULL;
}

static bool initramfs_has(const struct cgwb_initramfs *initramfs, const char *path, size_t len)
{
	size_t i;

	for (i = 0; i < initramfs->n; i++) {
		if (!strncmp(initramfs->entries[i].path, path, len) &&
		    !initramfs->entries[i].path[len])
			return true;
	}
	return false;
}

/* Appends an entry of the path's first `len` bytes. NULL: out of memory. */
static struct entry *initramfs_append(struct cgwb_initramfs *initramfs, const char *path,
				      size_t len, mode_t mode)
{
	struct entry *bigger;

	if (initramfs->n == initramfs->capacity) {
		bigger = realloc(initramfs->entries,
				 (initramfs->capacity * 2 + 16) * sizeof(*bigger));
		if (!bigger)
			return NULL;
		initramfs->entries = bigger;
		initramfs->capacity = initramfs->capacity * 2 + 16;
	}
	bigger = &initramfs->entries[initramfs->n];
	*bigger = (struct entry){ .path = strndup(path, len), .mode = mode };
	if (!bigger->path)
		return NULL;
	initramfs->n++;
	return bigger;
}

/*
 * The entry for a new file, and those of its folders. `*ret` is NULL if there is one of that path
 * already.
 */
static int initramfs_add(struct cgwb_initramfs *initramfs, const char *path, mode_t mode,
			 struct entry **ret)
{
	const char *slash;

	*ret = NULL;
	while (*path == '/')
		path++;
	if (initramfs_has(initramfs, path, strlen(path)))
		return 0;
	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		if (!initramfs_has(initramfs, path, slash - path) &&
		    !initramfs_append(initramfs, path, slash - path, S_IFDIR | 0755))
			return -ENOMEM;
	}
	*ret = initramfs_append(initramfs, path, strlen(path), S_IFREG | mode);
	return *ret ? 0 : -ENOMEM;
}

int cgwb_initramfs_add_file(struct cgwb_initramfs *initramfs, const char *path, mode_t mode,
			    const char *host_path)
{
	struct entry *entry;
	int ret;

	ret = initramfs_add(initramfs, path, mode, &entry);
	if (ret < 0 || !entry)
		return ret;
	entry->host_path = strdup(host_path);
	return entry->host_path ? 0 : -ENOMEM;
}

int cgwb_initramfs_add_module(struct cgwb_initramfs *initramfs, const char *path,
			      const char *host_path)
{
	size_t n = initramfs->n;
	int ret;

	ret = cgwb_initramfs_add_file(initramfs, path, 0644, host_path);
	if (ret == 0 && initramfs->n > n)
		initramfs->entries[initramfs->n - 1].module = true;
	return ret;
}

int cgwb_initramfs_add_data(struct cgwb_initramfs *initramfs, const char *path, mode_t mode,
			    const void *data, size_t size)
{
	struct entry *entry;
	int ret;

	ret = initramfs_add(initramfs, path, mode, &entry);
	if (ret < 0 || !entry)
		return ret;
	entry->data = malloc(size + 1);
	if (!entry->data)
		return -ENOMEM;
	memcpy(entry->data, data, size);
	entry->size = size;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static int write_header(struct archive *archive, const struct entry *entry, uint64_t size)
{
	struct archive_entry *header = archive_entry_new();
	int ret;

	if (!header)
		return -ENOMEM;
	/* Owner and times stay 0; the format numbers the inodes in the order in which they come. */
	archive_entry_set_pathname(header, entry->path);
	archive_entry_set_mode(header, entry->mode);
	archive_entry_set_nlink(header, S_ISDIR(entry->mode) ? 2 : 1);
	archive_entry_set_size(header, size);
	archive_entry_set_mtime(header, 0, 0);
	ret = archive_write_header(archive, header) == ARCHIVE_OK ? 0 : -EIO;
	archive_entry_free(header);
	return ret;
}

static int write_data(struct archive *archive, const char *data, size_t size)
{
	la_ssize_t put;

	while (size) {
		put = archive_write_data(archive, data, size);
		if (put <= 0)
			return -EIO;
		data += put;
		size -= put;
	}
	return 0;
}

static int write_host_file(struct archive *archive, const struct entry *entry)
{
	char block[COPY_BYTES];
	uint64_t left;
	struct stat st;
	ssize_t got;
	int fd, ret;

	fd = open(entry->host_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) < 0 ? -errno : write_header(archive, entry, st.st_size);
	for (left = st.st_size; ret == 0 && left; left -= got) {
		got = read(fd, block, left < sizeof(block) ? left : sizeof(block));
		if (got <= 0)
			ret = got < 0 ? -errno : -EIO; /* it has become shorter meanwhile */
		else
			ret = write_data(archive, block, got);
		if (ret < 0)
			break;
	}
	close(fd);
	return ret;
}

static int write_entry(struct archive *archive, const struct entry *entry)
{
	char *data;
	size_t size;
	int ret;

	if (S_ISDIR(entry->mode))
		return write_header(archive, entry, 0);
	if (entry->host_path && !entry->module)
		return write_host_file(archive, entry);

	if (!entry->module) {
		ret = write_header(archive, entry, entry->size);
		return ret < 0 ? ret : write_data(archive, entry->data, entry->size);
	}
	ret = cgwb_decompress_file(entry->host_path, &data, &size);
	if (ret < 0)
		return ret;
	ret = write_header(archive, entry, size);
	if (ret == 0)
		ret = write_data(archive, data, size);
	free(data);
	return ret;
}

/* libarchive keeps the errno of the write that failed. */
static int write_err(struct archive *archive, int ret)
{
	int err = archive_errno(archive);

	return ret == -EIO && err > 0 ? -err : ret;
}

int cgwb_initramfs_write(struct cgwb_initramfs *initramfs, const struct cgwb_context *context,
			 const char *file, struct cgwb_error *error)
{
	struct archive *archive = archive_write_new();
	size_t i;
	int ret = 0;

	if (!archive)
		return -ENOMEM;
	archive_write_set_format_cpio_newc(archive);
	archive_write_add_filter_none(archive);
	archive_write_set_bytes_per_block(archive, 256 * 1024);
	archive_write_set_bytes_in_last_block(archive, 1);
	if (archive_write_open_filename(archive, file) != ARCHIVE_OK)
		ret = -EIO;

	if (initramfs->n)
		qsort(initramfs->entries, initramfs->n, sizeof(*initramfs->entries), compare);
	for (i = 0; i < initramfs->n && ret == 0; i++) {
		const struct entry *entry = &initramfs->entries[i];

		ret = cgwb_context_cancelled(context) ? -EINTR : write_entry(archive, entry);
		if (ret < 0 && ret != -EINTR && ret != -EIO && entry->host_path)
			cgwb_error_set(error, ret, "cannot read %s for the initramfs: %s",
				       entry->host_path, strerror(-ret));
	}
	if (archive_write_close(archive) != ARCHIVE_OK && ret == 0)
		ret = -EIO;
	if (ret < 0) {
		ret = write_err(archive, ret);
		cgwb_error_set(error, ret, "cannot write the initramfs %s: %s", file,
			       ret == -EINTR ? "stopped" : strerror(-ret));
	}
	archive_write_free(archive);
	return ret;
}

uint64_t cgwb_initramfs_bytes(const struct cgwb_initramfs *initramfs)
{
	uint64_t bytes = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < initramfs->n; i++) {
		bytes += initramfs->entries[i].size;
		if (initramfs->entries[i].host_path &&
		    stat(initramfs->entries[i].host_path, &st) == 0)
			bytes += st.st_size;
	}
	return bytes;
}
