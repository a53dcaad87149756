// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attribute.h"
#include "disk.h"
#include "filesystem.h"

#define CGROUPFS "/sys/fs/cgroup"

/* io and memory always: without both there is no cgroup writeback, and no account of it. */
static const char *const controllers[] = { "io", "memory", "cpu", "cpuset", "pids" };
#define ALWAYS 2

static bool setting_needs(const char *setting, const char *controller)
{
	size_t n = strlen(controller);

	return !strncmp(setting, controller, n) && setting[n] == '.';
}

static bool cell_needs(const struct cell *cell, const char *controller)
{
	const char *setting;
	json_t *value;
	size_t i;

	for (i = 0; i < cell->n_cgroups; i++) {
		json_object_foreach(cell->cgroups[i].settings, setting, value) {
			if (setting_needs(setting, controller))
				return true;
		}
	}
	return false;
}

/* Enables what the cell needs for the children of the cgroup at @path. */
static int controllers_enable(const struct cell *cell, const char *path, struct error *error)
{
	char text[64] = "";
	size_t i;

	for (i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		if (i < ALWAYS || cell_needs(cell, controllers[i])) {
			strcat(text, text[0] ? " +" : "+");
			strcat(text, controllers[i]);
		}
	}
	return attribute_write(error, text, CGROUPFS "%s/cgroup.subtree_control", path);
}

/* Makes the cgroup and those above it, each with its parent's controllers. */
static int cgroup_make(const struct cell *cell, const struct cgroup *cgroup, struct error *error)
{
	char path[PATH_MAX], *slash;
	int err;

	snprintf(path, sizeof(path), CGROUPFS "%s", cgroup->path);
	slash = path + strlen(CGROUPFS);
	for (;;) {
		*slash = '\0';
		err = directory_make(path, error);
		err = err ?: controllers_enable(cell, path + strlen(CGROUPFS), error);
		*slash = '/';
		if (err < 0)
			return err;
		slash = strchr(slash + 1, '/');
		if (!slash)
			return directory_make(path, error);
	}
}

/* A setting of io begins with a disk's name, and the kernel wants its number. */
static int value_resolve(const struct cell *cell, const char *setting, const char *value,
			 char *text, size_t size, struct error *error)
{
	size_t n = strcspn(value, " ");
	char name[64], number[32];
	const struct disk *disk;
	int err;

	snprintf(text, size, "%s", value);
	if (!setting_needs(setting, "io") || n >= sizeof(name))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)n, value);
	disk = cell_disk(cell, name);
	if (!disk)
		return 0;
	err = disk_number_text(disk, number, sizeof(number), error);
	if (err < 0)
		return err;
	snprintf(text, size, "%s%s", number, value + n);
	return 0;
}

static int settings_write(const struct cell *cell, const struct cgroup *cgroup, struct error *error)
{
	const char *setting;
	json_t *value;
	int err;

	json_object_foreach(cgroup->settings, setting, value) {
		char text[512];

		if (strchr(setting, '/'))
			return error_set(error, -EINVAL, "cgroup %s: '%s' is not a setting",
					 cgroup->path, setting);
		err = value_resolve(cell, setting, json_string_value(value), text, sizeof(text),
				    error);
		err = err ?: attribute_write(error, text, CGROUPFS "%s/%s", cgroup->path, setting);
		if (err < 0)
			return err;
	}
	return 0;
}

int cgroups_make(const struct cell *cell, struct error *error)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cell->n_cgroups && !err; i++)
		err = cgroup_make(cell, &cell->cgroups[i], error);
	for (i = 0; i < cell->n_cgroups && !err; i++)
		err = settings_write(cell, &cell->cgroups[i], error);
	return err;
}

int cgroup_place(const char *path, pid_t pid, struct error *error)
{
	return attribute_write_u64(error, pid, CGROUPFS "%s/cgroup.procs", path ?: "");
}

int cgroup_remove(const char *path, struct error *error)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), CGROUPFS "%s", path);
	return rmdir(full) < 0 ? error_errno(error, -errno, "cannot remove the cgroup %s", path) :
				 0;
}

int cgroup_ino(const char *path, uint64_t *ret_ino, struct error *error)
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), CGROUPFS "%s", path);
	if (stat(full, &st) < 0)
		return error_errno(error, -errno, "cannot find the cgroup %s", path);
	*ret_ino = st.st_ino;
	return 0;
}

/* "key value" lines; if @wanted, only these keys, in this order. */
static json_t *flat_parse(char *text, const char *const *wanted)
{
	json_t *all = json_object(), *some;
	char *line, *rest, *space;
	size_t i;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		space = strchr(line, ' ');
		if (!space)
			continue;
		*space = '\0';
		json_object_set_new(all, line, json_integer(strtoll(space + 1, NULL, 10)));
	}
	if (!wanted)
		return all;
	some = json_object();
	for (i = 0; wanted[i]; i++) {
		if (json_object_get(all, wanted[i]))
			json_object_set(some, wanted[i], json_object_get(all, wanted[i]));
	}
	json_decref(all);
	return some;
}

/* "253:0 rbytes=0 wbytes=4096 ...": an object for each disk of the cell, by name. */
static json_t *io_stat_parse(const struct cell *cell, char *text)
{
	json_t *disks = json_object();
	char *line, *rest, *word, *words, number[32];
	struct error ignored = { "" };
	size_t i;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *disk;

		word = strtok_r(line, " ", &words);
		for (i = 0; word && i < cell->n_disks; i++) {
			if (!disk_number_text(&cell->disks[i], number, sizeof(number), &ignored) &&
			    !strcmp(word, number))
				break;
		}
		if (!word || i == cell->n_disks)
			continue;
		disk = json_object();
		while ((word = strtok_r(NULL, " ", &words))) {
			char *equals = strchr(word, '=');

			if (!equals)
				continue;
			*equals = '\0';
			json_object_set_new(disk, word,
					    json_integer(strtoll(equals + 1, NULL, 10)));
		}
		json_object_set_new(disks, cell->disks[i].name, disk);
	}
	return disks;
}

/* "some avg10=... total=123" and "full ...": the totals, in microseconds. */
static json_t *pressure_parse(char *text)
{
	json_t *totals = json_object();
	char *line, *rest, *total;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		total = strstr(line, "total=");
		line[strcspn(line, " ")] = '\0';
		if (total)
			json_object_set_new(totals, line,
					    json_integer(strtoll(total + 6, NULL, 10)));
	}
	return totals;
}

static json_t *file_read(const char *path, const char *name, json_t *(*parse)(char *text),
			 struct error *error)
{
	json_t *value;
	char *text;
	int err = attribute_read(error, &text, CGROUPFS "%s/%s", path, name);

	if (err < 0) {
		error_errno(error, err, "cgroup %s: cannot read %s", path, name);
		return NULL;
	}
	value = parse(text);
	free(text);
	return value;
}

static int file_number(const char *path, const char *name, json_t *(*parse)(char *text),
		       const char *key, uint64_t *ret, struct error *error)
{
	json_t *values = file_read(path, name, parse, error);
	json_t *value = json_object_get(values, key);
	int err = 0;

	if (value)
		*ret = json_integer_value(value);
	else
		err = error_set(error, -EINVAL, "cgroup %s: %s has no %s", path, name, key);
	json_decref(values);
	return err;
}

static json_t *events_parse(char *text)
{
	return flat_parse(text, NULL);
}

int cgroup_memory_event(const char *path, const char *event, uint64_t *ret, struct error *error)
{
	return file_number(path, "memory.events", events_parse, event, ret, error);
}

int cgroup_pressure_us(const char *path, const char *resource, const char *share, uint64_t *ret,
		       struct error *error)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.pressure", resource);
	return file_number(path, name, pressure_parse, share, ret, error);
}

json_t *cgroup_details(const struct cell *cell, const char *path, struct error *error)
{
	static const char *const memory_keys[] = {
		"anon",		 "file",	"kernel",     "file_dirty", "file_writeback",
		"inactive_file", "active_file", "slab",	      "pgscan",	    "pgsteal",
		"pgscan_direct", "pgfault",	"pgmajfault", NULL
	};
	static const char *const cpu_keys[] = { "usage_usec", "user_usec", "system_usec", NULL };
	static const struct {
		const char *name;
		const char *const *keys;
		enum {
			FLAT,
			IO,
			PRESSURE
		} form;
	} files[] = {
		{ "memory.events", NULL, FLAT },
		{ "memory.stat", memory_keys, FLAT },
		{ "io.stat", NULL, IO },
		{ "cpu.stat", cpu_keys, FLAT },
		{ "memory.pressure", NULL, PRESSURE },
		{ "io.pressure", NULL, PRESSURE },
	};
	json_t *details = json_object();
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *value;
		char *text;

		/* The root cgroup has not all of them; what is not there is left out. */
		if (attribute_read(error, &text, CGROUPFS "%s/%s", path, files[i].name) < 0)
			continue;
		if (files[i].form == FLAT)
			value = flat_parse(text, files[i].keys);
		else if (files[i].form == IO)
			value = io_stat_parse(cell, text);
		else
			value = pressure_parse(text);
		json_object_set_new(details, files[i].name, value);
		free(text);
	}
	return details;
}
