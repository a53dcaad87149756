/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rig: what the tests of the policy module share - modules, livepatches, cgroups with something to do in them, and
 * tracefs as the second opinion on every counter.
 *
 * Functions return 0 or a negative errno unless they say otherwise. Where they wait, it is in steps of the
 * guest's clock and up to a number of its seconds.
 */
#ifndef CGWB_TESTS_POLICY_RIG_H
#define CGWB_TESTS_POLICY_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From the command line. */
struct policy_places {
	const char *mount; /* a mounted ext4 */
	const char *module; /* cgwb.ko */
	const char *other; /* other_livepatch.ko */
};

extern struct policy_places places;

int file_write(const char *path, const char *text);
/* -1 if there is none, or it does not begin with a number. */
long file_number(const char *path);
/* Up to `bytes` - 1 of a file, as a string; the empty one if it cannot be read. */
void file_text(const char *path, char *text, size_t bytes);

/* Wait until `is_true` or for `seconds`; returns what it was last. */
bool wait_for(int seconds, bool (*is_true)(void));

int module_load(const char *path, const char *parameters);
int module_unload(const char *name);

/* Load the module, or another livepatch, and wait for the end of its transition. */
int livepatch_load(const char *path, const char *name, const char *parameters);
/* Disable it and wait until it is no more: then its module can be unloaded. */
int livepatch_disable(const char *name);
/* Disable and unload, for as long as it takes a sweep's last step to let go of the module. */
int livepatch_unload(const char *name);

/* Is this kernel at least 6.12, or else 6.1? Some settings are for one of them only. */
bool kernel_is_6_12(void);

/* Does the module replace this function? */
bool policy_replaces(const char *function);
int policy_load(const char *parameters);
int policy_unload(void);
int policy_set(const char *policy);

/* The counters, and what they have gone up by since stats_begin(). */
uint64_t stat_get(const char *name);
void stats_begin(void);
uint64_t stat_delta(const char *name);

/* No sweep is under way; for wait_for(). */
bool targets_are_at_rest(void);

/* Periodic writeback, which the tests that count flushes switch off: by writing NEVER. */
#define PERIODIC "/proc/sys/vm/dirty_writeback_centisecs"
/* An hour. Not 0: then a flusher runs whenever an inode becomes dirty, and looks for background work. */
#define NEVER "360000"

/* Count events from now on, by hist triggers; trace_hits() of one of them, by "system/event". */
int trace_begin(void);
uint64_t trace_hits(const char *event);
void trace_end(void);
/* The number of a reason of writeback, from the events' own format: it is not the same in all kernels. -1: none. */
int writeback_reason(const char *name);

int cgroup_make(const char *name, const char *high);
int cgroup_set(const char *name, const char *file, const char *text);
/* A line of memory.stat. */
uint64_t cgroup_stat(const char *name, const char *key);
int cgroup_rmdir(const char *name);
/* Run a function in a process of its own, in the cgroup; its return value is the exit status. */
pid_t cgroup_spawn(const char *name, int (*run)(void *), void *arg);
/* Its exit status; -ETIMEDOUT when it is still there after `seconds`. */
int child_wait(pid_t pid, int seconds);
void child_kill(pid_t pid);

/*
 * Write `count` pages from page `first` on, a MiB at a time with `pause_us` in between; for cgroup_spawn(). Not faster
 * than the kernel's statistics of a memcg, which it may look at every 2 seconds only, or nobody is ever throttled.
 */
struct page_writer {
	const char *path;
	long first, count;
	unsigned int pause_us;
};
int write_pages(void *page_writer);

/* Make small files, and some data, for a number of seconds; for cgroup_spawn(). */
struct dirtier {
	const char *directory;
	int seconds;
};
int make_files(void *dirtier);
/* And take them away again. */
void remove_files(const char *directory);

/* The kernel's log from now on; then, has it had a line with all of `a` and `b` since? */
void kernel_log_begin(void);
bool kernel_log_has(const char *a, const char *b);
/* The first line with a warning in all of the log since the program began, or NULL. */
const char *kernel_log_warning(void);

#endif
