// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy "mapping": for the mapping of a block device, remember the device, and let a flush write that alone.
 *
 * The kernel's record says "some inode of this owner": a flush has to write all of the owner's. Here the inode is
 * known, and it is the one that makes most foreign dirtyings, because every cgroup of the filesystem shares it.
 */

#include "policy.h"

enum cgwb_verdict cgwb_policy_mapping(const struct cgwb_dirtying *dirtying)
{
	if (!dirtying->is_bdev)
		return CGWB_RECORD_STOCK;
	return dirtying->is_online ? CGWB_RECORD_MAPPING : CGWB_RECORD_NOTHING;
}
