// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy "precise": for any inode, remember the inode and the stretch of it that the memcg dirtied, and let a flush
 * write that alone.
 *
 * The stretch is one: from the lowest page to the highest. Pages of others that lie between are written, too, and so
 * is what rounding adds at its ends.
 */

#include "policy.h"

/*
 * A file that is written from its start to its end makes the stretch longer with each page, and that takes a lock. So
 * it grows by this many pages at a time: one dirtying of 16 takes the lock, and a flush writes at most 15 pages of
 * others at each end.
 */
#define STRETCH_PAGES 16UL

enum cgwb_verdict cgwb_policy_precise(const struct cgwb_dirtying *dirtying)
{
	return dirtying->is_online ? CGWB_RECORD_STRETCH : CGWB_RECORD_NOTHING;
}

void cgwb_precise_stretch(struct cgwb_place *place, pgoff_t index, unsigned long nr_pages)
{
	place->first = index & ~(STRETCH_PAGES - 1);
	place->last = min((index + nr_pages - 1) | (STRETCH_PAGES - 1), CGWB_LAST_PAGE);
}
