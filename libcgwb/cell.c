// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cell-build.h"
#include "control.h"
#include "json-text.h"
#include "measure-kind.h"
#include "mkfs.h"
#include "names.h"
#include "schema.h"

/* As the published machine; a disk's are those of an NVMe device without surprises. */
#define MEMORY_BYTES_DEFAULT (8ULL << 30)
#define DEPTH_DEFAULT 1023
#define MAX_SECTORS_BYTES_DEFAULT (1ULL << 20)
#define KERNEL_DEFAULT "6.1"

/* A guest that needs several times what was estimated hangs. */
#define LIMIT_FACTOR 4
#define LIMIT_EXTRA_S 300
#define LIMIT_STEP_S 60

struct cgwb_cell *cgwb_cell_free(struct cgwb_cell *cell)
{
	if (!cell)
		return NULL;

	for (size_t i = 0; i < cell->n_programs; i++) {
		free(cell->programs[i].program);
		free(cell->programs[i].guest_path);
	}
	free(cell->programs);
	cgwb_names_free(cell->modules);
	free(cell->name);
	json_decref(cell->json);
	free(cell);
	return NULL;
}

struct cgwb_seed builder_seed(const struct builder *builder, const char *kind, const char *name,
			      const char *what)
{
	char key[512];

	snprintf(key, sizeof(key), "%s %s %s", kind, name, what);
	return cgwb_seed_init(builder->seed, key);
}

const struct section *builder_section(const struct builder *builder, const char *kind)
{
	return sections_find(builder->sections, kind, "");
}

/*
 * Calls `add` for each section of a kind; what it makes is appended to the array of that name in
 * the cell.
 */
static int build_array(struct builder *builder, const char *name, const char *kind,
		       int (*add)(struct builder *builder, const struct section *section,
				  json_t *array))
{
	json_t *array = json_array();
	int err = json_object_set_new(builder->cell->json, name, array) ? -ENOMEM : 0;

	for (size_t i = 0; !err && i < builder->sections->n_all; i++) {
		const struct section *section = &builder->sections->all[i];

		if (!strcmp(section->kind, kind))
			err = add(builder, section, array);
	}
	return err;
}

int builder_append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) ? -ENOMEM : 0;
}

int builder_fail(struct builder *builder, const struct section *section, const char *name,
		 const char *what)
{
	const struct section_key *key = section_get(section, name);

	return cgwb_error_at(builder->error, -EINVAL, key ? key->file : builder->sections->file,
			     key ? key->line : section->line, "%s%s%s: %s", name, key ? " = " : "",
			     key ? key->value : "", what);
}

static int build_machine(struct builder *builder)
{
	const struct section *machine = builder_section(builder, "machine");
	uint64_t bytes = schema_bytes(machine, "memory", MEMORY_BYTES_DEFAULT);

	switch (layout_init(&builder->layout, bytes)) {
	case 0:
		break;
	case -ENOSPC:
		return builder_fail(builder, machine, "memory", "a guest needs at least 512M");
	case -ERANGE:
		return builder_fail(builder, machine, "memory", "a guest cannot have that much");
	default:
		return builder_fail(builder, machine, "memory", "it is a multiple of 2M");
	}

	/* RAM is known once the disks have their places. */
	return json_object_set_new(builder->cell->json, "machine",
				   json_pack("{s:I, s:I, s:I, s:I}", "memory_bytes",
					     (json_int_t)bytes, "cpus",
					     (json_int_t)schema_number(machine, "cpus", 1),
					     "ram_bytes", (json_int_t)0, "mem_limit_bytes",
					     (json_int_t)builder->layout.mem_limit_bytes)) ?
		       -ENOMEM :
		       0;
}

static int finish_machine(struct builder *builder)
{
	json_t *machine = json_object_get(builder->cell->json, "machine");

	return json_object_set_new(machine, "ram_bytes",
				   json_integer(layout_ram_bytes(&builder->layout))) ?
		       -ENOMEM :
		       0;
}

/* `policy_parameters = dedupe=1` as an object */
static json_t *policy_parameters(const char *text)
{
	json_t *parameters = json_object();
	char *copy = strdup(text), *rest = copy, *word;
	int failed = !parameters || !copy;

	while (!failed && (word = strtok_r(rest, " \t", &rest))) {
		char *equal = strchr(word, '=');

		*equal = '\0';
		failed = json_object_set_new(parameters, word, json_string(equal + 1));
	}
	free(copy);
	if (failed) {
		json_decref(parameters);
		return NULL;
	}
	return parameters;
}

static int build_policy(struct builder *builder)
{
	const struct section *scenario = builder_section(builder, "scenario");
	const char *name = section_value(scenario, "policy", "none");
	const char *parameters = section_value(scenario, "policy_parameters", "");
	json_t *policy;

	if (!strcmp(name, "none")) {
		if (*parameters)
			return builder_fail(builder, scenario, "policy_parameters",
					    "there is no policy that takes them");
		policy = json_null();
	} else {
		policy = json_pack("{s:s, s:o}", "name", name, "parameters",
				   policy_parameters(parameters));
	}
	return json_object_set_new(builder->cell->json, "policy", policy) ? -ENOMEM : 0;
}

/* Modules are the lab's business: the guest loads what it is given. */
static int build_modules(struct builder *builder)
{
	const char *modules = section_value(builder_section(builder, "scenario"), "modules", "");

	return names_split(modules, &builder->cell->modules);
}

static int add_disk(struct builder *builder, const struct section *section, json_t *array)
{
	uint64_t bytes = schema_bytes(section, "size", 0), base;
	uint64_t max_sectors_bytes =
		schema_bytes(section, "max_sectors", MAX_SECTORS_BYTES_DEFAULT);

	if (bytes % 4096)
		return builder_fail(builder, section, "size", "it is a multiple of 4K");
	if (max_sectors_bytes % 4096)
		return builder_fail(builder, section, "max_sectors", "it is a multiple of 4K");
	if (layout_add(&builder->layout, bytes, &base))
		return builder_fail(builder, section, "size",
				    "memory and disks do not fit in 1 TiB");

	return builder_append(
		array, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I}", "name",
				 section->name, "base_bytes", (json_int_t)base, "size_bytes",
				 (json_int_t)bytes, "write_bps",
				 (json_int_t)schema_bytes(section, "write", 0), "read_bps",
				 (json_int_t)schema_bytes(section, "read", 0), "iops",
				 (json_int_t)schema_number(section, "iops", 0), "latency_ns",
				 (json_int_t)schema_ns(section, "latency", 0), "depth",
				 (json_int_t)schema_number(section, "depth", DEPTH_DEFAULT),
				 "scheduler", section_value(section, "scheduler", "none"),
				 "wbt_lat_us", (json_int_t)(schema_ns(section, "wbt", 0) / 1000),
				 "max_sectors_kb", (json_int_t)(max_sectors_bytes >> 10)));
}

static int add_mount(struct builder *builder, const struct section *section, json_t *array)
{
	const char *type = section_value(section, "type", ""), *wrong;
	const char *options = section_value(section, "mkfs", NULL);
	json_t *mkfs;
	int err;

	if (options && strpbrk(options, "\"'"))
		return builder_fail(builder, section, "mkfs", "words between blanks, no quotes");
	err = mkfs_argv(type, options, builder_seed(builder, "mount", section->name, "uuid"), &mkfs,
			&wrong);
	if (err == -EINVAL) {
		const struct section_key *key = section_get(section, "mkfs");

		return cgwb_error_at(builder->error, err, key->file, key->line,
				     "mkfs = %s: the seed decides %s", key->value, wrong);
	}
	if (err)
		return err;

	return builder_append(array,
			      json_pack("{s:s, s:s, s:s, s:s, s:o}", "path", section->name, "disk",
					section_value(section, "disk", ""), "type", type, "options",
					section_value(section, "options", ""), "mkfs", mkfs));
}

static int build_sysctl(struct builder *builder)
{
	const struct section *section = builder_section(builder, "sysctl");
	json_t *sysctl = json_object();
	int err = json_object_set_new(builder->cell->json, "sysctl", sysctl) ? -ENOMEM : 0;

	for (size_t i = 0; !err && section && i < section->n_keys; i++)
		err = json_object_set_new(sysctl, section->keys[i].name,
					  json_string(section->keys[i].value)) ?
			      -ENOMEM :
			      0;
	return err;
}

static int add_file(struct builder *builder, const struct section *section, json_t *array)
{
	return builder_append(array, json_pack("{s:s, s:I}", "path", section->name, "size_bytes",
					       (json_int_t)schema_bytes(section, "size", 0)));
}

static json_t *cgroup_settings(const struct section *section)
{
	json_t *settings = json_object();

	for (size_t i = 0; settings && i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];
		char *value = NULL, *wrong = NULL;
		int err;

		if (!strcmp(key->name, "count") || !strcmp(key->name, "remove"))
			continue;
		err = control_value(key->name, key->value, &value, &wrong);
		if (!err)
			err = json_object_set_new(settings, key->name, json_string(value));
		free(value);
		free(wrong);
		if (err) {
			json_decref(settings);
			return NULL;
		}
	}
	return settings;
}

char *builder_instance(const char *name, const struct section *counted, uint64_t index)
{
	char *instance = NULL;

	if (!counted || !section_get(counted, "count"))
		return strdup(name);
	return asprintf(&instance, "%s%" PRIu64, name, index) < 0 ? NULL : instance;
}

const char *builder_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_cgroups(struct builder *builder, const struct section *section, json_t *array)
{
	bool removed = !strcmp(section_value(section, "remove", "no"), "yes");
	uint64_t count = schema_number(section, "count", 1);
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		char *path = builder_instance(section->name, section, i);

		if (!path)
			return -ENOMEM;
		err = builder_append(array, json_pack("{s:s, s:s, s:s, s:o, s:b}", "path", path,
						      "group", section->name, "name",
						      builder_base_name(path), "settings",
						      cgroup_settings(section), "remove", removed));
		free(path);
	}
	return err;
}

static int add_measure(struct builder *builder, const struct section *section, json_t *array)
{
	const char *kind = section_value(section, "kind", "");
	json_t *measure = json_pack("{s:s, s:s}", "name", section->name, "kind", kind);
	int err = measure ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];

		if (cgwb_measure_takes(cgwb_measure_kind(kind), key->name))
			err = json_object_set_new(measure, key->name, json_string(key->value));
	}
	if (err) {
		json_decref(measure);
		return -ENOMEM;
	}
	return builder_append(array, measure);
}

/* The limit needs the estimate, and that needs the rest of the cell. */
static int finish_limit(struct builder *builder)
{
	struct cgwb_cell *cell = builder->cell;
	uint64_t limit_s, limit_ns;

	cell->estimate = estimate_cell(cell->json);
	limit_s = cell->estimate.virtual_s * LIMIT_FACTOR + LIMIT_EXTRA_S;
	limit_ns = (limit_s + LIMIT_STEP_S - 1) / LIMIT_STEP_S * LIMIT_STEP_S * NS_PER_S;
	limit_ns = schema_ns(builder_section(builder, "scenario"), "limit", limit_ns);
	return json_object_set_new(cell->json, "limit_virtual_ns", json_integer(limit_ns)) ?
		       -ENOMEM :
		       0;
}

static int build_all(struct builder *builder)
{
	int err = build_machine(builder);

	if (!err)
		err = build_policy(builder);
	if (!err)
		err = build_modules(builder);
	if (!err)
		err = build_array(builder, "disks", "disk", add_disk);
	if (!err)
		err = finish_machine(builder);
	if (!err)
		err = build_array(builder, "mounts", "mount", add_mount);
	if (!err)
		err = build_sysctl(builder);
	if (!err)
		err = build_array(builder, "files", "file", add_file);
	if (!err)
		err = build_array(builder, "cgroups", "cgroup", add_cgroups);
	if (!err)
		err = build_array(builder, "jobs", "job", builder_add_jobs);
	if (!err)
		err = build_array(builder, "measures", "measure", add_measure);
	return err ? err : finish_limit(builder);
}

int cgwb_cell_new(const struct cgwb_scenario *scenario, const char *variant, unsigned int seed,
		  bool quick, struct cgwb_cell **ret_cell, struct cgwb_error *error)
{
	struct builder builder = { .seed = seed, .error = error };
	struct sections *sections;
	struct cgwb_cell *cell;
	int err;

	err = scenario_resolve(scenario, variant, quick, &sections, error);
	if (err)
		return err;

	cell = calloc(1, sizeof(*cell));
	if (!cell || asprintf(&cell->name, "%s-%u", variant, seed) < 0) {
		free(cell);
		sections_free(sections);
		return -ENOMEM;
	}

	builder.cell = cell;
	builder.sections = sections;
	cell->json = json_pack(
		"{s:i, s:s, s:s, s:I, s:b, s:s, s:I}", "schema", CGWB_CELL_SCHEMA, "scenario",
		cgwb_scenario_name(scenario), "variant", variant, "seed", (json_int_t)seed, "quick",
		quick, "kernel",
		section_value(builder_section(&builder, "scenario"), "kernel", KERNEL_DEFAULT),
		"limit_virtual_ns", (json_int_t)0);
	err = cell->json ? build_all(&builder) : -ENOMEM;
	sections_free(sections);
	if (err) {
		cgwb_cell_free(cell);
		return err;
	}
	*ret_cell = cell;
	return 0;
}

const json_t *cgwb_cell_json(const struct cgwb_cell *cell)
{
	return cell->json;
}

char *cgwb_cell_text(const struct cgwb_cell *cell)
{
	char *text;

	return cgwb_json_text(cell->json, JSON_COMPACT, &text) ? NULL : text;
}

const char *cgwb_cell_name(const struct cgwb_cell *cell)
{
	return cell->name;
}

size_t cgwb_cell_programs(const struct cgwb_cell *cell, const struct cgwb_program **ret_programs)
{
	*ret_programs = cell->programs;
	return cell->n_programs;
}

const char *const *cgwb_cell_modules(const struct cgwb_cell *cell)
{
	return (const char *const *)cell->modules;
}

uint64_t cgwb_cell_host_memory_bytes(const struct cgwb_cell *cell)
{
	return cell->estimate.host_memory_bytes;
}

double cgwb_cell_virtual_s(const struct cgwb_cell *cell)
{
	return cell->estimate.virtual_s;
}
