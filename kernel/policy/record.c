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

void cgwb_table_init(struct cgwb_table *table, void *memory, unsigned int bits)
{
	unsigned int i;

	table->buckets = memory;
	table->bits = bits;
	for (i = 0; i < 1U << bits; i++)
		raw_spin_lock_init(&table->buckets[i].lock);
}

static bool is_live(u64 at, const struct cgwb_clock *clock)
{
	return at && time_after64(at, clock->now - clock->expire);
}

static struct cgwb_row *find_row(struct cgwb_bucket *bucket, u64 serial)
{
	unsigned int i;

	for (i = 0; i < CGWB_ROWS; i++)
		if (READ_ONCE(bucket->rows[i].serial) == serial)
			return &bucket->rows[i];
	return NULL;
}

static struct cgwb_record *find_record(struct cgwb_row *row, u32 dev)
{
	unsigned int i;

	for (i = 0; i < CGWB_TARGETS; i++)
		if (READ_ONCE(row->records[i].dev) == dev)
			return &row->records[i];
	return NULL;
}

bool cgwb_record_known(const struct cgwb_table *table, u64 serial, u32 dev,
		       const struct cgwb_clock *clock)
{
	struct cgwb_row *row = find_row(bucket_of(table, serial), serial);
	struct cgwb_record *record = row ? find_record(row, dev) : NULL;
	u64 at;

	if (!record)
		return false;
	/*
	 * The record may be given to another device, and the row to another memcg, while we look. Both clear the name
	 * before the stamp changes and set the new one after it, so a stamp between two readings of the same name is
	 * that name's.
	 */
	smp_rmb();
	at = READ_ONCE(record->at);
	smp_rmb();
	if (READ_ONCE(record->dev) != dev || READ_ONCE(row->serial) != serial)
		return false;
	return is_live(at, clock) && !time_before64(at, clock->now - clock->refresh);
}

static bool is_row_dead(const struct cgwb_row *row, const struct cgwb_clock *clock)
{
	unsigned int i;

	for (i = 0; i < CGWB_TARGETS; i++)
		if (is_live(row->records[i].at, clock))
			return false;
	return true;
}

/* Under the bucket's lock: the memcg's row, or a dead one made its own. */
static struct cgwb_row *claim_row(struct cgwb_bucket *bucket, u64 serial,
				  const struct cgwb_clock *clock)
{
	struct cgwb_row *row = find_row(bucket, serial);
	unsigned int i;

	if (row)
		return row;
	for (i = 0; i < CGWB_ROWS; i++)
		if (is_row_dead(&bucket->rows[i], clock))
			break;
	if (i == CGWB_ROWS)
		return NULL;
	row = &bucket->rows[i];
	WRITE_ONCE(row->serial, 0);
	smp_wmb(); /* pairs with cgwb_record_known() */
	for (i = 0; i < CGWB_TARGETS; i++) {
		WRITE_ONCE(row->records[i].dev, 0);
		WRITE_ONCE(row->records[i].at, 0);
	}
	smp_wmb();
	WRITE_ONCE(row->serial, serial);
	return row;
}

/* Under the bucket's lock: a record of the row that is nobody's now. */
static struct cgwb_record *claim_record(struct cgwb_row *row, const struct cgwb_clock *clock)
{
	unsigned int i;

	for (i = 0; i < CGWB_TARGETS; i++) {
		struct cgwb_record *record = &row->records[i];

		if (is_live(record->at, clock))
			continue;
		WRITE_ONCE(record->dev, 0);
		smp_wmb(); /* pairs with cgwb_record_known() */
		return record;
	}
	return NULL;
}

int cgwb_record_arm(struct cgwb_table *table, u64 serial, const struct cgwb_record *key,
		    const struct cgwb_clock *clock)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	struct cgwb_record *record = NULL;
	struct cgwb_row *row;
	int ret = 0;

	raw_spin_lock(&bucket->lock);
	row = claim_row(bucket, serial, clock);
	if (row)
		record = find_record(row, key->dev);
	if (row && !record) {
		record = claim_record(row, clock);
		ret = 1;
	}
	if (record) {
		record->bdi_id = key->bdi_id;
		record->owner_id = key->owner_id;
		WRITE_ONCE(record->at, clock->now);
		smp_wmb(); /* pairs with cgwb_record_known() */
		WRITE_ONCE(record->dev, key->dev);
	} else {
		ret = -ENOSPC;
	}
	raw_spin_unlock(&bucket->lock);
	return ret;
}

unsigned int cgwb_record_take(struct cgwb_table *table, u64 serial, const struct cgwb_clock *clock,
			      struct cgwb_record taken[CGWB_TARGETS])
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	unsigned int i, n = 0;
	unsigned long flags;
	struct cgwb_row *row;

	if (!find_row(bucket, serial))
		return 0;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	row = find_row(bucket, serial);
	for (i = 0; row && i < CGWB_TARGETS; i++) {
		struct cgwb_record *record = &row->records[i];

		if (!is_live(record->at, clock))
			continue;
		taken[n++] = *record;
		WRITE_ONCE(record->at, 0);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return n;
}

void cgwb_record_restore(struct cgwb_table *table, u64 serial, const struct cgwb_record *record,
			 const struct cgwb_clock *clock)
{
	struct cgwb_bucket *bucket = bucket_of(table, serial);
	struct cgwb_record *now;
	unsigned long flags;
	struct cgwb_row *row;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	row = find_row(bucket, serial);
	now = row ? find_record(row, record->dev) : NULL;
	if (now && !is_live(now->at, clock))
		WRITE_ONCE(now->at, record->at);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}
