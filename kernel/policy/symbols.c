// SPDX-License-Identifier: GPL-2.0-only
/* Look-ups of what is not exported: see symbols.h for how it may be used. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "symbols.h"

/* Only their types are used. */
void track_foreign_dirty_iterator(void *data, struct folio *folio, struct bdi_writeback *wb);
void flush_foreign_iterator(void *data, struct bdi_writeback *wb, unsigned int bdi_id,
			    unsigned int memcg_id);

DEFINE_STATIC_CALL_RET0(cgwb_kallsyms_lookup_name, kallsyms_lookup_name);
DEFINE_STATIC_CALL_RET0(cgwb_writeback_by_id, cgroup_writeback_by_id);
DEFINE_STATIC_CALL_RET0(cgwb_bdev_writepages, cgwb_writepages_type);
DEFINE_STATIC_CALL_NULL(cgwb_wb_update_bandwidth, wb_update_bandwidth);
DEFINE_STATIC_CALL_RET0(cgwb_bdi_get_by_id, bdi_get_by_id);
DEFINE_STATIC_CALL_NULL(cgwb_flush_plug, __blk_flush_plug);
DEFINE_STATIC_CALL_NULL(cgwb_wakeup_bdi, wakeup_flusher_threads_bdi);
DEFINE_STATIC_CALL_RET0(cgwb_memcg_iter, mem_cgroup_iter);
DEFINE_STATIC_CALL_NULL(cgwb_memcg_iter_break, mem_cgroup_iter_break);
DEFINE_STATIC_CALL_RET0(cgwb_memcg_page_state, memcg_page_state);
#if CGWB_RECLAIM_FLUSHES_STATS
DEFINE_STATIC_CALL_NULL(cgwb_memcg_flush_stats, mem_cgroup_flush_stats);
#endif
DEFINE_STATIC_CALL_NULL(cgwb_track_iterator, track_foreign_dirty_iterator);
DEFINE_STATIC_CALL_NULL(cgwb_flush_iterator, flush_foreign_iterator);

wait_queue_head_t *cgwb_frn_waitq __ro_after_init;
const unsigned int *cgwb_dirty_expire_interval __ro_after_init;
struct list_head *cgwb_klp_patches __ro_after_init;
struct list_head *cgwb_bdi_list __ro_after_init;
struct workqueue_struct **cgwb_bdi_wq __ro_after_init;
struct tracepoint *cgwb_reclaim_end_tracepoint __ro_after_init;

static struct tracepoint *track_tracepoint __ro_after_init;
static struct tracepoint *flush_tracepoint __ro_after_init;

/*
 * The iterator calls all probes of a tracepoint and reads them itself; it wants what the tracepoint macro gives it,
 * preemption off, which is also what keeps the list of probes alive.
 */
void cgwb_fire_track_foreign_dirty(struct folio *folio, struct bdi_writeback *wb)
{
	if (!static_key_enabled(&track_tracepoint->key))
		return;
	preempt_disable_notrace();
	static_call_cond(cgwb_track_iterator)(NULL, folio, wb);
	preempt_enable_notrace();
}

void cgwb_fire_flush_foreign(struct bdi_writeback *wb, unsigned int bdi_id, unsigned int memcg_id)
{
	if (!static_key_enabled(&flush_tracepoint->key))
		return;
	preempt_disable_notrace();
	static_call_cond(cgwb_flush_iterator)(NULL, wb, bdi_id, memcg_id);
	preempt_enable_notrace();
}

unsigned long cgwb_symbol(const char *name)
{
	return static_call(cgwb_kallsyms_lookup_name)(name);
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "track_foreign_dirty"))
		track_tracepoint = tp;
	else if (!strcmp(tp->name, "flush_foreign"))
		flush_tracepoint = tp;
	else if (!strcmp(tp->name, "mm_vmscan_memcg_reclaim_end"))
		cgwb_reclaim_end_tracepoint = tp;
}

/* A kprobe is the one exported thing that finds a function by its name. */
static int __init find_kallsyms(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&kp);

	if (ret < 0) {
		pr_err("cannot find kallsyms_lookup_name: error %d\n", ret);
		return ret;
	}
	/* With IBT this is behind the ENDBR, which a direct call does not need. */
	static_call_update(cgwb_kallsyms_lookup_name, (typeof(kallsyms_lookup_name) *)kp.addr);
	unregister_kprobe(&kp);
	return 0;
}

unsigned long __init cgwb_symbol_find(const char *name)
{
	unsigned long address = cgwb_symbol(name);

	if (!address)
		pr_err("this kernel has no symbol %s\n", name);
	return address;
}

int __init cgwb_symbols_init(void)
{
	unsigned long by_id, writepages, update_bandwidth, get_bdi, page_state;
	int ret = find_kallsyms();

	if (ret)
		return ret;
	by_id = cgwb_symbol_find("cgroup_writeback_by_id");
	writepages = cgwb_symbol_find("blkdev_writepages");
	update_bandwidth = cgwb_symbol_find("wb_update_bandwidth");
	get_bdi = cgwb_symbol_find("bdi_get_by_id");
	page_state = cgwb_symbol_find("memcg_page_state");
	cgwb_frn_waitq = (wait_queue_head_t *)cgwb_symbol_find("memcg_cgwb_frn_waitq");
	cgwb_dirty_expire_interval =
		(const unsigned int *)cgwb_symbol_find("dirty_expire_interval");
	cgwb_klp_patches = (struct list_head *)cgwb_symbol_find("klp_patches");
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!track_tracepoint)
		pr_err("this kernel has no tracepoint track_foreign_dirty\n");
	if (!flush_tracepoint)
		pr_err("this kernel has no tracepoint flush_foreign\n");
	if (!by_id || !writepages || !update_bandwidth || !get_bdi || !page_state ||
	    !cgwb_frn_waitq || !cgwb_dirty_expire_interval || !cgwb_klp_patches ||
	    !track_tracepoint || !flush_tracepoint)
		return -ENOENT;
	static_call_update(cgwb_writeback_by_id, (typeof(cgroup_writeback_by_id) *)by_id);
	static_call_update(cgwb_bdev_writepages, (typeof(cgwb_writepages_type) *)writepages);
	static_call_update(cgwb_wb_update_bandwidth,
			   (typeof(wb_update_bandwidth) *)update_bandwidth);
	static_call_update(cgwb_bdi_get_by_id, (typeof(bdi_get_by_id) *)get_bdi);
	static_call_update(cgwb_memcg_page_state, (typeof(memcg_page_state) *)page_state);
	static_call_update(cgwb_track_iterator, track_tracepoint->iterator);
	static_call_update(cgwb_flush_iterator, flush_tracepoint->iterator);
	return 0;
}

int __init cgwb_symbols_reclaim_init(void)
{
	unsigned long flush_plug = cgwb_symbol_find("__blk_flush_plug");
	unsigned long wakeup_bdi = cgwb_symbol_find("wakeup_flusher_threads_bdi");
	unsigned long iter = cgwb_symbol_find("mem_cgroup_iter");
	unsigned long iter_break = cgwb_symbol_find("mem_cgroup_iter_break");

	cgwb_bdi_list = (struct list_head *)cgwb_symbol_find("bdi_list");
	cgwb_bdi_wq = (struct workqueue_struct **)cgwb_symbol_find("bdi_wq");
	if (!cgwb_reclaim_end_tracepoint)
		pr_err("this kernel has no tracepoint mm_vmscan_memcg_reclaim_end\n");
	if (!flush_plug || !wakeup_bdi || !iter || !iter_break || !cgwb_bdi_list || !cgwb_bdi_wq ||
	    !cgwb_reclaim_end_tracepoint)
		return -ENOENT;
#if CGWB_RECLAIM_FLUSHES_STATS
	{
		unsigned long flush_stats = cgwb_symbol_find("mem_cgroup_flush_stats");

		if (!flush_stats)
			return -ENOENT;
		static_call_update(cgwb_memcg_flush_stats,
				   (typeof(mem_cgroup_flush_stats) *)flush_stats);
	}
#endif
	static_call_update(cgwb_flush_plug, (typeof(__blk_flush_plug) *)flush_plug);
	static_call_update(cgwb_wakeup_bdi, (typeof(wakeup_flusher_threads_bdi) *)wakeup_bdi);
	static_call_update(cgwb_memcg_iter, (typeof(mem_cgroup_iter) *)iter);
	static_call_update(cgwb_memcg_iter_break, (typeof(mem_cgroup_iter_break) *)iter_break);
	return 0;
}
