// SPDX-License-Identifier: GPL-2.0-only
/* Writing a slice of a mapping: see target.h for who pays and why. */

#include <linux/backing-dev.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/writeback.h>
#include <linux/xarray.h>

#include "inode.h"
#include "params.h"
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
	return cgwb_slice_pages(bandwidth_pages, READ_ONCE(cgwb_slice_ms));
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
	 */
	struct writeback_control wbc = {
		.sync_mode = WB_SYNC_NONE,
		.tagged_writepages = 1,
		.nr_to_write = LONG_MAX,
	};

	/*
	 * A dirtying that holds this lock now has perhaps seen its record armed, before it was taken for this sweep: it
	 * is waited for, and its page is found dirty. One that comes later sees that the record was taken.
	 */
	xa_lock_irq(&mapping->i_pages);
	xa_unlock_irq(&mapping->i_pages);

	slice->budget = slice_budget(inode);
	slice->last = find_slice_end(mapping, slice->first, slice->last, slice->budget);
	wbc.range_start = (loff_t)slice->first << PAGE_SHIFT;
	/*
	 * One byte less than the page has: 0 to LLONG_MAX would be taken for the whole file, and move the place where
	 * the owner's flusher goes on.
	 */
	wbc.range_end = ((loff_t)slice->last << PAGE_SHIFT) + PAGE_SIZE - 2;
	if (cgwb_id_is_bdev(slice->place.id))
		static_call(cgwb_bdev_writepages)(mapping, &wbc);
	else
		filemap_fdatawrite_wbc(mapping, &wbc);
	look_at_bandwidth(inode);
	slice->pages = LONG_MAX - wbc.nr_to_write;
	find_missed(mapping, slice);
}

int cgwb_slice_write(struct cgwb_slice *slice)
{
	struct inode *inode;
	int ret = cgwb_inode_get(&slice->place, &inode);

	if (ret)
		return ret;
	write_mapping(inode, slice);
	trace_mapping_written(cgwb_id_is_bdev(slice->place.id) ? slice->place.id :
								 inode->i_sb->s_dev,
			      slice->place.ino, slice->first, slice->last, slice->budget,
			      slice->pages, slice->missed);
	cgwb_inode_put(inode);
	cgwb_count(slices, 1);
	cgwb_count(pages, slice->pages);
	cgwb_count(missed, slice->missed);
	return 0;
}
