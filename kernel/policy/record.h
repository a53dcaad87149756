/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's own records: which memcg dirtied which place, and when.
 *
 * A record is a handful of numbers: it pins nothing and is never dereferenced. A memcg is known by css.serial_nr, which
 * the kernel never uses twice, so no record is ever inherited; a place by numbers, where a reuse costs one needless
 * sweep. Nothing has to be told when a cgroup, a filesystem or a device goes away: its records die of age.
 *
 * A record is *armed* by a foreign dirtying and *disarmed* when it is taken for a flush: the next dirtying arms it
 * again, nothing else does. While it is armed its stretch only grows. An armed record that is older than the
 * dirty_expire interval is dead. Dead and disarmed records, and rows that hold no others, are reused.
 *
 * A record also knows how many pages were dirtied there since it was last taken, if counting was asked for. A whole wb
 * has a record only for that; it is never taken.
 *
 * The table is set-associative with a size that never changes: buckets of CGWB_ROWS memcgs, each with CGWB_RECORDS
 * records. A memcg whose bucket is full of live ones, or that has CGWB_RECORDS live places, gets -ENOSPC, and the
 * caller uses the kernel's own record instead.
 *
 * Locking: all changes but of the page counters are made under the bucket's lock. A dirtying of a place that is known
 * takes none and writes nothing but its CPU's own counter; it takes for known only what was live and in place for as
 * long as it looked. The lock is a leaf; it nests inside the i_pages lock, so all holders must have interrupts off.
 */
#ifndef CGWB_RECORD_H
#define CGWB_RECORD_H

#include "decide.h"
#include "place.h"

/* As many as the kernel's MEMCG_CGWB_FRN_CNT, twice. */
#define CGWB_RECORDS 8
/* Rows of a bucket: enough that a table filled to half has a full bucket only once in thousands. */
#define CGWB_ROWS 16

/**
 * struct cgwb_record - one foreign dirtying
 * @at: jiffies_64 of the last noted dirtying, 0 when disarmed
 * @place: what was dirtied; its id is 0 in a record never used
 * @counted_at: jiffies_64 when the present counting period began
 * @counted_from: what the page counters had counted then
 * @counted_before: the pages of the period before
 */
struct cgwb_record {
	u64 at;
	struct cgwb_place place;
	u64 counted_at;
	u32 counted_from;
	u32 counted_before;
};

/**
 * struct cgwb_row - the records of one memcg, in no order
 */
struct cgwb_row {
	struct cgwb_record records[CGWB_RECORDS];
};

/**
 * struct cgwb_bucket - some memcgs
 * @serials: css.serial_nr of each row, which the kernel counts from 1; 0 in a row never used
 */
struct cgwb_bucket {
	raw_spinlock_t lock;
	u64 serials[CGWB_ROWS];
	struct cgwb_row rows[CGWB_ROWS];
};

/**
 * struct cgwb_table - all records
 * @buckets: zeroed memory of cgwb_table_bytes()
 * @bits: log2 of the number of buckets
 * @pages: for each CPU, zeroed memory of a u32 for each record, in which it counts pages; NULL when nothing is counted
 */
struct cgwb_table {
	struct cgwb_bucket *buckets;
	unsigned int bits;
	u32 **pages;
};

enum cgwb_note {
	CGWB_NOTE_KNOWN, /* there, and fresh */
	CGWB_NOTE_REFRESHED, /* there: armed again, stamped anew or made longer */
	CGWB_NOTE_RECORDED, /* new */
};

/* cgwb_table_bits() - log2 of the buckets that have rows for @memcgs memcgs or more */
unsigned int cgwb_table_bits(unsigned int memcgs);
size_t cgwb_table_bytes(unsigned int bits);
/* cgwb_table_pages_bytes() - of one CPU's page counters */
size_t cgwb_table_pages_bytes(unsigned int bits);
/* cgwb_table_init() - @memory is zeroed, of cgwb_table_bytes(@bits), and stays the caller's */
void cgwb_table_init(struct cgwb_table *table, void *memory, unsigned int bits);

/**
 * cgwb_record_note() - note a dirtying
 * @table: the table
 * @serial: the memcg
 * @place: where
 * @nr_pages: how many
 * @clock: now
 *
 * Called with interrupts off. Returns an enum cgwb_note, or -ENOSPC when the table is full.
 */
int cgwb_record_note(struct cgwb_table *table, u64 serial, const struct cgwb_place *place,
		     unsigned long nr_pages, const struct cgwb_clock *clock);

/**
 * cgwb_record_take() - disarm the live records of a memcg
 * @table: the table
 * @serial: the memcg
 * @min_pages: leave a record in which fewer pages were counted as it is; 0 for none
 * @clock: now
 * @taken: gets the records as they were
 * @ret_held: gets how many were left
 *
 * A memcg without a row costs a few reads. Returns how many were taken.
 *
 * To be called *before* the sweep is asked for: a page that is dirtied after the sweep has passed it then finds the
 * record disarmed and arms it. The other way round its dirtying could be taken for known and be lost.
 */
unsigned int cgwb_record_take(struct cgwb_table *table, u64 serial, unsigned long min_pages,
			      const struct cgwb_clock *clock,
			      struct cgwb_record taken[CGWB_RECORDS], unsigned int *ret_held);

/* cgwb_record_restore() - give back a record that was taken but could not be asked for, unless it is armed again */
void cgwb_record_restore(struct cgwb_table *table, u64 serial, const struct cgwb_record *record,
			 const struct cgwb_clock *clock);

/**
 * cgwb_record_spend() - is a flush of the whole wb @place worth it?
 *
 * Returns true, and counts from nothing again, when at least @min_pages were counted, or when nothing is known of that
 * wb: the kernel's own record is then the only word there is. Any context.
 */
bool cgwb_record_spend(struct cgwb_table *table, u64 serial, const struct cgwb_place *place,
		       unsigned long min_pages, const struct cgwb_clock *clock);

#endif /* CGWB_RECORD_H */
