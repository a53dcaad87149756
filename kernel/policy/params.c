// SPDX-License-Identifier: GPL-2.0-only
/* The module's parameters. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "bgthresh.h"
#include "compat.h"
#include "hooks.h"
#include "params.h"

/* The order of enum cgwb_policy. */
static const char *const policy_names[CGWB_NR_POLICIES] = { "stock", "skip", "mapping" };

static int policy_set(const char *value, const struct kernel_param *param)
{
	int policy = sysfs_match_string(policy_names, value);

	if (policy < 0) {
		pr_err("no policy \"%.*s\": choose stock, skip or mapping\n",
		       (int)strcspn(value, "\n"), value);
		return -EINVAL;
	}
	WRITE_ONCE(cgwb_policy, policy);
	return 0;
}

static int policy_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%s\n", policy_names[READ_ONCE(cgwb_policy)]);
}

static const struct kernel_param_ops policy_ops = {
	.set = policy_set,
	.get = policy_get,
};
module_param_cb(policy, &policy_ops, NULL, 0644);
MODULE_PARM_DESC(policy, "what a foreign dirtying records: stock, skip or mapping");

/* Memcgs with live records of the mapping policy, rounded up to 16 times a power of two: 200 bytes each. */
unsigned int cgwb_memcgs = 4096;
module_param_named(memcgs, cgwb_memcgs, uint, 0444);
MODULE_PARM_DESC(memcgs, "memory cgroups that the mapping policy has room for (default 4096)");

/* Block devices with live records or a sweep under way; all are looked through, so not thousands. */
unsigned int cgwb_targets = 64;
module_param_named(targets, cgwb_targets, uint, 0444);
MODULE_PARM_DESC(targets, "block devices that the mapping policy has room for (default 64)");

#if CGWB_BGTHRESH_APPLIES
bool cgwb_bgthresh;
module_param_named(bgthresh, cgwb_bgthresh, bool, 0444);
#else
static int bgthresh_set(const char *value, const struct kernel_param *param)
{
	bool is_wanted = true;
	int ret = value ? kstrtobool(value, &is_wanted) : 0;

	if (!ret && is_wanted)
		pr_info("bgthresh is not applicable: this kernel does so by itself\n");
	return ret;
}

static int bgthresh_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "not applicable\n");
}

static const struct kernel_param_ops bgthresh_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = bgthresh_set,
	.get = bgthresh_get,
};
module_param_cb(bgthresh, &bgthresh_ops, NULL, 0444);
#endif
MODULE_PARM_DESC(bgthresh,
		 "share a memcg's background threshold by the memcg's writeout (default N)");
