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

/* The policy in force; written by the parameter, read once per dirtying. */
extern enum cgwb_policy cgwb_policy;

/* cgwb_clock() - now, and the live dirty_expire interval; any context */
struct cgwb_clock cgwb_clock(void);

/* cgwb_hooks_init() - the table of records, for @memcgs memcgs or more; process context */
int cgwb_hooks_init(unsigned int memcgs);
/* cgwb_hooks_exit() - nobody is in the replacements any more */
void cgwb_hooks_exit(void);

/**
 * cgwb_flush_records() - ask for the flush of every live record of a memcg
 * @memcg: kept by the caller
 * @wb: a wb of the memcg, for the kernel's tracepoint; NULL if who asks is not in balance_dirty_pages()
 *
 * Does not sleep. Returns for how many records a flush was queued, or is under way.
 */
unsigned int cgwb_flush_records(struct mem_cgroup *memcg, struct bdi_writeback *wb);

/* In place of mem_cgroup_track_foreign_dirty_slowpath(). */
void cgwb_track_foreign_dirty(struct folio *folio, struct bdi_writeback *wb);
/* In place of mem_cgroup_flush_foreign(). */
void cgwb_flush_foreign(struct bdi_writeback *wb);

#endif /* CGWB_HOOKS_H */
