/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's own tracepoints. Their fields are an interface: docs and tools read them by name. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cgwb

#if !defined(CGWB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CGWB_TRACE_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "place.h"
#include "wake.h"

/* What a flush is of: the owner's whole wb, the mapping of a block device, or a stretch of any inode. */
#define CGWB_FLUSH_WB 0
#define CGWB_FLUSH_MAPPING 1
#define CGWB_FLUSH_STRETCH 2

/* The macros' fields are no expressions. */
/* clang-format off */

/*
 * A memcg in balance_dirty_pages() asked for a foreign flush; one event per record. Process context.
 *
 * cgroup_ino: who asked. kind: 0 wb, 1 mapping, 2 stretch. bdi_id, owner_id: the owner's bdi and css id,
 * as in flush_foreign, which the kernel fires as well. dev: the block device whose mapping it is, in the
 * kernel's encoding, 0 for a wb or a file. ino: the file, 0 otherwise. first, last: pages, of a wb 0. age_ms:
 * how long ago the record was stamped. ret: of a wb, what queueing it returned; otherwise, 0 a sweep was
 * started, 1 one was under way, negative when it could not be asked for.
 */
TRACE_EVENT(flush,

	TP_PROTO(u64 cgroup_ino, int kind, const struct cgwb_place *place, unsigned int age_ms,
		 int ret),

	TP_ARGS(cgroup_ino, kind, place, age_ms, ret),

	TP_STRUCT__entry(
		__field(u64, cgroup_ino)
		__field(u64, bdi_id)
		__field(unsigned long, ino)
		__field(unsigned long, first)
		__field(unsigned long, last)
		__field(int, kind)
		__field(int, owner_id)
		__field(dev_t, dev)
		__field(unsigned int, age_ms)
		__field(int, ret)
	),

	TP_fast_assign(
		__entry->cgroup_ino = cgroup_ino;
		__entry->bdi_id = place->bdi_id;
		__entry->ino = place->ino;
		__entry->first = place->first;
		__entry->last = place->last;
		__entry->kind = kind;
		__entry->owner_id = place->owner_id;
		__entry->dev = cgwb_id_is_bdev(place->id) ? place->id : 0;
		__entry->age_ms = age_ms;
		__entry->ret = ret;
	),

	TP_printk("cgroup_ino=%llu kind=%s bdi_id=%llu owner_id=%d dev=%d:%d ino=%lu first=%lu last=%lu age_ms=%u ret=%d",
		  __entry->cgroup_ino,
		  __print_symbolic(__entry->kind, { 0, "wb" }, { 1, "mapping" }, { 2, "stretch" }),
		  __entry->bdi_id, __entry->owner_id, MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->ino, __entry->first, __entry->last, __entry->age_ms, __entry->ret)
);

/*
 * A slice of a sweep was submitted. Process context, the worker.
 *
 * dev: the device, of a file that of its filesystem. ino: the file, 0 for the mapping of a device. first, last:
 * the pages that it covered; last is the end of the stretch when nothing dirty was left before the budget was used
 * up. budget: how many pages it would have taken. pages: how many were submitted. missed: how many were dirty but
 * being written already.
 */
TRACE_EVENT(mapping_written,

	TP_PROTO(u32 dev, unsigned long ino, unsigned long first, unsigned long last,
		 unsigned long budget, unsigned long pages, unsigned long missed),

	TP_ARGS(dev, ino, first, last, budget, pages, missed),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(unsigned long, ino)
		__field(unsigned long, first)
		__field(unsigned long, last)
		__field(unsigned long, budget)
		__field(unsigned long, pages)
		__field(unsigned long, missed)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->ino = ino;
		__entry->first = first;
		__entry->last = last;
		__entry->budget = budget;
		__entry->pages = pages;
		__entry->missed = missed;
	),

	TP_printk("dev=%d:%d ino=%lu first=%lu last=%lu budget=%lu pages=%lu missed=%lu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino, __entry->first,
		  __entry->last, __entry->budget, __entry->pages, __entry->missed)
);

/*
 * Reclaim woke flushers, with reclaim_scope. Task context, who reclaims.
 *
 * cgroup_ino: the target of reclaim, 0 if none is known. wake: 0 scoped; else every wb was started, because
 * the target is 1 unknown, 2 too much is out of its reach, 3 its last wake-up cleaned nothing, 4 there are
 * too many memcgs. repeated: the decision was that of the wake-up before it, and what follows but for wbs is
 * 0. wbs: how many of the subtree's were started by this one. records: how many were flushed. dirty,
 * writeback: pages of the subtree. reached: reclaimable pages on its wbs.
 */
TRACE_EVENT(reclaim_wake,

	TP_PROTO(u64 cgroup_ino, int wake, bool repeated, unsigned int wbs,
		 const struct cgwb_scope *scope),

	TP_ARGS(cgroup_ino, wake, repeated, wbs, scope),

	TP_STRUCT__entry(
		__field(u64, cgroup_ino)
		__field(unsigned long, dirty)
		__field(unsigned long, writeback)
		__field(unsigned long, reached)
		__field(int, wake)
		__field(int, repeated)
		__field(unsigned int, wbs)
		__field(unsigned int, records)
	),

	TP_fast_assign(
		__entry->cgroup_ino = cgroup_ino;
		__entry->dirty = scope->dirty;
		__entry->writeback = scope->writeback;
		__entry->reached = scope->reached;
		__entry->wake = wake;
		__entry->repeated = repeated;
		__entry->wbs = wbs;
		__entry->records = scope->flushed;
	),

	TP_printk("cgroup_ino=%llu wake=%s repeated=%d wbs=%u records=%u dirty=%lu writeback=%lu reached=%lu",
		  __entry->cgroup_ino,
		  __print_symbolic(__entry->wake, { 0, "scoped" }, { 1, "unknown" },
				   { 2, "unreachable" }, { 3, "again" }, { 4, "crowded" }),
		  __entry->repeated, __entry->wbs, __entry->records, __entry->dirty,
		  __entry->writeback, __entry->reached)
);

/* clang-format on */

/* cgwb_trace_init() - make the events visible where the kernel does not do it for a livepatch; after the symbols */
int cgwb_trace_init(void);

#endif /* CGWB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
