/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module uses of the kernel that is not exported.
 *
 * A looked-up function is called through a static call and in no other way: that is a direct call, patched in when the
 * address is known. An indirect call to a function without ENDBR is fatal on a CPU with kernel IBT, and that is most of
 * them. check-object proves that the object has none.
 */
#ifndef CGWB_SYMBOLS_H
#define CGWB_SYMBOLS_H

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/memcontrol.h>
#include <linux/static_call.h>
#include <linux/tracepoint-defs.h>
#include <linux/writeback.h>

#include "compat.h"

struct folio;
struct workqueue_struct;

DECLARE_STATIC_CALL(cgwb_writeback_by_id, cgroup_writeback_by_id);

/* ->writepages() of the mapping of a block device, in block/fops.c; only its type is this one's. */
int cgwb_writepages_type(struct address_space *mapping, struct writeback_control *wbc);
DECLARE_STATIC_CALL(cgwb_bdev_writepages, cgwb_writepages_type);

/* Look again how much the wb has written; takes wb->list_lock, does not sleep. */
DECLARE_STATIC_CALL(cgwb_wb_update_bandwidth, wb_update_bandwidth);

/* A bdi with a reference, for bdi_put(); any context. */
DECLARE_STATIC_CALL(cgwb_bdi_get_by_id, bdi_get_by_id);

/* One of a memcg's counters with its descendants', as old as two seconds; any context. */
DECLARE_STATIC_CALL(cgwb_memcg_page_state, memcg_page_state);

/* Where the kernel waits for a memcg's foreign flushes: a wait queue that is always there. */
extern wait_queue_head_t *cgwb_frn_waitq;

/* In centiseconds, as vm.dirty_expire_centisecs; read at each use, for it is the administrator's. */
extern const unsigned int *cgwb_dirty_expire_interval;

/* The livepatches there are; under klp_mutex, which the klp core holds around its callbacks. */
extern struct list_head *cgwb_klp_patches;

/* The kernel's own tracepoint in the tracker; any context in which the kernel may fire it. */
void cgwb_fire_track_foreign_dirty(struct folio *folio, struct bdi_writeback *wb);
/* The kernel's own tracepoint in the flush: @wb asks for a flush of (@bdi_id, @memcg_id). */
void cgwb_fire_flush_foreign(struct bdi_writeback *wb, unsigned int bdi_id, unsigned int memcg_id);

/* cgwb_symbols_init() - look everything up, name what is missing: -ENOENT. Process context. */
int cgwb_symbols_init(void);

/* For reclaim_scope, after cgwb_symbols_reclaim_init(). None but the last may sleep. */
DECLARE_STATIC_CALL(cgwb_flush_plug, __blk_flush_plug);
DECLARE_STATIC_CALL(cgwb_wakeup_bdi, wakeup_flusher_threads_bdi);
DECLARE_STATIC_CALL(cgwb_memcg_iter, mem_cgroup_iter);
DECLARE_STATIC_CALL(cgwb_memcg_iter_break, mem_cgroup_iter_break);
#if CGWB_RECLAIM_FLUSHES_STATS
/* May be rescheduled, as reclaim itself may, which calls it, too. */
DECLARE_STATIC_CALL(cgwb_memcg_flush_stats, mem_cgroup_flush_stats);
#endif

/* All bdis there are; under RCU. */
extern struct list_head *cgwb_bdi_list;
/* The workqueue of flushers. */
extern struct workqueue_struct **cgwb_bdi_wq;
/* Not to be fired, but to be listened to. */
extern struct tracepoint *cgwb_reclaim_end_tracepoint;

/* cgwb_symbols_reclaim_init() - look up what only reclaim_scope needs; after cgwb_symbols_init(), and like it */
int cgwb_symbols_reclaim_init(void);

/* cgwb_symbol() - address of any symbol of the kernel's, 0 if there is none; after cgwb_symbols_init() has begun */
unsigned long cgwb_symbol(const char *name);
/* cgwb_symbol_find() - the same, and says what there is not; while the module is loaded */
unsigned long cgwb_symbol_find(const char *name);

#endif /* CGWB_SYMBOLS_H */
