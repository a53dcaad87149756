// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else's livepatch of a function that cgwb replaces, chosen by the parameter `function`; it flushes nothing,
 * finds nothing to be written, or wakes nobody. For tests in guests only.
 */

#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/string.h>

struct bdi_writeback;

static void other_flush_foreign(struct bdi_writeback *wb)
{
}

static bool other_over_bg_thresh(struct bdi_writeback *wb)
{
	return false;
}

static void other_wakeup_flusher_threads(int reason)
{
}

static const struct klp_func choice[] = {
	{ .old_name = "mem_cgroup_flush_foreign", .new_func = other_flush_foreign },
	{ .old_name = "wb_over_bg_thresh", .new_func = other_over_bg_thresh },
	{ .old_name = "wakeup_flusher_threads", .new_func = other_wakeup_flusher_threads },
};

static char *function = "mem_cgroup_flush_foreign";
module_param(function, charp, 0444);

static struct klp_func funcs[2];

static struct klp_object objs[] = {
	{ .funcs = funcs },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int __init other_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(choice); i++)
		if (!strcmp(choice[i].old_name, function))
			funcs[0] = choice[i];
	return funcs[0].old_name ? klp_enable_patch(&patch) : -EINVAL;
}

static void __exit other_exit(void)
{
}

module_init(other_init);
module_exit(other_exit);
MODULE_DESCRIPTION("A livepatch that is in cgwb's way");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
