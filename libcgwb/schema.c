// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "fio.h"
#include "measure-kind.h"
#include "units.h"

static const char *const policies[] = { "none", "stock", "skip", "mapping", "precise", "off", NULL };
static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq", NULL };
static const char *const filesystems[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", NULL };
static const char *const engines[] = { "fio", "files", "pages", "exec", NULL };
static const char *const yes_no[] = { "yes", "no", NULL };

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
	{ "memory", VALUE_BYTES }, /* its bounds are those of the layout */
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
	{ "remove", VALUE_CHOICE, .choices = yes_no },
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
	{ "delete", VALUE_CHOICE, .choices = yes_no },
	{ "sync", VALUE_CHOICE, .choices = yes_no },
	{ NULL },
};

static const struct schema_key pages_keys[] = {
	{ "filename", VALUE_PATH, .required = true },
	{ "size", VALUE_BYTES, .required = true, .least = 4096 },
	{ "offset", VALUE_BYTES },
	{ "stride", VALUE_BYTES, .least = 4096 },
	{ "duration", VALUE_NS },
	{ "passes", VALUE_NUMBER },
	{ "pages_per_s", VALUE_NUMBER },
	{ NULL },
};

static const struct schema_key exec_keys[] = {
	{ "program", VALUE_WORD, .required = true },
	{ "args", VALUE_TEXT },
	{ "files", VALUE_LIST },
	{ "duration", VALUE_NS },
	{ NULL },
};

/* fio's options are in fio.c; their values go to fio as they stand. */
static const struct schema_key fio_key = { "", VALUE_TEXT };

static const struct schema_key measure_keys[] = {
	{ "kind", VALUE_CHOICE, .required = true, .choices = cgwb_measure_kinds },
	{ "file", VALUE_PATH },
	{ "job", VALUE_WORD },
	{ "cgroup", VALUE_PATH },
	{ "disk", VALUE_WORD },
	{ "trigger", VALUE_CHOICE, .choices = cgwb_measure_triggers },
	{ "event", VALUE_CHOICE, .choices = cgwb_measure_events },
	{ "resource", VALUE_CHOICE, .choices = cgwb_measure_resources },
	{ "share", VALUE_CHOICE, .choices = cgwb_measure_shares },
	{ "stat", VALUE_WORD },
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

const struct schema_key *schema_engine_keys(const char *engine)
{
	if (!strcmp(engine, "files"))
		return files_keys;
	if (!strcmp(engine, "pages"))
		return pages_keys;
	if (!strcmp(engine, "exec"))
		return exec_keys;
	return NULL;
}

static const struct schema_key *engine_keys(const struct section *section)
{
	return schema_engine_keys(section_value(section, "engine", ""));
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
