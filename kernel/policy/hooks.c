// SPDX-License-Identifier: GPL-2.0-only
/* The tracker and the flush: see policy.h for what they decide and target.h for what a flush of a mapping does. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev-defs.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/pagemap.h>
#include <linux/vmalloc.h>

#include "flight.h"
#include "hooks.h"
#include "params.h"
#include "record.h"
#include "stats.h"
#include "symbols.h"
#include "target.h"
#include "trace.h"

static struct cgwb_table table;

/* In memory of its own: see flight.h. */
static struct cgwb_flights *flights;

struct cgwb_clock cgwb_clock(void)
{
	unsigned int age_ms = READ_ONCE(cgwb_record_age_ms);
	u64 expire = msecs_to_jiffies(age_ms ?: READ_ONCE(*cgwb_dirty_expire_interval) * 10);

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
 * Record that the @folio of @inode was dirtied: a stretch of it, or all of its mapping. Returns false when there is no
 * room for it. The place is written field by field, in its place: a copy, or zeroes first, cost 60 instructions.
 */
static bool note_place(struct mem_cgroup *memcg, struct bdi_writeback *wb, struct folio *folio,
		       const struct inode *inode, bool is_bdev, bool is_stretch,
		       const struct cgwb_clock *clock)
{
	struct cgwb_place place = {
		.id = is_bdev ? inode->i_rdev : (unsigned long)inode,
		.bdi_id = wb->bdi->id,
		.ino = is_bdev ? 0 : inode->i_ino,
		.first = 0,
		.last = CGWB_LAST_PAGE,
		.owner_id = wb->memcg_css->id,
		.generation = is_bdev ? 0 : inode->i_generation,
	};
	unsigned long nr_pages = folio_nr_pages(folio);

	if (is_stretch)
		cgwb_precise_stretch(&place, folio->index, nr_pages);
	switch (cgwb_record_note(&table, memcg->css.serial_nr, &place, nr_pages, clock)) {
	case CGWB_NOTE_KNOWN:
		return true;
	case CGWB_NOTE_REFRESHED:
		cgwb_count(refreshed, 1);
		return true;
	case CGWB_NOTE_RECORDED:
		cgwb_count(records, 1);
		return true;
	default:
		return false;
	}
}

/*
 * The kernel's own records do not count pages, so a threshold needs one of ours beside them. Without room for it the
 * threshold does not hold the memcg back.
 */
static void count_stock(struct mem_cgroup *memcg, struct bdi_writeback *wb, struct folio *folio,
			const struct cgwb_clock *clock)
{
	const struct cgwb_place place = {
		.id = cgwb_wb_id(wb->bdi->id, wb->memcg_css->id),
		.bdi_id = wb->bdi->id,
		.owner_id = wb->memcg_css->id,
	};

	if (READ_ONCE(cgwb_threshold_percent))
		cgwb_record_note(&table, memcg->css.serial_nr, &place, folio_nr_pages(folio),
				 clock);
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
	struct address_space *mapping = folio_mapping(folio);
	struct inode *inode = mapping ? mapping->host : NULL;
	struct cgwb_dirtying dirtying;
	enum cgwb_verdict verdict;
	struct mem_cgroup *memcg;

	lockdep_assert_irqs_disabled();
	cgwb_count(tracked, 1);
	rcu_read_lock();
	memcg = folio_memcg(folio);
	if (!memcg)
		goto out;
	cgwb_fire_track_foreign_dirty(folio, wb);
	dirtying.is_bdev = inode && sb_is_blkdev_sb(inode->i_sb);
	dirtying.is_online = memcg->css.flags & CSS_ONLINE;
	if (dirtying.is_bdev)
		cgwb_count(tracked_bdev, 1);
	verdict = cgwb_policy_decide(READ_ONCE(cgwb_policy), &dirtying);
	switch (verdict) {
	case CGWB_RECORD_NOTHING:
		cgwb_count(skipped, 1);
		break;
	case CGWB_RECORD_STRETCH:
	case CGWB_RECORD_MAPPING:
		if (inode && note_place(memcg, wb, folio, inode, dirtying.is_bdev,
					verdict == CGWB_RECORD_STRETCH, &clock))
			break;
		cgwb_count(overflow, 1);
		fallthrough;
	case CGWB_RECORD_STOCK:
		note_stock(memcg, wb, &clock);
		count_stock(memcg, wb, folio, &clock);
		break;
	}
out:
	rcu_read_unlock();
}

static unsigned int age_ms(u64 at, const struct cgwb_clock *clock)
{
	return jiffies64_to_msecs(clock->now - at);
}

/*
 * Under the setting dedupe: claim the flush of the slot's owner. Returns the completion that the kernel is to count it
 * by, NULL when there is an unfinished one; @ret_flight is to be released, if it is not NULL.
 */
static struct wb_completion *claim_flush(struct memcg_cgwb_frn *slot,
					 struct cgwb_flight **ret_flight)
{
	int ret;

	*ret_flight = NULL;
	if (!READ_ONCE(cgwb_dedupe))
		return &slot->done;
	ret = cgwb_flight_claim(flights, slot->bdi_id, slot->memcg_id, ret_flight);
	if (ret == -EBUSY)
		return NULL;
	return ret ? &slot->done : &(*ret_flight)->done;
}

/*
 * A live record of the kernel's: ask for a flush of the whole wb, as the kernel does, unless a setting holds it back.
 * Is such a flush on its way?
 */
static bool flush_slot(struct mem_cgroup *memcg, struct bdi_writeback *wb,
		       struct memcg_cgwb_frn *slot, unsigned long min_pages,
		       const struct cgwb_clock *clock)
{
	const struct cgwb_place place = {
		.id = cgwb_wb_id(slot->bdi_id, slot->memcg_id),
		.bdi_id = slot->bdi_id,
		.owner_id = slot->memcg_id,
	};
	struct cgwb_flight *flight;
	struct wb_completion *done = claim_flush(slot, &flight);
	u64 at = READ_ONCE(slot->at);
	int ret = -EAGAIN;

	/* It stays armed: the memcg asks again in the next round of balance_dirty_pages(). */
	if (!done) {
		cgwb_count(deduped, 1);
		return true;
	}
	if (min_pages &&
	    !cgwb_record_spend(&table, memcg->css.serial_nr, &place, min_pages, clock)) {
		cgwb_count(held_back, 1);
		goto release;
	}
	cgwb_stock_disarm(slot);
	if (wb)
		cgwb_fire_flush_foreign(wb, place.bdi_id, place.owner_id);
	ret = static_call(cgwb_writeback_by_id)(place.bdi_id, place.owner_id,
						WB_REASON_FOREIGN_FLUSH, done);
	cgwb_count(flushes_stock, 1);
	if (ret)
		cgwb_count(flushes_failed, 1);
	trace_flush(cgroup_ino(memcg->css.cgroup), CGWB_FLUSH_WB, &place, age_ms(at, clock), ret);
release:
	if (flight)
		cgwb_flight_release(flight);
	return !ret;
}

static unsigned int flush_stock(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				unsigned long min_pages, const struct cgwb_clock *clock)
{
	unsigned int queued = 0;
	int i;

	for (i = 0; i < MEMCG_CGWB_FRN_CNT; i++)
		if (cgwb_stock_is_due(&memcg->cgwb_frn[i], clock))
			queued += flush_slot(memcg, wb, &memcg->cgwb_frn[i], min_pages, clock);
	return queued;
}

/*
 * Ask for the sweep of one record that was taken. The kernel's tracepoint shows what the kernel would have flushed
 * instead, the owner's wb: who reads it alone sees who asked whom as ever.
 */
static bool flush_place(struct mem_cgroup *memcg, struct bdi_writeback *wb,
			const struct cgwb_record *record, const struct cgwb_clock *clock)
{
	const struct cgwb_place *place = &record->place;
	bool is_whole = place->last == CGWB_LAST_PAGE;
	int ret = cgwb_target_ask(place, clock);

	if (ret == -ENOSPC) {
		/* The kernel's record in its stead, which is flushed next. */
		cgwb_count(fallbacks, 1);
		cgwb_stock_note(memcg->cgwb_frn, place->bdi_id, place->owner_id, clock);
		return false;
	}
	if (wb)
		cgwb_fire_flush_foreign(wb, place->bdi_id, place->owner_id);
	if (ret < 0) {
		cgwb_count(flushes_refused, 1);
		cgwb_record_restore(&table, memcg->css.serial_nr, record, clock);
	} else {
		if (is_whole)
			cgwb_count(flushes_mapping, 1);
		else
			cgwb_count(flushes_stretch, 1);
		cgwb_count(flushes_joined, ret);
	}
	trace_flush(cgroup_ino(memcg->css.cgroup),
		    is_whole ? CGWB_FLUSH_MAPPING : CGWB_FLUSH_STRETCH, place,
		    age_ms(record->at, clock), ret);
	return ret >= 0;
}

static unsigned int flush_places(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				 unsigned long min_pages, const struct cgwb_clock *clock)
{
	struct cgwb_record taken[CGWB_RECORDS];
	unsigned int i, n, held, queued = 0;

	n = cgwb_record_take(&table, memcg->css.serial_nr, min_pages, clock, taken, &held);
	cgwb_count(held_back, held);
	for (i = 0; i < n; i++)
		queued += flush_place(memcg, wb, &taken[i], clock);
	return queued;
}

/*
 * How many pages a memcg must have dirtied somewhere before it may ask for a flush of them; 0 when that is not asked.
 * They are a share of what it is throttled by: its dirty pages and those that are being written, which may be all of
 * them at the moment. Both are counted with its descendants' and may be two seconds old, as in all that
 * balance_dirty_pages() decides by.
 */
static unsigned long threshold_pages(struct mem_cgroup *memcg)
{
	unsigned int percent = READ_ONCE(cgwb_threshold_percent);
	unsigned long pages;

	if (!percent)
		return 0;
	pages = static_call(cgwb_memcg_page_state)(memcg, NR_FILE_DIRTY) +
		static_call(cgwb_memcg_page_state)(memcg, NR_WRITEBACK);
	return pages * percent / 100;
}

unsigned int cgwb_flush_records(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				unsigned long min_pages)
{
	struct cgwb_clock clock = cgwb_clock();
	unsigned int queued;

	/* In this order: a place that no sweep can be had for becomes a record of the kernel's. */
	queued = flush_places(memcg, wb, min_pages, &clock);
	return queued + flush_stock(memcg, wb, min_pages, &clock);
}

/*
 * The memcg of @wb has a task in balance_dirty_pages() that is about to be throttled: flush what it dirtied elsewhere.
 *
 * Process context, often with an inode's rwsem and freeze protection held. It could sleep, and does not: the livepatch
 * transition waits for tasks that are in here. @wb keeps its memcg's css.
 */
void cgwb_flush_foreign(struct bdi_writeback *wb)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(wb->memcg_css);

	cgwb_flush_records(memcg, wb, threshold_pages(memcg));
}

int cgwb_flush_owner(const struct cgwb_place *place)
{
	struct cgwb_flight *flight;
	int ret = cgwb_flight_claim(flights, place->bdi_id, place->owner_id, &flight);

	if (ret)
		return ret;
	ret = static_call(cgwb_writeback_by_id)(place->bdi_id, place->owner_id,
						WB_REASON_FOREIGN_FLUSH, &flight->done);
	cgwb_flight_release(flight);
	cgwb_count(fallbacks, 1);
	cgwb_count(flushes_owner, 1);
	if (ret)
		cgwb_count(flushes_failed, 1);
	return ret;
}

static void free_page_counters(u32 **pages)
{
	int cpu;

	if (!pages)
		return;
	for_each_possible_cpu(cpu)
		vfree(pages[cpu]);
	kfree(pages);
}

bool cgwb_hooks_are_ready(void)
{
	return table.buckets;
}

int cgwb_hooks_count_pages(void)
{
	u32 **pages;
	int cpu;

	if (table.pages)
		return 0;
	pages = kcalloc(nr_cpu_ids, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		pages[cpu] = vzalloc(cgwb_table_pages_bytes(table.bits));
		if (!pages[cpu]) {
			free_page_counters(pages);
			return -ENOMEM;
		}
	}
	/* Whoever sees the pointer sees what it points to. Parameters are written one at a time. */
	smp_store_release(&table.pages, pages);
	return 0;
}

int __init cgwb_hooks_init(unsigned int memcgs)
{
	unsigned int bits = cgwb_table_bits(memcgs);
	void *memory = vzalloc(cgwb_table_bytes(bits));

	flights = kzalloc(sizeof(*flights), GFP_KERNEL);
	if (!memory || !flights)
		goto out_of_memory;
	cgwb_flights_init(flights, cgwb_frn_waitq);
	cgwb_table_init(&table, memory, bits);
	if (cgwb_threshold_percent && cgwb_hooks_count_pages())
		goto out_of_memory;
	return 0;
out_of_memory:
	kfree(flights);
	vfree(memory);
	return -ENOMEM;
}

void cgwb_hooks_exit(void)
{
	unsigned int unfinished = cgwb_flights_unfinished(flights);

	/* The flusher will write to the completions of what has not ended, whenever that is: that memory is not ours. */
	if (unfinished)
		pr_info("%u flushes have not ended: %zu bytes are left to them\n", unfinished,
			sizeof(*flights));
	else
		kfree(flights);
	free_page_counters(table.pages);
	vfree(table.buckets);
}
