// SPDX-License-Identifier: GPL-2.0-only
/* Somebody else's livepatch of a function that cgwb replaces: it flushes nothing. For tests in guests only. */

#include <linux/livepatch.h>
#include <linux/module.h>

struct bdi_writeback;

static void other_flush_foreign(struct bdi_writeback *wb)
{
}

static struct klp_func funcs[] = {
	{ .old_name = "mem_cgroup_flush_foreign", .new_func = other_flush_foreign },
	{},
};

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
	return klp_enable_patch(&patch);
}

static void __exit other_exit(void)
{
}

module_init(other_init);
module_exit(other_exit);
MODULE_DESCRIPTION("A livepatch that is in cgwb's way");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
