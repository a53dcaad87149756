/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the deciding half stands on.
 *
 * record.c, sweep.c, flight.c, threshold.c, wake.c and policy-*.c decide; they know nothing of folios, inodes or work
 * items, and also compile in user space, where tests drive them. There "shim.h" gives them the few kernel words they
 * use.
 */
#ifndef CGWB_DECIDE_H
#define CGWB_DECIDE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/backing-dev-defs.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include "compat.h"
#else
#include "shim.h"
#endif

/**
 * struct cgwb_clock - the times by which records live, all in jiffies
 * @now: jiffies_64
 * @expire: an older record is dead: the live dirty_expire interval, because by then periodic writeback has begun by
 *          itself, unless it was chosen otherwise
 * @refresh: a record's stamp is renewed when it is older than this, so that a hot record's cache line stays shared
 */
struct cgwb_clock {
	u64 now;
	u64 expire;
	u64 refresh;
};

#endif /* CGWB_DECIDE_H */
