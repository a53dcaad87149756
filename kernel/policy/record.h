/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of the mapping policy: which memcg dirtied which block device's mapping, and when.
 *
 * A record is a handful of numbers: it pins nothing and is never dereferenced. A memcg is known by css.serial_nr, which
 * the kernel never uses twice, so no record is ever inherited; a device by its number, where a reuse costs one needless
 * sweep. Nothing has to be told when a cgroup, a filesystem or a device goes away: its records die of age.
 *
 * A record is *armed* by a foreign dirtying and *disarmed* when it is taken for a flush: the next dirtying arms it
 * again, nothing else does. An armed record that is older than the dirty_expire interval is dead. Dead and disarmed
 * records, and rows that hold no others, are reused.
 *
 * The table is set-associative with a size that never changes: buckets of CGWB_ROWS memcgs, each with CGWB_TARGETS
 * records. A memcg whose bucket is full of live ones, or that has CGWB_TARGETS live devices, gets -ENOSPC, and the
 * caller uses the kernel's own record instead.
 *
 * Locking: all changes are made under the bucket's lock. cgwb_record_known() takes none and writes nothing; it answers
 * "yes" only for a record that was live and in place for as long as it looked. The lock is a leaf but for what the
 * caller nests inside; it nests inside the i_pages lock, so all holders must have interrupts off.
 */
#ifndef CGWB_RECORD_H
#define CGWB_RECORD_H

#include "decide.h"

/* As many as the kernel's MEMCG_CGWB_FRN_CNT, twice: a memcg seldom writes metadata on more than a few devices. */
#define CGWB_TARGETS 8
/* Rows of a bucket: enough that a table filled to half has a full bucket only once in thousands. */
#define CGWB_ROWS 16

/**
 * struct cgwb_record - one foreign dirtying
 * @at: jiffies_64 of the last noted dirtying, 0 when disarmed
 * @bdi_id: what the kernel's own record would say: the bdi ...
 * @owner_id: ... and the css id of the memcg that owns the device's inode
 * @dev: the block device's number in the kernel's encoding; 0 in a record never used
 */
struct cgwb_record {
	u64 at;
	u64 bdi_id;
	s32 owner_id;
	u32 dev;
};

/**
 * struct cgwb_row - the records of one memcg
 * @serial: css.serial_nr, which the kernel counts from 1; 0 in a row never used
 * @records: in no order
 */
struct cgwb_row {
	u64 serial;
	struct cgwb_record records[CGWB_TARGETS];
};

struct cgwb_bucket {
	raw_spinlock_t lock;
	struct cgwb_row rows[CGWB_ROWS];
};

/**
 * struct cgwb_table - all records
 * @buckets: zeroed memory of cgwb_table_bytes()
 * @bits: log2 of the number of buckets
 */
struct cgwb_table {
	struct cgwb_bucket *buckets;
	unsigned int bits;
};

/* cgwb_table_bits() - log2 of the buckets that have rows for @memcgs memcgs or more */
unsigned int cgwb_table_bits(unsigned int memcgs);
size_t cgwb_table_bytes(unsigned int bits);
/* cgwb_table_init() - @memory is zeroed, of cgwb_table_bytes(@bits), and stays the caller's */
void cgwb_table_init(struct cgwb_table *table, void *memory, unsigned int bits);

/* cgwb_record_known() - is there a live record that needs no renewal? Takes no lock, writes nothing. */
bool cgwb_record_known(const struct cgwb_table *table, u64 serial, u32 dev,
		       const struct cgwb_clock *clock);

/**
 * cgwb_record_arm() - note a dirtying
 * @table: the table
 * @serial: the memcg
 * @key: device, bdi and owner; @key->at is not read
 * @clock: now
 *
 * Called with interrupts off. Returns 1 for a new record, 0 for one that was there, -ENOSPC when the table is full.
 */
int cgwb_record_arm(struct cgwb_table *table, u64 serial, const struct cgwb_record *key,
		    const struct cgwb_clock *clock);

/**
 * cgwb_record_take() - disarm all live records of a memcg
 * @table: the table
 * @serial: the memcg
 * @clock: now
 * @taken: gets the records as they were
 *
 * A memcg without a row costs a few reads. Returns how many were taken.
 *
 * To be called *before* the sweep is asked for: a page that is dirtied after the sweep has passed it then finds the
 * record disarmed and arms it. The other way round its dirtying could be taken for known and be lost.
 */
unsigned int cgwb_record_take(struct cgwb_table *table, u64 serial, const struct cgwb_clock *clock,
			      struct cgwb_record taken[CGWB_TARGETS]);

/* cgwb_record_restore() - give back a record that was taken but could not be asked for, unless it is armed again */
void cgwb_record_restore(struct cgwb_table *table, u64 serial, const struct cgwb_record *record,
			 const struct cgwb_clock *clock);

#endif /* CGWB_RECORD_H */
