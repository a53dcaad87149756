// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure-kind.h"

#include <stddef.h>
#include <string.h>

const char *const cgwb_measure_kinds[] = {
	[CGWB_FILE_WRITES] = "file-writes",   [CGWB_DISK_WRITES] = "disk-writes",
	[CGWB_JOB_COUNT] = "job-count",	      [CGWB_JOB_SECONDS] = "job-seconds",
	[CGWB_JOB_RATE] = "job-rate",	      [CGWB_JOB_P99] = "job-p99",
	[CGWB_THROTTLED] = "throttled",	      [CGWB_FLUSHES] = "flushes",
	[CGWB_DIRTIED] = "dirtied",	      [CGWB_FIRST_FLUSH] = "first-flush",
	[CGWB_MEMORY_EVENT] = "memory-event", [CGWB_PRESSURE] = "pressure",
	[CGWB_POLICY_STAT] = "policy-stat",   [CGWB_CPU] = "cpu",
	[CGWB_INSTRUCTIONS] = "instructions", [CGWB_FREE_DELAY] = "free-delay",
	[CGWB_MEASURE_KINDS] = NULL,
};

const char *const cgwb_measure_events[] = { "low",	"high",		  "max", "oom",
					    "oom_kill", "oom_group_kill", NULL };
const char *const cgwb_measure_resources[] = { "cpu", "memory", "io", NULL };
const char *const cgwb_measure_shares[] = { "some", "full", NULL };

/* First the kernel's own reasons (include/trace/events/writeback.h), then the others of guest/writes.c. */
const char *const cgwb_measure_triggers[] = {
	"background",	 "vmscan",	  "sync",    "periodic",  "laptop_timer", "fs_free_space",
	"forker_thread", "foreign_flush", "unknown", "direct",	  "fsync",	  "journal",
	"checkpoint",	 "mapping_flush", "reclaim", "throttled", "other",	  NULL
};

static const struct cgwb_measure_form forms[CGWB_MEASURE_KINDS] = {
	[CGWB_FILE_WRITES] = { .of = "file", .maybe = "trigger", .decimals = 3 },
	[CGWB_DISK_WRITES] = { .of = "disk", .maybe = "trigger", .decimals = 3 },
	[CGWB_JOB_COUNT] = { .of = "job" },
	[CGWB_JOB_SECONDS] = { .of = "job", .decimals = 3 },
	[CGWB_JOB_RATE] = { .of = "job", .decimals = 2 },
	[CGWB_JOB_P99] = { .of = "job", .decimals = 2 },
	[CGWB_CPU] = { .of = "job", .decimals = 3 },
	[CGWB_INSTRUCTIONS] = { .of = "job" },
	[CGWB_THROTTLED] = { .of = "cgroup", .decimals = 2 },
	[CGWB_FLUSHES] = { .of = "cgroup" },
	[CGWB_DIRTIED] = { .of = "cgroup" },
	[CGWB_FIRST_FLUSH] = { .of = "cgroup", .decimals = 2 },
	[CGWB_MEMORY_EVENT] = { .of = "cgroup", .with = { "event" } },
	[CGWB_PRESSURE] = { .of = "cgroup", .with = { "resource", "share" }, .decimals = 3 },
	[CGWB_POLICY_STAT] = { .of = "stat" },
	[CGWB_FREE_DELAY] = { .of = "cgroup", .decimals = 6 },
};

enum cgwb_measure_kind cgwb_measure_kind(const char *name)
{
	enum cgwb_measure_kind kind = 0;

	while (kind < CGWB_MEASURE_KINDS && strcmp(cgwb_measure_kinds[kind], name))
		kind++;
	return kind;
}

const struct cgwb_measure_form *cgwb_measure_form(enum cgwb_measure_kind kind)
{
	return &forms[kind];
}

bool cgwb_measure_takes(enum cgwb_measure_kind kind, const char *key)
{
	const struct cgwb_measure_form *form = &forms[kind];

	if (!strcmp(form->of, key) || (form->maybe && !strcmp(form->maybe, key)))
		return true;
	for (const char *const *with = form->with; *with; with++) {
		if (!strcmp(*with, key))
			return true;
	}
	return false;
}
