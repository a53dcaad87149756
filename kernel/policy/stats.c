// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/cgwb: the counters, and a view of the targets. */

#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "stats.h"
#include "target.h"

DEFINE_PER_CPU(struct cgwb_counters, cgwb_counters);

struct cgwb_stat_attribute {
	struct kobj_attribute attr;
	enum cgwb_stat stat;
};

static ssize_t stat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	enum cgwb_stat stat = container_of(attr, struct cgwb_stat_attribute, attr)->stat;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(cgwb_counters, cpu).values[stat]);
	return sysfs_emit(buf, "%llu\n", sum);
}

#define CGWB_STAT_ATTRIBUTE(name)                                                                  \
	static struct cgwb_stat_attribute stat_##name = {                                          \
		.attr = __ATTR(name, 0444, stat_show, NULL),                                       \
		.stat = CGWB_STAT_##name,                                                          \
	};
CGWB_STATS(CGWB_STAT_ATTRIBUTE)

#define CGWB_STAT_POINTER(name) &stat_##name.attr.attr,
static struct attribute *stat_attrs[] = { CGWB_STATS(CGWB_STAT_POINTER) NULL };

static const struct attribute_group stat_group = {
	.name = "stats",
	.attrs = stat_attrs,
};

static ssize_t targets_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return cgwb_targets_show(buf);
}

static struct kobj_attribute targets_attr = __ATTR_RO(targets);

static struct attribute *top_attrs[] = { &targets_attr.attr, NULL };

static const struct attribute_group top_group = {
	.attrs = top_attrs,
};

static const struct attribute_group *groups[] = { &top_group, &stat_group, NULL };

static struct kobject *cgwb_kobj;

int cgwb_stats_init(void)
{
	int ret;

	cgwb_kobj = kobject_create_and_add("cgwb", kernel_kobj);
	if (!cgwb_kobj)
		return -ENOMEM;
	ret = sysfs_create_groups(cgwb_kobj, groups);
	if (ret)
		kobject_put(cgwb_kobj);
	return ret;
}

/* Readers are inside until the files are gone: kernfs waits for them. */
void cgwb_stats_exit(void)
{
	sysfs_remove_groups(cgwb_kobj, groups);
	kobject_put(cgwb_kobj);
}
