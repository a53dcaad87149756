// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgwb: foreign dirty flushing, with a choice
 *
 * A livepatch of the two functions by which a memory cgroup remembers that it dirtied pages of an inode that another
 * one owns, and asks for their writeback when it is throttled.
 *
 *	# insmod cgwb.ko policy=mapping
 *	# cat /sys/kernel/livepatch/cgwb/transition
 *	0
 *	# cat /sys/kernel/cgwb/stats/flushes_mapping
 *	105
 *	# echo stock > /sys/module/cgwb/parameters/policy
 *	# echo 0 > /sys/kernel/livepatch/cgwb/enabled
 *	# rmmod cgwb
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/livepatch.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>

#include "bgthresh.h"
#include "compat.h"
#include "hooks.h"
#include "params.h"
#include "reclaim.h"
#include "stats.h"
#include "symbols.h"
#include "target.h"
#include "trace.h"

/*
 * Functions that are replaced only when a parameter asked for it at loading: who does not want them is not patched.
 * Such a parameter is 0444.
 */
static const struct {
	const bool *is_wanted;
	struct klp_func func;
} optional[] __initconst = {
#if CGWB_BGTHRESH_APPLIES
	{ &cgwb_bgthresh, { .old_name = "wb_over_bg_thresh", .new_func = cgwb_over_bg_thresh } },
#endif
	{ &cgwb_reclaim_scope,
	  { .old_name = "wakeup_flusher_threads", .new_func = cgwb_wakeup_flusher_threads } },
	{},
};

#define NR_ALWAYS 2

/* Those that are always replaced; choose_functions() puts the wanted ones behind them, before the empty last one. */
static struct klp_func funcs[NR_ALWAYS + ARRAY_SIZE(optional)] = {
	{ .old_name = "mem_cgroup_track_foreign_dirty_slowpath",
	  .new_func = cgwb_track_foreign_dirty },
	{ .old_name = "mem_cgroup_flush_foreign", .new_func = cgwb_flush_foreign },
};

static void __init choose_functions(void)
{
	struct klp_func *func = funcs + NR_ALWAYS;
	unsigned int i;

	for (i = 0; optional[i].is_wanted; i++)
		if (*optional[i].is_wanted)
			*func++ = optional[i].func;
}

/* Does @patch, which is not ours, hold one of our functions? */
static const char *held_function(const struct klp_patch *patch)
{
	const struct klp_object *obj;
	const struct klp_func *theirs, *ours;

	list_for_each_entry(obj, &patch->obj_list, node) {
		if (obj->name)
			continue;
		list_for_each_entry(theirs, &obj->func_list, node)
			for (ours = funcs; ours->old_name; ours++)
				if (!strcmp(theirs->old_name, ours->old_name))
					return ours->old_name;
	}
	return NULL;
}

/* Under klp_mutex, which keeps the list and means that nobody can come in between the look and our being enabled. */
static int pre_patch(struct klp_object *obj)
{
	const struct klp_patch *patch;

	list_for_each_entry(patch, cgwb_klp_patches, list) {
		const char *name = patch->mod == THIS_MODULE ? NULL : held_function(patch);

		if (name) {
			pr_err("livepatch %s has replaced %s already\n", patch->mod->name, name);
			return -EBUSY;
		}
	}
	return 0;
}

/* Also when a disabling was reversed before it was complete. */
static void post_patch(struct klp_object *obj)
{
	cgwb_targets_resume();
}

static void pre_unpatch(struct klp_object *obj)
{
	cgwb_targets_stop();
}

/* Without the one before it when an enabling was reversed. */
static void post_unpatch(struct klp_object *obj)
{
	cgwb_targets_stop();
	cgwb_targets_report();
}

static struct klp_object objs[] = {
	{ /* without a name it is vmlinux */
	  .funcs = funcs,
	  .callbacks = { .pre_patch = pre_patch,
			 .post_patch = post_patch,
			 .pre_unpatch = pre_unpatch,
			 .post_unpatch = post_unpatch } },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

/*
 * Called through for its address: the checksum of this exported function covers struct mem_cgroup, so a kernel with
 * another layout of it refuses the module.
 */
static bool __init has_memcg(void)
{
	bool ret;

	if (mem_cgroup_disabled())
		return false;
	rcu_read_lock();
	ret = mem_cgroup_from_task(current);
	rcu_read_unlock();
	return ret;
}

static int __init cgwb_init(void)
{
	int ret;

	if (!cgwb_memcgs || cgwb_memcgs > 65536 || !cgwb_targets || cgwb_targets > 1024) {
		pr_err("memcgs can be 1 to 65536, targets 1 to 1024\n");
		return -EINVAL;
	}
	if (!has_memcg()) {
		pr_err("the memory controller is not enabled\n");
		return -EOPNOTSUPP;
	}
	ret = cgwb_symbols_init();
	if (ret)
		return ret;
	ret = cgwb_bgthresh_init();
	if (ret)
		return ret;
	ret = cgwb_trace_init();
	if (ret)
		return ret;
	ret = cgwb_hooks_init(cgwb_memcgs);
	if (ret)
		return ret;
	ret = cgwb_targets_init(cgwb_targets);
	if (ret)
		goto free_hooks;
	ret = cgwb_reclaim_init();
	if (ret)
		goto free_targets;
	ret = cgwb_stats_init();
	if (ret)
		goto stop_reclaim;
	choose_functions();
	ret = klp_enable_patch(&patch);
	if (!ret)
		return 0;
	cgwb_stats_exit();
stop_reclaim:
	cgwb_reclaim_exit();
	tracepoint_synchronize_unregister();
free_targets:
	cgwb_targets_exit();
free_hooks:
	cgwb_hooks_exit();
	return ret;
}

/*
 * The livepatch is disabled and no task is in its functions, or the kernel would not have let go of the module; and no
 * sweep is queued or running, for each has a reference of its own.
 */
static void __exit cgwb_exit(void)
{
	cgwb_stats_exit();
	cgwb_reclaim_exit();
	cgwb_targets_exit();
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	cgwb_hooks_exit();
}

module_init(cgwb_init);
module_exit(cgwb_exit);
MODULE_DESCRIPTION("Foreign dirty flushing of memory cgroups, with a choice of policies");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
