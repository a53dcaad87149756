// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading, refusing, switching, unloading. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

#define WRITERS 3

static bool is_loaded(void)
{
	return !access("/sys/kernel/livepatch/cgwb", F_OK) || !access("/sys/kernel/cgwb", F_OK) ||
	       !access("/sys/module/cgwb", F_OK);
}

static void refuse_parameters(void)
{
	static const struct {
		const char *parameters, *said;
	} rows[] = {
		{ "policy=none", "no policy \"none\"" },
		{ "policy=", "no policy \"\"" },
		{ "memcgs=0", "memcgs can be" },
		{ "memcgs=65537", "memcgs can be" },
		{ "targets=0", "targets" },
		{ "targets=1025", "targets" },
		{ "threshold_percent=101", "threshold_percent" },
		{ "slice_ms=9", "slice_ms" },
		{ "interval_ms=60001", "interval_ms" },
		{ "record_age_ms=-1", "record_age_ms" },
		{ "dedupe=maybe", "dedupe" },
		{ "bgthresh=2", "invalid for parameter `bgthresh'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret;

		kernel_log_begin();
		ret = module_load(places.module, rows[i].parameters);
		CHECK(ret == -EINVAL, "%s: %d", rows[i].parameters, ret);
		CHECK(kernel_log_has("cgwb:", rows[i].said), "%s: not said", rows[i].parameters);
		CHECK(!is_loaded(), "%s: something was left", rows[i].parameters);
	}
}

static void refuse_another(void)
{
	int ret = livepatch_load(places.other, "other_livepatch", "");

	NEED(!ret, "loading the other livepatch: %d", ret);
	kernel_log_begin();
	ret = module_load(places.module, "policy=mapping");
	CHECK(ret == -EBUSY, "loading cgwb: %d", ret);
	CHECK(kernel_log_has("livepatch other_livepatch has replaced", "mem_cgroup_flush_foreign"),
	      "not said");
	CHECK(!is_loaded(), "something was left");
	CHECK(access("/sys/kernel/tracing/events/cgwb", F_OK), "trace events were left");
	CHECK(file_number("/sys/kernel/livepatch/other_livepatch/enabled") == 1,
	      "the other was disabled");
	ret = livepatch_unload("other_livepatch");
	CHECK(!ret, "unloading the other: %d", ret);
}

static void files_are_there(void)
{
	char text[256];
	int ret = policy_load("policy=skip memcgs=100 targets=3");

	NEED(!ret, "loading: %d", ret);
	file_text("/sys/module/cgwb/parameters/policy", text, sizeof(text));
	CHECK(!strcmp(text, "skip\n"), "policy is %s", text);
	file_text("/sys/module/cgwb/parameters/targets", text, sizeof(text));
	CHECK(!strcmp(text, "3\n"), "targets is %s", text);
	CHECK(stat_get("tracked") != ~0ULL, "no counter");
	CHECK(!access("/sys/kernel/cgwb/targets", F_OK), "no targets");
	CHECK(!access("/sys/kernel/tracing/events/cgwb/flush/format", F_OK), "no cgwb:flush");
	CHECK(!access("/sys/kernel/tracing/events/cgwb/mapping_written/format", F_OK),
	      "no cgwb:mapping_written");

	CHECK(!policy_set("mapping\n"), "policy_set");
	kernel_log_begin();
	ret = policy_set("precise2");
	CHECK(ret == -EINVAL, "an unknown policy: %d", ret);
	CHECK(kernel_log_has("no policy \"precise2\"",
			     "choose stock, skip, mapping, precise or off"),
	      "not said");
	file_text("/sys/module/cgwb/parameters/policy", text, sizeof(text));
	CHECK(!strcmp(text, "mapping\n"), "then policy is %s", text);

	ret = policy_unload();
	CHECK(!ret, "unloading: %d", ret);
	CHECK(!is_loaded(), "something was left");
	CHECK(access("/sys/kernel/tracing/events/cgwb", F_OK), "trace events were left");
}

/* In, through all policies, and out, again and again, while cgroups make files and are throttled. */
static void under_load(void)
{
	static const char *const policies[] = { "mapping", "stock", "skip", "mapping" };
	struct dirtier dirtiers[WRITERS];
	char directories[WRITERS][128];
	pid_t pids[WRITERS];
	int ret;

	for (int i = 0; i < WRITERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "load%d", i);
		snprintf(directories[i], sizeof(directories[i]), "%s/%s", places.mount, name);
		dirtiers[i] = (struct dirtier){ directories[i], 3600 };
		ret = cgroup_make(name, "32M");
		NEED(!ret, "cgroup %s: %d", name, ret);
		pids[i] = cgroup_spawn(name, make_files, &dirtiers[i]);
	}
	for (int round = 0; round < 3; round++) {
		ret = policy_load("policy=stock");
		CHECK(!ret, "round %d: loading: %d", round, ret);
		for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
			CHECK(!policy_set(policies[i]), "round %d: %s", round, policies[i]);
			sync(); /* commits the journal, which is what dirties metadata */
			usleep(500000);
		}
		CHECK(stat_get("tracked") > 0, "round %d: nothing was tracked", round);
		ret = policy_unload();
		CHECK(!ret, "round %d: unloading: %d", round, ret);
	}
	for (int i = 0; i < WRITERS; i++) {
		char name[16];

		ret = child_wait(pids[i], 1);
		CHECK(ret == -ETIMEDOUT, "writer %d has ended: %d", i, ret);
		child_kill(pids[i]);
		remove_files(directories[i]);
		snprintf(name, sizeof(name), "load%d", i);
		CHECK(!cgroup_rmdir(name), "rmdir %s", name);
	}
}

void policy_load_cases(void)
{
	tap_case("what cannot be is refused by name", refuse_parameters);
	tap_case("another livepatch of the same function is left in peace", refuse_another);
	tap_case("its files are there while it is, and no longer", files_are_there);
	tap_case("in, switched and out under a writing load", under_load);
}
