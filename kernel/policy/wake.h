/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A wake-up of flushers by the reclaim of a memcg: is it enough to start the wbs of the subtree under
 * reclaim, and to flush what it dirtied elsewhere, or is it every wb of the machine, as the kernel does?
 *
 * Two things must be true for the smaller one. What it reaches holds at least half of the dirty pages of the
 * subtree; and when the same memcg has woken a short time before, something of it has been cleaned since, or
 * is being written.
 *
 * The subtree's dirty pages and pages under writeback are the memcg's own statistics: they count by who
 * dirtied a page, wherever it lies. What is reached are the reclaimable pages of the subtree's wbs, which
 * count by who owns the inode: they may be pages that others dirtied, so this is too much at times. A foreign
 * record that was flushed says that there are dirty pages elsewhere, not how many: it is taken to reach the
 * rest. Both errors are put right by the second condition, which asks for nothing but the memcg's own pages;
 * so it must come soon enough.
 *
 * How soon: a memcg that is near its memory.max is out of memory after 16 reclaims without a page. So there
 * it is looked at again as soon as one reclaim that woke has ended with nothing. A memcg that is not (it is
 * above its memory.high, or somebody writes memory.reclaim) loses time at most, and is looked at again after
 * CGWB_WAKE_PATIENCE_MS. Until then its wake-ups repeat the last one: a reclaim may wake a thousand times in
 * a millisecond, once for each batch of pages that it finds dirty, and the flushers have had no time.
 *
 * Nothing here locks: the caller does.
 */
#ifndef CGWB_WAKE_H
#define CGWB_WAKE_H

#include "decide.h"

/*
 * Longer than flushers need to begin, much shorter than the 2 seconds for which a task above memory.high
 * sleeps.
 */
#define CGWB_WAKE_PATIENCE_MS 100
/*
 * Levels that lie further apart cannot be compared; longer than that sleep, or its wakes would never be
 * compared.
 */
#define CGWB_WAKE_MEMORY_MS 5000
/*
 * Memcgs of a subtree that are asked for their records: reclaim itself looks at each of them in every round.
 */
#define CGWB_WAKE_MEMCGS 1024
/* Wakers that are looked through for one memcg. */
#define CGWB_WAKE_WAYS 8

/* What a wake-up starts, and if it is everything, why. An interface: the tracepoint shows it. */
enum cgwb_wake {
	CGWB_WAKE_SCOPED, /* the subtree's wbs and records */
	CGWB_WAKE_UNKNOWN, /* everything: no memcg is known to be the target of reclaim */
	CGWB_WAKE_UNREACHABLE, /* everything: the subtree's wbs and records hold too little */
	CGWB_WAKE_AGAIN, /* everything: the last wake-up of the same target has cleaned nothing */
	CGWB_WAKE_CROWDED, /* everything: too many memcgs in the subtree, or that wake */
};

/**
 * struct cgwb_waker - what is remembered of a memcg whose reclaim has woken flushers
 * @serial: css.serial_nr; 0 in one never used
 * @at: jiffies_64 of the last decision
 * @flushed_at: jiffies_64 of the last decision that flushed records; 0 for never
 * @dirty: the pages that were dirty at @at
 * @wake: what was decided
 * @has_failed: since @at a reclaim that woke has ended with nothing
 */
struct cgwb_waker {
	u64 serial;
	u64 at;
	u64 flushed_at;
	unsigned long dirty;
	enum cgwb_wake wake;
	bool has_failed;
};

/**
 * struct cgwb_scope - what a decision is made of; pages
 * @dirty: of the subtree, wherever they are
 * @writeback: of the subtree, being written now
 * @reached: reclaimable on the subtree's wbs
 * @flushed: records of the subtree that were flushed just now
 */
struct cgwb_scope {
	unsigned long dirty;
	unsigned long writeback;
	unsigned long reached;
	unsigned int flushed;
};

/**
 * struct cgwb_wake_clock - the times by which wakers live, in jiffies
 * @now: jiffies_64
 * @patience: CGWB_WAKE_PATIENCE_MS
 * @memory: CGWB_WAKE_MEMORY_MS
 */
struct cgwb_wake_clock {
	u64 now;
	u64 patience;
	u64 memory;
};

/**
 * cgwb_waker_find() - the waker of a memcg among CGWB_WAKE_WAYS
 *
 * Its own, with what was remembered, or one that may be forgotten, as good as new. NULL if there is none: all
 * of them are others', and in use.
 */
struct cgwb_waker *cgwb_waker_find(struct cgwb_waker *wakers, u64 serial,
				   const struct cgwb_wake_clock *clock);

/*
 * cgwb_waker_is_due() - is a decision to be made, or is the last one to be repeated? @is_at_max: near its
 * memory.max
 */
bool cgwb_waker_is_due(const struct cgwb_waker *waker, bool is_at_max,
		       const struct cgwb_wake_clock *clock);

/* cgwb_waker_decide() - decide, and remember it */
enum cgwb_wake cgwb_waker_decide(struct cgwb_waker *waker, const struct cgwb_scope *scope,
				 const struct cgwb_wake_clock *clock);

/*
 * cgwb_waker_failed() - a reclaim of memcg @serial that woke has ended with nothing; no matter if it is
 * forgotten
 */
void cgwb_waker_failed(struct cgwb_waker *wakers, u64 serial);

#endif /* CGWB_WAKE_H */
