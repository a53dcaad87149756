// SPDX-License-Identifier: GPL-2.0-only
/* The module's parameters. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "bgthresh.h"
#include "compat.h"
#include "hooks.h"
#include "params.h"
#include "sweep.h"

enum cgwb_policy cgwb_policy;

/* The order of enum cgwb_policy. */
static const char *const policy_names[CGWB_NR_POLICIES] = { "stock", "skip", "mapping", "precise",
							    "off" };

static int policy_set(const char *value, const struct kernel_param *param)
{
	int policy = sysfs_match_string(policy_names, value);

	if (policy < 0) {
		pr_err("no policy \"%.*s\": choose stock, skip, mapping, precise or off\n",
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
MODULE_PARM_DESC(policy, "what a foreign dirtying records: stock, skip, mapping, precise or off");

bool cgwb_dedupe;
module_param_named(dedupe, cgwb_dedupe, bool, 0644);
MODULE_PARM_DESC(dedupe, "at most one unfinished flush of a wb, whoever asks (default no)");

/* A number that is refused outside its limits. */
struct bounded {
	unsigned int *value;
	unsigned int least;
	unsigned int most;
};

static int bounded_set(const char *value, const struct kernel_param *param)
{
	const struct bounded *bounded = param->arg;
	unsigned int number;
	int ret = kstrtouint(value, 0, &number);

	if (ret || number < bounded->least || number > bounded->most) {
		pr_err("%s=%.*s: it can be %u to %u\n", param->name, (int)strcspn(value, "\n"),
		       value, bounded->least, bounded->most);
		return ret ?: -EINVAL;
	}
	WRITE_ONCE(*bounded->value, number);
	return 0;
}

static int bounded_get(char *buf, const struct kernel_param *param)
{
	const struct bounded *bounded = param->arg;

	return sysfs_emit(buf, "%u\n", READ_ONCE(*bounded->value));
}

static const struct kernel_param_ops bounded_ops = {
	.set = bounded_set,
	.get = bounded_get,
};

unsigned int cgwb_threshold_percent;
static struct bounded threshold = { &cgwb_threshold_percent, 0, 100 };

static int threshold_set(const char *value, const struct kernel_param *param)
{
	unsigned int before = cgwb_threshold_percent;
	int ret = bounded_set(value, param);

	/* On the command line of the module it is read again when there is a table. */
	if (ret || !cgwb_threshold_percent || !cgwb_hooks_are_ready())
		return ret;
	ret = cgwb_hooks_count_pages();
	if (ret)
		WRITE_ONCE(cgwb_threshold_percent, before);
	return ret;
}

static const struct kernel_param_ops threshold_ops = {
	.set = threshold_set,
	.get = bounded_get,
};
module_param_cb(threshold_percent, &threshold_ops, &threshold, 0644);
MODULE_PARM_DESC(threshold_percent,
		 "ask when what was dirtied elsewhere is this share of the dirty pages (default 0)");

unsigned int cgwb_slice_ms = CGWB_SLICE_MS;
static struct bounded slice = { &cgwb_slice_ms, 10, 10000 };
module_param_cb(slice_ms, &bounded_ops, &slice, 0644);
MODULE_PARM_DESC(slice_ms, "a slice of a sweep is what is written in this time (default 200)");

/* As the longest pause of a throttled task: it sees the effect of a slice each time it wakes up. */
unsigned int cgwb_interval_ms = CGWB_SLICE_MS;
static struct bounded interval = { &cgwb_interval_ms, 0, 60000 };
module_param_cb(interval_ms, &bounded_ops, &interval, 0644);
MODULE_PARM_DESC(interval_ms, "least time between two slices of a sweep (default 200)");

unsigned int cgwb_record_age_ms;
static struct bounded record_age = { &cgwb_record_age_ms, 0, 86400000 };
module_param_cb(record_age_ms, &bounded_ops, &record_age, 0644);
MODULE_PARM_DESC(record_age_ms, "how long a record lives (default 0: vm.dirty_expire_centisecs)");

/* Memcgs with live records, rounded up to 16 times a power of two: 650 bytes each. */
unsigned int cgwb_memcgs = 4096;
module_param_named(memcgs, cgwb_memcgs, uint, 0444);
MODULE_PARM_DESC(memcgs, "memory cgroups that there is room for (default 4096)");

/* Sweeps under way; all are looked through, so not thousands. */
unsigned int cgwb_targets = 256;
module_param_named(targets, cgwb_targets, uint, 0444);
MODULE_PARM_DESC(targets, "sweeps under way that there is room for (default 256)");

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
