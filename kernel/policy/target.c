// SPDX-License-Identifier: GPL-2.0-only
/* The worker that sweeps the mappings of block devices: see target.h. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <linux/writeback.h>
#include <linux/xarray.h>

#include "hooks.h"
#include "stats.h"
#include "sweep.h"
#include "symbols.h"
#include "target.h"
#include "trace.h"

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

/**
 * struct cgwb_slice - one slice, as it goes
 * @dev: the device
 * @first: the first page
 * @last: the last page that it covers, once the budget is known
 * @budget: how many dirty pages it takes
 * @pages: how many were submitted
 * @missed: how many were passed, being under writeback; the stretch of them ...
 * @missed_first: ... begins here ...
 * @missed_last: ... and ends here
 */
struct cgwb_slice {
	u32 dev;
	pgoff_t first;
	pgoff_t last;
	unsigned long budget;
	unsigned long pages;
	unsigned long missed;
	pgoff_t missed_first;
	pgoff_t missed_last;
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

/*
 * How many pages a slice may have: by the bandwidth of the wb that the inode is on, where its writeback is counted, ours
 * included. RCU keeps the wb while we look; the inode may be switched to another meanwhile, and then this slice has the
 * old one's size.
 *
 * The kernel estimates a bandwidth from what was written between two looks. do_writepages() begins a new period when the
 * wb has been idle, so that the idle time is not counted; we do not go through it, so it is done here.
 */
static unsigned long slice_budget(struct inode *inode)
{
	unsigned long bandwidth_pages = 0;
	struct bdi_writeback *wb;

	rcu_read_lock();
	wb = READ_ONCE(inode->i_wb);
	if (wb) {
		bandwidth_pages = READ_ONCE(wb->avg_write_bandwidth);
		if (jiffies - READ_ONCE(wb->bw_time_stamp) > HZ &&
		    !atomic_read(&wb->writeback_inodes)) {
			spin_lock(&wb->list_lock);
			wb->dirtied_stamp = wb_stat(wb, WB_DIRTIED);
			wb->written_stamp = wb_stat(wb, WB_WRITTEN);
			WRITE_ONCE(wb->bw_time_stamp, jiffies);
			spin_unlock(&wb->list_lock);
		}
	}
	rcu_read_unlock();
	return cgwb_slice_pages(bandwidth_pages);
}

/*
 * The page at which the budget is used up, or @limit. Entries may come and go while RCU alone protects the walk: it only
 * sizes the slice, and what the slice writes is what is dirty under the i_pages lock a moment later.
 */
static pgoff_t find_slice_end(struct address_space *mapping, pgoff_t first, pgoff_t limit,
			      unsigned long budget)
{
	XA_STATE(xas, &mapping->i_pages, first);
	unsigned long n = 0;
	pgoff_t end = limit;
	void *entry;

	rcu_read_lock();
	xas_for_each_marked(&xas, entry, limit, PAGECACHE_TAG_DIRTY) {
		if (xas_retry(&xas, entry))
			continue;
		if (++n == budget) {
			end = xas.xa_index;
			break;
		}
		if (n % XA_CHECK_SCHED)
			continue;
		xas_pause(&xas);
		cond_resched_rcu();
	}
	rcu_read_unlock();
	return end;
}

/*
 * What the write passed and left dirty: it tags what is dirty when it begins, the tag goes when writeback of a page
 * starts, and a page that was under writeback already keeps it. (One whose buffers were locked is dirtied anew, which
 * the tracker sees, so its record is armed again.)
 */
static void find_missed(struct address_space *mapping, struct cgwb_slice *slice)
{
	XA_STATE(xas, &mapping->i_pages, slice->first);
	unsigned long n = 0;
	void *entry;

	rcu_read_lock();
	xas_for_each_marked(&xas, entry, slice->last, PAGECACHE_TAG_TOWRITE) {
		if (xas_retry(&xas, entry))
			continue;
		if (xas_get_mark(&xas, PAGECACHE_TAG_DIRTY)) {
			if (!slice->missed++)
				slice->missed_first = xas.xa_index;
			slice->missed_last = xas.xa_index;
		}
		if (++n % XA_CHECK_SCHED)
			continue;
		xas_pause(&xas);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

static void write_slice(struct inode *inode, struct cgwb_slice *slice)
{
	struct address_space *mapping = inode->i_mapping;
	/*
	 * Tagged: exactly the snapshot of what is dirty now, once, however fast it is dirtied again; so no count of
	 * pages is needed to end it, and everything up to @last is passed.
	 *
	 * The tags are set under the i_pages lock, whether anything is dirty or not, and that is needed: a dirtying
	 * that holds the lock meanwhile has perhaps seen its record armed, before it was taken for this sweep. It is
	 * either before the tags, and is written, or behind them, and then it has seen that the record was taken.
	 */
	struct writeback_control wbc = {
		.sync_mode = WB_SYNC_NONE,
		.tagged_writepages = 1,
		.nr_to_write = LONG_MAX,
	};

	slice->budget = slice_budget(inode);
	slice->last = find_slice_end(mapping, slice->first, slice->last, slice->budget);
	wbc.range_start = (loff_t)slice->first << PAGE_SHIFT;
	/*
	 * One byte less than the page has: 0 to LLONG_MAX would be taken for the whole file, and move the place where
	 * the owner's flusher goes on.
	 */
	wbc.range_end = ((loff_t)slice->last << PAGE_SHIFT) + PAGE_SIZE - 2;
	static_call(cgwb_bdev_writepages)(mapping, &wbc);
	slice->pages = LONG_MAX - wbc.nr_to_write;
	find_missed(mapping, slice);
}

/* The inode of a block device with its disk pinned, as the kernel's own open does it; may sleep. */
static struct inode *get_bdev_inode(u32 dev)
{
	struct inode *inode = ilookup(blockdev_superblock, dev);

	if (!inode)
		return NULL;
	if (kobject_get_unless_zero(&I_BDEV(inode)->bd_device.kobj))
		return inode;
	iput(inode);
	return NULL;
}

static void put_bdev_inode(struct inode *inode)
{
	put_device(&I_BDEV(inode)->bd_device);
	iput(inode);
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
static bool end_slice(struct cgwb_target *target, const struct cgwb_slice *slice, bool is_gone)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned long flags;
	bool is_owed;

	raw_spin_lock_irqsave(&targets_lock, flags);
	if (is_gone) {
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
	struct inode *inode;

	if (!begin_slice(target, &slice))
		goto rest;
	inode = get_bdev_inode(slice.dev);
	if (inode) {
		write_slice(inode, &slice);
		put_bdev_inode(inode);
		cgwb_count(slices, 1);
		cgwb_count(pages, slice.pages);
		cgwb_count(missed, slice.missed);
		trace_mapping_written(slice.dev, slice.first, slice.last, slice.budget, slice.pages,
				      slice.missed);
	}
	if (end_slice(target, &slice, !inode))
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
