// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a wb need background writeback? See threshold.h for the arithmetic, and for what is different from the kernel's.
 *
 * The system's half is the kernel's own: global_dirty_limits() and wb_calc_thresh() are called where the original calls
 * what is inlined into them, so that its tracepoint global_dirty_state fires as ever, and no private structure of
 * mm/page-writeback.c is repeated here. The price is that the system's available memory, which the first does not tell
 * and the memcg's half needs, is counted once more: a few pages may have come or gone in between. That moves the
 * memcg's available memory by as many, and nothing else.
 *
 * The memcg's half is repeated. Its numbers are the kernel's own, by mem_cgroup_wb_stats() and fprop_fraction_percpu();
 * the settings are read from the kernel's variables, whose types are checked only by whoever reads each release that
 * compat.h lets in.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev.h>
#include <linux/flex_proportions.h>
#include <linux/memcontrol.h>
#include <linux/sched/rt.h>
#include <linux/static_call.h>
#include <linux/vmstat.h>
#include <linux/writeback.h>

#include "bgthresh.h"
#include "symbols.h"
#include "threshold.h"

/* x86-64 has none; where there is, not all memory may be dirty. */
#ifdef CONFIG_HIGHMEM
#error "cgwb does not support CONFIG_HIGHMEM"
#endif

DEFINE_STATIC_CALL_NULL(cgwb_global_dirty_limits, global_dirty_limits);
DEFINE_STATIC_CALL_RET0(cgwb_wb_calc_thresh, wb_calc_thresh);
DEFINE_STATIC_CALL_NULL(cgwb_memcg_wb_stats, mem_cgroup_wb_stats);
DEFINE_STATIC_CALL_NULL(cgwb_fprop_fraction, fprop_fraction_percpu);

/* The kernel's variables, of these types in mm/page-writeback.c and mm/page_alloc.c. */
static const int *dirty_ratio __ro_after_init;
static const unsigned long *dirty_bytes __ro_after_init;
static const int *background_ratio __ro_after_init;
static const unsigned long *background_bytes __ro_after_init;
static const unsigned int *min_ratio_sum __ro_after_init;
static const unsigned long *reserve_pages __ro_after_init;
static const struct wb_domain *system_domain __ro_after_init;

static unsigned long system_available(void)
{
	unsigned long pages = global_zone_page_state(NR_FREE_PAGES);

	pages -= min(pages, READ_ONCE(*reserve_pages));
	pages += global_node_page_state(NR_INACTIVE_FILE);
	pages += global_node_page_state(NR_ACTIVE_FILE);
	return pages + 1; /* never 0 */
}

/* Near the threshold the counters' error may be as large as it: then they are summed up. */
static bool has_more_dirty(struct bdi_writeback *wb, unsigned long threshold)
{
	s64 dirty = threshold < 2 * wb_stat_error() ? wb_stat_sum(wb, WB_RECLAIMABLE) :
						      wb_stat(wb, WB_RECLAIMABLE);

	return (unsigned long)dirty > threshold;
}

static bool is_system_over(struct bdi_writeback *wb, unsigned long system_dirty)
{
	unsigned long background = 0, limit;

	static_call_cond(cgwb_global_dirty_limits)(&background, &limit);
	return system_dirty > background ||
	       has_more_dirty(wb, static_call(cgwb_wb_calc_thresh)(wb, background));
}

/* The wb's part of what its memcg's wbs have written. */
static struct cgwb_part memcg_part(struct mem_cgroup *memcg, struct bdi_writeback *wb)
{
	unsigned long bandwidth = READ_ONCE(wb->avg_write_bandwidth);
	unsigned long total = atomic_long_read(&wb->bdi->tot_write_bandwidth);
	struct cgwb_part part = {
		.denominator = 1,
		.reserved_percent = READ_ONCE(*min_ratio_sum),
		.min_percent = cgwb_wb_percent(READ_ONCE(wb->bdi->min_ratio), bandwidth, total),
		.max_percent = cgwb_wb_max_percent(READ_ONCE(wb->bdi->max_ratio), bandwidth, total),
	};

	static_call_cond(cgwb_fprop_fraction)(&memcg->cgwb_domain.completions,
					      &wb->memcg_completions, &part.numerator,
					      &part.denominator);
	return part;
}

static bool is_memcg_over(struct mem_cgroup *memcg, struct bdi_writeback *wb,
			  unsigned long system_dirty)
{
	const struct cgwb_dirty_settings settings = {
		.ratio = READ_ONCE(*dirty_ratio),
		.bytes = READ_ONCE(*dirty_bytes),
		.background_ratio = READ_ONCE(*background_ratio),
		.background_bytes = READ_ONCE(*background_bytes),
	};
	unsigned long filepages = 0, headroom = 0, dirty = 0, writeback;
	unsigned long system = system_available(), available, background;
	struct cgwb_part part;

	static_call_cond(cgwb_memcg_wb_stats)(wb, &filepages, &headroom, &dirty, &writeback);
	available = cgwb_domain_available(filepages, dirty, headroom, system, system_dirty);
	background = cgwb_domain_background(&settings, available, system, rt_task(current),
					    READ_ONCE(system_domain->dirty_limit));
	if (dirty > background)
		return true;
	part = memcg_part(memcg, wb);
	return has_more_dirty(wb, cgwb_wb_threshold(background, &part));
}

/*
 * Pages under writeback do not count: it is about putting more of them there.
 *
 * Called by @wb's worker, with and without wb->list_lock, so nothing here sleeps. @wb keeps its memcg's css. All
 * numbers are read without locks, as in the original: one that is a moment old begins or ends writeback a moment later.
 */
bool cgwb_over_bg_thresh(struct bdi_writeback *wb)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(wb->memcg_css);
	unsigned long system_dirty = global_node_page_state(NR_FILE_DIRTY);

	if (is_system_over(wb, system_dirty))
		return true;
	/* The root's domain is the system's. */
	return memcg->css.parent && is_memcg_over(memcg, wb, system_dirty);
}

int __init cgwb_bgthresh_init(void)
{
	unsigned long limits, calc_thresh, stats, fraction;

	if (!cgwb_bgthresh)
		return 0;
	limits = cgwb_symbol_find("global_dirty_limits");
	calc_thresh = cgwb_symbol_find("wb_calc_thresh");
	stats = cgwb_symbol_find("mem_cgroup_wb_stats");
	fraction = cgwb_symbol_find("fprop_fraction_percpu");
	dirty_ratio = (const int *)cgwb_symbol_find("vm_dirty_ratio");
	dirty_bytes = (const unsigned long *)cgwb_symbol_find("vm_dirty_bytes");
	background_ratio = (const int *)cgwb_symbol_find("dirty_background_ratio");
	background_bytes = (const unsigned long *)cgwb_symbol_find("dirty_background_bytes");
	min_ratio_sum = (const unsigned int *)cgwb_symbol_find("bdi_min_ratio");
	reserve_pages = (const unsigned long *)cgwb_symbol_find("totalreserve_pages");
	system_domain = (const struct wb_domain *)cgwb_symbol_find("global_wb_domain");
	if (!limits || !calc_thresh || !stats || !fraction || !dirty_ratio || !dirty_bytes ||
	    !background_ratio || !background_bytes || !min_ratio_sum || !reserve_pages ||
	    !system_domain)
		return -ENOENT;
	static_call_update(cgwb_global_dirty_limits, (typeof(global_dirty_limits) *)limits);
	static_call_update(cgwb_wb_calc_thresh, (typeof(wb_calc_thresh) *)calc_thresh);
	static_call_update(cgwb_memcg_wb_stats, (typeof(mem_cgroup_wb_stats) *)stats);
	static_call_update(cgwb_fprop_fraction, (typeof(fprop_fraction_percpu) *)fraction);
	return 0;
}
