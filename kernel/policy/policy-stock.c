// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy "stock": what the kernel does.
 *
 * The kernel's records live in the memcg itself, and the unpatched functions use the same ones while the livepatch is
 * in transition and after it is gone. So they are used here to the letter, races included: a lost or doubled record
 * costs one flush too few or too many, and the next dirtying puts it right.
 */

#include "policy.h"

enum cgwb_verdict cgwb_policy_stock(const struct cgwb_dirtying *dirtying)
{
	return CGWB_RECORD_STOCK;
}

enum cgwb_stock_note cgwb_stock_note(struct memcg_cgwb_frn *slots, u64 bdi_id, int owner_id,
				     const struct cgwb_clock *clock)
{
	struct memcg_cgwb_frn *victim = NULL;
	u64 oldest_at = clock->now;
	int i;

	for (i = 0; i < MEMCG_CGWB_FRN_CNT; i++) {
		struct memcg_cgwb_frn *slot = &slots[i];

		if (slot->bdi_id == bdi_id && slot->memcg_id == owner_id) {
			if (!time_before64(slot->at, clock->now - clock->refresh))
				return CGWB_STOCK_KNOWN;
			slot->at = clock->now;
			return CGWB_STOCK_REFRESHED;
		}
		/* A flush that is under way still needs its slot: its completion counts there. */
		if (time_before64(slot->at, oldest_at) && atomic_read(&slot->done.cnt) == 1) {
			victim = slot;
			oldest_at = slot->at;
		}
	}
	if (!victim)
		return CGWB_STOCK_DROPPED;
	victim->bdi_id = bdi_id;
	victim->memcg_id = owner_id;
	victim->at = clock->now;
	return CGWB_STOCK_RECORDED;
}

bool cgwb_stock_is_due(const struct memcg_cgwb_frn *slot, const struct cgwb_clock *clock)
{
	return time_after64(slot->at, clock->now - clock->expire) &&
	       atomic_read(&slot->done.cnt) == 1;
}

void cgwb_stock_disarm(struct memcg_cgwb_frn *slot)
{
	slot->at = 0;
}
