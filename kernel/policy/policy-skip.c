// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy "skip": the mapping of a block device is not recorded at all.
 *
 * What the published fix does. It ends the flushes that metadata causes, and with them the help: a cgroup whose dirty
 * pages are metadata waits for periodic writeback.
 */

#include "policy.h"

enum cgwb_verdict cgwb_policy_skip(const struct cgwb_dirtying *dirtying)
{
	return dirtying->is_bdev ? CGWB_RECORD_NOTHING : CGWB_RECORD_STOCK;
}
