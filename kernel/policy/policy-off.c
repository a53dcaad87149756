// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy "off": nothing is recorded.
 *
 * For experiments: what would be without foreign flushes at all? A cgroup whose dirty pages are on another's wb then
 * waits for periodic writeback.
 */

#include "policy.h"

enum cgwb_verdict cgwb_policy_off(const struct cgwb_dirtying *dirtying)
{
	return CGWB_RECORD_NOTHING;
}
