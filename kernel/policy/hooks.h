/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The replacements of the kernel's two functions of foreign dirty flushing, and what they stand on.
 */
#ifndef CGWB_HOOKS_H
#define CGWB_HOOKS_H

#include "decide.h"
#include "policy.h"

struct bdi_writeback;
struct folio;
struct mem_cgroup;

/* cgwb_clock() - now, and how long records live: as was chosen, or the live dirty_expire interval. Any context. */
struct cgwb_clock cgwb_clock(void);

/* cgwb_hooks_init() - the table of records, for @memcgs memcgs or more; process context */
int cgwb_hooks_init(unsigned int memcgs);
/* cgwb_hooks_exit() - nobody is in the replacements any more */
void cgwb_hooks_exit(void);

/* cgwb_hooks_are_ready() - has cgwb_hooks_init() been called? */
bool cgwb_hooks_are_ready(void);
/* cgwb_hooks_count_pages() - count the pages of each record from now on; process context, one caller at a time */
int cgwb_hooks_count_pages(void);

/**
 * cgwb_flush_records() - ask for what @memcg dirtied elsewhere, by records of every policy
 * @memcg: kept by the caller
 * @wb: a wb of the memcg, for the kernel's tracepoint; NULL if who asks is not in balance_dirty_pages()
 * @min_pages: where fewer pages than that were dirtied, leave it; 0 for none, as reclaim wants it
 *
 * Does not sleep. Returns for how many records a flush was queued, or is under way.
 */
unsigned int cgwb_flush_records(struct mem_cgroup *memcg, struct bdi_writeback *wb,
				unsigned long min_pages);

/* cgwb_flush_owner() - flush the owner's whole wb; -EBUSY if such a flush has not ended. Process context. */
int cgwb_flush_owner(const struct cgwb_place *place);

/* In place of mem_cgroup_track_foreign_dirty_slowpath(). */
void cgwb_track_foreign_dirty(struct folio *folio, struct bdi_writeback *wb);
/* In place of mem_cgroup_flush_foreign(). */
void cgwb_flush_foreign(struct bdi_writeback *wb);

#endif /* CGWB_HOOKS_H */
