// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-cells.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "libcgwb/files.h"

#define RUN_SCHEMA 1

static bool folder_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return true;
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	return empty;
}

int run_folder_check(struct cgwb_run *run, struct cgwb_error *error)
{
	const char *scenario = cgwb_scenario_name(run->scenario), *other = NULL;
	int quick = 0, schema = 0, ret = 0;
	struct stat st;
	json_t *json;
	char *path;

	if (stat(run->folder, &st) == 0 && !S_ISDIR(st.st_mode))
		return cgwb_error_set(error, -ENOTDIR, "%s is no folder", run->folder);
	if (asprintf(&path, "%s/run.json", run->folder) < 0)
		return -ENOMEM;

	if (access(path, F_OK) < 0) {
		if (!folder_empty(run->folder))
			ret = cgwb_error_set(
				error, -EEXIST,
				"%s is there, is not empty, and is not the folder of a run",
				run->folder);
		free(path);
		return ret;
	}

	json = json_load_file(path, 0, NULL);
	if (json_unpack(json, "{s:i, s:s, s:b}", "schema", &schema, "scenario", &other, "quick",
			&quick) < 0 ||
	    schema != RUN_SCHEMA)
		ret = cgwb_error_set(
			error, -EBADMSG,
			"%s is damaged, or of another version: give another --out, or remove it",
			path);
	else if (strcmp(other, scenario) || !quick != !run->options.quick)
		ret = cgwb_error_set(error, -EINVAL,
				     "%s is the folder of a run of %s%s, not of %s%s", run->folder,
				     other, quick ? " --quick" : "", scenario,
				     run->options.quick ? " --quick" : "");
	json_decref(json);
	free(path);
	return ret;
}

static int make_inner(struct cgwb_run *run, const char *name)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s/%s", run->folder, name) < 0)
		return -ENOMEM;
	ret = cgwb_mkdir_p(path);
	free(path);
	return ret;
}

static int copy_scenario(struct cgwb_run *run)
{
	char *text, *path;
	size_t size;
	int ret;

	ret = cgwb_read_file(cgwb_scenario_file(run->scenario), &text, &size);
	if (ret < 0)
		return ret;
	if (asprintf(&path, "%s/%s.ini", run->folder, cgwb_scenario_name(run->scenario)) < 0) {
		free(text);
		return -ENOMEM;
	}
	ret = cgwb_write_file(path, text, size);
	free(path);
	free(text);
	return ret;
}

int run_folder_open(struct cgwb_run *run, struct cgwb_error *error)
{
	struct tm tm;
	time_t now = time(NULL);
	int ret;

	ret = make_inner(run, "cells");
	if (ret == 0)
		ret = make_inner(run, "consoles");
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot make the run's folder %s: %s",
				      run->folder, strerror(-ret));

	run->folder_fd = open(run->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->folder_fd < 0)
		return cgwb_error_set(error, -errno, "cannot open %s: %s", run->folder,
				      strerror(errno));
	if (flock(run->folder_fd, LOCK_EX | LOCK_NB) < 0)
		return cgwb_error_set(error, -EBUSY, "another cgwb is running in %s", run->folder);

	strftime(run->started, sizeof(run->started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	ret = copy_scenario(run);
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot write to the run's folder %s: %s",
				      run->folder, strerror(-ret));
	return run_folder_record(run, error);
}

static json_t *cell_json(const struct run_cell *cell)
{
	static const char *const sources[] = { "run", "kept", "cache" };
	const char *status = cell->state != CGWB_CELL_DONE ? "unfinished" :
			     cgwb_result_ok(cell->result)  ? "ok" :
							     "failed";

	if (cell->source != CGWB_CELL_RUN)
		return json_pack("{s:s, s:s}", "status", status, "source", sources[cell->source]);
	return json_pack("{s:s, s:s, s:f, s:f, s:I}", "status", status, "source",
			 sources[cell->source], "wall_s", (double)(int)(cell->wall_s * 10) / 10,
			 "virtual_s", cell->virtual_s, "peak_memory_bytes",
			 (json_int_t)cell->peak_memory_bytes);
}

static json_t *run_json(const struct cgwb_run *run)
{
	const struct cgwb_kernel *kernel = &run->kit.kernel;
	json_t *variants = json_array(), *seeds = json_array(), *cells = json_object();
	size_t i;

	for (i = 0; run->variants[i]; i++)
		json_array_append_new(variants, json_string(run->variants[i]));
	for (i = 0; i < run->n_seeds; i++)
		json_array_append_new(seeds, json_integer(run->seeds[i]));
	for (i = 0; i < run->n_cells; i++)
		json_object_set_new(cells, cgwb_boot_name(run->cells[i].boot),
				    cell_json(&run->cells[i]));

	return json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:o, s:{s:s, s:s, s:s*}, s:s, s:o, "
			 "s:{s:i, s:b, s:i}, s:s, s:o}",
			 "schema", RUN_SCHEMA, "cgwb", CGWB_VERSION, "scenario",
			 cgwb_scenario_name(run->scenario), "title",
			 cgwb_scenario_title(run->scenario) ?: "", "quick", run->options.quick,
			 "variants", variants, "seeds", seeds, "kernel", "name", kernel->name,
			 "release", kernel->release, "version", kernel->version, "qemu",
			 run->kit.qemu.version, "host", cgwb_host_json(&run->host), "options",
			 "jobs", (int)run->plan.jobs, "fresh", run->options.fresh, "timeout_s",
			 (int)run->options.timeout_s, "started", run->started, "cells", cells);
}

int run_folder_record(struct cgwb_run *run, struct cgwb_error *error)
{
	json_t *json = run_json(run);
	char *text = NULL, *path = NULL;
	int ret = -ENOMEM;

	if (json)
		text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	if (text && asprintf(&path, "%s/run.json", run->folder) < 0)
		path = NULL;
	if (path)
		ret = cgwb_write_file(path, text, strlen(text));
	if (ret < 0)
		cgwb_error_set(error, ret, "cannot write to the run's folder %s: %s", run->folder,
			       strerror(-ret));
	free(path);
	free(text);
	json_decref(json);
	return ret;
}

/* A folder whose lock nobody holds is that of a run that was killed. */
static void remove_abandoned(const char *parent)
{
	struct dirent *entry;
	DIR *dir = opendir(parent);
	char *path;
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			if (flock(fd, LOCK_EX | LOCK_NB) == 0)
				cgwb_remove(path);
			close(fd);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
}

int run_temporary_make(struct cgwb_run *run, struct cgwb_error *error)
{
	char *parent = NULL, *base = NULL, *lock = NULL;
	int ret = -ENOMEM, lock_fd = -1;

	if (asprintf(&parent, "%s/running", run->context->cache_dir) < 0)
		return -ENOMEM;
	if (asprintf(&base, "%s/guests", parent) < 0) {
		base = NULL;
		goto out;
	}
	if (asprintf(&lock, "%s.lock", parent) < 0) {
		lock = NULL;
		goto out;
	}

	ret = cgwb_mkdir_p(parent);
	/* Between making a folder and locking it, nobody may look for abandoned ones. */
	if (ret == 0)
		ret = lock_fd = cgwb_lock_file(lock);
	if (ret >= 0) {
		remove_abandoned(parent);
		ret = cgwb_mkdir_temporary(base, &run->temporary);
	}
	if (ret == 0) {
		run->temporary_fd = open(run->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (run->temporary_fd < 0 || flock(run->temporary_fd, LOCK_EX | LOCK_NB) < 0)
			ret = -errno;
	}
out:
	if (ret < 0)
		cgwb_error_set(error, ret, "cannot make a temporary folder in %s: %s", parent,
			       strerror(-ret));
	if (lock_fd >= 0)
		close(lock_fd);
	free(lock);
	free(base);
	free(parent);
	return ret;
}

void run_temporary_remove(struct cgwb_run *run)
{
	cgwb_remove(run->temporary);
	free(run->temporary);
	run->temporary = NULL;
	if (run->temporary_fd >= 0)
		close(run->temporary_fd);
	run->temporary_fd = -1;
}
