/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The setting reclaim_scope: the flushers that a memcg's reclaim wakes are those of the subtree under
 * reclaim.
 *
 * Reclaim that meets nothing but dirty pages wakes the flusher of every wb on the machine. Here it starts, in
 * the same way, the wbs of the memcgs of the subtree, and flushes their live foreign records: what a memcg
 * dirtied on another's wb, such as the metadata of its files, is nothing that its own wb could write, and a
 * memcg that only makes files never comes to balance_dirty_pages(), so this is its only relief. wake.h says
 * when it is the kernel's wake-up all the same.
 *
 * The target is what try_to_free_mem_cgroup_pages() was called with, from its beginning to its end, for the
 * task that called it. It is never guessed from the task's own memcg: the limit may be an ancestor's, and who
 * writes memory.reclaim may be anybody. Where no target is known, in kswapd and in direct reclaim for the
 * machine, or because too many tasks reclaim at a time, it is the kernel's wake-up.
 */
#ifndef CGWB_RECLAIM_H
#define CGWB_RECLAIM_H

#include <linux/types.h>
#include <linux/writeback.h>

/* The parameter; whoever does not set it has wakeup_flusher_threads() as it is. */
extern bool cgwb_reclaim_scope;

/*
 * cgwb_reclaim_init() - see who is reclaimed, if the parameter is set; process context, before the livepatch
 */
int cgwb_reclaim_init(void);
/*
 * cgwb_reclaim_exit() - no longer; before tracepoint_synchronize_unregister(). Fine if the init has failed.
 */
void cgwb_reclaim_exit(void);

/* In place of wakeup_flusher_threads(). */
void cgwb_wakeup_flusher_threads(enum wb_reason reason);

#endif /* CGWB_RECLAIM_H */
