// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cell-build.h"
#include "names.h"
#include "schema.h"
#include "strbuf.h"
#include "units.h"

/* Jobs that start at the same time in the scenario start at different ones in each seed. */
#define PHASE_NS NS_PER_S

/* The text with each %c replaced. The caller frees it. */
static char *expand(const char *text, const char *cgroup_name)
{
	struct strbuf buf = STRBUF_INIT;
	char *expanded;
	const char *at;

	for (; (at = strstr(text, "%c")); text = at + 2)
		strbuf_addf(&buf, "%.*s%s", (int)(at - text), text, cgroup_name);
	strbuf_addf(&buf, "%s", text);
	return strbuf_finish(&buf, &expanded) ? NULL : expanded;
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
	uint64_t index; /* in its group */
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
	return job->cgroup ? builder_base_name(job->cgroup) : "";
}

/* All keys that are not ours are fio's, and go to it in the order of the file. */
static int build_fio(struct builder *builder, struct job *job)
{
	struct cgwb_seed data = builder_seed(builder, "job", job->name, "data");
	json_t *options = json_array();
	int err = set(job, "fio", options);

	for (size_t i = 0; !err && i < job->section->n_keys; i++) {
		const struct section_key *key = &job->section->keys[i];

		if (!strcmp(key->name, "engine") || !strcmp(key->name, "cgroup") ||
		    !strcmp(key->name, "start"))
			continue;
		err = builder_append(options,
				     json_pack("[s, o]", key->name,
					       expand_json(key->value, job_cgroup_name(job))));
	}

	/* fio's own data are the same in every run unless it is told otherwise. */
	if (!err && !section_get(job->section, "randseed")) {
		char seed[CGWB_UNITS_TEXT];

		snprintf(seed, sizeof(seed), "%" PRIu32, (uint32_t)(cgwb_seed_next(&data) >> 32));
		err = builder_append(options, json_pack("[s, s]", "randseed", seed));
	}
	return err;
}

static int build_files(struct builder *builder, struct job *job)
{
	struct cgwb_seed data = builder_seed(builder, "job", job->name, "data");
	const char *directory = section_value(job->section, "directory", "");
	uint64_t data_bytes = schema_bytes(job->section, "data_size", 0);
	bool sync = !strcmp(section_value(job->section, "sync", "no"), "yes");
	bool delete = !strcmp(section_value(job->section, "delete", "no"), "yes");

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
	    set(job, "delete", json_boolean(delete)) || set(job, "sync", json_boolean(sync)) ||
	    set(job, "seed", json_integer(cgwb_seed_next(&data) >> 1)))
		return -ENOMEM;
	return 0;
}

/* In a group each job has a window of its own, one behind the other. */
static int build_pages(struct builder *builder, struct job *job)
{
	struct cgwb_seed data = builder_seed(builder, "job", job->name, "data");
	const char *filename = section_value(job->section, "filename", "");
	uint64_t bytes = schema_bytes(job->section, "size", 0);
	uint64_t offset = schema_bytes(job->section, "offset", 0) + job->index * bytes;

	/* Jansson's integers are signed. */
	if (set_duration(job) ||
	    set(job, "filename", expand_json(filename, job_cgroup_name(job))) ||
	    set(job, "offset_bytes", json_integer(offset)) ||
	    set(job, "size_bytes", json_integer(bytes)) ||
	    set_bytes(job, "stride_bytes", "stride", 4096) ||
	    set_number(job, "passes", "passes", 0) ||
	    set_number(job, "pages_per_s", "pages_per_s", 0) ||
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
			return builder_fail(builder, job->section, "program",
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
			err = builder_fail(builder, job->section, "args", "a quote is not closed");
			break;
		}
		err = builder_append(argv, json_stringn(at, length));
		at += length + quoted;
	}
	free(text);
	return err;
}

/* What the program uses: other programs, scripts, kernel modules, beside it in the guest. */
static int add_files(struct builder *builder, struct job *job)
{
	char **files, *guest_path;
	int err = names_split(section_value(job->section, "files", ""), &files);

	if (err)
		return err;
	for (size_t i = 0; !err && files[i]; i++) {
		if (asprintf(&guest_path, "/bin/%s", builder_base_name(files[i])) < 0) {
			err = -ENOMEM;
			break;
		}
		err = add_program(builder, job, files[i], guest_path);
		free(guest_path);
	}
	cgwb_names_free(files);
	return err;
}

static int build_exec(struct builder *builder, struct job *job)
{
	const char *program = section_value(job->section, "program", "");
	char *guest_path;
	json_t *argv;
	int err;

	if (asprintf(&guest_path, "/bin/%s", builder_base_name(program)) < 0)
		return -ENOMEM;

	err = set_duration(job);
	if (!err) {
		argv = json_array();
		err = set(job, "argv", argv);
	}
	if (!err)
		err = builder_append(argv, json_string(guest_path));
	if (!err)
		err = append_arguments(builder, job, argv);
	if (!err)
		err = add_program(builder, job, program, guest_path);
	if (!err)
		err = add_files(builder, job);
	free(guest_path);
	return err;
}

static int build_job(struct builder *builder, struct job *job)
{
	const struct section *section = job->section;
	const char *engine = section_value(section, "engine", "");
	const char *measured =
		section_value(builder_section(builder, "scenario"), "measured_job", "");
	struct cgwb_seed phase = builder_seed(builder, "job", job->name, "phase");
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
	if (!strcmp(engine, "pages"))
		return build_pages(builder, job);
	return build_exec(builder, job);
}

int builder_add_jobs(struct builder *builder, const struct section *section, json_t *array)
{
	const char *path = section_value(section, "cgroup", NULL);
	const struct section *cgroup = path ? sections_find(builder->sections, "cgroup", path) :
					      NULL;
	uint64_t count = schema_number(cgroup, "count", 1);
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		struct job job = { .section = section, .index = i };

		job.name = builder_instance(section->name, cgroup, i);
		job.cgroup = path ? builder_instance(path, cgroup, i) : NULL;
		err = job.name && (job.cgroup || !path) ? build_job(builder, &job) : -ENOMEM;
		if (!err)
			err = builder_append(array, json_incref(job.json));
		json_decref(job.json);
		free(job.name);
		free(job.cgroup);
	}
	return err;
}
