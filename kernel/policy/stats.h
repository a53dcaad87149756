/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, one a file under /sys/kernel/cgwb/stats/, from the loading of the module on.
 *
 * Per CPU, because the tracker counts every foreign dirtying of the machine; so a reading is a sum that was never
 * exactly true at one moment while the machine works, and is exact when it is quiet.
 */
#ifndef CGWB_STATS_H
#define CGWB_STATS_H

#include <linux/percpu.h>

/* X(name): what each counts. Dirtyings are clean-to-dirty transitions of foreign folios, as the kernel sees them. */
#define CGWB_STATS(X)                                                                              \
	X(tracked) /* foreign dirtyings seen, under any policy */                                  \
	X(tracked_bdev) /* of these: of the mapping of a block device */                           \
	X(skipped) /* not recorded because the policy says so */                                   \
	X(stock_records) /* kernel's records: a slot given to another (bdi, owner) */              \
	X(stock_refreshed) /* kernel's records: stamped anew */                                    \
	X(stock_dropped) /* kernel's records: lost, no slot was free */                            \
	X(records) /* mapping, precise: a new record */                                            \
	X(refreshed) /* mapping, precise: armed, stamped anew or made longer */                    \
	X(overflow) /* mapping, precise: no room in the table, kernel's record used */             \
	X(held_back) /* records not asked for yet: below the threshold */                          \
	X(deduped) /* records not asked for yet: a flush of that wb has not ended */               \
	X(flushes_stock) /* whole-wb foreign flushes asked for */                                  \
	X(flushes_failed) /* of these and flushes_owner: owner or wb was gone, or no memory */     \
	X(flushes_mapping) /* asks of a mapping sweep, one for each record taken */                \
	X(flushes_stretch) /* asks of a sweep of a stretch, one for each record taken */           \
	X(flushes_joined) /* of both: such a sweep was under way */                                \
	X(flushes_refused) /* records taken that could not ask: shutting down */                   \
	X(fallbacks) /* a sweep was not to be had: a whole wb flushed in its stead */              \
	X(flushes_owner) /* of these: by the worker, which could not get at the inode */           \
	X(slices) /* slices of sweeps written */                                                   \
	X(pages) /* pages that slices submitted */                                                 \
	X(missed) /* pages that slices passed and could not write: being written already */        \
	X(sweeps) /* sweeps that came to their end */                                              \
	X(abandoned) /* sweeps given up because the livepatch was disabled */                      \
	X(gone) /* sweeps given up because the device was no longer there */                       \
	X(clean) /* sweeps given up because the inode was on no list of dirty ones */              \
	X(reclaim_wakes) /* wake-ups of flushers by reclaim; each is one of the next five */       \
	X(reclaim_scoped) /* of the subtree's wbs and records only */                              \
	X(reclaim_unknown) /* of every wb: no target is known */                                   \
	X(reclaim_unreachable) /* of every wb: half of the dirty pages are out of reach */         \
	X(reclaim_again) /* of every wb: the last wake-up cleaned nothing */                       \
	X(reclaim_crowded) /* of every wb: too many memcgs */                                      \
	X(reclaim_wbs) /* wbs of a subtree that these started, and were not yet */                 \
	X(reclaim_flushes) /* records that were flushed for reclaim */                             \
	X(reclaim_overflow) /* reclaims of a memcg whose target could not be noted */

#define CGWB_STAT_ENUM(name) CGWB_STAT_##name,
enum cgwb_stat {
	CGWB_STATS(CGWB_STAT_ENUM) CGWB_NR_STATS
};
#undef CGWB_STAT_ENUM

struct cgwb_counters {
	u64 values[CGWB_NR_STATS];
};

DECLARE_PER_CPU(struct cgwb_counters, cgwb_counters);

/* cgwb_count() - add to one of the counters; any context */
#define cgwb_count(name, n) this_cpu_add(cgwb_counters.values[CGWB_STAT_##name], n)

/* cgwb_stats_init() - make /sys/kernel/cgwb; process context */
int cgwb_stats_init(void);
void cgwb_stats_exit(void);

#endif /* CGWB_STATS_H */
