/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All knowledge of kernel versions and configurations, each entry headed by what made it necessary.
 *
 * The releases are an allow-list. The livepatch replaces functions whose bodies it repeats, and uses structures that
 * are private in all but name: a kernel that nobody has read must not be taken for one that was.
 */
#ifndef CGWB_COMPAT_H
#define CGWB_COMPAT_H

#include <linux/version.h>

#if !(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0) &&                                             \
      LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)) &&                                             \
	!(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) &&                                        \
	  LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))
#error "cgwb supports kernels 6.1.y and 6.12.y only"
#endif

/* Spinlocks sleep there: the tracker runs with interrupts off, under the i_pages lock. */
#ifdef CONFIG_PREEMPT_RT
#error "cgwb does not support PREEMPT_RT"
#endif

#if !defined(CONFIG_LIVEPATCH) || !defined(CONFIG_CGROUP_WRITEBACK)
#error "cgwb needs CONFIG_LIVEPATCH and CONFIG_CGROUP_WRITEBACK"
#endif

/* Without patched call sites static_call() is an indirect call, which a sealed function does not survive under IBT. */
#ifndef CONFIG_HAVE_STATIC_CALL_INLINE
#error "cgwb needs CONFIG_HAVE_STATIC_CALL_INLINE"
#endif

/* A superblock that is being shut down: 6.1 takes it off its type's list first, 6.12 marks it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define cgwb_sb_is_dying(sb) hlist_unhashed(&(sb)->s_instances)
#else
#define cgwb_sb_is_dying(sb) ((sb)->s_flags & SB_DYING)
#endif

/*
 * 6.12 takes TAINT_LIVEPATCH for harmless when a module brings trace events; 6.1 does not and creates none for a
 * livepatch, so there the module registers its own.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define CGWB_REGISTERS_TRACE_EVENTS 1
#else
#define CGWB_REGISTERS_TRACE_EVENTS 0
#endif

/*
 * "mm: correct calculation of wb's bg_thresh in cgroup domain" (2024): a memcg's background threshold is shared by its
 * own wbs. 6.12 has it, 6.1 does not.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define CGWB_BGTHRESH_APPLIES 1
#else
#define CGWB_BGTHRESH_APPLIES 0
#endif

/*
 * 6.12 reclaims with statistics of memcgs that may be 2 seconds old, and mem_cgroup_flush_stats() knows whose
 * it is to look for; on 6.1 reclaim itself looks for all, just before.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define CGWB_RECLAIM_FLUSHES_STATS 0
#else
#define CGWB_RECLAIM_FLUSHES_STATS 1
#endif

#endif /* CGWB_COMPAT_H */
