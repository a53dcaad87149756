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

enum cgwb_policy {
	CGWB_POLICY_STOCK, /* the kernel's own (bdi, owner) for everything */
	CGWB_POLICY_SKIP, /* nothing for the mapping of a block device */
	CGWB_POLICY_MAPPING, /* (memcg, device) for the mapping of a block device */
	CGWB_NR_POLICIES
};

enum cgwb_verdict {
	CGWB_RECORD_NOTHING,
	CGWB_RECORD_STOCK,
	CGWB_RECORD_MAPPING,
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

/* cgwb_policy_decide() - ask the policy in force; a switch, because a call by pointer would be an indirect one */
static inline enum cgwb_verdict cgwb_policy_decide(enum cgwb_policy policy,
						   const struct cgwb_dirtying *dirtying)
{
	switch (policy) {
	case CGWB_POLICY_SKIP:
		return cgwb_policy_skip(dirtying);
	case CGWB_POLICY_MAPPING:
		return cgwb_policy_mapping(dirtying);
	default:
		return cgwb_policy_stock(dirtying);
	}
}

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

/* cgwb_stock_take() - is the slot's record live and not being flushed? Then disarm it and say yes. */
bool cgwb_stock_take(struct memcg_cgwb_frn *slot, const struct cgwb_clock *clock);

#endif /* CGWB_POLICY_H */
