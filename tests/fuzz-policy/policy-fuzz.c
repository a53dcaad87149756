// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The deciding half of the policy module, driven by sequences of what can happen to it: dirty, ask, slices
 * and works that begin and end, time, another policy or setting, memcgs and inodes that go and come again.
 *
 * A world of a few memcgs, inodes and their pages stands in for the kernel's half. After each step it must
 * hold that
 *
 * - if a memcg dirties a foreign page and then asks within the record's age, a writeback that begins after
 * the ask   passes the page within one sweep; or its record stays armed, because a setting holds it back;
 * - an owner has at most one unfinished flush under dedupe, and a place one sweep;
 * - the table has room for what it states, no more, and loses nothing that is live;
 * - no record is taken for a memcg or an inode other than the one it was made for.
 *
 * The last two are the model's (model.h). The first byte chooses whether pages are counted; then comes an
 * operation with its operands at a time, until there are no more.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "flight.h"
#include "model.h"
#include "policy.h"
#include "sweep.h"

#define MEMCGS 20
#define INODES 12
#define BDEVS 4
#define OWNERS 3
#define PAGES 64
#define TARGETS 4
#define WORKS 512

enum recorded {
	NOTHING,
	PLACE,
	STOCK
};

struct page {
	bool is_dirty;
	u64 serial; /* who dirtied it ... */
	u64 at; /* ... and when */
	enum recorded recorded;
	u64 bdi_id; /* of the kernel's record of it */
	s32 owner_id;
	bool is_owed; /* somebody asked */
	bool is_missed; /* and it was passed while it could not be written */
	int target; /* of whom */
	u64 asked; /* in which step */
	unsigned int passed; /* pages, of slices since then */
};

struct inode {
	struct cgwb_place place;
	struct page pages[PAGES];
};

struct memcg {
	u64 serial;
	bool is_offline;
	struct memcg_cgwb_frn slots[MEMCG_CGWB_FRN_CNT];
};

struct target {
	struct cgwb_place place;
	struct cgwb_sweep sweep;
	bool is_queued, is_running;
	u64 begun;
	pgoff_t last, missed_first, missed_last;
	bool has_missed;
};

/* A flush of a whole wb that the kernel has queued. */
struct work {
	struct wb_completion *done;
	bool is_claimed;
	u64 bdi_id;
	s32 owner_id;
};

static struct world {
	const uint8_t *data;
	size_t size;
	u64 step, last_serial;
	struct cgwb_clock clock;
	enum cgwb_policy policy;
	bool is_dedupe, is_stopping, is_counting;
	unsigned long min_pages;
	struct cgwb_table table;
	struct cgwb_flights *flights;
	struct memcg memcgs[MEMCGS];
	struct inode inodes[INODES];
	struct target targets[TARGETS];
	struct work works[WORKS];
	unsigned int nr_works, nr_claimed;
} w;

static struct model model;

static unsigned int byte(void)
{
	if (!w.size)
		return 0;
	w.size--;
	return *w.data++;
}

static void set_expire(u64 expire)
{
	w.clock.expire = expire;
	w.clock.refresh = min((u64)250, expire / 8);
}

/* Is what was dirtied at @at within the age of a record? Its stamp may be older by a renewal. */
static bool is_recent(u64 at)
{
	return w.clock.now - at + w.clock.refresh < w.clock.expire;
}

static struct page *page_of(const struct cgwb_place *place, pgoff_t index)
{
	for (int i = 0; i < INODES; i++)
		if (cgwb_place_is_same(&w.inodes[i].place, place))
			return &w.inodes[i].pages[index];
	return NULL; /* the inode is gone */
}

/* The kernel's half of the tracker. */

static enum recorded note_stock(struct memcg *memcg, const struct cgwb_place *inode,
				unsigned long nr_pages)
{
	struct cgwb_place place = { .id = cgwb_wb_id(inode->bdi_id, inode->owner_id),
				    .bdi_id = inode->bdi_id,
				    .owner_id = inode->owner_id };
	enum cgwb_stock_note note =
		cgwb_stock_note(memcg->slots, inode->bdi_id, inode->owner_id, &w.clock);

	if (w.min_pages)
		model_note(&model, memcg->serial, &place, nr_pages, &w.clock);
	return note == CGWB_STOCK_DROPPED ? NOTHING : STOCK;
}

static enum recorded note(struct memcg *memcg, const struct inode *inode, pgoff_t index,
			  unsigned long nr_pages)
{
	struct cgwb_dirtying dirtying = { .is_bdev = cgwb_id_is_bdev(inode->place.id),
					  .is_online = !memcg->is_offline };
	enum cgwb_verdict verdict = cgwb_policy_decide(w.policy, &dirtying);
	struct cgwb_place place = inode->place;

	if (verdict == CGWB_RECORD_NOTHING)
		return NOTHING;
	if (verdict == CGWB_RECORD_STOCK)
		return note_stock(memcg, &inode->place, nr_pages);
	place.first = 0;
	place.last = CGWB_LAST_PAGE;
	if (verdict == CGWB_RECORD_STRETCH) {
		cgwb_precise_stretch(&place, index, nr_pages);
		assert(place.first <= index && place.last >= index + nr_pages - 1);
	}
	if (model_note(&model, memcg->serial, &place, nr_pages, &w.clock))
		return PLACE;
	return note_stock(memcg, &inode->place, nr_pages);
}

/* A folio of 1, 2, 4 or 8 pages. What is dirty already is not seen. */
static void dirty(void)
{
	struct memcg *memcg = &w.memcgs[byte() % MEMCGS];
	struct inode *inode = &w.inodes[byte() % INODES];
	unsigned int operand = byte(), nr_pages = 1 << (operand >> 6);
	pgoff_t index = operand % PAGES & ~(pgoff_t)(nr_pages - 1);
	enum recorded recorded;

	shim_cpu = operand % NR_CPUS;
	for (unsigned int i = 0; i < nr_pages; i++)
		if (inode->pages[index + i].is_dirty)
			return;
	recorded = note(memcg, inode, index, nr_pages);
	for (unsigned int i = 0; i < nr_pages; i++)
		inode->pages[index + i] = (struct page){ .is_dirty = true,
							 .serial = memcg->serial,
							 .at = w.clock.now,
							 .recorded = recorded,
							 .bdi_id = inode->place.bdi_id,
							 .owner_id = inode->place.owner_id };
}

/* The kernel's half of a flush. */

static struct target *find_target(const struct cgwb_place *place)
{
	struct target *idle = NULL;

	for (int i = 0; i < TARGETS; i++) {
		struct target *target = &w.targets[i];

		if (!target->is_queued)
			idle = idle ? idle : target;
		else if (cgwb_place_is_same(&target->place, place) &&
			 cgwb_place_touches(&target->place, place))
			return target;
	}
	return idle;
}

static void owe(struct memcg *memcg, struct target *target, const struct cgwb_place *place)
{
	for (pgoff_t i = place->first; i <= place->last && i < PAGES; i++) {
		struct page *page = page_of(place, i);

		if (!page || !page->is_dirty || page->is_owed || page->serial != memcg->serial ||
		    page->recorded != PLACE)
			continue;
		page->is_owed = true;
		page->is_missed = false;
		page->target = target - w.targets;
		page->asked = w.step;
		page->passed = 0;
	}
}

/* It has become a record of the kernel's. */
static void owe_by_wb(struct memcg *memcg, const struct cgwb_place *place, bool is_noted)
{
	for (pgoff_t i = place->first; i <= place->last && i < PAGES; i++) {
		struct page *page = page_of(place, i);

		if (!page || !page->is_dirty || page->is_owed || page->serial != memcg->serial ||
		    page->recorded != PLACE)
			continue;
		page->recorded = is_noted ? STOCK : NOTHING;
		page->bdi_id = place->bdi_id;
		page->owner_id = place->owner_id;
	}
}

static void flush_place(struct memcg *memcg, const struct cgwb_record *record)
{
	const struct cgwb_place *place = &record->place;
	struct target *target = find_target(place);

	if (w.is_stopping) {
		model_restore(&model, memcg->serial, record, &w.clock);
		return;
	}
	if (!target) {
		owe_by_wb(memcg, place,
			  cgwb_stock_note(memcg->slots, place->bdi_id, place->owner_id, &w.clock) !=
				  CGWB_STOCK_DROPPED);
		return;
	}
	if (target->is_queued) {
		target->place.first = min(target->place.first, place->first);
		target->place.last = max(target->place.last, place->last);
	} else {
		target->is_queued = true;
		target->place = *place;
		cgwb_sweep_init(&target->sweep);
	}
	cgwb_sweep_ask(&target->sweep, place->first, place->last, w.clock.now);
	owe(memcg, target, place);
}

static unsigned int unfinished(u64 bdi_id, s32 owner_id)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w.nr_works; i++)
		n += w.works[i].is_claimed && w.works[i].bdi_id == bdi_id &&
		     w.works[i].owner_id == owner_id;
	return n;
}

static void queue_work(struct wb_completion *done, bool is_claimed, u64 bdi_id, s32 owner_id)
{
	atomic_inc(&done->cnt);
	w.works[w.nr_works++] = (struct work){ done, is_claimed, bdi_id, owner_id };
	w.nr_claimed += is_claimed;
}

/* Returns 0, -EBUSY or -ENOSPC, which must be right. */
static int claim(u64 bdi_id, s32 owner_id, struct cgwb_flight **ret_flight)
{
	int ret = cgwb_flight_claim(w.flights, bdi_id, owner_id, ret_flight);

	assert(unfinished(bdi_id, owner_id) <= 1);
	if (unfinished(bdi_id, owner_id))
		assert(ret == -EBUSY);
	else
		assert(ret == (w.nr_claimed == CGWB_FLIGHTS ? -ENOSPC : 0));
	return ret;
}

static void flush_slot(struct memcg *memcg, struct memcg_cgwb_frn *slot)
{
	const struct cgwb_place place = { .id = cgwb_wb_id(slot->bdi_id, slot->memcg_id),
					  .bdi_id = slot->bdi_id,
					  .owner_id = slot->memcg_id };
	struct cgwb_flight *flight = NULL;

	if (w.is_dedupe && claim(slot->bdi_id, slot->memcg_id, &flight) == -EBUSY)
		return;
	if (!w.min_pages || model_spend(&model, memcg->serial, &place, w.min_pages, &w.clock)) {
		cgwb_stock_disarm(slot);
		queue_work(flight ? &flight->done : &slot->done, flight, slot->bdi_id,
			   slot->memcg_id);
	}
	if (flight)
		cgwb_flight_release(flight);
}

/* Of the pages that @memcg dirtied: each is asked for by now, or what was recorded of it is armed still. */
static void check_need(const struct memcg *memcg, const struct memcg_cgwb_frn *before)
{
	for (int i = 0; i < INODES * PAGES; i++) {
		struct inode *inode = &w.inodes[i / PAGES];
		struct page *page = &inode->pages[i % PAGES];

		if (!page->is_dirty || page->is_owed || page->serial != memcg->serial)
			continue;
		if (page->recorded == PLACE && is_recent(page->at))
			assert((w.min_pages || w.is_stopping) &&
			       model_has(&model, memcg->serial, inode->place.id, &w.clock));
		for (int k = 0; page->recorded == STOCK && k < MEMCG_CGWB_FRN_CNT; k++) {
			const struct memcg_cgwb_frn *slot = &memcg->slots[k];

			if (slot->bdi_id != page->bdi_id || slot->memcg_id != page->owner_id)
				continue;
			/* Whoever was due and is held back stays as it was. */
			if (cgwb_stock_is_due(&before[k], &w.clock) && slot->at)
				assert((w.is_dedupe || w.min_pages) && slot->at == before[k].at);
		}
	}
}

static void ask(void)
{
	struct memcg *memcg = &w.memcgs[byte() % MEMCGS];
	struct memcg_cgwb_frn before[MEMCG_CGWB_FRN_CNT];
	struct cgwb_record taken[CGWB_RECORDS];
	unsigned int n;

	n = model_take(&model, memcg->serial, w.min_pages, &w.clock, taken);
	for (unsigned int i = 0; i < n; i++)
		flush_place(memcg, &taken[i]);
	memcpy(before, memcg->slots, sizeof(before));
	for (int i = 0; i < MEMCG_CGWB_FRN_CNT; i++)
		if (cgwb_stock_is_due(&memcg->slots[i], &w.clock) && w.nr_works < WORKS)
			flush_slot(memcg, &memcg->slots[i]);
	if (w.nr_works < WORKS)
		check_need(memcg, before);
}

/* Slices. */

static void clean(struct page *page)
{
	page->is_dirty = false;
	page->is_owed = false;
}

/* Dirty as ever, but nobody's business any more. */
static void forget(struct page *page)
{
	page->is_owed = false;
	page->recorded = NOTHING;
}

/* @target rests: nothing is owed but what was missed and is periodic writeback's by now. */
static void check_rest(const struct target *target)
{
	bool is_old = w.clock.now - target->sweep.asked_at >= w.clock.expire;

	for (int i = 0; i < INODES * PAGES; i++) {
		struct page *page = &w.inodes[i / PAGES].pages[i % PAGES];

		if (!page->is_owed || page->target != target - w.targets)
			continue;
		assert(page->is_missed && is_old);
		forget(page);
	}
}

/* What is dirty now is written, but for pages that are under writeback: @busy chooses them. */
static void pass(struct target *target, pgoff_t first, unsigned int busy)
{
	pgoff_t last = min(target->last, (pgoff_t)PAGES);

	for (pgoff_t i = first; i < PAGES && i <= last; i++) {
		struct page *page = page_of(&target->place, i);

		if (!page || !page->is_dirty)
			continue;
		if (!busy || (i * 7 + busy) % 8) {
			clean(page);
			continue;
		}
		if (!target->has_missed)
			target->missed_first = i;
		target->missed_last = i;
		target->has_missed = true;
		if (page->is_owed && page->target == target - w.targets) {
			page->is_missed = true;
			page->passed = 0;
		}
	}
	for (pgoff_t i = 0; i < PAGES; i++) {
		struct page *page = page_of(&target->place, i);

		if (!page || !page->is_owed || page->target != target - w.targets ||
		    page->is_missed)
			continue;
		if (first <= last)
			page->passed += last - first + 1;
		/* The tail behind the last page counts as one. */
		assert(page->passed <= PAGES + 1);
	}
}

static void begin_slice(void)
{
	struct target *target = &w.targets[byte() % TARGETS];
	unsigned int budget = byte() % PAGES + 1, busy = byte() % 16;
	pgoff_t first = 0, limit = 0;

	if (!target->is_queued || target->is_running)
		return;
	if (!cgwb_sweep_begin(&target->sweep, &w.clock, &first, &limit)) {
		target->is_queued = false;
		check_rest(target);
		return;
	}
	assert(first >= target->place.first && first <= limit && limit <= target->place.last);
	target->is_running = true;
	target->begun = w.step;
	target->has_missed = false;
	target->last = first + budget > PAGES ? limit : min(limit, first + budget - 1);
	pass(target, first, busy);
}

static void rest_or_go_on(struct target *target)
{
	target->is_running = false;
	target->is_queued = cgwb_sweep_is_owed(&target->sweep, &w.clock);
	if (!target->is_queued)
		check_rest(target);
}

static void end_slice(void)
{
	struct target *target = &w.targets[byte() % TARGETS];

	if (!target->is_running)
		return;
	if (target->has_missed)
		cgwb_sweep_missed(&target->sweep, target->missed_first, target->missed_last);
	cgwb_sweep_end(&target->sweep, target->last);
	rest_or_go_on(target);
}

/* The inode could not be had: what was asked before the slice began is given up, what was asked since is not. */
static void give_up(void)
{
	struct target *target = &w.targets[byte() % TARGETS];

	if (!target->is_running)
		return;
	cgwb_sweep_give_up(&target->sweep);
	for (int i = 0; i < INODES * PAGES; i++) {
		struct page *page = &w.inodes[i / PAGES].pages[i % PAGES];

		if (page->is_owed && page->target == target - w.targets &&
		    page->asked <= target->begun)
			forget(page);
	}
	rest_or_go_on(target);
}

/* Works. */

static void finish(unsigned int nr)
{
	struct work work = w.works[nr];

	for (int i = 0; i < INODES * PAGES; i++) {
		const struct cgwb_place *place = &w.inodes[i / PAGES].place;

		if (place->bdi_id == work.bdi_id && place->owner_id == work.owner_id)
			clean(&w.inodes[i / PAGES].pages[i % PAGES]);
	}
	atomic_dec(&work.done->cnt);
	assert(atomic_read(&work.done->cnt) >= 1);
	w.nr_claimed -= work.is_claimed;
	w.works[nr] = w.works[--w.nr_works];
}

static void finish_one(void)
{
	unsigned int operand = byte();

	if (w.nr_works)
		finish(operand % w.nr_works);
}

/* Flushes of other disks' owners, so that flights become scarce. */
static void flush_others(void)
{
	unsigned int first = byte(), n = byte() % 64;

	for (unsigned int i = 0; i < n && w.nr_works < WORKS; i++) {
		struct cgwb_flight *flight;

		if (claim(99, first + i, &flight))
			continue;
		queue_work(&flight->done, true, 99, first + i);
		cgwb_flight_release(flight);
	}
}

/* All the rest. */

static void forget_slots(struct memcg *memcg)
{
	/* It waits for its own flushes before it is freed. */
	for (unsigned int i = w.nr_works; i-- > 0;)
		for (int k = 0; k < MEMCG_CGWB_FRN_CNT; k++)
			if (w.works[i].done == &memcg->slots[k].done) {
				finish(i);
				break;
			}
	memset(memcg->slots, 0, sizeof(memcg->slots));
	for (int k = 0; k < MEMCG_CGWB_FRN_CNT; k++)
		atomic_set(&memcg->slots[k].done.cnt, 1);
}

/* A memcg goes offline; then it is freed, and another comes in its place. */
static void memcg_gone(void)
{
	struct memcg *memcg = &w.memcgs[byte() % MEMCGS];

	memcg->is_offline = !memcg->is_offline;
	if (memcg->is_offline)
		return;
	forget_slots(memcg);
	memcg->serial = ++w.last_serial;
}

/* An inode goes, and another comes to the same address; of a device, with the same number. */
static void inode_gone(void)
{
	struct inode *inode = &w.inodes[byte() % INODES];

	memset(inode->pages, 0, sizeof(inode->pages));
	if (!cgwb_id_is_bdev(inode->place.id))
		inode->place.generation++;
}

static void switch_owner(void)
{
	struct inode *inode = &w.inodes[byte() % INODES];

	inode->place.owner_id = 1 + byte() % OWNERS;
}

/* Another interval: after both of them, for a record that has died may be there again when it becomes longer. */
static void change_expire(void)
{
	static const u64 expires[] = { 1000, 3000, 160, 16 };
	u64 expire = expires[byte() % 4];

	w.clock.now += max(w.clock.expire, expire);
	set_expire(expire);
}

static void change_setting(void)
{
	unsigned int operand = byte();

	w.is_dedupe = operand & 1;
	w.is_stopping = (operand & 6) == 6;
	w.min_pages = w.is_counting && operand & 8 ? operand >> 4 : 0;
}

static void step(void)
{
	w.step++;
	switch (byte() % 16) {
	case 0:
	case 1:
	case 2:
		return dirty();
	case 3:
	case 4:
		return ask();
	case 5:
		return begin_slice();
	case 6:
		return end_slice();
	case 7:
		return give_up();
	case 8:
		return finish_one();
	case 9:
		w.clock.now += byte();
		return;
	case 10:
		w.clock.now += byte() * 16;
		return;
	case 11:
		w.policy = byte() % CGWB_NR_POLICIES;
		return;
	case 12:
		return change_setting();
	case 13:
		return byte() & 1 ? memcg_gone() : inode_gone();
	case 14:
		return byte() & 1 ? switch_owner() : change_expire();
	default:
		return flush_others();
	}
}

static void setup(void)
{
	static wait_queue_head_t waitq;
	const unsigned int bits = 0;

	memset(&model, 0, sizeof(model));
	/* Exactly as much as they say, so that a byte beyond is found. */
	cgwb_table_init(&w.table, calloc(1, cgwb_table_bytes(bits)), bits);
	w.flights = calloc(1, sizeof(*w.flights));
	cgwb_flights_init(w.flights, &waitq);
	if (w.is_counting) {
		w.table.pages = calloc(NR_CPUS, sizeof(u32 *));
		for (int i = 0; i < NR_CPUS; i++)
			w.table.pages[i] = calloc(1, cgwb_table_pages_bytes(bits));
	}
	model.table = &w.table;
	w.clock.now = 1ULL << 33;
	set_expire(3000);
	w.policy = CGWB_POLICY_PRECISE;
	for (int i = 0; i < MEMCGS; i++) {
		w.memcgs[i].serial = ++w.last_serial;
		forget_slots(&w.memcgs[i]);
	}
	for (int i = 0; i < INODES; i++)
		w.inodes[i].place = (struct cgwb_place){
			.id = i < BDEVS ? 8 + i : 0xffff888000000000 + i * 1024,
			.bdi_id = 1 + i % 2,
			.ino = i < BDEVS ? 0 : i,
			.owner_id = 1 + i % OWNERS,
		};
	for (int i = 0; i < TARGETS; i++)
		cgwb_sweep_init(&w.targets[i].sweep);
}

static void teardown(void)
{
	assert(cgwb_flights_unfinished(w.flights) == w.nr_claimed);
	for (int i = 0; w.is_counting && i < NR_CPUS; i++)
		free(w.table.pages[i]);
	free(w.table.pages);
	free(w.table.buckets);
	free(w.flights);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(&w, 0, sizeof(w));
	w.data = data;
	w.size = size;
	w.is_counting = byte() & 1;
	setup();
	while (w.size)
		step();
	teardown();
	return 0;
}
