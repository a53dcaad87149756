// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "fio.h"
#include "units.h"

static const char *const policies[] = { "none", "stock", "skip", "mapping", NULL };
static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq", NULL };
static const char *const filesystems[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", NULL };
static const char *const engines[] = { "fio", "files", "exec", NULL };
static const char *const yes_no[] = { "yes", "no", NULL };
static const char *const measure_kinds[] = { "file-writes", "job-count", NULL };

/* More is a slip of the finger, not an experiment. */
#define SEEDS_MAX 1000
#define COUNT_MAX 10000

static const struct schema_key scenario_keys[] = {
	{ "title", VALUE_TEXT, .required = true },
	{ "source", VALUE_TEXT },
	{ "kernel", VALUE_WORD },
	{ "modules", VALUE_LIST },
	{ "seeds", VALUE_NUMBER, .least = 1, .most = SEEDS_MAX },
	{ "variants", VALUE_LIST },
	{ "base", VALUE_WORD },
	{ "policy", VALUE_CHOICE, .choices = policies },
	{ "policy_parameters", VALUE_PARAMETERS },
	{ "measured_job", VALUE_WORD },
	{ "limit", VALUE_NS, .least = 1000000000 },
	{ "published", VALUE_LIST },
	{ NULL },
};

static const struct schema_key machine_keys[] = {
	{ "memory", VALUE_BYTES, .least = 1 },
	{ "cpus", VALUE_NUMBER, .least = 1, .most = 255 },
	{ NULL },
};

static const struct schema_key disk_keys[] = {
	{ "size", VALUE_BYTES, .required = true, .least = 1 << 20 },
	{ "write", VALUE_BYTES },
	{ "read", VALUE_BYTES },
	{ "iops", VALUE_NUMBER },
	{ "latency", VALUE_NS },
	{ "depth", VALUE_NUMBER, .least = 1, .most = 65535 },
	{ "scheduler", VALUE_CHOICE, .choices = schedulers },
	{ "wbt", VALUE_NS_OR_OFF },
	{ "max_sectors", VALUE_BYTES, .least = 4096 },
	{ NULL },
};

static const struct schema_key mount_keys[] = {
	{ "disk", VALUE_WORD, .required = true },
	{ "type", VALUE_CHOICE, .required = true, .choices = filesystems },
	{ "mkfs", VALUE_TEXT },
	{ "options", VALUE_WORD },
	{ NULL },
};

static const struct schema_key file_keys[] = {
	{ "size", VALUE_BYTES, .required = true },
	{ NULL },
};

/* The control files are in control.c. */
static const struct schema_key cgroup_keys[] = {
	{ "count", VALUE_NUMBER, .least = 1, .most = COUNT_MAX },
	{ NULL },
};

static const struct schema_key control_key = { "", VALUE_CONTROL };

static const struct schema_key job_keys[] = {
	{ "engine", VALUE_CHOICE, .required = true, .choices = engines },
	{ "cgroup", VALUE_PATH },
	{ "start", VALUE_NS },
	{ NULL },
};

static const struct schema_key files_keys[] = {
	{ "directory", VALUE_PATH, .required = true },
	{ "duration", VALUE_NS },
	{ "files", VALUE_NUMBER },
	{ "files_per_s", VALUE_NUMBER },
	{ "file_size", VALUE_BYTES },
	{ "files_per_directory", VALUE_NUMBER, .least = 1 },
	{ "xattr_size", VALUE_BYTES, .least = 8, .most = 65536 },
	{ "data_every", VALUE_NUMBER },
	{ "data_size", VALUE_BYTES },
	{ "data_span", VALUE_BYTES },
	{ "sync", VALUE_CHOICE, .choices = yes_no },
	{ NULL },
};

static const struct schema_key exec_keys[] = {
	{ "program", VALUE_WORD, .required = true },
	{ "args", VALUE_TEXT },
	{ "duration", VALUE_NS },
	{ NULL },
};

/* fio's options are in fio.c; their values go to fio as they stand. */
static const struct schema_key fio_key = { "", VALUE_TEXT };

static const struct schema_key measure_keys[] = {
	{ "kind", VALUE_CHOICE, .required = true, .choices = measure_kinds },
	{ "file", VALUE_PATH },
	{ "job", VALUE_WORD },
	{ "title", VALUE_WORD },
	{ NULL },
};

static const struct schema_key any_key = { "", VALUE_TEXT };

static const struct schema_kind kinds[] = {
	{ "scenario", NAMING_NONE, true, scenario_keys },
	{ "machine", NAMING_NONE, true, machine_keys },
	{ "sysctl", NAMING_NONE, true, NULL },
	{ "disk", NAMING_WORD, true, disk_keys },
	{ "mount", NAMING_PATH, true, mount_keys },
	{ "file", NAMING_PATH, true, file_keys },
	{ "cgroup", NAMING_PATH, true, cgroup_keys },
	{ "job", NAMING_WORD, true, job_keys },
	{ "measure", NAMING_WORD, true, measure_keys },
	{ "variant", NAMING_WORD, false, NULL },
	{ "quick", NAMING_NONE, false, NULL },
	{ "expect", NAMING_NONE, false, NULL },
	{ NULL },
};

const struct schema_kind *schema_kind(const char *name)
{
	for (const struct schema_kind *kind = kinds; kind->name; kind++) {
		if (!strcmp(kind->name, name))
			return kind;
	}
	return NULL;
}

void schema_offer_kinds(struct cgwb_nearest *nearest)
{
	for (const struct schema_kind *kind = kinds; kind->name; kind++)
		cgwb_nearest_offer(nearest, kind->name);
}

static const struct schema_key *keys_find(const struct schema_key *keys, const char *name)
{
	for (; keys->name; keys++) {
		if (!strcmp(keys->name, name))
			return keys;
	}
	return NULL;
}

/* The keys of a job's engine, besides job_keys; NULL: fio, or no engine that is known */
static const struct schema_key *engine_keys(const struct section *section)
{
	const char *engine = section_value(section, "engine", "");

	if (!strcmp(engine, "files"))
		return files_keys;
	if (!strcmp(engine, "exec"))
		return exec_keys;
	return NULL;
}

static bool is_fio(const struct section *section)
{
	return !strcmp(section_value(section, "engine", ""), "fio");
}

/* Of other folders every name is taken; these are what writeback, reclaim and memory have, 6.1 and 6.12. */
static const char *const vm_sysctls[] = {
	"vm.admin_reserve_kbytes",
	"vm.compact_memory",
	"vm.compact_unevictable_allowed",
	"vm.compaction_proactiveness",
	"vm.dirty_background_bytes",
	"vm.dirty_background_ratio",
	"vm.dirty_bytes",
	"vm.dirty_expire_centisecs",
	"vm.dirty_ratio",
	"vm.dirty_writeback_centisecs",
	"vm.dirtytime_expire_seconds",
	"vm.drop_caches",
	"vm.extfrag_threshold",
	"vm.laptop_mode",
	"vm.lowmem_reserve_ratio",
	"vm.max_map_count",
	"vm.min_free_kbytes",
	"vm.min_slab_ratio",
	"vm.min_unmapped_ratio",
	"vm.mmap_min_addr",
	"vm.nr_hugepages",
	"vm.nr_overcommit_hugepages",
	"vm.numa_stat",
	"vm.numa_zonelist_order",
	"vm.oom_dump_tasks",
	"vm.oom_kill_allocating_task",
	"vm.overcommit_kbytes",
	"vm.overcommit_memory",
	"vm.overcommit_ratio",
	"vm.page-cluster",
	"vm.page_lock_unfairness",
	"vm.panic_on_oom",
	"vm.percpu_pagelist_high_fraction",
	"vm.stat_interval",
	"vm.swappiness",
	"vm.unprivileged_userfaultfd",
	"vm.user_reserve_kbytes",
	"vm.vfs_cache_pressure",
	"vm.watermark_boost_factor",
	"vm.watermark_scale_factor",
	"vm.zone_reclaim_mode",
	NULL,
};

/* At least two parts, of letters, digits and _ - */
static bool is_sysctl_name(const char *name)
{
	bool dot = false;

	for (const char *at = name; *at; at++) {
		if (*at == '.' || *at == '/')
			dot = at != name && at[1] && at[1] != '.' && at[1] != '/';
		else if (!isalnum((unsigned char)*at) && !strchr("_-", *at))
			return false;
		if ((*at == '.' || *at == '/') && !dot)
			return false;
	}
	return dot;
}

static bool sysctl_known(const char *name)
{
	if (strncmp(name, "vm.", 3))
		return is_sysctl_name(name);

	for (const char *const *known = vm_sysctls; *known; known++) {
		if (!strcmp(*known, name))
			return true;
	}
	return false;
}

const struct schema_key *schema_key(const struct section *section, const char *name)
{
	const struct schema_kind *kind = schema_kind(section->kind);
	const struct schema_key *key;

	if (!kind)
		return NULL;
	if (!strcmp(kind->name, "sysctl"))
		return sysctl_known(name) ? &any_key : NULL;
	if (!kind->keys)
		return &any_key;

	key = keys_find(kind->keys, name);
	if (key)
		return key;

	if (!strcmp(kind->name, "cgroup"))
		return control_known(name) ? &control_key : NULL;
	if (strcmp(kind->name, "job"))
		return NULL;
	if (is_fio(section))
		return fio_option_known(name) ? &fio_key : NULL;
	return engine_keys(section) ? keys_find(engine_keys(section), name) : NULL;
}

static void offer_keys(const struct schema_key *keys, struct cgwb_nearest *nearest)
{
	for (; keys && keys->name; keys++)
		cgwb_nearest_offer(nearest, keys->name);
}

void schema_offer_keys(const struct section *section, struct cgwb_nearest *nearest)
{
	const struct schema_kind *kind = schema_kind(section->kind);

	if (!kind)
		return;

	offer_keys(kind->keys, nearest);
	if (!strcmp(kind->name, "cgroup"))
		control_offer(nearest);
	for (const char *const *known = vm_sysctls; !strcmp(kind->name, "sysctl") && *known;
	     known++)
		cgwb_nearest_offer(nearest, *known);
	if (strcmp(kind->name, "job"))
		return;

	offer_keys(engine_keys(section), nearest);
	for (const char *const *option = fio_options(); is_fio(section) && *option; option++)
		cgwb_nearest_offer(nearest, *option);
}

/* Checks. */

static int check_fail(const struct section_key *key, struct cgwb_error *error, const char *what)
{
	return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s = %s: %s", key->name,
			     key->value, what);
}

static int check_choice(const struct section_key *key, const struct schema_key *schema,
			struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key->value);
	char words[256] = "it is one of";

	for (const char *const *choice = schema->choices; *choice; choice++) {
		if (!strcmp(*choice, key->value))
			return 0;
		cgwb_nearest_offer(&nearest, *choice);
		strncat(words, " ", sizeof(words) - strlen(words) - 1);
		strncat(words, *choice, sizeof(words) - strlen(words) - 1);
	}
	check_fail(key, error, words);
	return cgwb_error_nearest(error, -EINVAL, nearest.best);
}

static int check_quantity(const struct section_key *key, const struct schema_key *schema,
			  struct cgwb_error *error)
{
	const char *what = "not a number";
	char bound[CGWB_UNITS_TEXT];
	uint64_t value;
	int err;

	switch (schema->type) {
	case VALUE_BYTES:
		err = cgwb_parse_bytes(key->value, &value);
		what = "not a size (bytes, or with K, M, G, T)";
		break;
	case VALUE_NS_OR_OFF:
		if (!strcmp(key->value, "off"))
			return 0;
		/* fall through */
	case VALUE_NS:
		err = cgwb_parse_ns(key->value, &value);
		what = "not a time (a number with us, ms, s or m)";
		break;
	default:
		err = cgwb_parse_u64(key->value, &value);
		break;
	}

	if (!err && value > INT64_MAX)
		err = -ERANGE;
	if (err)
		return check_fail(key, error, err == -ERANGE ? "too large" : what);
	if (value >= schema->least && (!schema->most || value <= schema->most))
		return 0;

	what = value < schema->least ? "at least" : "at most";
	value = value < schema->least ? schema->least : schema->most;
	if (schema->type == VALUE_NS || schema->type == VALUE_NS_OR_OFF)
		cgwb_format_ns(value, bound);
	else
		cgwb_format_bytes(value, bound);
	return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s = %s: it is %s %s",
			     key->name, key->value, what, bound);
}

static bool is_path(const char *text)
{
	size_t length = strlen(text);

	if (length < 2 || text[0] != '/' || text[length - 1] == '/' || strstr(text, "//") ||
	    strpbrk(text, " \t"))
		return false;

	for (const char *at = text; (at = strstr(at, "/.")); at++) {
		const char *rest = at + 2 + (at[2] == '.');

		if (!*rest || *rest == '/')
			return false;
	}
	return true;
}

static int check_list(const struct section_key *key, struct cgwb_error *error)
{
	const char *at = key->value;

	for (;;) {
		size_t length;

		at += strspn(at, " \t");
		length = strcspn(at, ", \t");
		if (!length)
			return check_fail(key, error, "names are wanted, between commas");
		at += length;
		at += strspn(at, " \t");
		if (!*at)
			return 0;
		if (*at++ != ',')
			return check_fail(key, error, "names are wanted, between commas");
	}
}

static int check_parameters(const struct section_key *key, struct cgwb_error *error)
{
	const char *at = key->value;

	for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
		size_t length = strcspn(at, " \t"), name = strcspn(at, "= \t");

		if (!name || name + 1 >= length)
			return check_fail(key, error, "NAME=VALUE words are wanted");
		at += length;
	}
	return 0;
}

static int check_control(const struct section_key *key, struct cgwb_error *error)
{
	char *value = NULL, *wrong;
	int err;

	err = control_value(key->name, key->value, &value, &wrong);
	free(value);
	if (err == -EINVAL)
		err = cgwb_error_at(error, err, key->file, key->line,
				    "%s = %s: %s is no setting of it", key->name, key->value,
				    wrong ? wrong : "that");
	free(wrong);
	return err;
}

static int check_value(const struct section_key *key, const struct schema_key *schema,
		       struct cgwb_error *error)
{
	if (!*key->value)
		return cgwb_error_at(error, -EINVAL, key->file, key->line, "%s has no value",
				     key->name);

	switch (schema->type) {
	case VALUE_TEXT:
		return 0;
	case VALUE_WORD:
		return strpbrk(key->value, " \t") ? check_fail(key, error, "one word is wanted") :
						    0;
	case VALUE_PATH:
		return is_path(key->value) ? 0 :
					     check_fail(key, error, "an absolute path is wanted");
	case VALUE_LIST:
		return check_list(key, error);
	case VALUE_CHOICE:
		return check_choice(key, schema, error);
	case VALUE_PARAMETERS:
		return check_parameters(key, error);
	case VALUE_CONTROL:
		return check_control(key, error);
	case VALUE_BYTES:
	case VALUE_NS:
	case VALUE_NS_OR_OFF:
	case VALUE_NUMBER:
		break;
	}
	return check_quantity(key, schema, error);
}

static bool is_word(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;

	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("-_.", *text))
			return false;
	}
	return true;
}

static int check_name(const struct sections *sections, const struct section *section,
		      const struct schema_kind *kind, struct cgwb_error *error)
{
	const char *what;

	switch (kind->naming) {
	case NAMING_NONE:
		if (!*section->name)
			return 0;
		what = "this section has no name";
		break;
	case NAMING_WORD:
		if (is_word(section->name))
			return 0;
		what = "its name is wanted: letters, digits, - _ .";
		break;
	case NAMING_PATH:
	default:
		if (is_path(section->name))
			return 0;
		what = "its absolute path is wanted";
		break;
	}

	return cgwb_error_at(error, -EINVAL, sections->file, section->line, "[%s%s%s]: %s",
			     section->kind, *section->name ? " " : "", section->name, what);
}

static int check_keys(const struct section *section, struct cgwb_error *error)
{
	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];
		const struct schema_key *schema = schema_key(section, key->name);
		struct cgwb_nearest nearest = CGWB_NEAREST_INIT(key->name);
		int err;

		if (!schema) {
			schema_offer_keys(section, &nearest);
			cgwb_error_at(error, -EINVAL, key->file, key->line,
				      "unknown key %s in [%s%s%s]", key->name, section->kind,
				      *section->name ? " " : "", section->name);
			return cgwb_error_nearest(error, -EINVAL, nearest.best);
		}

		err = check_value(key, schema, error);
		if (err)
			return err;
	}
	return 0;
}

static int check_required(const struct sections *sections, const struct section *section,
			  const struct schema_key *keys, struct cgwb_error *error)
{
	for (; keys && keys->name; keys++) {
		if (keys->required && !section_get(section, keys->name))
			return cgwb_error_at(error, -EINVAL, sections->file, section->line,
					     "[%s%s%s] has no %s", section->kind,
					     *section->name ? " " : "", section->name, keys->name);
	}
	return 0;
}

static int check_section(const struct sections *sections, const struct section *section,
			 struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(section->kind);
	const struct schema_kind *kind = schema_kind(section->kind);
	const struct section_key *engine;
	int err;

	if (!kind) {
		schema_offer_kinds(&nearest);
		cgwb_error_at(error, -EINVAL, sections->file, section->line, "unknown section [%s]",
			      section->kind);
		return cgwb_error_nearest(error, -EINVAL, nearest.best);
	}

	err = check_name(sections, section, kind, error);
	if (err)
		return err;

	/* What else may stand in a job depends on its engine, so an error in that comes first. */
	engine = strcmp(kind->name, "job") ? NULL : section_get(section, "engine");
	if (engine)
		err = check_value(engine, keys_find(job_keys, "engine"), error);
	if (!err)
		err = check_required(sections, section, engine ? NULL : kind->keys, error);
	/* The keys of the others are those of other sections, checked where they are applied. */
	if (!err && (kind->overridable || !strcmp(kind->name, "expect")))
		err = check_keys(section, error);
	if (!err && engine)
		err = check_required(sections, section, engine_keys(section), error);
	return err;
}

int schema_check(const struct sections *sections, struct cgwb_error *error)
{
	for (size_t i = 0; i < sections->n_all; i++) {
		int err = check_section(sections, &sections->all[i], error);

		if (err)
			return err;
	}

	if (!sections_find(sections, "scenario", ""))
		return cgwb_error_at(error, -EINVAL, sections->file, 0, "no section [scenario]");
	return 0;
}

uint64_t schema_bytes(const struct section *section, const char *name, uint64_t otherwise)
{
	const char *text = section_value(section, name, NULL);
	uint64_t value;

	return text && !cgwb_parse_bytes(text, &value) ? value : otherwise;
}

uint64_t schema_ns(const struct section *section, const char *name, uint64_t otherwise)
{
	const char *text = section_value(section, name, NULL);
	uint64_t value;

	return text && !cgwb_parse_ns(text, &value) ? value : otherwise;
}

uint64_t schema_number(const struct section *section, const char *name, uint64_t otherwise)
{
	const char *text = section_value(section, name, NULL);
	uint64_t value;

	return text && !cgwb_parse_u64(text, &value) ? value : otherwise;
}
