// SPDX-License-Identifier: GPL-2.0-or-later
#include "filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "random.h"

#define WRITE_BYTES (1u << 20)
/* A piece of a file that is given to the disk while the next one is made. */
#define START_BYTES (16u << 20)

int directory_make(const char *path, struct error *error)
{
	char partial[PATH_MAX];
	char *slash;

	snprintf(partial, sizeof(partial), "%s", path);
	for (slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(partial, 0755) < 0 && errno != EEXIST)
			return error_errno(error, -errno, "cannot make the directory %s", partial);
		*slash = '/';
	}
	if (mkdir(partial, 0755) < 0 && errno != EEXIST)
		return error_errno(error, -errno, "cannot make the directory %s", partial);
	return 0;
}

static int mkfs_run(const struct mount *mount, const char *device, struct error *error)
{
	size_t n = json_array_size(mount->mkfs), i;
	char **argv;
	int err;

	if (!n)
		return 0;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		return error_errno(error, -ENOMEM, "cannot make a filesystem on %s", device);
	for (i = 0; i < n; i++)
		argv[i] = (char *)json_string_value(json_array_get(mount->mkfs, i));
	argv[n] = (char *)device;
	err = program_run(argv, error);
	free(argv);
	return err;
}

/* What mount(2) takes as flags and not as text. */
static const struct {
	const char *name;
	unsigned long set, clear;
} mount_flags[] = {
	{ "ro", MS_RDONLY, 0 },		{ "rw", 0, MS_RDONLY },
	{ "noatime", MS_NOATIME, 0 },	{ "nodiratime", MS_NODIRATIME, 0 },
	{ "relatime", MS_RELATIME, 0 }, { "strictatime", MS_STRICTATIME, 0 },
	{ "lazytime", MS_LAZYTIME, 0 }, { "sync", MS_SYNCHRONOUS, 0 },
	{ "dirsync", MS_DIRSYNC, 0 },	{ "nodev", MS_NODEV, 0 },
	{ "nosuid", MS_NOSUID, 0 },	{ "noexec", MS_NOEXEC, 0 },
	{ "defaults", 0, 0 },
};

static bool option_is_flag(const char *option, unsigned long *flags)
{
	size_t i;

	for (i = 0; i < sizeof(mount_flags) / sizeof(mount_flags[0]); i++) {
		if (strcmp(option, mount_flags[i].name))
			continue;
		*flags = (*flags & ~mount_flags[i].clear) | mount_flags[i].set;
		return true;
	}
	return false;
}

int filesystem_make(const struct mount *target, struct error *error)
{
	char device[PATH_MAX], *options, *data, *option, *rest;
	unsigned long flags = 0;
	int err;

	snprintf(device, sizeof(device), "/dev/%s", target->disk);
	err = mkfs_run(target, device, error);
	err = err ?: directory_make(target->path, error);
	if (err < 0)
		return err;
	options = strdup(target->options);
	data = calloc(1, strlen(target->options) + 1);
	if (!options || !data) {
		err = error_errno(error, -ENOMEM, "cannot mount %s", target->path);
		goto out;
	}
	for (option = strtok_r(options, ",", &rest); option; option = strtok_r(NULL, ",", &rest)) {
		if (option_is_flag(option, &flags))
			continue;
		if (data[0])
			strcat(data, ",");
		strcat(data, option);
	}
	if (mount(device, target->path, target->type, flags, data) < 0)
		err = error_errno(error, -errno, "cannot mount %s (%s) on %s with options '%s'",
				  device, target->type, target->path, target->options);
out:
	free(options);
	free(data);
	return err;
}

int filesystem_sync(const struct mount *mount, struct error *error)
{
	int fd = open(mount->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return error_errno(error, -errno, "cannot open %s to sync it", mount->path);
	if (syncfs(fd) < 0)
		err = error_errno(error, -errno, "cannot sync %s", mount->path);
	close(fd);
	return err;
}

static int file_fill(int fd, const struct file *file, uint64_t seed, struct error *error)
{
	struct random random = { random_seed(seed, file->path) };
	uint64_t done = 0;
	char *data;
	int err = 0;

	data = malloc(WRITE_BYTES);
	if (!data)
		return error_errno(error, -ENOMEM, "cannot write %s", file->path);
	random_fill(&random, data, WRITE_BYTES);
	while (done < file->size_bytes) {
		uint64_t left = file->size_bytes - done;
		ssize_t n;

		/* No two pieces alike, without making a whole file's worth of random numbers. */
		random_fill(&random, data, 64);
		n = write(fd, data, left < WRITE_BYTES ? left : WRITE_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = error_errno(error, -errno, "cannot write %s after %ju bytes",
					  file->path, (uintmax_t)done);
			break;
		}
		done += n;
		/* Only so that it is done earlier: what fails here, fsync reports. */
		if (done % START_BYTES == 0)
			sync_file_range(fd, done - START_BYTES, START_BYTES, SYNC_FILE_RANGE_WRITE);
	}
	if (!err && fsync(fd) < 0)
		err = error_errno(error, -errno, "cannot sync %s", file->path);
	free(data);
	return err;
}

int file_make(const struct file *file, uint64_t seed, struct error *error)
{
	char directory[PATH_MAX], *slash;
	int fd, err;

	snprintf(directory, sizeof(directory), "%s", file->path);
	slash = strrchr(directory, '/');
	if (slash && slash > directory) {
		*slash = '\0';
		err = directory_make(directory, error);
		if (err < 0)
			return err;
	}
	fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(error, -errno, "cannot make %s", file->path);
	err = file_fill(fd, file, seed, error);
	if (close(fd) < 0 && !err)
		err = error_errno(error, -errno, "cannot close %s", file->path);
	return err;
}
