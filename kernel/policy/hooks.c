// SPDX-License-Identifier: GPL-2.0-only
/* The tracker and the flush: see policy.h for what they decide and target.h for what a flush of a mapping does. */

#include <linux/backing-dev-defs.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/pagemap.h>
#include <linux/vmalloc.h>

#include "hooks.h"
#include "record.h"
#include "stats.h"
#include "symbols.h"
#include "target.h"
#include "trace.h"

enum cgwb_policy cgwb_policy;

static struct cgwb_table table;

struct cgwb_clock cgwb_clock(void)
{
	u64 expire = msecs_to_jiffies(READ_ONCE(*cgwb_dirty_expire_interval) * 10);

	return (struct cgwb_clock){
		.now = get_jiffies_64(),
		.expire = expire,
		/* The kernel's own: well below the interval by which records die, and no more than once a second. */
		.refresh = min_t(u64, HZ, expire / 8),
	};
}

static void note_stock(struct mem_cgroup *memcg, struct bdi_writeback *wb,
		       const struct cgwb_clock *clock)
{
	switch (cgwb_stock_note(memcg->cgwb_frn, wb->bdi->id, wb->memcg_css->id, clock)) {
	case CGWB_STOCK_KNOWN:
		break;
	case CGWB_STOCK_REFRESHED:
		cgwb_count(stock_refreshed, 1);
		break;
	case CGWB_STOCK_RECORDED:
		cgwb_count(stock_records, 1);
		break;
	case CGWB_STOCK_DROPPED:
		cgwb_count(stock_dropped, 1);
		break;
	}
}

/*
 * Record that @memcg dirtied the mapping of device @dev. The target is held before the record is armed, so that a live
 * record always has one to ask. Returns false when there is no room for either.
 */
static bool note_mapping(struct mem_cgroup *memcg, struct bdi_writeback *wb, u32 dev,
			 const struct cgwb_clock *clock)
{
	const struct cgwb_record key = {
		.dev = dev,
		.bdi_id = wb->bdi->id,
		.owner_id = wb->memcg_css->id,
	};
	u64 serial = memcg->css.serial_nr;
	int ret;

	if (cgwb_record_known(&table, serial, dev, clock))
		return true;
	if (!cgwb_target_hold(dev, clock))
		return false;
	ret = cgwb_record_arm(&table, serial, &key, clock);
	if (ret < 0)
		return false;
	if (ret)
		cgwb_count(records, 1);
	else
		cgwb_count(refreshed, 1);
	return true;
}

/*
 * A clean folio of an inode that another memcg's wb owns became dirty.
 *
 * Interrupts are off and the folio's i_pages lock is held, perhaps also jbd2's spinlocks: nothing here sleeps,
 * allocates, or takes a lock that is ever held around i_pages. The lock keeps folio->mapping, and the inode on @wb, so
 * @wb and its css stay. The memcg is used as if only RCU kept it: later kernels move folios to another memcg at will.
 */
void cgwb_track_foreign_dirty(struct folio *folio, struct bdi_writeback *wb)
{
	struct cgwb_clock clock = cgwb_clock();
	struct cgwb_dirtying dirtying;
	struct address_space *mapping = folio_mapping(folio);
	struct mem_cgroup *memcg;

	lockdep_assert_irqs_disabled();
	cgwb_count(tracked, 1);
	rcu_read_lock();
	memcg = folio_memcg(folio);
	if (!memcg)
		goto out;
	cgwb_fire_track_foreign_dirty(folio, wb);
	dirtying.is_bdev = mapping && sb_is_blkdev_sb(mapping->host->i_sb);
	dirtying.is_online = memcg->css.flags & CSS_ONLINE;
	if (dirtying.is_bdev)
		cgwb_count(tracked_bdev, 1);
	switch (cgwb_policy_decide(READ_ONCE(cgwb_policy), &dirtying)) {
	case CGWB_RECORD_NOTHING:
		cgwb_count(skipped, 1);
		break;
	case CGWB_RECORD_MAPPING:
		if (note_mapping(memcg, wb, mapping->host->i_rdev, &clock))
			break;
		cgwb_count(overflow, 1);
		fallthrough;
	case CGWB_RECORD_STOCK:
		note_stock(memcg, wb, &clock);
		break;
	}
out:
	rcu_read_unlock();
}

static unsigned int age_ms(u64 at, const struct cgwb_clock *clock)
{
	return jiffies64_to_msecs(clock->now - at);
}

/* Ask for a flush of the whole wb for each live record of the kernel's, as the kernel does. */
static unsigned int flush_stock(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				const struct cgwb_clock *clock)
{
	u64 ino = cgroup_ino(memcg->css.cgroup);
	unsigned int queued = 0;
	int i, ret;

	for (i = 0; i < MEMCG_CGWB_FRN_CNT; i++) {
		struct memcg_cgwb_frn *slot = &memcg->cgwb_frn[i];
		u64 at = READ_ONCE(slot->at);

		if (!cgwb_stock_take(slot, clock))
			continue;
		if (wb)
			cgwb_fire_flush_foreign(wb, slot->bdi_id, slot->memcg_id);
		ret = static_call(cgwb_writeback_by_id)(slot->bdi_id, slot->memcg_id,
							WB_REASON_FOREIGN_FLUSH, &slot->done);
		cgwb_count(flushes_stock, 1);
		if (ret)
			cgwb_count(flushes_failed, 1);
		else
			queued++;
		trace_flush(ino, CGWB_FLUSH_WB, slot->bdi_id, slot->memcg_id, 0, age_ms(at, clock),
			    ret);
	}
	return queued;
}

/*
 * Ask for a sweep for each live record of the mapping policy's. The kernel's tracepoint shows what the kernel
 * would have flushed instead, the owner's wb: who reads it alone sees who asked whom as ever.
 */
static unsigned int flush_mappings(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				   const struct cgwb_clock *clock)
{
	struct cgwb_record taken[CGWB_TARGETS];
	u64 serial = memcg->css.serial_nr;
	unsigned int i, queued = 0, n = cgwb_record_take(&table, serial, clock, taken);
	int ret;

	for (i = 0; i < n; i++) {
		struct cgwb_record *record = &taken[i];

		if (wb)
			cgwb_fire_flush_foreign(wb, record->bdi_id, record->owner_id);
		ret = cgwb_target_ask(record->dev, clock);
		if (ret < 0) {
			cgwb_count(flushes_refused, 1);
			cgwb_record_restore(&table, serial, record, clock);
		} else {
			cgwb_count(flushes_mapping, 1);
			cgwb_count(flushes_joined, ret);
			queued++;
		}
		trace_flush(cgroup_ino(memcg->css.cgroup), CGWB_FLUSH_MAPPING, record->bdi_id,
			    record->owner_id, record->dev, age_ms(record->at, clock), ret);
	}
	return queued;
}

unsigned int cgwb_flush_records(struct mem_cgroup *memcg, struct bdi_writeback *wb)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned int queued = flush_stock(memcg, wb, &clock);

	return queued + flush_mappings(memcg, wb, &clock);
}

/*
 * The memcg of @wb has a task in balance_dirty_pages() that is about to be throttled: flush what it dirtied elsewhere.
 *
 * Process context, often with an inode's rwsem and freeze protection held. It could sleep, and does not: the livepatch
 * transition waits for tasks that are in here. @wb keeps its memcg's css.
 */
void cgwb_flush_foreign(struct bdi_writeback *wb)
{
	cgwb_flush_records(mem_cgroup_from_css(wb->memcg_css), wb);
}

int __init cgwb_hooks_init(unsigned int memcgs)
{
	unsigned int bits = cgwb_table_bits(memcgs);
	void *memory = vzalloc(cgwb_table_bytes(bits));

	if (!memory)
		return -ENOMEM;
	cgwb_table_init(&table, memory, bits);
	return 0;
}

void cgwb_hooks_exit(void)
{
	vfree(table.buckets);
}
