// SPDX-License-Identifier: GPL-2.0-only
/* The targets and the work that sweeps them: see target.h for the rules, slice.c for the writing. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "hooks.h"
#include "stats.h"
#include "slice.h"
#include "sweep.h"
#include "target.h"

/**
 * struct cgwb_target - one device
 * @work: runs one slice, and queues itself again while the sweep is owed
 * @sweep: where it is
 * @used_at: jiffies_64 when a record of the device was last armed
 * @next_at: jiffies_64 before which no slice begins
 * @dev: the device; 0 in a target that was never held
 * @queued: @work is queued or running, and holds a module reference
 */
struct cgwb_target {
	struct delayed_work work;
	struct cgwb_sweep sweep;
	u64 used_at;
	u64 next_at;
	u32 dev;
	bool queued;
};

static struct cgwb_target *targets;
static unsigned int nr_targets;
static bool is_stopping;
static struct workqueue_struct *workqueue;

/* Guards all of the above. A leaf, taken with interrupts off: the tracker holds targets under the i_pages lock. */
static DEFINE_RAW_SPINLOCK(targets_lock);

/* Under targets_lock. */
static struct cgwb_target *find_target(u32 dev, const struct cgwb_clock *clock)
{
	struct cgwb_target *idle = NULL;
	unsigned int i;

	lockdep_assert_held(&targets_lock);
	for (i = 0; i < nr_targets; i++) {
		struct cgwb_target *target = &targets[i];

		if (target->dev == dev)
			return target;
		if (!idle && !target->queued &&
		    (!target->dev || !time_after64(target->used_at, clock->now - clock->expire)))
			idle = target;
	}
	if (!idle)
		return NULL;
	idle->dev = dev;
	idle->next_at = clock->now;
	cgwb_sweep_init(&idle->sweep);
	return idle;
}

bool cgwb_target_hold(u32 dev, const struct cgwb_clock *clock)
{
	struct cgwb_target *target;
	unsigned long flags;

	raw_spin_lock_irqsave(&targets_lock, flags);
	target = find_target(dev, clock);
	if (target)
		target->used_at = clock->now;
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return target;
}

/* Under targets_lock: queue the next slice. */
static void queue_slice(struct cgwb_target *target, u64 now)
{
	unsigned long delay = time_after64(target->next_at, now) ? target->next_at - now : 0;

	queue_delayed_work(workqueue, &target->work, delay);
}

int cgwb_target_ask(u32 dev, const struct cgwb_clock *clock)
{
	struct cgwb_target *target;
	unsigned long flags;
	int ret = -ESHUTDOWN;

	raw_spin_lock_irqsave(&targets_lock, flags);
	if (is_stopping)
		goto out;
	ret = -ENOSPC;
	target = find_target(dev, clock);
	if (!target)
		goto out;
	cgwb_sweep_ask(&target->sweep, clock->now);
	ret = target->queued;
	if (!target->queued) {
		/* Cannot fail to be there: this is called from a function that the livepatch put in place. */
		__module_get(THIS_MODULE);
		target->queued = true;
		queue_slice(target, clock->now);
	}
out:
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return ret;
}

/* Is there a slice to do? If not, the target is at rest, and the caller gives up the module reference. */
static bool begin_slice(struct cgwb_target *target, struct cgwb_slice *slice)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned long flags;
	bool is_owed;

	raw_spin_lock_irqsave(&targets_lock, flags);
	slice->dev = target->dev;
	if (is_stopping && cgwb_sweep_is_owed(&target->sweep, &clock)) {
		cgwb_sweep_init(&target->sweep);
		cgwb_count(abandoned, 1);
	}
	is_owed = cgwb_sweep_begin(&target->sweep, &clock, &slice->first, &slice->last);
	if (!is_owed)
		target->queued = false;
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return is_owed;
}

/* Account for what the slice did. Returns true when another is queued, which keeps the module reference. */
static bool end_slice(struct cgwb_target *target, const struct cgwb_slice *slice, int error)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned long flags;
	bool is_owed;

	raw_spin_lock_irqsave(&targets_lock, flags);
	if (error) {
		cgwb_sweep_init(&target->sweep);
		cgwb_count(gone, 1);
	} else {
		if (slice->missed)
			cgwb_sweep_missed(&target->sweep, slice->missed_first, slice->missed_last);
		if (cgwb_sweep_end(&target->sweep, slice->last))
			cgwb_count(sweeps, 1);
	}
	target->next_at = clock.now + msecs_to_jiffies(CGWB_SLICE_MS);
	is_owed = cgwb_sweep_is_owed(&target->sweep, &clock);
	target->queued = is_owed;
	if (is_owed)
		queue_slice(target, clock.now);
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return is_owed;
}

/* One slice of one target. In process context, holding nothing but the module reference of a queued target. */
static void target_work(struct work_struct *work)
{
	struct cgwb_target *target = container_of(to_delayed_work(work), struct cgwb_target, work);
	struct cgwb_slice slice = { 0 };

	if (!begin_slice(target, &slice))
		goto rest;
	if (end_slice(target, &slice, cgwb_slice_write(&slice)))
		return;
rest:
	/* The exit waits for this function to return before anything goes away. */
	module_put(THIS_MODULE);
}

void cgwb_targets_stop(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&targets_lock, flags);
	is_stopping = true;
	raw_spin_unlock_irqrestore(&targets_lock, flags);
}

void cgwb_targets_resume(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&targets_lock, flags);
	is_stopping = false;
	raw_spin_unlock_irqrestore(&targets_lock, flags);
}

/* The device of target @i, if its sweep has not ended; 0 otherwise. */
static u32 unfinished_dev(unsigned int i)
{
	unsigned long flags;
	u32 dev;

	raw_spin_lock_irqsave(&targets_lock, flags);
	dev = targets[i].queued ? targets[i].dev : 0;
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return dev;
}

static void report_work(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < nr_targets; i++) {
		u32 dev = unfinished_dev(i);
		struct inode *inode = dev ? ilookup(blockdev_superblock, dev) : NULL;

		if (inode)
			pr_warn("writes to disk %pg (%u:%u) have not ended; the module stays, inactive, until they do\n",
				I_BDEV(inode), MAJOR(dev), MINOR(dev));
		else if (dev)
			pr_warn("writes to disk %u:%u have not ended; the module stays, inactive, until they do\n",
				MAJOR(dev), MINOR(dev));
		iput(inode);
	}
}

static DECLARE_DELAYED_WORK(report, report_work);

void cgwb_targets_report(void)
{
	queue_delayed_work(workqueue, &report, CGWB_REPORT_AFTER_S * HZ);
}

ssize_t cgwb_targets_show(char *buf)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < nr_targets; i++) {
		struct cgwb_target copy;
		unsigned long flags;

		raw_spin_lock_irqsave(&targets_lock, flags);
		copy = targets[i];
		raw_spin_unlock_irqrestore(&targets_lock, flags);
		if (copy.dev)
			len += sysfs_emit_at(buf, len, "%u:%u %s %llu %lu\n", MAJOR(copy.dev),
					     MINOR(copy.dev), copy.queued ? "sweep" : "rest",
					     copy.sweep.lap, copy.sweep.cursor);
	}
	return len;
}

int cgwb_targets_init(unsigned int nr)
{
	unsigned int i;

	targets = vzalloc(array_size(nr, sizeof(*targets)));
	if (!targets)
		return -ENOMEM;
	/* Writeback of a mapping is what memory reclaim may wait for. */
	workqueue = alloc_workqueue("cgwb", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!workqueue) {
		vfree(targets);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		INIT_DELAYED_WORK(&targets[i].work, target_work);
	nr_targets = nr;
	return 0;
}

void cgwb_targets_exit(void)
{
	cancel_delayed_work_sync(&report);
	destroy_workqueue(workqueue);
	vfree(targets);
}
