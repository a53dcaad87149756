// SPDX-License-Identifier: GPL-2.0-only
/*
 * The disks in configfs.
 *
 *	cd /sys/kernel/config/cgwb_disk
 *	mkdir nb0 && cd nb0
 *	echo $((10 << 30)) >base_bytes && echo $((8 << 30)) >size_bytes && echo $((200 << 20)) >write_bps
 *	echo 1 >power			# now there is /dev/nb0
 *	cat write_bytes in_flight
 *	echo 0 >power; cd .. && rmdir nb0
 *
 * docs/disk.md has every attribute.
 */
#include <linux/configfs.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "disk.h"

#define DISK_MAX_SECTORS_KB_MIN 4
#define DISK_MAX_SECTORS_KB_MAX 16384

static struct disk *to_disk(struct config_item *item)
{
	return container_of(item, struct disk, item);
}

/* A number, 0 (where `zero`) or from min to max. */
static int parse(const char *page, bool zero, u64 min, u64 max, u64 *ret_value)
{
	u64 value;
	int ret = kstrtou64(page, 0, &value);

	if (ret)
		return ret;
	if (!(zero && !value) && (value < min || value > max))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/* What the disk is made of: fixed while it is powered. `step`: the value is a multiple of it. */
#define DISK_ATTR_FIXED(name, min, max, step)                                                      \
	static ssize_t disk_##name##_show(struct config_item *item, char *page)                    \
	{                                                                                          \
		struct disk *disk = to_disk(item);                                                 \
		u64 value;                                                                         \
                                                                                                   \
		mutex_lock(&disk->mutex);                                                          \
		value = disk->name;                                                                \
		mutex_unlock(&disk->mutex);                                                        \
		return sysfs_emit(page, "%llu\n", value);                                          \
	}                                                                                          \
                                                                                                   \
	static ssize_t disk_##name##_store(struct config_item *item, const char *page,             \
					   size_t bytes)                                           \
	{                                                                                          \
		struct disk *disk = to_disk(item);                                                 \
		u64 value;                                                                         \
		int ret = parse(page, false, min, max, &value);                                    \
                                                                                                   \
		if (ret)                                                                           \
			return ret;                                                                \
		if (value & ((step)-1))                                                            \
			return -EINVAL;                                                            \
		mutex_lock(&disk->mutex);                                                          \
		if (disk->powered)                                                                 \
			ret = -EBUSY;                                                              \
		else                                                                               \
			disk->name = value;                                                        \
		mutex_unlock(&disk->mutex);                                                        \
		return ret ?: bytes;                                                               \
	}                                                                                          \
	CONFIGFS_ATTR(disk_, name)

DISK_ATTR_FIXED(base_bytes, 0, U64_MAX, STORE_BLOCK_BYTES);
DISK_ATTR_FIXED(size_bytes, 0, U64_MAX, STORE_BLOCK_BYTES);
DISK_ATTR_FIXED(depth, 1, BLK_MQ_MAX_DEPTH, 1);
DISK_ATTR_FIXED(max_sectors_kb, DISK_MAX_SECTORS_KB_MIN, DISK_MAX_SECTORS_KB_MAX,
		STORE_BLOCK_BYTES / 1024);

/* The pace: may change at any time. */
#define DISK_ATTR_PACE(name, field, min, max, set)                                                 \
	static ssize_t disk_##name##_show(struct config_item *item, char *page)                    \
	{                                                                                          \
		struct disk *disk = to_disk(item);                                                 \
		u64 value;                                                                         \
                                                                                                   \
		spin_lock_irq(&disk->lock);                                                        \
		value = disk->pace.field;                                                          \
		spin_unlock_irq(&disk->lock);                                                      \
		return sysfs_emit(page, "%llu\n", value);                                          \
	}                                                                                          \
                                                                                                   \
	static ssize_t disk_##name##_store(struct config_item *item, const char *page,             \
					   size_t bytes)                                           \
	{                                                                                          \
		struct disk *disk = to_disk(item);                                                 \
		u64 value;                                                                         \
		int ret = parse(page, true, min, max, &value);                                     \
                                                                                                   \
		if (ret)                                                                           \
			return ret;                                                                \
		spin_lock_irq(&disk->lock);                                                        \
		set;                                                                               \
		spin_unlock_irq(&disk->lock);                                                      \
		return bytes;                                                                      \
	}                                                                                          \
	CONFIGFS_ATTR(disk_, name)

DISK_ATTR_PACE(write_bps, bytes[PACE_WRITE].rate, PACE_BPS_MIN, PACE_BPS_MAX,
	       pace_set_rate(&disk->pace.bytes[PACE_WRITE], value));
DISK_ATTR_PACE(read_bps, bytes[PACE_READ].rate, PACE_BPS_MIN, PACE_BPS_MAX,
	       pace_set_rate(&disk->pace.bytes[PACE_READ], value));
DISK_ATTR_PACE(iops, iops.rate, 1, PACE_IOPS_MAX, pace_set_rate(&disk->pace.iops, value));
DISK_ATTR_PACE(latency_ns, latency_ns, 0, PACE_LATENCY_MAX_NS,
	       pace_set_latency(&disk->pace, value));

/* The account. */
#define DISK_ATTR_ACCOUNT(name, field)                                                             \
	static ssize_t disk_##name##_show(struct config_item *item, char *page)                    \
	{                                                                                          \
		struct disk *disk = to_disk(item);                                                 \
		u64 value;                                                                         \
                                                                                                   \
		spin_lock_irq(&disk->lock);                                                        \
		value = disk->account.field;                                                       \
		spin_unlock_irq(&disk->lock);                                                      \
		return sysfs_emit(page, "%llu\n", value);                                          \
	}                                                                                          \
	CONFIGFS_ATTR_RO(disk_, name)

DISK_ATTR_ACCOUNT(read_requests, requests[DISK_READ]);
DISK_ATTR_ACCOUNT(read_bytes, bytes[DISK_READ]);
DISK_ATTR_ACCOUNT(write_requests, requests[DISK_WRITE]);
DISK_ATTR_ACCOUNT(write_bytes, bytes[DISK_WRITE]);
DISK_ATTR_ACCOUNT(discard_requests, requests[DISK_DISCARD]);
DISK_ATTR_ACCOUNT(discard_bytes, bytes[DISK_DISCARD]);
DISK_ATTR_ACCOUNT(write_zeroes_requests, requests[DISK_WRITE_ZEROES]);
DISK_ATTR_ACCOUNT(write_zeroes_bytes, bytes[DISK_WRITE_ZEROES]);
DISK_ATTR_ACCOUNT(flush_requests, requests[DISK_FLUSH]);
DISK_ATTR_ACCOUNT(failed_requests, failed_requests);
DISK_ATTR_ACCOUNT(in_flight, in_flight);
DISK_ATTR_ACCOUNT(drained, drained);
DISK_ATTR_ACCOUNT(late_max_ns, late_max_ns);

static ssize_t disk_power_show(struct config_item *item, char *page)
{
	struct disk *disk = to_disk(item);
	bool powered;

	mutex_lock(&disk->mutex);
	powered = disk->powered;
	mutex_unlock(&disk->mutex);
	return sysfs_emit(page, "%d\n", powered);
}

static ssize_t disk_power_store(struct config_item *item, const char *page, size_t bytes)
{
	struct disk *disk = to_disk(item);
	bool power;
	int ret = kstrtobool(page, &power);

	if (ret)
		return ret;
	mutex_lock(&disk->mutex);
	if (power)
		ret = disk_power_on(disk);
	else
		disk_power_off(disk);
	mutex_unlock(&disk->mutex);
	return ret ?: bytes;
}
CONFIGFS_ATTR(disk_, power);

static struct configfs_attribute *disk_attrs[] = {
	&disk_attr_base_bytes,
	&disk_attr_size_bytes,
	&disk_attr_write_bps,
	&disk_attr_read_bps,
	&disk_attr_iops,
	&disk_attr_latency_ns,
	&disk_attr_depth,
	&disk_attr_max_sectors_kb,
	&disk_attr_power,
	&disk_attr_read_requests,
	&disk_attr_read_bytes,
	&disk_attr_write_requests,
	&disk_attr_write_bytes,
	&disk_attr_discard_requests,
	&disk_attr_discard_bytes,
	&disk_attr_write_zeroes_requests,
	&disk_attr_write_zeroes_bytes,
	&disk_attr_flush_requests,
	&disk_attr_failed_requests,
	&disk_attr_in_flight,
	&disk_attr_drained,
	&disk_attr_late_max_ns,
	NULL,
};

static void disk_release(struct config_item *item)
{
	kfree(to_disk(item));
}

static struct configfs_item_operations disk_item_ops = {
	.release = disk_release,
};

static const struct config_item_type disk_item_type = {
	.ct_item_ops = &disk_item_ops,
	.ct_attrs = disk_attrs,
	.ct_owner = THIS_MODULE,
};

/* The name goes into /dev and /sys/block as it is. */
static int check_item_name(const char *name)
{
	const char *c;

	if (strlen(name) >= DISK_NAME_LEN)
		return -ENAMETOOLONG;
	for (c = name; *c; c++)
		if (!isalnum(*c) && *c != '_' && *c != '-')
			return -EINVAL;
	return 0;
}

static struct config_item *make_disk(struct config_group *group, const char *name)
{
	struct disk *disk;
	int ret = check_item_name(name);

	if (ret)
		return ERR_PTR(ret);
	disk = disk_new();
	if (!disk)
		return ERR_PTR(-ENOMEM);
	config_item_init_type_name(&disk->item, name, &disk_item_type);
	return &disk->item;
}

static void drop_disk(struct config_group *group, struct config_item *item)
{
	struct disk *disk = to_disk(item);

	mutex_lock(&disk->mutex);
	disk_power_off(disk);
	mutex_unlock(&disk->mutex);
	config_item_put(item);
}

static struct configfs_group_operations disks_group_ops = {
	.make_item = make_disk,
	.drop_item = drop_disk,
};

static const struct config_item_type disks_type = {
	.ct_group_ops = &disks_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem disks = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = KBUILD_MODNAME,
			.ci_type = &disks_type,
		},
	},
};

int disk_configfs_register(void)
{
	config_group_init(&disks.su_group);
	mutex_init(&disks.su_mutex);
	return configfs_register_subsystem(&disks);
}

void disk_configfs_unregister(void)
{
	configfs_unregister_subsystem(&disks);
}
