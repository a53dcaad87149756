// SPDX-License-Identifier: GPL-2.0-only
/* The targets and the work that sweeps them: see target.h for the rules, slice.c for the writing. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "hooks.h"
#include "params.h"
#include "stats.h"
#include "slice.h"
#include "sweep.h"
#include "symbols.h"
#include "target.h"

/**
 * struct cgwb_target - one stretch of one inode
 * @work: runs one slice, and queues itself again while the sweep is owed
 * @sweep: where it is
 * @place: the inode; when the target is at rest, the one that was last swept
 * @next_at: jiffies_64 before which no slice of @place begins
 * @absent: how often in succession the inode was not found
 * @queued: @work is queued or running, and holds a module reference
 */
struct cgwb_target {
	struct delayed_work work;
	struct cgwb_sweep sweep;
	struct cgwb_place place;
	u64 next_at;
	unsigned int absent;
	bool queued;
};

/* A file that was not found this often is clean. */
#define ABSENT_LOOKS 2

static struct cgwb_target *targets;
static unsigned int nr_targets;
static bool is_stopping;
static struct workqueue_struct *workqueue;

/* Guards all of the above. A leaf, taken with interrupts off: whoever asks may hold anything. */
static DEFINE_RAW_SPINLOCK(targets_lock);

/*
 * Under targets_lock: the target that sweeps a stretch of this inode which @place touches; or else one that did so and
 * rests, for its least interval holds; or else the one that rests longest.
 */
static struct cgwb_target *find_target(const struct cgwb_place *place)
{
	struct cgwb_target *resting = NULL, *idle = NULL;
	unsigned int i;

	lockdep_assert_held(&targets_lock);
	for (i = 0; i < nr_targets; i++) {
		struct cgwb_target *target = &targets[i];
		bool is_touched = cgwb_place_is_same(&target->place, place) &&
				  cgwb_place_touches(&target->place, place);

		if (target->queued && is_touched)
			return target;
		if (target->queued)
			continue;
		if (is_touched)
			resting = target;
		if (!idle || time_before64(target->next_at, idle->next_at))
			idle = target;
	}
	return resting ?: idle;
}

/* Under targets_lock: queue the next slice. */
static void queue_slice(struct cgwb_target *target, u64 now)
{
	unsigned long delay = time_after64(target->next_at, now) ? target->next_at - now : 0;

	queue_delayed_work(workqueue, &target->work, delay);
}

/* Under targets_lock. */
static void start_sweep(struct cgwb_target *target, const struct cgwb_place *place, u64 now)
{
	if (!cgwb_place_is_same(&target->place, place) || time_before64(target->next_at, now))
		target->next_at = now;
	target->place = *place;
	target->absent = 0;
	cgwb_sweep_init(&target->sweep);
	cgwb_sweep_ask(&target->sweep, place->first, place->last, now);
	/* Cannot fail to be there: this is called from a function that the livepatch put in place. */
	__module_get(THIS_MODULE);
	target->queued = true;
	queue_slice(target, now);
}

/* Under targets_lock: the sweep under way takes the caller along. The owner may be another one meanwhile. */
static void join_sweep(struct cgwb_target *target, const struct cgwb_place *place, u64 now)
{
	target->place.first = min(target->place.first, place->first);
	target->place.last = max(target->place.last, place->last);
	target->place.bdi_id = place->bdi_id;
	target->place.owner_id = place->owner_id;
	target->absent = 0;
	cgwb_sweep_ask(&target->sweep, place->first, place->last, now);
}

int cgwb_target_ask(const struct cgwb_place *place, const struct cgwb_clock *clock)
{
	struct cgwb_target *target;
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&targets_lock, flags);
	target = find_target(place);
	if (is_stopping) {
		ret = -ESHUTDOWN;
	} else if (!target) {
		ret = -ENOSPC;
	} else if (target->queued) {
		join_sweep(target, place, clock->now);
		ret = 1;
	} else {
		start_sweep(target, place, clock->now);
		ret = 0;
	}
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
	slice->place = target->place;
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

/*
 * Under targets_lock: the inode could not be had. An ask that came meanwhile was not seen by that look: it is owed in
 * any case. Otherwise the slice that was begun and has not ended is begun again, if another look may help.
 */
static void end_without_inode(struct cgwb_target *target, int error, int flush_error,
			      const struct cgwb_clock *clock)
{
	if (error == -ENOENT && ++target->absent < ABSENT_LOOKS)
		return;
	/* Another flush of the owner's has not ended; it may have begun before the page was dirtied. */
	if (flush_error == -EBUSY && cgwb_sweep_is_young(&target->sweep, clock))
		return;
	if (error == -ENODEV)
		cgwb_count(gone, 1);
	else if (error == -ENOENT)
		cgwb_count(clean, 1);
	cgwb_sweep_give_up(&target->sweep);
	target->absent = 0;
}

/* Account for what the slice did. Returns true when another is queued, which keeps the module reference. */
static bool end_slice(struct cgwb_target *target, const struct cgwb_slice *slice, int error,
		      int flush_error)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned long flags;
	bool is_owed;

	raw_spin_lock_irqsave(&targets_lock, flags);
	if (error) {
		end_without_inode(target, error, flush_error, &clock);
	} else {
		target->absent = 0;
		if (slice->missed)
			cgwb_sweep_missed(&target->sweep, slice->missed_first, slice->missed_last);
		if (cgwb_sweep_end(&target->sweep, slice->last))
			cgwb_count(sweeps, 1);
	}
	target->next_at = clock.now + msecs_to_jiffies(READ_ONCE(cgwb_interval_ms));
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
	int error, flush_error = 0;

	if (!begin_slice(target, &slice))
		goto rest;
	error = cgwb_slice_write(&slice);
	if (error == -EBUSY || error == -E2BIG)
		flush_error = cgwb_flush_owner(&slice.place);
	if (end_slice(target, &slice, error, flush_error))
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

static struct cgwb_target copy_target(unsigned int i)
{
	struct cgwb_target copy;
	unsigned long flags;

	raw_spin_lock_irqsave(&targets_lock, flags);
	copy = targets[i];
	raw_spin_unlock_irqrestore(&targets_lock, flags);
	return copy;
}

static void report_bdev(u32 dev)
{
	struct inode *inode = ilookup(blockdev_superblock, dev);

	if (inode)
		pr_warn("writes to disk %pg (%u:%u) have not ended; the module stays, inactive, until they do\n",
			I_BDEV(inode), MAJOR(dev), MINOR(dev));
	else
		pr_warn("writes to disk %u:%u have not ended; the module stays, inactive, until they do\n",
			MAJOR(dev), MINOR(dev));
	iput(inode);
}

static void report_file(const struct cgwb_place *place)
{
	struct backing_dev_info *bdi = static_call(cgwb_bdi_get_by_id)(place->bdi_id);

	pr_warn("writes to inode %lu of disk %s have not ended; the module stays, inactive, until they do\n",
		place->ino, bdi ? bdi_dev_name(bdi) : "(gone)");
	if (bdi)
		bdi_put(bdi);
}

static void report_work(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < nr_targets; i++) {
		struct cgwb_target copy = copy_target(i);

		if (!copy.queued)
			continue;
		if (cgwb_id_is_bdev(copy.place.id))
			report_bdev(copy.place.id);
		else
			report_file(&copy.place);
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
		struct cgwb_target copy = copy_target(i);
		u32 dev = copy.place.id;

		if (!copy.place.id)
			continue;
		if (cgwb_id_is_bdev(copy.place.id))
			len += sysfs_emit_at(buf, len, "%u:%u", MAJOR(dev), MINOR(dev));
		else
			len += sysfs_emit_at(buf, len, "bdi%llu:%lu", copy.place.bdi_id,
					     copy.place.ino);
		len += sysfs_emit_at(buf, len, " %s %llu %lu\n", copy.queued ? "sweep" : "rest",
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
