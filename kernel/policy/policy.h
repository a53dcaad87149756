/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy answers one question: what does a foreign dirtying record? Each has a file of its own.
 *
 * That is all it decides. What a flush writes follows from the records, and a flush honours those of every policy, so
 * the policy can be switched at any time and nothing that was recorded is lost.
 */
#ifndef CGWB_POLICY_H
#define CGWB_POLICY_H

#include "decide.h"
#include "place.h"

enum cgwb_policy {
	CGWB_POLICY_STOCK, /* the kernel's own (bdi, owner) for everything */
	CGWB_POLICY_SKIP, /* nothing for the mapping of a block device */
	CGWB_POLICY_MAPPING, /* (memcg, device) for the mapping of a block device */
	CGWB_POLICY_PRECISE, /* (memcg, inode, lowest and highest page) for everything */
	CGWB_POLICY_OFF, /* nothing at all: for comparison */
	CGWB_NR_POLICIES
};

enum cgwb_verdict {
	CGWB_RECORD_NOTHING,
	CGWB_RECORD_STOCK,
	CGWB_RECORD_MAPPING,
	CGWB_RECORD_STRETCH,
};

/**
 * struct cgwb_dirtying - what a policy may know of a foreign dirtying
 * @is_bdev: the folio belongs to the mapping of a block device
 * @is_online: its memcg is online; nobody will ever flush for one that is not
 */
struct cgwb_dirtying {
	bool is_bdev;
	bool is_online;
};

enum cgwb_verdict cgwb_policy_stock(const struct cgwb_dirtying *dirtying);
enum cgwb_verdict cgwb_policy_skip(const struct cgwb_dirtying *dirtying);
enum cgwb_verdict cgwb_policy_mapping(const struct cgwb_dirtying *dirtying);
enum cgwb_verdict cgwb_policy_precise(const struct cgwb_dirtying *dirtying);
enum cgwb_verdict cgwb_policy_off(const struct cgwb_dirtying *dirtying);

/* cgwb_policy_decide() - ask the policy in force; a switch, because a call by pointer would be an indirect one */
static inline enum cgwb_verdict cgwb_policy_decide(enum cgwb_policy policy,
						   const struct cgwb_dirtying *dirtying)
{
	switch (policy) {
	case CGWB_POLICY_SKIP:
		return cgwb_policy_skip(dirtying);
	case CGWB_POLICY_MAPPING:
		return cgwb_policy_mapping(dirtying);
	case CGWB_POLICY_PRECISE:
		return cgwb_policy_precise(dirtying);
	case CGWB_POLICY_OFF:
		return cgwb_policy_off(dirtying);
	default:
		return cgwb_policy_stock(dirtying);
	}
}

/* cgwb_precise_stretch() - the stretch that a dirtying of @nr_pages from @index is recorded as */
void cgwb_precise_stretch(struct cgwb_place *place, pgoff_t index, unsigned long nr_pages);

/* The kernel's own records: four slots in each memcg, used exactly as the functions that are replaced use them. */

enum cgwb_stock_note {
	CGWB_STOCK_KNOWN, /* there, and fresh */
	CGWB_STOCK_REFRESHED, /* there, stamped anew */
	CGWB_STOCK_RECORDED, /* took the oldest idle slot */
	CGWB_STOCK_DROPPED, /* no slot: all four are being flushed, or were stamped in this jiffy */
};

/* cgwb_stock_note() - record (@bdi_id, @owner_id) in a memcg's @slots; lockless and racy, as the kernel's is */
enum cgwb_stock_note cgwb_stock_note(struct memcg_cgwb_frn *slots, u64 bdi_id, int owner_id,
				     const struct cgwb_clock *clock);

/* cgwb_stock_is_due() - is the slot's record live and not being flushed? */
bool cgwb_stock_is_due(const struct memcg_cgwb_frn *slot, const struct cgwb_clock *clock);
/* cgwb_stock_disarm() - it is being flushed; to be called before the flush is asked for */
void cgwb_stock_disarm(struct memcg_cgwb_frn *slot);

#endif /* CGWB_POLICY_H */
