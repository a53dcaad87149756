// SPDX-License-Identifier: GPL-2.0-only
/* The table of foreign dirtyings: see record.h for what it promises. */

#include "record.h"

/* A table of one bucket cannot be hashed into. */
static struct cgwb_bucket *bucket_of(const struct cgwb_table *table, u64 serial)
{
	/*
	 * Serial numbers of memcgs go up in steps, because each css of a cgroup takes one: a multiplicative hash
	 * spreads any step evenly, the low bits do not.
	 */
	return &table->buckets[table->bits ? hash_64(serial, table->bits) : 0];
}

unsigned int cgwb_table_bits(unsigned int memcgs)
{
	unsigned int bits = 0;

	while (bits < 16 && ((unsigned int)CGWB_ROWS << bits) < memcgs)
		bits++;
	return bits;
}

size_t cgwb_table_bytes(unsigned int bits)
{
	return sizeof(struct cgwb_bucket) << bits;
}

size_t cgwb_table_pages_bytes(unsigned int bits)
{
	return (sizeof(u32) * CGWB_ROWS * CGWB_RECORDS) << bits;
}

void cgwb_table_init(struct cgwb_table *table, void *memory, unsigned int bits)
{
	unsigned int i;

	table->buckets = memory;
	table->bits = bits;
	table->pages = NULL;
	for (i = 0; i < 1U << bits; i++)
		raw_spin_lock_init(&table->buckets[i].lock);
}

static bool is_live(u64 at, const struct cgwb_clock *clock)
{
	return at && time_after64(at, clock->now - clock->expire);
}

/* The memcg's row, or -1. */
static int find_row(const struct cgwb_bucket *bucket, u64 serial)
{
	int i;

	for (i = 0; i < CGWB_ROWS; i++)
		if (READ_ONCE(bucket->serials[i]) == serial)
			return i;
	return -1;
}

static struct cgwb_record *find_record(struct cgwb_row *row, u64 id)
{
	unsigned int i;

	for (i = 0; i < CGWB_RECORDS; i++)
		if (READ_ONCE(row->records[i].place.id) == id)
			return &row->records[i];
	return NULL;
}

/*
 * Page counters. Each CPU adds to its own, with interrupts off; sums are taken now and then, by whoever holds the
 * bucket's lock, and may miss what is being added. A counter belongs to a record's place in the table, not to what it
 * records: a period is a difference, and counters may wrap.
 */

static size_t counter_of(const struct cgwb_table *table, const struct cgwb_bucket *bucket, int row,
			 const struct cgwb_record *record)
{
	size_t nth = (bucket - table->buckets) * CGWB_ROWS + row;

	return nth * CGWB_RECORDS + (record - bucket->rows[row].records);
}

static void count_pages(const struct cgwb_table *table, size_t counter, unsigned long nr_pages)
{
	u32 **pages = READ_ONCE(table->pages);
	u32 *count;

	if (!pages)
		return;
	count = &pages[raw_smp_processor_id()][counter];
	WRITE_ONCE(*count, *count + nr_pages);
}

static u32 sum_pages(const struct cgwb_table *table, size_t counter)
{
	u32 **pages = READ_ONCE(table->pages);
	u32 sum = 0;
	int cpu;

	if (!pages)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(pages[cpu][counter]);
	return sum;
}

/* Under the bucket's lock: count from nothing. */
static void restart_counting(const struct cgwb_table *table, size_t counter,
			     struct cgwb_record *record, const struct cgwb_clock *clock)
{
	record->counted_at = clock->now;
	record->counted_from = sum_pages(table, counter);
	record->counted_before = 0;
}

/*
 * Under the bucket's lock: what was dirtied longer ago than the interval by which records die has been written by
 * periodic writeback, or is about to be. So there are two periods of half of it: the one before counts with the present
 * one, and what is older does not.
 */
static void age_counting(const struct cgwb_table *table, size_t counter, struct cgwb_record *record,
			 const struct cgwb_clock *clock)
{
	u64 age = clock->now - record->counted_at;
	u32 sum;

	if (age < clock->expire / 2)
		return;
	sum = sum_pages(table, counter);
	record->counted_before = age < clock->expire ? sum - record->counted_from : 0;
	record->counted_from = sum;
	record->counted_at = clock->now;
}

/* Under the bucket's lock. */
static unsigned long counted_pages(const struct cgwb_table *table, size_t counter,
				   const struct cgwb_record *record)
{
	u32 since = sum_pages(table, counter) - record->counted_from;

	return (unsigned long)record->counted_before + since;
}

static bool covers(const struct cgwb_place *whole, const struct cgwb_place *part)
{
	return READ_ONCE(whole->first) <= part->first && READ_ONCE(whole->last) >= part->last;
}

/* Is there a live record that needs no renewal? Takes no lock, writes nothing but the CPU's counter. */
static bool note_known(struct cgwb_table *table, struct cgwb_bucket *bucket, u64 serial,
		       const struct cgwb_place *place, unsigned long nr_pages,
		       const struct cgwb_clock *clock)
{
	int row = find_row(bucket, serial);
	struct cgwb_record *record = row < 0 ? NULL : find_record(&bucket->rows[row], place->id);
	bool is_known;
	u64 at;

	if (!record)
		return false;
	/*
	 * The record may be given to another place, and the row to another memcg, while we look. Both clear the name
	 * before anything else changes and set the new one last, so what is read between two readings of the same name
	 * is that name's.
	 *
	 * The stretch may be replaced by a shorter one when the record was taken and is armed again: that happens
	 * before the new stamp is there. So with the new stamp it is the new stretch that is seen; and whoever saw the
	 * old stamp did so before the record was taken, holding the i_pages lock, and is passed by the sweep of the old
	 * stretch.
	 */
	smp_rmb();
	at = READ_ONCE(record->at);
	smp_rmb();
	is_known = covers(&record->place, place) &&
		   READ_ONCE(record->place.owner_id) == place->owner_id &&
		   READ_ONCE(record->place.ino) == place->ino &&
		   READ_ONCE(record->place.generation) == place->generation;
	smp_rmb();
	if (!is_known || READ_ONCE(record->place.id) != place->id ||
	    READ_ONCE(bucket->serials[row]) != serial)
		return false;
	if (!is_live(at, clock) || time_before64(at, clock->now - clock->refresh))
		return false;
	count_pages(table, counter_of(table, bucket, row, record), nr_pages);
	return true;
}

static bool is_row_dead(const struct cgwb_row *row, const struct cgwb_clock *clock)
{
	unsigned int i;

	for (i = 0; i < CGWB_RECORDS; i++)
		if (is_live(row->records[i].at, clock))
			return false;
	return true;
}

/* Under the bucket's lock: the memcg's row, or a dead one made its own, or -1. */
static int claim_row(struct cgwb_bucket *bucket, u64 serial, const struct cgwb_clock *clock)
{
	int row = find_row(bucket, serial);
	unsigned int i;

	if (row >= 0)
		return row;
	for (row = 0; row < CGWB_ROWS; row++)
		if (is_row_dead(&bucket->rows[row], clock))
			break;
	if (row == CGWB_ROWS)
		return -1;
	WRITE_ONCE(bucket->serials[row], 0);
	smp_wmb(); /* pairs with note_known() */
	for (i = 0; i < CGWB_RECORDS; i++) {
		WRITE_ONCE(bucket->rows[row].records[i].place.id, 0);
		WRITE_ONCE(bucket->rows[row].records[i].at, 0);
	}
	smp_wmb();
	WRITE_ONCE(bucket->serials[row], serial);
	return row;
}

/* Under the bucket's lock: a record of the row that is nobody's now. */
static struct cgwb_record *claim_record(struct cgwb_row *row, const struct cgwb_clock *clock)
{
	unsigned int i;

	for (i = 0; i < CGWB_RECORDS; i++)
		if (!is_live(row->records[i].at, clock))
			return &row->records[i];
	return NULL;
}

/* Under the bucket's lock: make the record that of @place, whatever it was, and disarmed. */
static void replace_record(struct cgwb_record *record, const struct cgwb_place *place)
{
	WRITE_ONCE(record->place.id, 0);
	smp_wmb(); /* pairs with note_known() */
	WRITE_ONCE(record->at, 0);
	WRITE_ONCE(record->place.ino, place->ino);
	WRITE_ONCE(record->place.generation, place->generation);
	smp_wmb();
	WRITE_ONCE(record->place.id, place->id);
}

/* Under the bucket's lock: the record is of @place already; take the stretch, the owner of today and the time. */
static void arm_record(struct cgwb_record *record, const struct cgwb_place *place,
		       const struct cgwb_clock *clock)
{
	record->place.bdi_id = place->bdi_id;
	WRITE_ONCE(record->place.owner_id, place->owner_id);
	if (is_live(record->at, clock)) {
		WRITE_ONCE(record->place.first, min(record->place.first, place->first));
		WRITE_ONCE(record->place.last, max(record->place.last, place->last));
	} else {
		/* Without a stamp that could be taken for that of the new stretch. */
		WRITE_ONCE(record->at, 0);
		smp_wmb(); /* pairs with note_known() */
		WRITE_ONCE(record->place.first, place->first);
		WRITE_ONCE(record->place.last, place->last);
	}
	smp_wmb(); /* pairs with note_known() */
	WRITE_ONCE(record->at, clock->now);
}

int cgwb_record_note(struct cgwb_table *table, u64 serial, const struct cgwb_place *place,
		     unsigned long nr_pages, const struct cgwb_clock *clock)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	struct cgwb_record *record = NULL;
	int row, ret = CGWB_NOTE_REFRESHED;
	size_t counter;

	if (note_known(table, bucket, serial, place, nr_pages, clock))
		return CGWB_NOTE_KNOWN;
	raw_spin_lock(&bucket->lock);
	row = claim_row(bucket, serial, clock);
	if (row >= 0)
		record = find_record(&bucket->rows[row], place->id) ?:
				 claim_record(&bucket->rows[row], clock);
	if (!record) {
		ret = -ENOSPC;
		goto out;
	}
	counter = counter_of(table, bucket, row, record);
	if (!cgwb_place_is_same(&record->place, place)) {
		replace_record(record, place);
		restart_counting(table, counter, record, clock);
		ret = CGWB_NOTE_RECORDED;
	} else {
		age_counting(table, counter, record, clock);
	}
	arm_record(record, place, clock);
	count_pages(table, counter, nr_pages);
out:
	raw_spin_unlock(&bucket->lock);
	return ret;
}

unsigned int cgwb_record_take(struct cgwb_table *table, u64 serial, unsigned long min_pages,
			      const struct cgwb_clock *clock,
			      struct cgwb_record taken[CGWB_RECORDS], unsigned int *ret_held)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	unsigned int i, n = 0;
	unsigned long flags;
	int row;

	*ret_held = 0;
	if (find_row(bucket, serial) < 0)
		return 0;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	row = find_row(bucket, serial);
	for (i = 0; row >= 0 && i < CGWB_RECORDS; i++) {
		struct cgwb_record *record = &bucket->rows[row].records[i];
		size_t counter = counter_of(table, bucket, row, record);

		if (cgwb_id_is_wb(record->place.id) || !is_live(record->at, clock))
			continue;
		if (min_pages && counted_pages(table, counter, record) < min_pages) {
			++*ret_held;
			continue;
		}
		taken[n++] = *record;
		WRITE_ONCE(record->at, 0);
		restart_counting(table, counter, record, clock);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return n;
}

void cgwb_record_restore(struct cgwb_table *table, u64 serial, const struct cgwb_record *record,
			 const struct cgwb_clock *clock)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	struct cgwb_record *now = NULL;
	unsigned long flags;
	int row;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	row = find_row(bucket, serial);
	if (row >= 0)
		now = find_record(&bucket->rows[row], record->place.id);
	if (now && cgwb_place_is_same(&now->place, &record->place)) {
		/* With what was dirtied meanwhile, if anything was; the stamp may be the older one. */
		struct cgwb_clock then = *clock;

		then.now = is_live(now->at, clock) ? now->at : record->at;
		arm_record(now, &record->place, &then);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}

bool cgwb_record_spend(struct cgwb_table *table, u64 serial, const struct cgwb_place *place,
		       unsigned long min_pages, const struct cgwb_clock *clock)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	struct cgwb_record *record = NULL;
	bool is_enough = true;
	unsigned long flags;
	size_t counter;
	int row;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	row = find_row(bucket, serial);
	if (row >= 0)
		record = find_record(&bucket->rows[row], place->id);
	if (record && is_live(record->at, clock)) {
		counter = counter_of(table, bucket, row, record);
		is_enough = counted_pages(table, counter, record) >= min_pages;
		if (is_enough)
			restart_counting(table, counter, record, clock);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return is_enough;
}
