// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenario.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cell.h"
#include "expect.h"
#include "files.h"
#include "names.h"
#include "nearest.h"
#include "override.h"
#include "published.h"
#include "references.h"
#include "schema.h"
#include "sections.h"

#define EXTENSION ".ini"

struct cgwb_scenario {
	struct sections *sections;
	char *name;
	char **all_variants;
	char **variants[2]; /* of the full form and of the quick one */
	unsigned int seeds[2];
	char **published;
	char *base;
	struct cgwb_expectation **expectations;
	size_t n_expectations;
};

struct cgwb_scenario *cgwb_scenario_free(struct cgwb_scenario *scenario)
{
	if (!scenario)
		return NULL;

	for (size_t i = 0; i < scenario->n_expectations; i++)
		cgwb_expectation_free(scenario->expectations[i]);
	free(scenario->expectations);
	cgwb_names_free(scenario->all_variants);
	cgwb_names_free(scenario->variants[0]);
	cgwb_names_free(scenario->variants[1]);
	cgwb_names_free(scenario->published);
	free(scenario->base);
	free(scenario->name);
	sections_free(scenario->sections);
	free(scenario);
	return NULL;
}

static int apply(struct sections *resolved, const struct sections *from, const char *kind,
		 const char *name, struct cgwb_error *error)
{
	const struct section *overrides = sections_find(from, kind, name);

	return overrides ? override_apply(resolved, overrides, error) : 0;
}

int scenario_resolve(const struct cgwb_scenario *scenario, const char *variant, bool quick,
		     struct sections **ret_sections, struct cgwb_error *error)
{
	struct sections *sections;
	int err;

	if (variant) {
		err = cgwb_scenario_check_variant(scenario, variant, error);
		if (err)
			return err;
	}

	sections = sections_copy(scenario->sections);
	if (!sections)
		return -ENOMEM;

	err = override_prepare(sections);
	if (!err && quick)
		err = apply(sections, scenario->sections, "quick", "", error);
	if (!err && variant)
		err = apply(sections, scenario->sections, "variant", variant, error);
	if (!err)
		err = schema_check(sections, error);
	if (!err)
		err = references_check(sections, error);
	if (err) {
		sections_free(sections);
		return err;
	}
	*ret_sections = sections;
	return 0;
}

/* A variant is right if its cells can be made. */
static int check_variant(const struct cgwb_scenario *scenario, const char *variant,
			 struct cgwb_error *error)
{
	for (int quick = 0; quick <= 1; quick++) {
		struct cgwb_cell *cell = NULL;
		int err = cgwb_cell_new(scenario, variant, 1, quick, &cell, error);

		cgwb_cell_free(cell);
		if (err)
			return err;
	}
	return 0;
}

/* What a run does by default, in one form. */
static int load_form(struct cgwb_scenario *scenario, bool quick, struct cgwb_error *error)
{
	struct sections *sections;
	const struct section *section;
	const char *variants;
	int err;

	err = scenario_resolve(scenario, NULL, quick, &sections, error);
	if (err)
		return err;

	section = sections_find(sections, "scenario", "");
	scenario->seeds[quick] = schema_number(section, "seeds", 1);
	variants = section_value(section, "variants", NULL);
	if (variants)
		err = names_split(variants, &scenario->variants[quick]);
	sections_free(sections);
	return err;
}

static int load_variants(struct cgwb_scenario *scenario)
{
	const struct sections *sections = scenario->sections;

	for (size_t i = 0; i < sections->n_all; i++) {
		const char *name = sections->all[i].name;

		if (!strcmp(sections->all[i].kind, "variant") &&
		    names_add(&scenario->all_variants, name, strlen(name)))
			return -ENOMEM;
	}
	return 0;
}

static int load_base(struct cgwb_scenario *scenario)
{
	const struct section *section = sections_find(scenario->sections, "scenario", "");
	const char *base = section_value(section, "base", NULL);
	const char *const *variant = cgwb_scenario_variants(scenario, false);

	for (; !base && *variant; variant++) {
		if (!strcmp(cgwb_scenario_policy(scenario, *variant), "stock"))
			base = *variant;
	}
	if (!base)
		base = *cgwb_scenario_variants(scenario, false);

	scenario->base = strdup(base);
	return scenario->base ? 0 : -ENOMEM;
}

static int load_expectations(struct cgwb_scenario *scenario, struct cgwb_error *error)
{
	const struct section *expect = sections_find(scenario->sections, "expect", "");
	size_t n = expect ? expect->n_keys : 0;

	scenario->expectations = calloc(n + 1, sizeof(*scenario->expectations));
	if (!scenario->expectations)
		return -ENOMEM;

	for (size_t i = 0; i < n; i++) {
		const struct section_key *key = &expect->keys[i];
		int err = cgwb_expectation_new(scenario, key->value, key->file, key->line,
					       &scenario->expectations[i], error);

		if (err)
			return err;
		scenario->n_expectations++;
	}
	return 0;
}

static int load(struct cgwb_scenario *scenario, struct cgwb_error *error)
{
	const struct section *section;
	int err = schema_check(scenario->sections, error);

	if (!err)
		err = load_variants(scenario);
	if (!err && !scenario->all_variants)
		err = cgwb_error_at(error, -EINVAL, scenario->sections->file, 0,
				    "no section [variant NAME]: there is nothing to run");
	if (!err)
		err = load_form(scenario, false, error);
	if (!err)
		err = load_form(scenario, true, error);
	for (size_t i = 0; !err && scenario->all_variants[i]; i++)
		err = check_variant(scenario, scenario->all_variants[i], error);
	if (!err)
		err = load_base(scenario);
	if (err)
		return err;

	section = sections_find(scenario->sections, "scenario", "");
	err = names_split(section_value(section, "published", ""), &scenario->published);
	return err ? err : load_expectations(scenario, error);
}

/* The file's name without folders and extension */
static char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t length = strlen(name), extension = strlen(EXTENSION);

	if (length > extension && !strcmp(name + length - extension, EXTENSION))
		length -= extension;
	return strndup(name, length);
}

int cgwb_scenario_read_stream(FILE *stream, const char *file, struct cgwb_scenario **ret_scenario,
			      struct cgwb_error *error)
{
	struct cgwb_scenario *scenario = calloc(1, sizeof(*scenario));
	int err;

	if (!scenario)
		return -ENOMEM;

	scenario->name = name_of(file);
	err = scenario->name ? sections_read(stream, file, &scenario->sections, error) : -ENOMEM;
	if (!err)
		err = load(scenario, error);
	if (err) {
		cgwb_scenario_free(scenario);
		return err;
	}
	*ret_scenario = scenario;
	return 0;
}

int cgwb_scenario_read(const char *path, struct cgwb_scenario **ret_scenario,
		       struct cgwb_error *error)
{
	FILE *stream = fopen(path, "re");
	struct stat status;
	int err;

	if (!stream)
		return cgwb_error_set(error, -errno, "scenario %s: %s", path, strerror(errno));

	/* A folder can be opened, and then not be read; a device may be without end. */
	if (fstat(fileno(stream), &status))
		err = -errno;
	else if (S_ISDIR(status.st_mode))
		err = cgwb_error_set(error, -EINVAL, "scenario %s: it is a folder", path);
	else if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
		err = cgwb_error_set(error, -EINVAL, "scenario %s: it is a device", path);
	else
		err = cgwb_scenario_read_stream(stream, path, ret_scenario, error);
	fclose(stream);
	return err;
}

static int is_scenario_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), extension = strlen(EXTENSION);

	return entry->d_name[0] != '.' && length > extension &&
	       !strcmp(entry->d_name + length - extension, EXTENSION);
}

int cgwb_scenario_names(const char *data_dir, char ***ret_names, struct cgwb_error *error)
{
	struct dirent **entries = NULL;
	char **names = calloc(1, sizeof(*names));
	char *folder = NULL;
	int n, err = 0;

	if (!names || asprintf(&folder, "%s/scenarios", data_dir) < 0) {
		free(names);
		return -ENOMEM;
	}

	n = scandir(folder, &entries, is_scenario_file, alphasort);
	if (n < 0)
		err = cgwb_error_set(error, -errno, "scenarios in %s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!err)
			err = names_add(&names, entries[i]->d_name,
					strlen(entries[i]->d_name) - strlen(EXTENSION));
		free(entries[i]);
	}
	free(entries);
	free(folder);

	if (err) {
		cgwb_names_free(names);
		return err;
	}
	*ret_names = names;
	return 0;
}

static int fail_unknown(const char *data_dir, const char *name, struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(name);
	char **names = NULL;

	cgwb_error_set(error, -ENOENT, "there is no scenario %s in %s/scenarios", name, data_dir);
	if (!cgwb_scenario_names(data_dir, &names, NULL)) {
		for (char **at = names; *at; at++)
			cgwb_nearest_offer(&nearest, *at);
		cgwb_error_nearest(error, -ENOENT, nearest.best);
		cgwb_names_free(names);
	}
	return -ENOENT;
}

/* Reads a file, and looks up what it names in the data. */
static int read_with_data(const char *data_dir, const char *path,
			  struct cgwb_scenario **ret_scenario, struct cgwb_error *error)
{
	struct cgwb_scenario *scenario;
	const struct section_key *list;
	int err = cgwb_scenario_read(path, &scenario, error);

	if (err)
		return err;
	list = section_get(sections_find(scenario->sections, "scenario", ""), "published");
	err = list ? published_check_list(data_dir, list, error) : 0;
	if (err)
		cgwb_scenario_free(scenario);
	else
		*ret_scenario = scenario;
	return err;
}

int cgwb_scenario_find(const char *data_dir, const char *name, struct cgwb_scenario **ret_scenario,
		       struct cgwb_error *error)
{
	size_t length = strlen(name), extension = strlen(EXTENSION);
	char *path = NULL;
	int err;

	if (strchr(name, '/') ||
	    (length > extension && !strcmp(name + length - extension, EXTENSION)))
		return read_with_data(data_dir, name, ret_scenario, error);

	if (asprintf(&path, "%s/scenarios/%s%s", data_dir, name, EXTENSION) < 0)
		return -ENOMEM;
	if (access(path, F_OK))
		err = fail_unknown(data_dir, name, error);
	else
		err = read_with_data(data_dir, path, ret_scenario, error);
	free(path);
	return err;
}

const char *cgwb_scenario_name(const struct cgwb_scenario *scenario)
{
	return scenario->name;
}

const char *cgwb_scenario_file(const struct cgwb_scenario *scenario)
{
	return scenario->sections->file;
}

static const char *scenario_value(const struct cgwb_scenario *scenario, const char *name)
{
	return section_value(sections_find(scenario->sections, "scenario", ""), name, NULL);
}

const char *cgwb_scenario_title(const struct cgwb_scenario *scenario)
{
	return scenario_value(scenario, "title");
}

const char *cgwb_scenario_source(const struct cgwb_scenario *scenario)
{
	return scenario_value(scenario, "source");
}

unsigned int cgwb_scenario_seeds(const struct cgwb_scenario *scenario, bool quick)
{
	return scenario->seeds[quick];
}

const char *const *cgwb_scenario_all_variants(const struct cgwb_scenario *scenario)
{
	return (const char *const *)scenario->all_variants;
}

const char *const *cgwb_scenario_variants(const struct cgwb_scenario *scenario, bool quick)
{
	char **variants = scenario->variants[quick];

	return (const char *const *)(variants ? variants : scenario->all_variants);
}

int cgwb_scenario_check_variant(const struct cgwb_scenario *scenario, const char *variant,
				struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(variant);

	for (char **name = scenario->all_variants; name && *name; name++) {
		if (!strcmp(*name, variant))
			return 0;
		cgwb_nearest_offer(&nearest, *name);
	}
	cgwb_error_at(error, -EINVAL, scenario->sections->file, 0, "there is no variant %s",
		      variant);
	return cgwb_error_nearest(error, -EINVAL, nearest.best);
}

const char *cgwb_scenario_base(const struct cgwb_scenario *scenario)
{
	return scenario->base;
}

const char *cgwb_scenario_policy(const struct cgwb_scenario *scenario, const char *variant)
{
	const char *policy = scenario_value(scenario, "policy");
	const struct section *overrides = sections_find(scenario->sections, "variant", variant);

	policy = section_value(overrides, "policy", policy ? policy : "none");
	return section_value(overrides, "scenario.policy", policy);
}

const char *const *cgwb_scenario_published(const struct cgwb_scenario *scenario)
{
	return (const char *const *)scenario->published;
}

static const struct section *measure_at(const struct cgwb_scenario *scenario, size_t index)
{
	const struct sections *sections = scenario->sections;

	for (size_t i = 0; i < sections->n_all; i++) {
		if (!strcmp(sections->all[i].kind, "measure") && !index--)
			return &sections->all[i];
	}
	return NULL;
}

size_t cgwb_scenario_measures(const struct cgwb_scenario *scenario)
{
	size_t n = 0;

	while (measure_at(scenario, n))
		n++;
	return n;
}

const char *cgwb_scenario_measure_name(const struct cgwb_scenario *scenario, size_t index)
{
	return measure_at(scenario, index)->name;
}

const char *cgwb_scenario_measure_title(const struct cgwb_scenario *scenario, size_t index)
{
	const struct section *section = measure_at(scenario, index);

	return section_value(section, "title", section->name);
}

const char *cgwb_scenario_measure_kind(const struct cgwb_scenario *scenario, size_t index)
{
	return section_value(measure_at(scenario, index), "kind", "");
}

bool cgwb_scenario_has_measured_job(const struct cgwb_scenario *scenario)
{
	return scenario_value(scenario, "measured_job") != NULL;
}

size_t cgwb_scenario_expectations(const struct cgwb_scenario *scenario,
				  const struct cgwb_expectation *const **ret_expectations)
{
	*ret_expectations = (const struct cgwb_expectation *const *)scenario->expectations;
	return scenario->n_expectations;
}

const struct sections *scenario_sections(const struct cgwb_scenario *scenario)
{
	return scenario->sections;
}

/* Sets one override, written as a line, in a variant. */
static int add_override(struct section *section, const char *line, const char *where,
			struct cgwb_error *error)
{
	const char *equal = strchr(line, '=');
	char *name, *value;
	int err = -ENOMEM;

	if (!equal)
		return cgwb_error_at(error, -EINVAL, where, 0, "%s: KEY=VALUE is wanted", line);

	name = strndup(line, equal - line);
	value = strdup(equal + 1);
	if (name && value) {
		strip_blanks(name);
		strip_blanks(value);
		err = section_set(section, skip_blanks(name), skip_blanks(value), where, 0);
	}
	free(name);
	free(value);
	return err;
}

static int add_variant(struct cgwb_scenario *scenario, const char *name, const char *from,
		       const char *const *overrides, const char *where, struct cgwb_error *error)
{
	const struct section *source;
	struct section *section;
	int err = 0;

	section = sections_add(scenario->sections, "variant", name, 0);
	if (!section || names_add(&scenario->all_variants, name, strlen(name)))
		return -ENOMEM;

	source = from ? sections_find(scenario->sections, "variant", from) : NULL;
	for (size_t i = 0; !err && source && i < source->n_keys; i++) {
		const struct section_key *key = &source->keys[i];

		err = section_set(section, key->name, key->value, key->file, key->line);
	}
	for (; !err && *overrides; overrides++)
		err = add_override(section, *overrides, where, error);
	return err ? err : check_variant(scenario, name, error);
}

int cgwb_scenario_add_variant(struct cgwb_scenario *scenario, const char *name, const char *from,
			      const char *const *overrides, const char *where,
			      struct cgwb_error *error)
{
	size_t n_sections = scenario->sections->n_all, n_names = 0;
	int err;

	if (sections_find(scenario->sections, "variant", name))
		return cgwb_error_at(error, -EEXIST, where, 0, "there is already a variant %s",
				     name);
	err = from ? cgwb_scenario_check_variant(scenario, from, error) : 0;
	if (err)
		return err;

	while (scenario->all_variants[n_names])
		n_names++;
	err = add_variant(scenario, name, from, overrides, where, error);
	if (!err)
		return 0;

	/* As if it had never been asked for. */
	if (scenario->sections->n_all > n_sections)
		sections_remove(scenario->sections, n_sections);
	free(scenario->all_variants[n_names]);
	scenario->all_variants[n_names] = NULL;
	return err;
}

/* The program in the first of the folders, between colons, that has it. */
static int find_in(const char *folders, const char *program, char **ret_path)
{
	for (; *folders; folders += *folders == ':') {
		size_t length = strcspn(folders, ":");
		char *path;

		if (asprintf(&path, "%.*s/%s", (int)length, folders, program) < 0)
			return -ENOMEM;
		if (length && !access(path, X_OK)) {
			*ret_path = path;
			return 0;
		}
		free(path);
		folders += length;
	}
	return -ENOENT;
}

int cgwb_scenario_program(const struct cgwb_scenario *scenario, const char *program,
			  char **ret_path, struct cgwb_error *error)
{
	const char *file = scenario->sections->file, *slash = strrchr(file, '/');
	const char *folders = getenv("CGWB_PROGRAM_PATH");
	char *path = NULL;
	int err;

	if (strchr(program, '/')) {
		bool relative = *program != '/' && slash;

		if (asprintf(&path, "%.*s%s%s", relative ? (int)(slash - file) : 0, file,
			     relative ? "/" : "", program) < 0)
			return -ENOMEM;
		err = access(path, X_OK) ? -errno : 0;
	} else {
		err = find_in(folders ? folders : "", program, &path);
		if (err == -ENOENT)
			err = cgwb_find_program(program, &path);
	}

	if (err) {
		cgwb_error_at(error, err, file, 0, "program %s: %s", program, strerror(-err));
		free(path);
		return err;
	}
	*ret_path = path;
	return 0;
}
