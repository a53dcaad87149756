// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "engine.h"
#include "json.h"
#include "libcgwb/measure.h"

typedef int (*item_fn)(struct cell *cell, void *item, json_t *json, const char *where,
		       struct error *error);

/* Reads an array of objects into an array of structs. */
static int items_parse(struct cell *cell, const char *key, size_t item_bytes, item_fn fn,
		       void *ret_items, size_t *ret_n, struct error *error)
{
	char *items, where[64];
	json_t *array, *json;
	size_t i;
	int err;

	err = json_get_array(cell->json, "the cell", key, &array, error);
	if (err < 0)
		return err;
	items = calloc(json_array_size(array) + 1, item_bytes);
	if (!items)
		return error_errno(error, -ENOMEM, "cannot read %s of the cell", key);
	*(void **)ret_items = items;
	json_array_foreach(array, i, json) {
		snprintf(where, sizeof(where), "%s[%zu]", key, i);
		*ret_n = i + 1;
		err = fn(cell, items + i * item_bytes, json, where, error);
		if (err < 0)
			return err;
	}
	return 0;
}

static int disk_parse(struct cell *cell, void *item, json_t *json, const char *where,
		      struct error *error)
{
	static const char *const keys[] = { "name",	  "base_bytes",	    "size_bytes",
					    "write_bps",  "read_bps",	    "iops",
					    "latency_ns", "depth",	    "scheduler",
					    "wbt_lat_us", "max_sectors_kb", NULL };
	struct disk *disk = item;
	int err = json_check_keys(json, where, keys, NULL, error);

	err = err ?: json_get_string(json, where, "name", &disk->name, error);
	err = err ?: json_get_u64(json, where, "base_bytes", &disk->base_bytes, error);
	err = err ?: json_get_u64(json, where, "size_bytes", &disk->size_bytes, error);
	err = err ?: json_get_u64(json, where, "write_bps", &disk->write_bps, error);
	err = err ?: json_get_u64(json, where, "read_bps", &disk->read_bps, error);
	err = err ?: json_get_u64(json, where, "iops", &disk->iops, error);
	err = err ?: json_get_u64(json, where, "latency_ns", &disk->latency_ns, error);
	err = err ?: json_get_u64(json, where, "depth", &disk->depth, error);
	err = err ?: json_get_string(json, where, "scheduler", &disk->scheduler, error);
	err = err ?: json_get_u64(json, where, "wbt_lat_us", &disk->wbt_lat_us, error);
	return err ?: json_get_u64(json, where, "max_sectors_kb", &disk->max_sectors_kb, error);
}

static int words_check(json_t *words, const char *where, const char *key, struct error *error)
{
	json_t *word;
	size_t i;

	json_array_foreach(words, i, word) {
		if (!json_is_string(word))
			return error_set(error, -EINVAL, "cell: %s: %s[%zu] is not a string", where,
					 key, i);
	}
	return 0;
}

static int mount_parse(struct cell *cell, void *item, json_t *json, const char *where,
		       struct error *error)
{
	static const char *const keys[] = { "path", "disk", "type", "options", "mkfs", NULL };
	struct mount *mount = item;
	int err = json_check_keys(json, where, keys, NULL, error);

	err = err ?: json_get_string(json, where, "path", &mount->path, error);
	err = err ?: json_get_string(json, where, "disk", &mount->disk, error);
	err = err ?: json_get_string(json, where, "type", &mount->type, error);
	err = err ?: json_get_string(json, where, "options", &mount->options, error);
	err = err ?: json_get_array(json, where, "mkfs", &mount->mkfs, error);
	err = err ?: words_check(mount->mkfs, where, "mkfs", error);
	if (!err && !cell_disk(cell, mount->disk))
		return error_set(error, -EINVAL, "cell: %s: there is no disk '%s'", where,
				 mount->disk);
	return err;
}

static int file_parse(struct cell *cell, void *item, json_t *json, const char *where,
		      struct error *error)
{
	static const char *const keys[] = { "path", "size_bytes", NULL };
	struct file *file = item;
	int err = json_check_keys(json, where, keys, NULL, error);

	err = err ?: json_get_string(json, where, "path", &file->path, error);
	return err ?: json_get_u64(json, where, "size_bytes", &file->size_bytes, error);
}

/* Every member of @object is a string: sysctl, settings, parameters. */
static int texts_check(json_t *object, const char *where, const char *what, struct error *error)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		if (!json_is_string(value))
			return error_set(error, -EINVAL, "cell: %s: %s '%s' is not a string", where,
					 what, key);
	}
	return 0;
}

static int cgroup_parse(struct cell *cell, void *item, json_t *json, const char *where,
			struct error *error)
{
	static const char *const keys[] = { "path", "group", "name", "settings", "remove", NULL };
	struct cgroup *cgroup = item;
	int err = json_check_keys(json, where, keys, NULL, error);

	err = err ?: json_get_string(json, where, "path", &cgroup->path, error);
	err = err ?: json_get_string(json, where, "group", &cgroup->group, error);
	err = err ?: json_get_string(json, where, "name", &cgroup->name, error);
	err = err ?: json_get_object(json, where, "settings", &cgroup->settings, error);
	err = err ?: json_find_bool(json, where, "remove", &cgroup->remove, error);
	err = err ?: texts_check(cgroup->settings, where, "the setting", error);
	if (!err && (cgroup->path[0] != '/' || strstr(cgroup->path, "..")))
		return error_set(error, -EINVAL, "cell: %s: '%s' is not a path of a cgroup", where,
				 cgroup->path);
	return err;
}

static int job_cgroup_parse(const struct cell *cell, struct job *job, json_t *json,
			    const char *where, struct error *error)
{
	size_t i;
	int err;

	if (json_is_null(json_object_get(json, "cgroup")))
		return 0;
	err = json_get_string(json, where, "cgroup", &job->cgroup, error);
	if (err < 0)
		return err;
	for (i = 0; i < cell->n_cgroups; i++) {
		if (!strcmp(cell->cgroups[i].path, job->cgroup))
			return 0;
	}
	return error_set(error, -EINVAL, "cell: %s: there is no cgroup '%s'", where, job->cgroup);
}

static int job_parse(struct cell *cell, void *item, json_t *json, const char *where,
		     struct error *error)
{
	static const char *const keys[] = { "name",	"group",    "engine",
					    "cgroup",	"start_ns", "duration_ns",
					    "measured", "seed",	    NULL };
	const char *engine = NULL;
	struct job *job = item;
	size_t i;
	int err;

	err = json_get_string(json, where, "name", &job->name, error);
	err = err ?: json_get_string(json, where, "group", &job->group, error);
	err = err ?: json_get_string(json, where, "engine", &engine, error);
	err = err ?: job_cgroup_parse(cell, job, json, where, error);
	err = err ?: json_get_u64(json, where, "start_ns", &job->start_ns, error);
	err = err ?: json_find_u64(json, where, "duration_ns", &job->duration_ns, error);
	err = err ?: json_find_u64(json, where, "seed", &job->seed, error);
	err = err ?: json_find_bool(json, where, "measured", &job->measured, error);
	if (err < 0)
		return err;
	/* The name becomes that of files in the guest. */
	if (!job->name[0] || job->name[0] == '.' || strchr(job->name, '/'))
		return error_set(error, -EINVAL, "cell: %s: '%s' cannot be the name of a job",
				 where, job->name);
	for (i = 0; i + 1 < cell->n_jobs; i++) {
		if (!strcmp(cell->jobs[i].name, job->name))
			return error_set(error, -EINVAL, "cell: %s: a second job '%s'", where,
					 job->name);
		if (cell->jobs[i].measured && job->measured)
			return error_set(error, -EINVAL,
					 "cell: %s: a second measured job beside '%s'", where,
					 cell->jobs[i].name);
	}
	job->engine = engine_find(engine);
	if (!job->engine)
		return error_set(error, -EINVAL, "cell: %s: there is no engine '%s'", where,
				 engine);
	err = json_check_keys(json, where, keys, job->engine->keys, error);
	return err ?: job->engine->parse(job, json, where, error);
}

/* What its kind takes, and nothing else. */
static int measure_keys_parse(struct measure *measure, json_t *json, const char *where,
			      struct error *error)
{
	const struct cgwb_measure_form *form = cgwb_measure_form(measure->kind);
	const char *const keys[] = { "name", "kind", form->of, form->with[0], form->with[1], NULL };
	const char *const maybe[] = { form->maybe, NULL };
	int err = json_check_keys(json, where, keys, maybe, error);
	size_t i;

	err = err ?: json_get_string(json, where, form->of, &measure->of, error);
	for (i = 0; form->with[i] && !err; i++)
		err = json_get_string(json, where, form->with[i], &measure->with[i], error);
	if (!err && form->maybe && json_object_get(json, form->maybe))
		err = json_get_string(json, where, form->maybe, &measure->trigger, error);
	return err;
}

static int measure_parse(struct cell *cell, void *item, json_t *json, const char *where,
			 struct error *error)
{
	struct measure *measure = item;
	const char *kind = NULL;
	size_t i;
	int err;

	err = json_get_string(json, where, "name", &measure->name, error);
	err = err ?: json_get_string(json, where, "kind", &kind, error);
	if (err < 0)
		return err;
	if (cgwb_measure_find(measure->name))
		return error_set(error, -EINVAL, "cell: %s: every cell has a measure '%s' already",
				 where, measure->name);
	for (i = 0; i + 1 < cell->n_measures; i++) {
		if (!strcmp(cell->measures[i].name, measure->name))
			return error_set(error, -EINVAL, "cell: %s: a second measure '%s'", where,
					 measure->name);
	}
	measure->kind = cgwb_measure_kind(kind);
	if (measure->kind == CGWB_MEASURE_KINDS)
		return error_set(error, -EINVAL, "cell: %s: there is no kind of measure '%s'",
				 where, kind);
	return measure_keys_parse(measure, json, where, error);
}

static int policy_parse(struct cell *cell, struct error *error)
{
	static const char *const keys[] = { "name", "parameters", NULL };
	json_t *policy = json_object_get(cell->json, "policy");
	int err;

	if (!policy || json_is_null(policy))
		return 0;
	err = json_check_keys(policy, "policy", keys, NULL, error);
	err = err ?: json_get_string(policy, "policy", "name", &cell->policy, error);
	err = err   ?:
		      json_get_object(policy, "policy", "parameters", &cell->policy_parameters,
				      error);
	return err ?: texts_check(cell->policy_parameters, "policy", "the parameter", error);
}

int cell_parse(struct cell *cell, const char *text, struct error *error)
{
	static const char *const keys[] = { "schema",  "scenario", "variant", "seed",
					    "quick",   "kernel",   "policy",  "limit_virtual_ns",
					    "machine", "disks",	   "mounts",  "sysctl",
					    "files",   "cgroups",  "jobs",    "measures",
					    NULL };
	json_error_t where;
	uint64_t schema = 0;
	int err;

	cell->json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	if (!cell->json)
		return error_set(error, -EINVAL, "cell: line %d, column %d: %s", where.line,
				 where.column, where.text);
	err = json_check_keys(cell->json, "the cell", keys, NULL, error);
	err = err ?: json_get_u64(cell->json, "the cell", "schema", &schema, error);
	if (!err && schema != CELL_SCHEMA)
		return error_set(error, -EINVAL, "cell: schema %ju, and this guest reads %d",
				 (uintmax_t)schema, CELL_SCHEMA);
	err = err ?: json_get_string(cell->json, "the cell", "variant", &cell->variant, error);
	err = err ?: json_get_u64(cell->json, "the cell", "seed", &cell->seed, error);
	err = err   ?:
		      json_get_u64(cell->json, "the cell", "limit_virtual_ns", &cell->limit_ns,
				   error);
	err = err ?: policy_parse(cell, error);
	err = err ?: json_get_object(cell->json, "the cell", "sysctl", &cell->sysctl, error);
	err = err ?: texts_check(cell->sysctl, "the cell", "sysctl", error);
	err = err   ?:
		      items_parse(cell, "disks", sizeof(struct disk), disk_parse, &cell->disks,
				  &cell->n_disks, error);
	err = err   ?:
		      items_parse(cell, "mounts", sizeof(struct mount), mount_parse, &cell->mounts,
				  &cell->n_mounts, error);
	err = err   ?:
		      items_parse(cell, "files", sizeof(struct file), file_parse, &cell->files,
				  &cell->n_files, error);
	err = err   ?:
		      items_parse(cell, "cgroups", sizeof(struct cgroup), cgroup_parse,
				  &cell->cgroups, &cell->n_cgroups, error);
	err = err   ?:
		      items_parse(cell, "jobs", sizeof(struct job), job_parse, &cell->jobs,
				  &cell->n_jobs, error);
	err = err   ?:
		      items_parse(cell, "measures", sizeof(struct measure), measure_parse,
				  &cell->measures, &cell->n_measures, error);
	return err;
}

int cell_read(struct cell *cell, const char *path, struct error *error)
{
	char *text;
	int err = attribute_read(error, &text, "%s", path);

	if (err == -ENOENT)
		error_errno(error, err, "cannot read the cell %s", path);
	if (err < 0)
		return err;
	err = cell_parse(cell, text, error);
	free(text);
	return err;
}

void cell_done(struct cell *cell)
{
	size_t i;

	for (i = 0; i < cell->n_jobs; i++)
		free(cell->jobs[i].parameters);
	free(cell->disks);
	free(cell->mounts);
	free(cell->files);
	free(cell->cgroups);
	free(cell->jobs);
	free(cell->measures);
	json_decref(cell->json);
	memset(cell, 0, sizeof(*cell));
}

bool cell_removes(const struct cell *cell)
{
	size_t i;

	for (i = 0; i < cell->n_cgroups; i++) {
		if (cell->cgroups[i].remove)
			return true;
	}
	return false;
}

const struct disk *cell_disk(const struct cell *cell, const char *name)
{
	size_t i;

	for (i = 0; i < cell->n_disks; i++) {
		if (!strcmp(cell->disks[i].name, name))
			return &cell->disks[i];
	}
	return NULL;
}
