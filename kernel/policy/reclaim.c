// SPDX-License-Identifier: GPL-2.0-only
/* Whose memory is reclaimed, and the wake-up of flushers: see reclaim.h. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/memcontrol.h>
#include <linux/moduleparam.h>
#include <linux/page_counter.h>
#include <linux/rculist.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "hooks.h"
#include "reclaim.h"
#include "stats.h"
#include "symbols.h"
#include "trace.h"
#include "wake.h"

bool cgwb_reclaim_scope;
module_param_named(reclaim_scope, cgwb_reclaim_scope, bool, 0444);
MODULE_PARM_DESC(reclaim_scope,
		 "a memcg's reclaim wakes the flushers of its subtree only (default 0)");

/**
 * struct reclaimer - a task within try_to_free_mem_cgroup_pages()
 * @task: the task; NULL in a free one. It is set by cmpxchg, and all else is the task's own
 * @memcg: the target, which the caller of that function keeps
 * @has_woken: this reclaim has woken flushers
 */
struct reclaimer {
	struct task_struct *task;
	struct mem_cgroup *memcg;
	bool has_woken;
};

/* Tasks that reclaim at a time. They seldom come to as many as there are CPUs: but they may sleep there. */
#define RECLAIMER_BITS 9
#define RECLAIMER_WAYS 16

static struct reclaimer reclaimers[(1 << RECLAIMER_BITS) + RECLAIMER_WAYS];

#define WAKER_BITS 7

static struct cgwb_waker wakers[1 << WAKER_BITS][CGWB_WAKE_WAYS];

/* Guards wakers. A leaf, taken in task context only, with interrupts as they are. */
static DEFINE_RAW_SPINLOCK(wakers_lock);

static struct cgwb_waker *wakers_of(u64 serial)
{
	return wakers[hash_64(serial, WAKER_BITS)];
}

static struct reclaimer *find_reclaimer(const struct task_struct *task)
{
	struct reclaimer *reclaimer = &reclaimers[hash_ptr(task, RECLAIMER_BITS)];
	int i;

	for (i = 0; i < RECLAIMER_WAYS; i++)
		if (READ_ONCE(reclaimer[i].task) == task)
			return &reclaimer[i];
	return NULL;
}
NOKPROBE_SYMBOL(find_reclaimer);

/*
 * try_to_free_mem_cgroup_pages(memcg, ...) begins, with preemption off. A task has one entry at most: reclaim
 * does not nest, because a task that reclaims has PF_MEMALLOC and does not begin another.
 */
static int reclaim_begins(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct reclaimer *reclaimer = &reclaimers[hash_ptr(current, RECLAIMER_BITS)];
	int i;

	for (i = 0; i < RECLAIMER_WAYS; i++) {
		if (READ_ONCE(reclaimer[i].task) || cmpxchg(&reclaimer[i].task, NULL, current))
			continue;
		reclaimer[i].memcg = (struct mem_cgroup *)regs_get_kernel_argument(regs, 0);
		reclaimer[i].has_woken = false;
		return 0;
	}
	cgwb_count(reclaim_overflow, 1);
	return 0;
}
NOKPROBE_SYMBOL(reclaim_begins);

/*
 * And ends: the tracepoint mm_vmscan_memcg_reclaim_end. It is registered before the probe, so no entry is
 * left behind.
 */
static void reclaim_ends(void *data, unsigned long nr_reclaimed)
{
	struct reclaimer *reclaimer = find_reclaimer(current);

	if (!reclaimer)
		return;
	if (reclaimer->has_woken && !nr_reclaimed) {
		u64 serial = reclaimer->memcg->css.serial_nr;

		raw_spin_lock(&wakers_lock);
		cgwb_waker_failed(wakers_of(serial), serial);
		raw_spin_unlock(&wakers_lock);
	}
	smp_store_release(&reclaimer->task, NULL);
}

static struct kprobe begin_probe = {
	.symbol_name = "try_to_free_mem_cgroup_pages",
	.pre_handler = reclaim_begins,
};

static bool is_seeing;

int __init cgwb_reclaim_init(void)
{
	int ret;

	if (!cgwb_reclaim_scope)
		return 0;
	ret = cgwb_symbols_reclaim_init();
	if (ret)
		return ret;
	ret = tracepoint_probe_register(cgwb_reclaim_end_tracepoint, reclaim_ends, NULL);
	if (ret) {
		pr_err("cannot trace mm_vmscan_memcg_reclaim_end: error %d\n", ret);
		return ret;
	}
	ret = register_kprobe(&begin_probe);
	if (ret) {
		pr_err("cannot probe try_to_free_mem_cgroup_pages: error %d\n", ret);
		tracepoint_probe_unregister(cgwb_reclaim_end_tracepoint, reclaim_ends, NULL);
		tracepoint_synchronize_unregister();
		return ret;
	}
	is_seeing = true;
	return 0;
}

void cgwb_reclaim_exit(void)
{
	if (!is_seeing)
		return;
	unregister_kprobe(&begin_probe);
	tracepoint_probe_unregister(cgwb_reclaim_end_tracepoint, reclaim_ends, NULL);
}

static struct cgwb_wake_clock wake_clock(void)
{
	return (struct cgwb_wake_clock){
		.now = get_jiffies_64(),
		.patience = msecs_to_jiffies(CGWB_WAKE_PATIENCE_MS),
		.memory = msecs_to_jiffies(CGWB_WAKE_MEMORY_MS),
	};
}

/*
 * Start all of a wb's writeback, as the kernel does. True if that was not under way. Under RCU, interrupts
 * on.
 */
static bool start_wb(struct bdi_writeback *wb, enum wb_reason reason)
{
	if (test_bit(WB_start_all, &wb->state) || test_and_set_bit(WB_start_all, &wb->state))
		return false;
	wb->start_all_reason = reason;
	spin_lock_irq(&wb->work_lock);
	if (test_bit(WB_registered, &wb->state))
		mod_delayed_work(*cgwb_bdi_wq, &wb->dwork, 0);
	spin_unlock_irq(&wb->work_lock);
	return true;
}

/*
 * Wbs whose pages are counted exactly; of the others it is the counter without what CPUs hold back, a few
 * dozen each.
 */
#define EXACT_WBS 64

/*
 * Start the wbs of the subtree. It is the kernel's own walk over all bdis and their wbs, only that the others
 * are passed over, and so costs no more. A wb keeps its memcg's css until it has left the list, and RCU both
 * from there on: also the wbs of cgroups that were removed, which may hold dirty pages yet, are in the list,
 * and below the target.
 *
 * Returns how many it has started; @ret_reached, which may be NULL, gets the reclaimable pages of all of the
 * subtree's.
 */
static unsigned int start_subtree(struct mem_cgroup *target, enum wb_reason reason,
				  unsigned long *ret_reached)
{
	unsigned int started = 0, counted = 0;
	unsigned long reached = 0;
	struct backing_dev_info *bdi;
	struct bdi_writeback *wb;

	rcu_read_lock();
	list_for_each_entry_rcu(bdi, cgwb_bdi_list, bdi_list) {
		if (!bdi_has_dirty_io(bdi))
			continue;
		list_for_each_entry_rcu(wb, &bdi->wb_list, bdi_node) {
			if (!wb_has_dirty_io(wb) ||
			    !mem_cgroup_is_descendant(mem_cgroup_from_css(wb->memcg_css), target))
				continue;
			started += start_wb(wb, reason);
			if (!ret_reached)
				continue;
			if (counted++ < EXACT_WBS)
				reached += wb_stat_sum(wb, WB_RECLAIMABLE);
			else
				reached += wb_stat(wb, WB_RECLAIMABLE);
		}
	}
	rcu_read_unlock();
	if (ret_reached)
		*ret_reached = reached;
	return started;
}

static void start_everything(enum wb_reason reason)
{
	struct backing_dev_info *bdi;

	rcu_read_lock();
	list_for_each_entry_rcu(bdi, cgwb_bdi_list, bdi_list)
		static_call_cond(cgwb_wakeup_bdi)(bdi, reason);
	rcu_read_unlock();
}

/* Flush the live records of all memcgs of the subtree: how many, or -E2BIG when there are too many memcgs. */
static int flush_subtree(struct mem_cgroup *target)
{
	struct mem_cgroup *memcg = NULL;
	unsigned int memcgs = 0;
	int flushed = 0;

	while ((memcg = static_call(cgwb_memcg_iter)(target, memcg, NULL))) {
		if (++memcgs > CGWB_WAKE_MEMCGS) {
			static_call_cond(cgwb_memcg_iter_break)(target, memcg);
			return -E2BIG;
		}
		flushed += cgwb_flush_records(memcg, NULL, 0);
	}
	return flushed;
}

/*
 * So near its memory.max that the next charge may fail. Charges are made in batches of 64 pages, and a huge
 * page is 512: an eighth is more than that where it matters, and where it is not, the limit is so small that
 * caution is cheap.
 */
static bool is_at_max(struct mem_cgroup *memcg)
{
	unsigned long max = READ_ONCE(memcg->memory.max);

	return page_counter_read(&memcg->memory) >= max - max / 8;
}

/*
 * What is to be repeated for @serial: true, and @ret_wake is set. False if a decision is due, or cannot be
 * kept.
 */
static bool repeat_wake(u64 serial, bool at_max, enum cgwb_wake *ret_wake)
{
	struct cgwb_wake_clock clock = wake_clock();
	struct cgwb_waker *waker;
	bool is_due = false;

	raw_spin_lock(&wakers_lock);
	waker = cgwb_waker_find(wakers_of(serial), serial, &clock);
	if (waker)
		is_due = cgwb_waker_is_due(waker, at_max, &clock);
	*ret_wake = waker ? waker->wake : CGWB_WAKE_CROWDED;
	raw_spin_unlock(&wakers_lock);
	return !is_due;
}

/* Of two tasks that are about to decide for one memcg, the first does. */
static enum cgwb_wake decide_wake(u64 serial, bool at_max, const struct cgwb_scope *scope)
{
	struct cgwb_wake_clock clock = wake_clock();
	enum cgwb_wake wake = CGWB_WAKE_CROWDED;
	struct cgwb_waker *waker;

	raw_spin_lock(&wakers_lock);
	waker = cgwb_waker_find(wakers_of(serial), serial, &clock);
	if (waker && cgwb_waker_is_due(waker, at_max, &clock))
		wake = cgwb_waker_decide(waker, scope, &clock);
	else if (waker)
		wake = waker->wake;
	raw_spin_unlock(&wakers_lock);
	return wake;
}

static void count_wake(enum cgwb_wake wake)
{
	switch (wake) {
	case CGWB_WAKE_SCOPED:
		cgwb_count(reclaim_scoped, 1);
		break;
	case CGWB_WAKE_UNKNOWN:
		cgwb_count(reclaim_unknown, 1);
		break;
	case CGWB_WAKE_UNREACHABLE:
		cgwb_count(reclaim_unreachable, 1);
		break;
	case CGWB_WAKE_AGAIN:
		cgwb_count(reclaim_again, 1);
		break;
	case CGWB_WAKE_CROWDED:
		cgwb_count(reclaim_crowded, 1);
		break;
	}
}

/*
 * What the target's dirty pages are. The statistics of a memcg lag by 2 seconds unless somebody looks for
 * them: see compat.h. Then they lag by 64 changes for each CPU at most, which errs to the kernel's wake-up.
 */
static void read_scope(struct mem_cgroup *target, struct cgwb_scope *scope)
{
#if CGWB_RECLAIM_FLUSHES_STATS
	static_call_cond(cgwb_memcg_flush_stats)(target);
#endif
	scope->dirty = static_call(cgwb_memcg_page_state)(target, NR_FILE_DIRTY);
	scope->writeback = static_call(cgwb_memcg_page_state)(target, NR_WRITEBACK);
}

/*
 * A new decision for @target. It is acted upon first: if everything is to be started, that includes the
 * subtree.
 */
static enum cgwb_wake wake_and_decide(struct mem_cgroup *target, bool at_max, enum wb_reason reason,
				      struct cgwb_scope *scope, unsigned int *ret_started)
{
	int flushed;

	read_scope(target, scope);
	flushed = flush_subtree(target);
	*ret_started = start_subtree(target, reason, &scope->reached);
	if (flushed < 0)
		return CGWB_WAKE_CROWDED;
	scope->flushed = flushed;
	cgwb_count(reclaim_flushes, flushed);
	return decide_wake(target->css.serial_nr, at_max, scope);
}

/*
 * The reclaim of @reclaimer's target met dirty pages only.
 *
 * Whatever a task may hold that allocates memory is held here; so nothing waits for writeback, or allocates
 * but for the few bytes of a work in cgroup_writeback_by_id(), which does not wait. The caller keeps the
 * target.
 */
static enum cgwb_wake wake_for(struct reclaimer *reclaimer, enum wb_reason reason)
{
	struct mem_cgroup *target = reclaimer->memcg;
	bool at_max = is_at_max(target), is_repeated;
	struct cgwb_scope scope = { 0 };
	unsigned int started;
	enum cgwb_wake wake;

	reclaimer->has_woken = true;
	is_repeated = repeat_wake(target->css.serial_nr, at_max, &wake);
	if (is_repeated)
		started = start_subtree(target, reason, NULL);
	else
		wake = wake_and_decide(target, at_max, reason, &scope, &started);
	cgwb_count(reclaim_wbs, started);
	trace_reclaim_wake(cgroup_ino(target->css.cgroup), wake, is_repeated, started, &scope);
	return wake;
}

/*
 * Reclaim, or somebody else, wants dirty pages to be written. Task context, interrupts on.
 */
void cgwb_wakeup_flusher_threads(enum wb_reason reason)
{
	struct reclaimer *reclaimer = NULL;
	enum cgwb_wake wake = CGWB_WAKE_UNKNOWN;

	/* Who waits for writeback must not sit on I/O of its own. */
	if (current->plug)
		static_call_cond(cgwb_flush_plug)(current->plug, true);
	if (reason != WB_REASON_VMSCAN) {
		start_everything(reason);
		return;
	}
	cgwb_count(reclaim_wakes, 1);
	reclaimer = find_reclaimer(current);
	/* The root is the machine. */
	if (reclaimer && reclaimer->memcg->css.parent)
		wake = wake_for(reclaimer, reason);
	else
		trace_reclaim_wake(0, wake, false, 0, &(struct cgwb_scope){ 0 });
	count_wake(wake);
	if (wake != CGWB_WAKE_SCOPED)
		start_everything(reason);
}
