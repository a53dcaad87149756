/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disk: one in-memory block device, from its configuration to its removal.
 *
 * configfs.c makes a disk, disk.c powers it on and off, queue.c serves its requests. What a request costs is pace.h's
 * business, where its data lives is store.h's.
 *
 * Two locks, the first outside the second: `mutex` for configuration and power, which sleeps; `lock` for everything
 * that a request or the timer touches, taken with interrupts off and never held while a request ends.
 */
#ifndef CGWB_DISK_DISK_H
#define CGWB_DISK_DISK_H

#include <linux/blk-mq.h>
#include <linux/configfs.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "pace.h"
#include "store.h"

/* What requests are counted by. */
enum disk_op {
	DISK_READ,
	DISK_WRITE,
	DISK_DISCARD,
	DISK_WRITE_ZEROES,
	DISK_FLUSH,
	DISK_OP_NR,
};

/*
 * What a disk has done since it was powered on; kept after it was powered off. Requests are counted when they are due,
 * which is when they end. All under disk->lock, so any two values read one after another are exact for their moment.
 */
struct disk_account {
	u64 requests[DISK_OP_NR];
	u64 bytes[DISK_OP_NR];
	u64 failed_requests; /* in none of the above */
	u64 in_flight;
	u64 drained; /* how often in_flight fell to zero */
	u64 late_max_ns; /* the worst that a request ended after it was due */
};

struct disk {
	struct config_item item;

	struct mutex mutex;
	/* Under mutex; all but the caps and the latency, which are in `pace`, are fixed while powered. */
	u64 base_bytes;
	u64 size_bytes;
	u32 depth;
	u32 max_sectors_kb;
	bool powered;

	/* Valid while powered. */
	struct store store;
	struct blk_mq_tag_set tags;
	struct gendisk *gendisk;

	spinlock_t lock;
	struct pace pace;
	struct hrtimer timer; /* set for the earliest request that can end */
	struct list_head pending[PACE_CLASS_NR]; /* of disk_cmd, in the order in which they are due */
	bool dead; /* every request fails, at once */
	struct disk_account account;
};

/* A disk that is off, with defaults, not yet in configfs. NULL: no memory. Freed with kfree(). */
struct disk *disk_new(void);

const char *disk_name(struct disk *disk);

/*
 * Make /dev/NAME, or take it away. The caller holds disk->mutex. Powering on what is on, and off what is off, does
 * nothing. Errors of powering on: those of store_open(), -EEXIST if there is another block device of the name, -ENOMEM.
 *
 * Powering off is pulling the plug: it cannot fail, and does not wait for caps or for anybody's dirty data. Requests in
 * flight end with an I/O error, and so does everything that comes after from whoever still has the device open. (Who
 * wants his data safe has synced before.) When it returns, the name is free, and no part of the disk is in use; the
 * device number is given to nobody else before the last user has closed it.
 */
int disk_power_on(struct disk *disk);
void disk_power_off(struct disk *disk);

/* queue.c */
extern const struct blk_mq_ops disk_queue_ops;
/* Bytes that the tag set keeps with each request for queue.c. */
extern const unsigned int disk_queue_cmd_bytes;
/* Begin with an empty queue and a zero account; the disk is about to get its first request. */
void disk_queue_init(struct disk *disk);
/* From now on every request fails, those that wait included. */
void disk_queue_fail(struct disk *disk);
/* No request is left and none will come: see to it that nothing of the queue runs any more. */
void disk_queue_stop(struct disk *disk);

/* configfs.c */
int disk_configfs_register(void);
void disk_configfs_unregister(void);

#endif
