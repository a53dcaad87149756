// SPDX-License-Identifier: GPL-2.0-only
/* Writing a slice of the mapping of a block device: see target.h for who pays and why. */

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/writeback.h>
#include <linux/xarray.h>

#include "slice.h"
#include "stats.h"
#include "sweep.h"
#include "symbols.h"
#include "trace.h"

/*
 * The kernel estimates a wb's bandwidth from what was written between two looks. do_writepages() takes care
 * of it before and after a write, for the wb that the write is attached to; ours is attached to none, and is
 * counted by the wb that the inode is on. RCU keeps that wb while we look. The inode may be switched to
 * another meanwhile: then one slice has the old one's size, and one look is at the wrong wb, which is a look
 * too many and no more.
 */

/* As long as the kernel's BANDWIDTH_INTERVAL. */
#define BANDWIDTH_INTERVAL_JIFFIES max(HZ / 5, 1)

/* How many pages a slice may have. Begins a new period if the wb was idle, so that the idle time is not counted. */
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

/* Look again, if it is time: with a slow disk sweeps may follow each other without end, and nobody else looks. */
static void look_at_bandwidth(struct inode *inode)
{
	struct bdi_writeback *wb;

	rcu_read_lock();
	wb = READ_ONCE(inode->i_wb);
	if (wb && time_is_before_jiffies(READ_ONCE(wb->bw_time_stamp) + BANDWIDTH_INTERVAL_JIFFIES))
		static_call_cond(cgwb_wb_update_bandwidth)(wb);
	rcu_read_unlock();
}

/*
 * The page at which the budget is used up, or @limit. Entries may come and go while RCU alone protects the
 * walk: it only sizes the slice, and what the slice writes is what is dirty under the i_pages lock a moment
 * later.
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

static void write_mapping(struct inode *inode, struct cgwb_slice *slice)
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
	look_at_bandwidth(inode);
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

int cgwb_slice_write(struct cgwb_slice *slice)
{
	struct inode *inode = get_bdev_inode(slice->dev);

	if (!inode)
		return -ENODEV;
	write_mapping(inode, slice);
	put_bdev_inode(inode);
	cgwb_count(slices, 1);
	cgwb_count(pages, slice->pages);
	cgwb_count(missed, slice->missed);
	trace_mapping_written(slice->dev, slice->first, slice->last, slice->budget, slice->pages,
			      slice->missed);
	return 0;
}
