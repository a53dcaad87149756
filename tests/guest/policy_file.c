// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that a cgroup owns and another writes to: policy precise, and the setting threshold_percent.
 *
 * The owner dirties the first pages of a file, so that its wb owns the inode, and some more in a file of its own; all
 * of it stays below its background threshold. Periodic writeback is off: what is written is written because somebody
 * asked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

/* Memory of a cgroup whose tasks may have some 10 MiB dirty, and no more. */
#define HIGH "64M"
/* 24 MiB: more than it may have dirty at any time. */
#define PAGES 6144
#define PAUSE_US 250000
/* What the owner dirties in each of its files: pages. */
#define OWNED 128

static long periodic;
static char shared[256], other[256], own[256];

/* Dirty some pages as the cgroup, and leave it. */
static int write_as(const char *cgroup, const char *path, long first, long count)
{
	struct page_writer writer = { path, first, count };

	return child_wait(cgroup_spawn(cgroup, write_pages, &writer), 20);
}

/* Two cgroups, a file that the owner has begun, and one that is its own. */
static bool start(const char *parameters)
{
	char text[256];

	snprintf(text, sizeof(text), "policy=%s", parameters);
	if (!CHECK(!policy_load(text), "load %s", text))
		return false;
	snprintf(shared, sizeof(shared), "%s/shared", places.mount);
	snprintf(other, sizeof(other), "%s/other", places.mount);
	snprintf(own, sizeof(own), "%s/own", places.mount);
	sync();
	periodic = file_number(PERIODIC);
	file_write(PERIODIC, NEVER);
	return CHECK(!cgroup_make("owner", "512M") && !cgroup_make("need", HIGH), "cgroups") &&
	       CHECK(!write_as("owner", shared, 0, OWNED), "the owner's pages") &&
	       CHECK(!write_as("owner", other, 0, OWNED), "the owner's other file");
}

static void finish(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", periodic);
	file_write(PERIODIC, text);
	unlink(shared);
	unlink(other);
	unlink(own);
	sync();
	CHECK(!cgroup_rmdir("owner") && !cgroup_rmdir("need"), "rmdir");
	CHECK(!policy_unload(), "unload");
}

/* A throttled writer to a foreign file is served, and the owner's pages stay where they are. */
static void precise_leaves_the_owner_alone(void)
{
	struct page_writer writer = { shared, 1024, PAGES, PAUSE_US };
	uint64_t dirty;

	if (!start("precise"))
		return;
	dirty = cgroup_stat("owner", "file_dirty");
	CHECK(dirty >= 2 * OWNED * 4096, "the owner has %llu bytes dirty",
	      (unsigned long long)dirty);
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120), "the writer");
	CHECK(wait_for(60, targets_are_at_rest), "a sweep does not end");
	tap_note(
		"asks %llu joined %llu, sweeps %llu slices %llu pages %llu, fallbacks %llu clean %llu",
		(unsigned long long)stat_get("flushes_stretch"),
		(unsigned long long)stat_get("flushes_joined"),
		(unsigned long long)stat_get("sweeps"), (unsigned long long)stat_get("slices"),
		(unsigned long long)stat_get("pages"), (unsigned long long)stat_get("fallbacks"),
		(unsigned long long)stat_get("clean"));
	CHECK(stat_get("flushes_stretch") > 0, "it never asked");
	CHECK(stat_get("flushes_stock") + stat_get("fallbacks") == 0, "a whole wb was flushed");
	CHECK(stat_get("pages") > PAGES / 2, "%llu pages written",
	      (unsigned long long)stat_get("pages"));
	CHECK(stat_get("pages") <= PAGES + 16, "%llu pages written: somebody else's, too",
	      (unsigned long long)stat_get("pages"));
	CHECK(cgroup_stat("owner", "file_dirty") >= dirty - 16 * 4096,
	      "of the owner's %llu dirty bytes %llu are left", (unsigned long long)dirty,
	      (unsigned long long)cgroup_stat("owner", "file_dirty"));
	finish();
}

/* Under stock the same writer has all of the owner's written: what precise is for. */
static void stock_does_not(void)
{
	struct page_writer writer = { shared, 1024, PAGES, PAUSE_US };

	if (!start("stock"))
		return;
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120), "the writer");
	sleep(3);
	CHECK(stat_get("flushes_stock") > 0, "it never asked");
	CHECK(cgroup_stat("owner", "file_dirty") < OWNED * 4096,
	      "the owner's %llu dirty bytes are left",
	      (unsigned long long)cgroup_stat("owner", "file_dirty"));
	finish();
}

/* The file is gone when its record is asked for: nothing is owed, and the whole wb is left alone. */
static void a_file_that_is_gone(void)
{
	struct page_writer writer = { own, 0, PAGES, PAUSE_US };

	if (!start("precise"))
		return;
	CHECK(!write_as("need", shared, 1024, 8), "a few pages of the foreign file");
	CHECK(stat_get("records") > 0, "no record");
	unlink(shared);
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120),
	      "the writer of its own");
	CHECK(wait_for(60, targets_are_at_rest), "a sweep does not end");
	CHECK(stat_get("flushes_stretch") > 0, "it never asked");
	CHECK(stat_get("clean") == 1, "clean %llu", (unsigned long long)stat_get("clean"));
	CHECK(stat_get("flushes_stock") + stat_get("fallbacks") == 0, "a whole wb was flushed");
	finish();
}

/* With room for one sweep, who asks for another file asks for the owner's wb, as the kernel does. */
static void more_sweeps_than_targets(void)
{
	struct page_writer writer = { own, 0, PAGES, PAUSE_US };

	if (!start("precise targets=1"))
		return;
	CHECK(!write_as("need", shared, 1024, 8), "a few pages of one file");
	CHECK(!write_as("need", other, 1024, 8), "a few pages of another");
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120),
	      "the writer of its own");
	CHECK(wait_for(60, targets_are_at_rest), "a sweep does not end");
	CHECK(stat_get("fallbacks") > 0 && stat_get("flushes_stock") > 0,
	      "fallbacks %llu stock %llu", (unsigned long long)stat_get("fallbacks"),
	      (unsigned long long)stat_get("flushes_stock"));
	CHECK(stat_get("flushes_stretch") > 0, "no sweep");
	finish();
}

/* Below the threshold a record is left armed; without it, it is asked for. */
static void threshold_holds_back(void)
{
	struct page_writer writer = { own, 0, PAGES, PAUSE_US };

	if (!start("stock threshold_percent=50"))
		return;
	CHECK(!write_as("need", shared, 1024, 8), "a few pages of the foreign file");
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120),
	      "the writer of its own");
	CHECK(stat_get("held_back") > 0, "nothing was held back");
	CHECK(stat_get("flushes_stock") == 0, "%llu flushes",
	      (unsigned long long)stat_get("flushes_stock"));
	CHECK(!file_write("/sys/module/cgwb/parameters/threshold_percent", "0"), "set");
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120), "the writer, again");
	CHECK(stat_get("flushes_stock") > 0, "it did not ask");
	finish();
}

/* Above it, it asks as ever. */
static void threshold_is_reached(void)
{
	struct page_writer writer = { shared, 1024, PAGES, PAUSE_US };

	if (!start("precise threshold_percent=50"))
		return;
	CHECK(!child_wait(cgroup_spawn("need", write_pages, &writer), 120), "the writer");
	CHECK(wait_for(60, targets_are_at_rest), "a sweep does not end");
	CHECK(stat_get("flushes_stretch") > 0, "it never asked");
	finish();
}

void policy_file_cases(void)
{
	tap_case("precise serves a writer and leaves the file's owner alone",
		 precise_leaves_the_owner_alone);
	tap_case("stock writes all of the owner's", stock_does_not);
	tap_case("precise: a file that is gone", a_file_that_is_gone);
	tap_case("precise: more sweeps than there is room for", more_sweeps_than_targets);
	tap_case("threshold: below it nobody asks", threshold_holds_back);
	tap_case("threshold: above it, as ever", threshold_is_reached);
}
