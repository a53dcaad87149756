// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The setting bgthresh: who is patched, and from how many dirty pages on background writeback begins.
 *
 * Raw disks, whose mapping belongs to the cgroup that dirties it: there is no metadata, and nothing is foreign. The
 * flushers look at their thresholds five times a second, and nothing becomes so old that it is written for its age.
 * What a wb's part of a writeout is, the kernel learns from what was written lately, and halves what it has learnt
 * every three seconds: so first all disks are written for eight of these periods, the same number of bytes each, in
 * turns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

#define VM "/proc/sys/vm/"
#define START "/sys/kernel/tracing/events/writeback/writeback_start"
#define PAGES_A_MIB 256
#define WARM_MIB 4
#define WARM_ROUNDS 48
#define WARM_PAUSE_US 500000
/* Long enough for a flusher to have looked again, and to have begun. */
#define LOOK_US 500000
/* Of the test's own process. */
#define ROOT_INO 1
/* By which the root dirties more, until writing begins. */
#define STEP_MIB 4

static const struct {
	const char *name, *value;
} sysctls[] = {
	{ VM "dirty_writeback_centisecs", "20" },
	{ VM "dirty_expire_centisecs", "360000" },
	{ VM "dirty_background_ratio", "20" },
	{ VM "dirty_ratio", "40" },
};

#define SYSCTLS (sizeof(sysctls) / sizeof(sysctls[0]))

static long before[SYSCTLS];
static const char *const disks[] = { "pt0", "pt1" };
static const char *const paths[] = { "/dev/pt0", "/dev/pt1" };
static int fds[2] = { -1, -1 };

static int set_trigger(const char * not )
{
	char text[64];

	snprintf(text, sizeof(text), "%shist:keys=cgroup_ino if reason == %d", not,
		 writeback_reason("background"));
	return file_write(START "/trigger", text);
}

/* Count the beginnings of background writeback from here on. */
static int starts_begin(void)
{
	return set_trigger("");
}

static void starts_end(void)
{
	set_trigger("!");
}

/* Those of one cgroup's wbs. */
static long starts(unsigned long ino)
{
	static char text[65536];
	const char *line;
	unsigned long found;
	long hits;

	file_text(START "/hist", text, sizeof(text));
	for (line = text; (line = strstr(line, "cgroup_ino:")); line++)
		if (sscanf(line, "cgroup_ino: %lu } hitcount: %ld", &found, &hits) == 2 &&
		    found == ino)
			return hits;
	return 0;
}

static int setup(int n)
{
	int ret = 0;

	sync();
	for (size_t i = 0; i < SYSCTLS && !ret; i++) {
		before[i] = file_number(sysctls[i].name);
		ret = file_write(sysctls[i].name, sysctls[i].value);
	}
	for (int i = 0; i < n && !ret; i++) {
		struct disk_spec spec = { .base = i * 256 * MIB, .size = 256 * MIB };

		ret = disk_make(disks[i], &spec);
		if (!ret)
			fds[i] = disk_open(disks[i], O_RDWR);
	}
	file_write(VM "drop_caches", "3");
	return ret;
}

static void teardown(void)
{
	char text[32];

	starts_end();
	for (int i = 0; i < 2; i++) {
		if (fds[i] < 0)
			continue;
		fsync(fds[i]);
		close(fds[i]);
		fds[i] = -1;
		CHECK(!disk_rmdir(disks[i]), "rmdir %s", disks[i]);
	}
	for (size_t i = 0; i < SYSCTLS; i++) {
		snprintf(text, sizeof(text), "%ld", before[i]);
		file_write(sysctls[i].name, text);
	}
}

static int dirty_mib(const char *cgroup, int disk, long first_mib, long mib)
{
	struct page_writer writer = { paths[disk], first_mib * PAGES_A_MIB, mib * PAGES_A_MIB };
	pid_t pid = cgroup_spawn(cgroup, write_pages, &writer);

	return child_wait(pid, 60);
}

/* Each of `n` disks is written, by its cgroup if there are any; then all is clean. */
static int warm_up(int n, const char *const *cgroups)
{
	int ret = 0;

	for (int round = 0; round < WARM_ROUNDS; round++) {
		for (int i = 0; i < n && !ret; i++)
			ret = dirty_mib(cgroups ? cgroups[i] : NULL, i, 0, WARM_MIB) ||
			      fsync(fds[i]);
		usleep(WARM_PAUSE_US);
	}
	return ret;
}

static long vmstat(const char *key)
{
	static char text[16384];
	char pattern[64];
	const char *line;

	file_text("/proc/vmstat", text, sizeof(text));
	snprintf(pattern, sizeof(pattern), "\n%s ", key);
	line = strstr(text, pattern);
	return line ? atol(line + strlen(pattern)) : -1;
}

/* The root dirties one of `n` disks that have the same part of the writeout: at how many MiB does writing begin? */
static long root_begins(int n, long *ret_background)
{
	long mib = 0;
	int ret = setup(n);

	CHECK(!ret, "disks: %d", ret);
	CHECK(!ret && !warm_up(n, NULL) && !starts_begin(), "the first writes, or tracing");
	while (!ret && mib < 240 && !starts(ROOT_INO)) {
		ret = dirty_mib(NULL, 0, mib, STEP_MIB);
		mib += STEP_MIB;
		usleep(LOOK_US);
	}
	CHECK(!ret, "writing: %d", ret);
	*ret_background = vmstat("nr_dirty_background_threshold") / PAGES_A_MIB;
	teardown();
	return mib;
}

static void compare_root(int disks_used)
{
	long background, without, with;

	without = root_begins(disks_used, &background);
	/* Otherwise it is not the threshold that is seen, and the test proves nothing. */
	CHECK(labs(without - background / disks_used) <= background / 8,
	      "the kernel begins at %ld MiB, its threshold is %ld / %d", without, background,
	      disks_used);
	NEED(!policy_load("policy=stock bgthresh=1"), "load");
	with = root_begins(disks_used, &background);
	CHECK(!policy_unload(), "unload");
	tap_note("begins at %ld MiB without, %ld with; threshold %ld / %d", without, with,
		 background, disks_used);
	CHECK(labs(with - without) <= 2 * STEP_MIB,
	      "with bgthresh it begins at %ld, without at %ld MiB", with, without);
}

static void root_is_unchanged(void)
{
	compare_root(1);
}

static void root_with_half_is_unchanged(void)
{
	compare_root(2);
}

static const char *const cgroups[] = { "bg0", "bg1" };

static unsigned long cgroup_ino(const char *name)
{
	struct stat status = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", name);
	stat(path, &status);
	return status.st_ino;
}

static long dirty_of(int i)
{
	return cgroup_stat(cgroups[i], "file_dirty") / MIB;
}

/*
 * Each of two cgroups has a disk of its own, half of the system's writeout and all of its own. The background threshold
 * of each is a fifth of its 300 MiB: 60 MiB, and half of that where the system's writeout is what counts. The system's
 * own thresholds are three times as high.
 */
static void two_cgroups(bool is_shared_by_memcg)
{
	int ret = setup(2);

	NEED(!ret, "disks: %d", ret);
	for (int i = 0; i < 2 && !ret; i++)
		ret = cgroup_make(cgroups[i], "300M");
	CHECK(!ret && !warm_up(2, cgroups) && !starts_begin(), "the first writes, or tracing");
	for (int i = 0; i < 2 && !ret; i++)
		ret = dirty_mib(cgroups[i], i, 0, 45);
	CHECK(!ret, "writing: %d", ret);
	usleep(LOOK_US);
	for (int i = 0; i < 2; i++) {
		long began = starts(cgroup_ino(cgroups[i])), dirty = dirty_of(i);

		tap_note("%s: %ld MiB of 45 dirty, background writeback began %ld times",
			 cgroups[i], dirty, began);
		if (is_shared_by_memcg)
			CHECK(!began && dirty == 45, "began %ld times, %ld MiB dirty", began,
			      dirty);
		else
			CHECK(began > 0 && dirty < 40, "began %ld times, %ld MiB dirty", began,
			      dirty);
	}
	CHECK(starts(ROOT_INO) == 0, "the root's began: it is about something else");
	/* And over its own threshold it begins, still far below the system's. */
	ret = dirty_mib(cgroups[0], 0, 45, 30);
	CHECK(!ret, "writing more: %d", ret);
	usleep(LOOK_US);
	tap_note("%s: %ld MiB of 75 dirty", cgroups[0], dirty_of(0));
	CHECK(starts(cgroup_ino(cgroups[0])) > 0 && dirty_of(0) < 70, "%ld MiB dirty", dirty_of(0));
	teardown();
	for (int i = 0; i < 2; i++)
		CHECK(!cgroup_rmdir(cgroups[i]), "rmdir %s", cgroups[i]);
}

static void without(void)
{
	two_cgroups(kernel_is_6_12());
}

static void with(void)
{
	NEED(!policy_load("policy=stock bgthresh=1"), "load");
	two_cgroups(true);
	CHECK(!policy_unload(), "unload");
}

static void is_patched_when_asked(void)
{
	static const char *const file = "/sys/module/cgwb/parameters/bgthresh";
	bool applies = !kernel_is_6_12();
	char text[64];

	NEED(!policy_load("policy=stock"), "load");
	CHECK(policy_replaces("mem_cgroup_flush_foreign"), "nothing is replaced");
	CHECK(!policy_replaces("wb_over_bg_thresh"), "replaced, though nobody asked");
	file_text(file, text, sizeof(text));
	CHECK(!strcmp(text, applies ? "N\n" : "not applicable\n"), "it reads %s", text);
	CHECK(!policy_unload(), "unload");

	kernel_log_begin();
	NEED(!policy_load("bgthresh=1"), "load");
	CHECK(policy_replaces("wb_over_bg_thresh") == applies, "replaced: %d", !applies);
	file_text(file, text, sizeof(text));
	CHECK(!strcmp(text, applies ? "Y\n" : "not applicable\n"), "then it reads %s", text);
	CHECK(kernel_log_has("cgwb: ", "bgthresh is not applicable") == !applies, "said: %d",
	      applies);
	CHECK(!policy_unload(), "unload");
}

/* Of a livepatch of this function: it is in the way of who wants it, and of nobody else. */
static void other_is_left_in_peace(void)
{
	int ret = livepatch_load(places.other, "other_livepatch", "function=wb_over_bg_thresh");

	NEED(!ret, "loading the other livepatch: %d", ret);
	CHECK(!policy_load("policy=stock") && !policy_unload(), "it is in the way of all");
	kernel_log_begin();
	ret = policy_load("bgthresh=1");
	if (kernel_is_6_12()) {
		CHECK(!ret && !policy_unload(), "it is in the way: %d", ret);
	} else {
		CHECK(ret == -EBUSY, "loading cgwb: %d", ret);
		CHECK(kernel_log_has("livepatch other_livepatch has replaced", "wb_over_bg_thresh"),
		      "not said");
	}
	ret = livepatch_unload("other_livepatch");
	CHECK(!ret, "unloading the other: %d", ret);
}

void policy_bgthresh_cases(void)
{
	tap_case("bgthresh: patched when asked for, where it applies", is_patched_when_asked);
	tap_case("bgthresh: another livepatch of its function is left in peace",
		 other_is_left_in_peace);
	tap_case("bgthresh: in the root it begins where the kernel does", root_is_unchanged);
	tap_case("bgthresh: also with half of the writeout", root_with_half_is_unchanged);
	tap_case("two cgroups, two disks: where the kernel begins", without);
	tap_case("two cgroups, two disks: with bgthresh at the memcg's threshold", with);
}
