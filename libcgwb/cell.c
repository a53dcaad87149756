// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "estimate.h"
#include "layout.h"
#include "mkfs.h"
#include "schema.h"
#include "sections.h"
#include "seed.h"
#include "units.h"

#define NS_PER_S 1000000000ULL

/* Jobs that start at the same time in the scenario start at different ones in each seed. */
#define PHASE_NS NS_PER_S

/* As the published machine; a disk's are those of an NVMe device without surprises. */
#define MEMORY_BYTES_DEFAULT (8ULL << 30)
#define DEPTH_DEFAULT 1023
#define MAX_SECTORS_BYTES_DEFAULT (1ULL << 20)
#define KERNEL_DEFAULT "6.1"

/* A guest that needs several times what was estimated hangs. */
#define LIMIT_FACTOR 4
#define LIMIT_EXTRA_S 300
#define LIMIT_STEP_S 60

struct cgwb_cell {
	json_t *json;
	char *name;
	struct cgwb_program *programs;
	size_t n_programs;
	struct estimate estimate;
};

struct builder {
	struct cgwb_cell *cell;
	const struct sections *sections;
	struct cgwb_error *error;
	unsigned int seed;
	struct layout layout;
};

struct cgwb_cell *cgwb_cell_free(struct cgwb_cell *cell)
{
	if (!cell)
		return NULL;

	for (size_t i = 0; i < cell->n_programs; i++) {
		free(cell->programs[i].program);
		free(cell->programs[i].guest_path);
	}
	free(cell->programs);
	free(cell->name);
	json_decref(cell->json);
	free(cell);
	return NULL;
}

static struct cgwb_seed seed_of(const struct builder *builder, const char *kind, const char *name,
				const char *what)
{
	char key[512];

	snprintf(key, sizeof(key), "%s %s %s", kind, name, what);
	return cgwb_seed_init(builder->seed, key);
}

static const struct section *singleton(const struct builder *builder, const char *kind)
{
	return sections_find(builder->sections, kind, "");
}

/* Calls `add` for each section of a kind; what it makes is appended to the array of that name in the cell. */
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

static int append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) ? -ENOMEM : 0;
}

/* The place of a key for errors, or of its section if the key is not there. */
static int fail_key(struct builder *builder, const struct section *section, const char *name,
		    const char *what)
{
	const struct section_key *key = section_get(section, name);

	return cgwb_error_at(builder->error, -EINVAL, key ? key->file : builder->sections->file,
			     key ? key->line : section->line, "%s%s%s: %s", name, key ? " = " : "",
			     key ? key->value : "", what);
}

static int build_machine(struct builder *builder)
{
	const struct section *machine = singleton(builder, "machine");
	uint64_t bytes = schema_bytes(machine, "memory", MEMORY_BYTES_DEFAULT);

	switch (layout_init(&builder->layout, bytes)) {
	case 0:
		break;
	case -ENOSPC:
		return fail_key(builder, machine, "memory", "a guest needs at least 256M");
	case -ERANGE:
		return fail_key(builder, machine, "memory", "a guest cannot have that much");
	default:
		return fail_key(builder, machine, "memory", "it is a multiple of 2M");
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
	const struct section *scenario = singleton(builder, "scenario");
	const char *name = section_value(scenario, "policy", "none");
	const char *parameters = section_value(scenario, "policy_parameters", "");
	json_t *policy;

	if (!strcmp(name, "none")) {
		if (*parameters)
			return fail_key(builder, scenario, "policy_parameters",
					"there is no policy that takes them");
		policy = json_null();
	} else {
		policy = json_pack("{s:s, s:o}", "name", name, "parameters",
				   policy_parameters(parameters));
	}
	return json_object_set_new(builder->cell->json, "policy", policy) ? -ENOMEM : 0;
}

static json_t *split_list(const char *text)
{
	json_t *array = json_array();

	for (text += strspn(text, ", \t"); array && *text; text += strspn(text, ", \t")) {
		size_t length = strcspn(text, ", \t");

		if (append(array, json_stringn(text, length))) {
			json_decref(array);
			return NULL;
		}
		text += length;
	}
	return array;
}

static int build_modules(struct builder *builder)
{
	const char *modules = section_value(singleton(builder, "scenario"), "modules", "");

	return json_object_set_new(builder->cell->json, "modules", split_list(modules)) ? -ENOMEM :
											  0;
}

static int add_disk(struct builder *builder, const struct section *section, json_t *array)
{
	uint64_t bytes = schema_bytes(section, "size", 0), base;
	uint64_t max_sectors_bytes =
		schema_bytes(section, "max_sectors", MAX_SECTORS_BYTES_DEFAULT);

	if (bytes % 4096)
		return fail_key(builder, section, "size", "it is a multiple of 4K");
	if (max_sectors_bytes % 4096)
		return fail_key(builder, section, "max_sectors", "it is a multiple of 4K");
	if (layout_add(&builder->layout, bytes, &base))
		return fail_key(builder, section, "size", "memory and disks do not fit in 1 TiB");

	return append(array,
		      json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I}", "name",
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
	json_t *mkfs;
	int err;

	err = mkfs_argv(type, section_value(section, "mkfs", NULL),
			seed_of(builder, "mount", section->name, "uuid"), &mkfs, &wrong);
	if (err == -EINVAL) {
		err = fail_key(builder, section, "mkfs", "the seed decides ");
		return err;
	}
	if (err)
		return err;

	return append(array, json_pack("{s:s, s:s, s:s, s:s, s:o}", "path", section->name, "disk",
				       section_value(section, "disk", ""), "type", type, "options",
				       section_value(section, "options", ""), "mkfs", mkfs));
}

static int build_sysctl(struct builder *builder)
{
	const struct section *section = singleton(builder, "sysctl");
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
	return append(array, json_pack("{s:s, s:I}", "path", section->name, "size_bytes",
				       (json_int_t)schema_bytes(section, "size", 0)));
}

static json_t *cgroup_settings(const struct section *section)
{
	json_t *settings = json_object();

	for (size_t i = 0; settings && i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];
		char *value = NULL, *wrong = NULL;
		int err;

		if (!strcmp(key->name, "count"))
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

/*
 * The name of an instance: NAME0, NAME1 ... if the section is counted, else NAME. `index` counts from 0; the caller frees
 * the name.
 */
static char *instance_name(const char *name, const struct section *counted, uint64_t index)
{
	char *instance = NULL;

	if (!counted || !section_get(counted, "count"))
		return strdup(name);
	return asprintf(&instance, "%s%" PRIu64, name, index) < 0 ? NULL : instance;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_cgroups(struct builder *builder, const struct section *section, json_t *array)
{
	uint64_t count = schema_number(section, "count", 1);
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		char *path = instance_name(section->name, section, i);

		if (!path)
			return -ENOMEM;
		err = append(array, json_pack("{s:s, s:s, s:s, s:o}", "path", path, "group",
					      section->name, "name", base_name(path), "settings",
					      cgroup_settings(section)));
		free(path);
	}
	return err;
}

/* The text with each %c replaced. The caller frees it. */
static char *expand(const char *text, const char *cgroup_name)
{
	char *expanded = NULL;
	const char *at;
	size_t size;
	FILE *stream = open_memstream(&expanded, &size);

	if (!stream)
		return NULL;
	for (; (at = strstr(text, "%c")); text = at + 2)
		fprintf(stream, "%.*s%s", (int)(at - text), text, cgroup_name);
	fputs(text, stream);
	if (fclose(stream)) {
		free(expanded);
		return NULL;
	}
	return expanded;
}

static json_t *expand_json(const char *text, const char *cgroup_name)
{
	char *expanded = expand(text, cgroup_name);
	json_t *json = expanded ? json_string(expanded) : NULL;

	free(expanded);
	return json;
}

/* One job of the cell: the section's, in one cgroup. */
struct job {
	const struct section *section;
	char *name;
	char *cgroup; /* NULL: the root */
	json_t *json;
};

static int set(struct job *job, const char *name, json_t *value)
{
	return json_object_set_new(job->json, name, value) ? -ENOMEM : 0;
}

static int set_bytes(struct job *job, const char *name, const char *key, uint64_t otherwise)
{
	return set(job, name, json_integer(schema_bytes(job->section, key, otherwise)));
}

static int set_number(struct job *job, const char *name, const char *key, uint64_t otherwise)
{
	return set(job, name, json_integer(schema_number(job->section, key, otherwise)));
}

static int set_duration(struct job *job)
{
	return set(job, "duration_ns", json_integer(schema_ns(job->section, "duration", 0)));
}

static const char *job_cgroup_name(const struct job *job)
{
	return job->cgroup ? base_name(job->cgroup) : "";
}

/* All keys that are not ours are fio's, and go to it in the order of the file. */
static int build_fio(struct builder *builder, struct job *job)
{
	struct cgwb_seed data = seed_of(builder, "job", job->name, "data");
	json_t *options = json_array();
	int err = set(job, "fio", options);

	for (size_t i = 0; !err && i < job->section->n_keys; i++) {
		const struct section_key *key = &job->section->keys[i];

		if (!strcmp(key->name, "engine") || !strcmp(key->name, "cgroup") ||
		    !strcmp(key->name, "start"))
			continue;
		err = append(options, json_pack("[s, o]", key->name,
						expand_json(key->value, job_cgroup_name(job))));
	}

	/* fio's own data are the same in every run unless it is told otherwise. */
	if (!err && !section_get(job->section, "randseed")) {
		char seed[CGWB_UNITS_TEXT];

		snprintf(seed, sizeof(seed), "%" PRIu32, (uint32_t)(cgwb_seed_next(&data) >> 32));
		err = append(options, json_pack("[s, s]", "randseed", seed));
	}
	return err;
}

static int build_files(struct builder *builder, struct job *job)
{
	struct cgwb_seed data = seed_of(builder, "job", job->name, "data");
	const char *directory = section_value(job->section, "directory", "");
	uint64_t data_bytes = schema_bytes(job->section, "data_size", 0);

	/* Jansson's integers are signed. */
	if (set_duration(job) ||
	    set(job, "directory", expand_json(directory, job_cgroup_name(job))) ||
	    set_bytes(job, "file_bytes", "file_size", 0) ||
	    set_number(job, "files_per_directory", "files_per_directory", 500) ||
	    set_number(job, "data_every", "data_every", 0) ||
	    set(job, "data_bytes", json_integer(data_bytes)) ||
	    set_bytes(job, "data_span_bytes", "data_span", data_bytes) ||
	    set_number(job, "files", "files", 0) ||
	    set_number(job, "files_per_s", "files_per_s", 0) ||
	    set_bytes(job, "xattr_bytes", "xattr_size", 0) ||
	    set(job, "seed", json_integer(cgwb_seed_next(&data) >> 1)))
		return -ENOMEM;
	return 0;
}

/* Each program goes into the guest once; two of the same name from different places cannot both. */
static int add_program(struct builder *builder, struct job *job, const char *program,
		       const char *guest_path)
{
	struct cgwb_cell *cell = builder->cell;
	struct cgwb_program *added;

	for (size_t i = 0; i < cell->n_programs; i++) {
		if (!strcmp(cell->programs[i].program, program))
			return 0;
		if (!strcmp(cell->programs[i].guest_path, guest_path))
			return fail_key(builder, job->section, "program",
					"another program has that name in the guest");
	}

	added = reallocarray(cell->programs, cell->n_programs + 1, sizeof(*added));
	if (!added)
		return -ENOMEM;
	cell->programs = added;

	added += cell->n_programs;
	added->program = strdup(program);
	added->guest_path = strdup(guest_path);
	cell->n_programs++;
	return added->program && added->guest_path ? 0 : -ENOMEM;
}

/* Splits arguments at blanks; "..." keeps blanks in one. */
static int append_arguments(struct builder *builder, struct job *job, json_t *argv)
{
	char *text = expand(section_value(job->section, "args", ""), job_cgroup_name(job));
	const char *at = text;
	int err = text ? 0 : -ENOMEM;

	while (!err && *(at += strspn(at, " \t"))) {
		bool quoted = *at == '"';
		size_t length;

		at += quoted;
		length = strcspn(at, quoted ? "\"" : " \t");
		if (quoted && !at[length]) {
			err = fail_key(builder, job->section, "args", "a quote is not closed");
			break;
		}
		err = append(argv, json_stringn(at, length));
		at += length + quoted;
	}
	free(text);
	return err;
}

static int build_exec(struct builder *builder, struct job *job)
{
	const char *program = section_value(job->section, "program", "");
	json_t *argv = json_array();
	char *guest_path = NULL;
	int err;

	if (asprintf(&guest_path, "/bin/%s", base_name(program)) < 0)
		guest_path = NULL;

	err = set_duration(job);
	if (!err)
		err = set(job, "argv", argv);
	if (!err)
		err = guest_path ? append(argv, json_string(guest_path)) : -ENOMEM;
	if (!err)
		err = append_arguments(builder, job, argv);
	if (!err)
		err = add_program(builder, job, program, guest_path);
	free(guest_path);
	return err;
}

static int build_job(struct builder *builder, struct job *job)
{
	const struct section *section = job->section;
	const char *engine = section_value(section, "engine", "");
	const char *measured = section_value(singleton(builder, "scenario"), "measured_job", "");
	struct cgwb_seed phase = seed_of(builder, "job", job->name, "phase");
	uint64_t start_ns = schema_ns(section, "start", 0) + cgwb_seed_below(&phase, PHASE_NS);

	job->json = json_pack("{s:s, s:s, s:s, s:s?, s:I, s:b}", "name", job->name, "group",
			      section->name, "engine", engine, "cgroup", job->cgroup, "start_ns",
			      (json_int_t)start_ns, "measured", !strcmp(measured, section->name));
	if (!job->json)
		return -ENOMEM;
	if (!strcmp(engine, "fio"))
		return build_fio(builder, job);
	if (!strcmp(engine, "files"))
		return build_files(builder, job);
	return build_exec(builder, job);
}

static int add_jobs(struct builder *builder, const struct section *section, json_t *array)
{
	const char *path = section_value(section, "cgroup", NULL);
	const struct section *cgroup = path ? sections_find(builder->sections, "cgroup", path) :
					      NULL;
	uint64_t count = schema_number(cgroup, "count", 1);
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		struct job job = { .section = section };

		job.name = instance_name(section->name, cgroup, i);
		job.cgroup = path ? instance_name(path, cgroup, i) : NULL;
		err = job.name && (job.cgroup || !path) ? build_job(builder, &job) : -ENOMEM;
		if (!err)
			err = append(array, json_incref(job.json));
		json_decref(job.json);
		free(job.name);
		free(job.cgroup);
	}
	return err;
}

static int add_measure(struct builder *builder, const struct section *section, json_t *array)
{
	const char *kind = section_value(section, "kind", "");
	const char *what = !strcmp(kind, "job-count") ? "job" : "file";

	return append(array, json_pack("{s:s, s:s, s:s}", "name", section->name, "kind", kind, what,
				       section_value(section, what, "")));
}

/* The limit needs the estimate, and that needs the rest of the cell. */
static int finish_limit(struct builder *builder)
{
	struct cgwb_cell *cell = builder->cell;
	uint64_t limit_s, limit_ns;

	cell->estimate = estimate_cell(cell->json);
	limit_s = cell->estimate.virtual_s * LIMIT_FACTOR + LIMIT_EXTRA_S;
	limit_ns = (limit_s + LIMIT_STEP_S - 1) / LIMIT_STEP_S * LIMIT_STEP_S * NS_PER_S;
	limit_ns = schema_ns(singleton(builder, "scenario"), "limit", limit_ns);
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
		err = build_array(builder, "jobs", "job", add_jobs);
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
	cell->json =
		json_pack("{s:i, s:s, s:s, s:I, s:b, s:s, s:I}", "schema", CGWB_CELL_SCHEMA,
			  "scenario", cgwb_scenario_name(scenario), "variant", variant, "seed",
			  (json_int_t)seed, "quick", quick, "kernel",
			  section_value(singleton(&builder, "scenario"), "kernel", KERNEL_DEFAULT),
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
	char *json = json_dumps(cell->json, JSON_COMPACT), *text = NULL;

	if (!json || asprintf(&text, "%s\n", json) < 0)
		text = NULL;
	free(json);
	return text;
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

uint64_t cgwb_cell_host_memory_bytes(const struct cgwb_cell *cell)
{
	return cell->estimate.host_memory_bytes;
}

double cgwb_cell_virtual_s(const struct cgwb_cell *cell)
{
	return cell->estimate.virtual_s;
}
