// SPDX-License-Identifier: GPL-2.0-or-later
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int cgwb_mkdir_p(const char *path)
{
	char *copy = strdup(path);
	char *slash;
	int ret = 0;

	if (!copy)
		return -ENOMEM;

	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			ret = -errno;
		*slash = '/';
		if (ret < 0)
			goto out;
	}
	if (mkdir(copy, 0777) < 0 && errno != EEXIST)
		ret = -errno;
out:
	free(copy);
	return ret;
}

int cgwb_mkdir_temporary(const char *path, char **ret_path)
{
	char *name;
	int ret;

	if (asprintf(&name, "%s.tmp.XXXXXX", path) < 0)
		return -ENOMEM;
	if (!mkdtemp(name)) {
		ret = -errno;
		free(name);
		return ret;
	}
	*ret_path = name;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int cgwb_remove(const char *path)
{
	if (!path)
		return 0;
	return nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) < 0 ? -errno : 0;
}

void cgwb_remove_stale(const char *path)
{
	char *pattern;
	glob_t found;
	size_t i;

	if (asprintf(&pattern, "%s.tmp.*", path) < 0)
		return;
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		for (i = 0; i < found.gl_pathc; i++)
			cgwb_remove(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

int cgwb_read_file(const char *path, char **ret_text, size_t *ret_size)
{
	size_t size = 0, capacity = 4096;
	char *text = NULL, *bigger;
	ssize_t got = 1;
	int ret = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	while (got > 0) {
		if (!text || size + 1 >= capacity) {
			capacity *= 2;
			bigger = realloc(text, capacity);
			if (!bigger) {
				ret = -ENOMEM;
				break;
			}
			text = bigger;
		}
		got = read(fd, text + size, capacity - size - 1);
		if (got > 0)
			size += got;
		else if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			ret = -errno;
	}
	close(fd);

	if (ret < 0) {
		free(text);
		return ret;
	}
	text[size] = '\0';
	*ret_text = text;
	if (ret_size)
		*ret_size = size;
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t put;

	while (size) {
		put = write(fd, data, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		data += put;
		size -= put;
	}
	return 0;
}

int cgwb_write_file(const char *path, const void *data, size_t size)
{
	char *name;
	int fd, ret;

	if (asprintf(&name, "%s.tmp.XXXXXX", path) < 0)
		return -ENOMEM;

	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		free(name);
		return ret;
	}

	ret = write_all(fd, data, size);
	/* mkostemp() makes files for the owner alone; these are as public as any other. */
	if (ret == 0 && fchmod(fd, 0644) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(name, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(name);
	free(name);
	return ret;
}

static int lock_file(const char *path, int how)
{
	int fd, ret;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;

	while (flock(fd, how) < 0) {
		if (errno == EINTR)
			continue;
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

int cgwb_lock_file(const char *path)
{
	return lock_file(path, LOCK_EX);
}

int cgwb_trylock_file(const char *path)
{
	return lock_file(path, LOCK_EX | LOCK_NB);
}

static int find_in(const char *folders, const char *name, char **ret_path)
{
	const char *end;
	char *path;

	for (; *folders; folders = *end ? end + 1 : end) {
		end = strchrnul(folders, ':');
		if (end == folders)
			continue;
		if (asprintf(&path, "%.*s/%s", (int)(end - folders), folders, name) < 0)
			return -ENOMEM;
		if (access(path, X_OK) == 0) {
			*ret_path = path;
			return 0;
		}
		free(path);
	}
	return -ENOENT;
}

int cgwb_find_program(const char *name, char **ret_path)
{
	const char *folders = getenv("PATH");
	int ret;

	if (strchr(name, '/')) {
		if (access(name, X_OK) < 0)
			return -errno;
		*ret_path = realpath(name, NULL);
		return *ret_path ? 0 : -errno;
	}

	ret = folders ? find_in(folders, name, ret_path) : -ENOENT;
	/* mkfs and the like: an ordinary user's PATH often leaves these out. */
	if (ret == -ENOENT)
		ret = find_in("/usr/local/sbin:/usr/sbin:/sbin", name, ret_path);
	return ret;
}
