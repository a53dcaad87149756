// SPDX-License-Identifier: GPL-2.0-or-later
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/files.h"

/* Paths and lines handed out, freed with the rig. */
static char *kept[256];
static size_t n_kept;

static const char *keep(char *text)
{
	if (!text || n_kept == sizeof(kept) / sizeof(kept[0]))
		abort();
	kept[n_kept++] = text;
	return text;
}

static void append(char *to, size_t size, const char *text)
{
	size_t len = strlen(to);

	snprintf(to + len, size - len, "%s\n", text);
}

static void take_step(void *user, const char *text)
{
	struct rig *rig = user;

	append(rig->steps, sizeof(rig->steps), text);
}

static void take_notice(void *user, const char *text)
{
	struct rig *rig = user;

	append(rig->notices, sizeof(rig->notices), text);
}

int rig_setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	char *path;

	if (!rig || asprintf(&rig->folder, "%s/cgwb-test", getenv("TMPDIR") ?: "/tmp") < 0)
		return -1;
	path = rig->folder;
	if (cgwb_mkdir_temporary(path, &rig->folder) < 0)
		return -1;
	free(path);

	rig->old_path = strdup(getenv("PATH") ?: "");
	if (asprintf(&path, "%s:%s", getenv("CGWB_TEST_BIN"), rig->old_path) < 0)
		return -1;
	setenv("PATH", path, 1);
	free(path);
	setenv("RIG", rig->folder, 1);
	setenv("XDG_CACHE_HOME", rig->folder, 1);

	if (cgwb_context_init(&rig->context, &rig->error) < 0)
		return -1;
	rig->context.step = take_step;
	rig->context.notice = take_notice;
	rig->context.user = rig;
	*state = rig;
	return 0;
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	cgwb_context_done(&rig->context);
	cgwb_error_done(&rig->error);
	setenv("PATH", rig->old_path, 1);
	cgwb_remove(rig->folder);
	free(rig->old_path);
	free(rig->folder);
	free(rig);
	while (n_kept)
		free(kept[--n_kept]);
	return 0;
}

const char *rig_path(struct rig *rig, const char *format, ...)
{
	char *name, *path;
	va_list args;

	va_start(args, format);
	if (vasprintf(&name, format, args) < 0)
		abort();
	va_end(args);
	if (asprintf(&path, "%s/%s", rig->folder, name) < 0)
		abort();
	free(name);
	return keep(path);
}

void rig_write(const char *path, const void *data, size_t size)
{
	char *folder = strdup(path);
	int ret;

	*strrchr(folder, '/') = '\0';
	ret = cgwb_mkdir_p(folder);
	if (ret == 0)
		ret = cgwb_write_file(path, data, size);
	free(folder);
	if (ret < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(-ret));
		abort();
	}
}

void rig_write_text(const char *path, const char *text)
{
	rig_write(path, text, strlen(text));
}

void rig_write_image(const char *path, const char *release)
{
	char image[8192] = { 0 };

	memcpy(image + 0x202, "HdrS", 4);
	image[0x20e] = 0x00;
	image[0x20f] = 0x10;
	snprintf(image + 0x1200, 256, "%s (builder@host) #1 SMP", release);
	rig_write(path, image, sizeof(image));
}

const char *rig_error(struct rig *rig, int err)
{
	char *line = rig->error.text ? cgwb_error_line(&rig->error, err) : strdup("");

	cgwb_error_done(&rig->error);
	return keep(line);
}

int rig_entries(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}
