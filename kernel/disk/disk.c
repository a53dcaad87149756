// SPDX-License-Identifier: GPL-2.0-only
/* Powering a disk on and off: see disk.h. */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "disk.h"

#define DISK_DEPTH_DEFAULT 1023
#define DISK_MAX_SECTORS_KB_DEFAULT 1024

/* No open, no ioctl, nothing that leads back to a disk: a gendisk that is still open outlives it. */
static const struct block_device_operations disk_fops = {
	.owner = THIS_MODULE,
};

struct disk *disk_new(void)
{
	struct disk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	int i;

	if (!disk)
		return NULL;
	mutex_init(&disk->mutex);
	spin_lock_init(&disk->lock);
	pace_init(&disk->pace);
	for (i = 0; i < PACE_CLASS_NR; i++)
		INIT_LIST_HEAD(&disk->pending[i]);
	disk->depth = DISK_DEPTH_DEFAULT;
	disk->max_sectors_kb = DISK_MAX_SECTORS_KB_DEFAULT;
	return disk;
}

const char *disk_name(struct disk *disk)
{
	return config_item_name(&disk->item);
}

/*
 * Would add_disk() find the name taken? It copes, but with a backtrace in the log. A device that devtmpfs does not show
 * here is found by add_disk() itself.
 */
static int check_name(const char *name)
{
	char path[sizeof("/dev/") + DISK_NAME_LEN];
	dev_t number;

	snprintf(path, sizeof(path), "/dev/%s", name);
	if (lookup_bdev(path, &number))
		return 0;
	pr_err("%s: there is a block device of this name\n", name);
	return -EEXIST;
}

/*
 * One hardware queue, or there is no single order to be kept. Not BLK_MQ_F_BLOCKING: nothing in ->queue_rq sleeps, a
 * request's copy is bounded by max_sectors_kb, and the flag would send requests through kblockd, on another's CPU time
 * and in another order. NO_SCHED_BY_DEFAULT: 6.1 has mq-deadline built in and would choose it, 6.12 has it as a module
 * and may not; so both begin with none, and /sys/block/NAME/queue/scheduler can set any.
 */
static int alloc_tags(struct disk *disk)
{
	struct blk_mq_tag_set *tags = &disk->tags;
	int ret;

	memset(tags, 0, sizeof(*tags));
	tags->ops = &disk_queue_ops;
	tags->nr_hw_queues = 1;
	tags->queue_depth = disk->depth;
	tags->numa_node = NUMA_NO_NODE;
	tags->cmd_size = disk_queue_cmd_bytes;
	tags->flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	tags->driver_data = disk;
	ret = blk_mq_alloc_tag_set(tags);
	if (ret)
		return ret;
	/* Short of memory, the block layer makes do with less depth. An experiment does not. */
	if (tags->queue_depth != disk->depth) {
		blk_mq_free_tag_set(tags);
		return -ENOMEM;
	}
	return 0;
}

/*
 * No major number: block devices without one get a number of the dynamic range, which is given back only when the last
 * user has closed the device. So a disk that is put in another's place, name and all, is never taken for the old one.
 */
static int add_gendisk(struct disk *disk)
{
	struct gendisk *gendisk;
	int ret;

	gendisk = compat_alloc_disk(&disk->tags, disk, STORE_BLOCK_BYTES,
				    disk->max_sectors_kb * 1024);
	if (IS_ERR(gendisk))
		return PTR_ERR(gendisk);
	strscpy(gendisk->disk_name, disk_name(disk), DISK_NAME_LEN);
	gendisk->fops = &disk_fops;
	set_capacity(gendisk, disk->size_bytes >> SECTOR_SHIFT);
	ret = add_disk(gendisk);
	if (ret) {
		put_disk(gendisk);
		return ret;
	}
	disk->gendisk = gendisk;
	return 0;
}

int disk_power_on(struct disk *disk)
{
	const char *name = disk_name(disk);
	int ret;

	if (disk->powered)
		return 0;
	ret = check_name(name);
	if (ret)
		return ret;
	ret = store_open(&disk->store, name, disk->base_bytes, disk->size_bytes);
	if (ret)
		return ret;
	ret = alloc_tags(disk);
	if (ret)
		goto err_store;
	disk_queue_init(disk);
	ret = add_gendisk(disk);
	if (ret)
		goto err_tags;
	disk->powered = true;
	return 0;

err_tags:
	disk_queue_stop(disk);
	blk_mq_free_tag_set(&disk->tags);
err_store:
	store_close(&disk->store);
	pr_err("%s: cannot make the disk, error %d\n", name, ret);
	return ret;
}

void disk_power_off(struct disk *disk)
{
	if (!disk->powered)
		return;
	disk_queue_fail(disk);
	/* Before del_gendisk(), which would first write back what is dirty, at the speed of the cap. */
	blk_mark_disk_dead(disk->gendisk);
	del_gendisk(disk->gendisk);
	disk_queue_stop(disk);
	put_disk(disk->gendisk);
	blk_mq_free_tag_set(&disk->tags);
	store_close(&disk->store);
	disk->powered = false;
}
