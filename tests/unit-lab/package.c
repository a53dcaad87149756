// SPDX-License-Identifier: GPL-2.0-or-later
#include "package.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "libcgwb/files.h"

static void add(struct archive *archive, const char *path, const void *data, size_t size)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, size);
	if (archive_write_header(archive, entry) != ARCHIVE_OK ||
	    archive_write_data(archive, data, size) != (la_ssize_t)size)
		abort();
	archive_entry_free(entry);
}

static void close_archive(struct archive *archive)
{
	if (archive_write_close(archive) != ARCHIVE_OK)
		abort();
	archive_write_free(archive);
}

void package_write(const char *deb, const struct package_file *files)
{
	struct archive *tar = archive_write_new(), *ar = archive_write_new();
	char name[] = "/tmp/cgwb-data.XXXXXX", *data;
	size_t size;
	int fd = mkstemp(name);

	archive_write_set_format_ustar(tar);
	archive_write_add_filter_xz(tar);
	if (fd < 0 || archive_write_open_fd(tar, fd) != ARCHIVE_OK)
		abort();
	for (; files->path; files++)
		add(tar, files->path, files->text, strlen(files->text));
	close_archive(tar);
	close(fd);
	if (cgwb_read_file(name, &data, &size) < 0)
		abort();
	unlink(name);

	archive_write_set_format_ar_svr4(ar);
	if (archive_write_open_filename(ar, deb) != ARCHIVE_OK)
		abort();
	add(ar, "debian-binary", "2.0\n", 4);
	add(ar, "control.tar.xz", "", 0);
	add(ar, "data.tar.xz", data, size);
	close_archive(ar);
	free(data);
}
