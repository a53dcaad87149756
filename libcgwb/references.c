// SPDX-License-Identifier: GPL-2.0-or-later
#include "references.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "measure.h"
#include "measure-kind.h"
#include "names.h"
#include "nearest.h"
#include "schema.h"

struct check {
	const struct sections *sections;
	struct cgwb_error *error;
};

static bool is_kind(const struct section *section, const char *kind)
{
	return !strcmp(section->kind, kind);
}

/* A key names `name`, which is not there among the sections of a kind. */
static int fail_missing(struct check *check, const struct section_key *key, const char *kind,
			const char *name)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(name);

	for (size_t i = 0; i < check->sections->n_all; i++) {
		if (is_kind(&check->sections->all[i], kind))
			cgwb_nearest_offer(&nearest, check->sections->all[i].name);
	}
	cgwb_error_at(check->error, -EINVAL, key->file, key->line, "%s: there is no [%s %s]",
		      key->name, kind, name);
	return cgwb_error_nearest(check->error, -EINVAL, nearest.best);
}

static int fail_section(struct check *check, const struct section *section, const char *what)
{
	return cgwb_error_at(check->error, -EINVAL, check->sections->file, section->line,
			     "[%s %s]: %s", section->kind, section->name, what);
}

static int fail_key(struct check *check, const struct section_key *key, const char *what)
{
	return cgwb_error_at(check->error, -EINVAL, key->file, key->line, "%s = %s: %s", key->name,
			     key->value, what);
}

/* The section that a key names must be there. */
static int check_reference(struct check *check, const struct section *section, const char *name,
			   const char *kind)
{
	const struct section_key *key = section_get(section, name);

	if (!key || sections_find(check->sections, kind, key->value))
		return 0;
	return fail_missing(check, key, kind, key->value);
}

static bool is_under(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

const struct section *references_mount(const struct sections *sections, const char *path)
{
	const struct section *best = NULL;

	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		if (is_kind(section, "mount") && is_under(path, section->name) &&
		    (!best || strlen(section->name) > strlen(best->name)))
			best = section;
	}
	return best;
}

/* Jobs may also use /tmp, which is in the guest's memory, and the disks themselves. */
static bool is_place(struct check *check, const char *path)
{
	if (references_mount(check->sections, path) || is_under(path, "/tmp"))
		return true;
	return !strncmp(path, "/dev/", 5) && sections_find(check->sections, "disk", path + 5);
}

static int check_place(struct check *check, const struct section_key *key, const char *path)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(path);

	if (is_place(check, path))
		return 0;

	for (size_t i = 0; i < check->sections->n_all; i++) {
		if (is_kind(&check->sections->all[i], "mount"))
			cgwb_nearest_offer(&nearest, check->sections->all[i].name);
	}
	cgwb_error_at(check->error, -EINVAL, key->file, key->line,
		      "%s: %s does not lie under any [mount]", key->name, path);
	return cgwb_error_nearest(check->error, -EINVAL, nearest.best);
}

/* What the guest itself lives in; a mount would hide it. */
static bool is_guests_own(const char *path)
{
	static const char *const folders[] = { "/bin", "/dev",	     "/etc",	      "/init",
					       "/lib", "/lib64",     "/modules",      "/proc",
					       "/run", "/sbin",	     "/sys",	      "/tmp",
					       "/usr", "/cell.json", "/modules.load", NULL };

	for (const char *const *folder = folders; *folder; folder++) {
		if (is_under(path, *folder))
			return true;
	}
	return false;
}

static int check_mount(struct check *check, const struct section *section)
{
	const struct section_key *disk = section_get(section, "disk");
	int err = check_reference(check, section, "disk", "disk");

	if (!err && is_guests_own(section->name))
		err = fail_section(check, section, "the guest needs that place itself");
	for (const struct section *at = check->sections->all; !err && at < section; at++) {
		if (is_kind(at, "mount") && !strcmp(section_value(at, "disk", ""), disk->value))
			err = fail_key(check, disk, "the disk is already mounted elsewhere");
		else if (is_kind(at, "mount") && is_under(at->name, section->name))
			err = fail_section(check, section, "it would hide a mount before it");
	}
	return err;
}

/* The size of the disk under a mount; UINT64_MAX: it has no such disk, which is another's error. */
static uint64_t mount_bytes(struct check *check, const struct section *mount)
{
	const struct section *disk =
		sections_find(check->sections, "disk", section_value(mount, "disk", ""));

	return disk ? schema_bytes(disk, "size", UINT64_MAX) : UINT64_MAX;
}

/* A file, and all before it on the same mount, are not larger than its disk. */
static int check_file(struct check *check, const struct section *section)
{
	const struct section *mount = references_mount(check->sections, section->name);
	uint64_t left;

	if (!mount)
		return fail_section(check, section, "it does not lie under any [mount]");
	if (!strcmp(mount->name, section->name))
		return fail_section(check, section, "it is a [mount]");

	left = mount_bytes(check, mount);
	for (const struct section *at = check->sections->all; at <= section; at++) {
		uint64_t bytes = schema_bytes(at, "size", 0);

		if (!is_kind(at, "file") || references_mount(check->sections, at->name) != mount)
			continue;
		if (bytes > left)
			return fail_key(check, section_get(section, "size"),
					"the files are larger than the disk of their mount");
		left -= bytes;
	}
	return 0;
}

/* The parent must be there and be one cgroup, not a group of them. */
static int check_parent(struct check *check, const struct section *section)
{
	const char *slash = strrchr(section->name, '/');
	const struct section *parent;
	char *path;

	if (slash == section->name)
		return 0;

	path = strndup(section->name, slash - section->name);
	if (!path)
		return -ENOMEM;
	parent = sections_find(check->sections, "cgroup", path);
	free(path);

	if (!parent)
		return fail_section(check, section, "there is no [cgroup] for its parent");
	if (parent > section)
		return fail_section(check, section, "its parent stands after it");
	if (section_get(parent, "count"))
		return fail_section(check, section, "its parent has a count");
	return 0;
}

static int check_controls(struct check *check, const struct section *section)
{
	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];
		char *disk;
		int err;

		err = control_disk(key->name, key->value, &disk);
		if (!err && disk && !sections_find(check->sections, "disk", disk))
			err = fail_missing(check, key, "disk", disk);
		free(disk);
		if (err)
			return err;
	}
	return 0;
}

/* Whether a name is BASE followed by a number below its count */
static bool is_instance(const struct section *group, uint64_t count, const char *name)
{
	size_t length = strlen(group->name);
	char *end;
	unsigned long long index;

	if (strncmp(name, group->name, length) || name[length] < '0' || name[length] > '9' ||
	    (name[length] == '0' && name[length + 1]))
		return false;
	index = strtoull(name + length, &end, 10);
	return !*end && index < count;
}

/* 0: it is not counted */
static uint64_t count_of(struct check *check, const struct section *section)
{
	const char *cgroup = section_value(section, "cgroup", NULL);

	if (is_kind(section, "job"))
		section = cgroup ? sections_find(check->sections, "cgroup", cgroup) : NULL;
	return section ? schema_number(section, "count", 0) : 0;
}

/* `[cgroup /a] count = 2` beside `[cgroup /a1]` would make /a1 twice; the same for jobs. */
static int check_instances(struct check *check, const struct section *section)
{
	uint64_t count = count_of(check, section);

	for (size_t i = 0; count && i < check->sections->n_all; i++) {
		const struct section *other = &check->sections->all[i];

		if (is_kind(other, section->kind) && !count_of(check, other) &&
		    is_instance(section, count, other->name))
			return fail_section(check, other,
					    "the count of another section makes that name too");
	}
	return 0;
}

static bool is_removed(const struct section *cgroup)
{
	return !strcmp(section_value(cgroup, "remove", "no"), "yes");
}

/* One that is removed with its last job has a job, and nothing within it. */
static int check_removed(struct check *check, const struct section *section)
{
	bool has_job = false;

	if (!is_removed(section))
		return 0;
	for (size_t i = 0; i < check->sections->n_all; i++) {
		const struct section *other = &check->sections->all[i];

		if (is_kind(other, "cgroup") && other != section &&
		    is_under(other->name, section->name))
			return fail_key(check, section_get(section, "remove"),
					"there is another cgroup within it");
		if (is_kind(other, "job") &&
		    !strcmp(section_value(other, "cgroup", ""), section->name))
			has_job = true;
	}
	return has_job ? 0 :
			 fail_key(check, section_get(section, "remove"), "there is no job in it");
}

static int check_cgroup(struct check *check, const struct section *section)
{
	int err = check_parent(check, section);

	if (!err)
		err = check_controls(check, section);
	if (!err)
		err = check_removed(check, section);
	if (!err)
		err = check_instances(check, section);
	return err;
}

static bool has_parent_component(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2) {
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	}
	return false;
}

static int check_fio_path(struct check *check, const struct section_key *key, const char *path,
			  bool relative)
{
	if (has_parent_component(path))
		return fail_key(check, key, "a path with no .. is wanted");
	if (relative && *path != '/')
		return 0;
	return check_place(check, key, path);
}

/* fio takes several paths between colons. */
static int check_fio_paths(struct check *check, const struct section_key *key, bool relative)
{
	char *copy, *rest, *path;
	int err = 0;

	if (!key)
		return 0;
	copy = rest = strdup(key->value);
	if (!copy)
		return -ENOMEM;
	while (!err && (path = strtok_r(rest, ":", &rest)))
		err = check_fio_path(check, key, path, relative);
	free(copy);
	return err;
}

static int check_fio(struct check *check, const struct section *section)
{
	const struct section_key *directory = section_get(section, "directory");
	int err = check_fio_paths(check, directory, false);

	/* Names without a slash at their beginning are in `directory`. */
	if (!err)
		err = check_fio_paths(check, section_get(section, "filename"), directory != NULL);
	if (!err)
		err = check_fio_paths(check, section_get(section, "filename_format"), true);
	return err;
}

static int check_files(struct check *check, const struct section *section)
{
	const struct section_key *directory = section_get(section, "directory");
	uint64_t data_bytes = schema_bytes(section, "data_size", 0);
	int err = check_place(check, directory, directory->value);

	if (err)
		return err;
	if (!schema_ns(section, "duration", 0) && !schema_number(section, "files", 0))
		return fail_section(check, section,
				    "it would never end: neither a duration nor files");
	if (schema_number(section, "data_every", 0) && !data_bytes)
		return fail_section(check, section, "data_every without data_size");
	if (schema_bytes(section, "data_span", data_bytes) < data_bytes)
		return fail_section(check, section, "data_span is smaller than data_size");
	return 0;
}

static int check_pages(struct check *check, const struct section *section)
{
	static const char *const whole[] = { "size", "offset", "stride", NULL };
	const struct section_key *filename = section_get(section, "filename");
	int err = check_place(check, filename, filename->value);

	for (const char *const *name = whole; !err && *name; name++) {
		if (schema_bytes(section, *name, 0) % 4096)
			err = fail_key(check, section_get(section, *name),
				       "not in whole pages of 4K");
	}
	if (!err && !schema_ns(section, "duration", 0) && !schema_number(section, "passes", 0))
		err = fail_section(check, section,
				   "it would never end: neither a duration nor passes");
	return err;
}

static int check_job(struct check *check, const struct section *section)
{
	const char *engine = section_value(section, "engine", "");
	int err = check_reference(check, section, "cgroup", "cgroup");

	if (!err)
		err = check_instances(check, section);
	for (size_t i = 0; !err && i < section->n_keys; i++) {
		if (strstr(section->keys[i].value, "%c") && !section_get(section, "cgroup"))
			err = fail_key(check, &section->keys[i],
				       "%c is the cgroup's name, and the job has no cgroup");
	}
	if (!err && !strcmp(engine, "fio"))
		err = check_fio(check, section);
	if (!err && !strcmp(engine, "files"))
		err = check_files(check, section);
	if (!err && !strcmp(engine, "pages"))
		err = check_pages(check, section);
	return err;
}

/* A file to measure is one that is made before, or that a fio job writes. */
static bool is_file(struct check *check, const char *path)
{
	if (sections_find(check->sections, "file", path))
		return true;

	for (size_t i = 0; i < check->sections->n_all; i++) {
		const struct section *section = &check->sections->all[i];

		if (is_kind(section, "job") &&
		    !strcmp(section_value(section, "filename", ""), path))
			return true;
	}
	return false;
}

static int check_measured_file(struct check *check, const struct section *section)
{
	const struct section_key *file = section_get(section, "file");
	struct cgwb_nearest nearest;

	if (is_file(check, file->value))
		return 0;

	nearest = (struct cgwb_nearest)CGWB_NEAREST_INIT(file->value);
	for (size_t i = 0; i < check->sections->n_all; i++) {
		const struct section *at = &check->sections->all[i];

		if (is_kind(at, "file"))
			cgwb_nearest_offer(&nearest, at->name);
		else if (is_kind(at, "job"))
			cgwb_nearest_offer(&nearest, section_value(at, "filename", NULL));
	}
	fail_key(check, file, "neither a [file] nor the filename of a job");
	return cgwb_error_nearest(check->error, -EINVAL, nearest.best);
}

/* What a kind of measure needs is there, and nothing that it does not take. */
static int check_measure_keys(struct check *check, const struct section *section,
			      enum cgwb_measure_kind kind)
{
	const struct cgwb_measure_form *form = cgwb_measure_form(kind);
	const char *name = cgwb_measure_kinds[kind];
	char text[64];

	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];

		if (!strcmp(key->name, "kind") || !strcmp(key->name, "title") ||
		    cgwb_measure_takes(kind, key->name))
			continue;
		snprintf(text, sizeof(text), "%s takes a %s", name, form->of);
		return fail_key(check, key, text);
	}
	snprintf(text, sizeof(text), "%s of which %s?", name, form->of);
	if (!section_get(section, form->of))
		return fail_section(check, section, text);
	for (const char *const *with = form->with; *with; with++) {
		snprintf(text, sizeof(text), "%s of which %s?", name, *with);
		if (!section_get(section, *with))
			return fail_section(check, section, text);
	}
	return 0;
}

/* Not every engine has every figure. */
static int check_measured_job(struct check *check, const struct section *section,
			      enum cgwb_measure_kind kind)
{
	const struct section_key *job = section_get(section, "job");
	const char *engine =
		section_value(sections_find(check->sections, "job", job->value), "engine", "");

	if (kind == CGWB_JOB_P99 && strcmp(engine, "fio"))
		return fail_key(check, job, "only the engine fio has latencies");
	if ((kind == CGWB_JOB_COUNT || kind == CGWB_JOB_RATE) && !strcmp(engine, "exec"))
		return fail_key(check, job, "the engine exec counts nothing");
	return 0;
}

/* Whose part of the kernel is freed cannot be told, so no others may be. */
static int check_free_delay(struct check *check, const struct section *section)
{
	const struct section_key *cgroup = section_get(section, "cgroup");

	if (!is_removed(sections_find(check->sections, "cgroup", cgroup->value)))
		return fail_key(check, cgroup, "it is not removed");
	for (size_t i = 0; i < check->sections->n_all; i++) {
		const struct section *other = &check->sections->all[i];

		if (is_kind(other, "cgroup") && is_removed(other) &&
		    strcmp(other->name, cgroup->value))
			return fail_key(check, cgroup, "another cgroup is removed as well");
	}
	return 0;
}

static int check_measure(struct check *check, const struct section *section)
{
	enum cgwb_measure_kind kind = cgwb_measure_kind(section_value(section, "kind", ""));
	const struct cgwb_measure_form *form = cgwb_measure_form(kind);
	int err;

	if (cgwb_measure_find(section->name))
		return fail_section(check, section, "every cell has a measure of that name");
	err = check_measure_keys(check, section, kind);
	if (err)
		return err;
	if (!strcmp(form->of, "file"))
		return check_measured_file(check, section);
	/* Which counters there are is the module's to say. */
	if (!strcmp(form->of, "stat"))
		return 0;
	err = check_reference(check, section, form->of, form->of);
	if (!err && !strcmp(form->of, "job"))
		err = check_measured_job(check, section, kind);
	if (!err && kind == CGWB_FREE_DELAY)
		err = check_free_delay(check, section);
	return err;
}

/* Every name in a list must be a variant. */
static int check_variants(struct check *check, const struct section_key *key)
{
	char **names;
	int err;

	if (!key)
		return 0;
	err = names_split(key->value, &names);
	if (err)
		return err;
	for (char **name = names; !err && *name; name++) {
		if (!sections_find(check->sections, "variant", *name))
			err = fail_missing(check, key, "variant", *name);
	}
	cgwb_names_free(names);
	return err;
}

static int check_scenario(struct check *check, const struct section *section)
{
	const struct section_key *job = section_get(section, "measured_job");
	const struct section *measured;
	int err;

	err = check_variants(check, section_get(section, "variants"));
	if (!err)
		err = check_reference(check, section, "base", "variant");
	if (!err)
		err = check_reference(check, section, "measured_job", "job");
	if (err || !job)
		return err;

	measured = sections_find(check->sections, "job", job->value);
	if (!strcmp(section_value(measured, "engine", ""), "exec"))
		return fail_key(check, job, "the engine exec measures nothing");
	if (count_of(check, measured))
		return fail_key(check, job, "the measured job is in a group of cgroups");
	return 0;
}

static const struct {
	const char *kind;
	int (*check)(struct check *check, const struct section *section);
} checks[] = {
	{ "scenario", check_scenario }, { "mount", check_mount }, { "file", check_file },
	{ "cgroup", check_cgroup },	{ "job", check_job },	  { "measure", check_measure },
};

int references_check(const struct sections *sections, struct cgwb_error *error)
{
	struct check check = { .sections = sections, .error = error };

	for (size_t i = 0; i < sections->n_all; i++) {
		for (size_t j = 0; j < sizeof(checks) / sizeof(*checks); j++) {
			int err = 0;

			if (is_kind(&sections->all[i], checks[j].kind))
				err = checks[j].check(&check, &sections->all[i]);
			if (err)
				return err;
		}
	}
	return 0;
}
