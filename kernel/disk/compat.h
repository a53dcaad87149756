/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that this module knows about kernel versions. The list of releases is an allow-list: the block layer's
 * inner interfaces move in every release, and a module that builds on an unknown one may still be wrong on it.
 */
#ifndef CGWB_DISK_COMPAT_H
#define CGWB_DISK_COMPAT_H

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/version.h>

#define CGWB_DISK_IS(major, minor)                                                                 \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0) &&                                  \
	 LINUX_VERSION_CODE < KERNEL_VERSION(major, (minor) + 1, 0))

#if !CGWB_DISK_IS(6, 1) && !CGWB_DISK_IS(6, 12)
#error "cgwb_disk knows Linux 6.1.y and 6.12.y only"
#endif

#ifdef CONFIG_PREEMPT_RT
#error "cgwb_disk ends requests in hard interrupts, which PREEMPT_RT has not"
#endif

/*
 * Since 6.9 ("block: pass a queue_limits argument to blk_mq_alloc_disk") a disk's limits are an argument of its
 * allocation; before, they are set one by one afterwards. A disk of ours: blocks of block_bytes, requests of at most
 * max_bytes, any number of segments (nothing is mapped for DMA), not rotational, no volatile cache, discard and
 * write-zeroes of any length. No partitions are looked for, so that the first request is the user's own.
 */
static inline struct gendisk *compat_alloc_disk(struct blk_mq_tag_set *tags, void *queuedata,
						unsigned int block_bytes, unsigned int max_bytes)
{
#if CGWB_DISK_IS(6, 1)
	struct gendisk *gendisk = blk_mq_alloc_disk(tags, queuedata);
	struct request_queue *q;

	if (IS_ERR(gendisk))
		return gendisk;
	q = gendisk->queue;
	blk_queue_logical_block_size(q, block_bytes);
	blk_queue_physical_block_size(q, block_bytes);
	blk_queue_max_segments(q, USHRT_MAX);
	blk_queue_max_segment_size(q, UINT_MAX);
	blk_queue_max_hw_sectors(q, max_bytes >> SECTOR_SHIFT);
	/* The call above stops at BLK_DEF_MAX_SECTORS. */
	q->limits.max_sectors = max_bytes >> SECTOR_SHIFT;
	gendisk->bdi->io_pages = max_bytes >> PAGE_SHIFT;
	q->limits.discard_granularity = block_bytes;
	blk_queue_max_discard_sectors(q, UINT_MAX);
	blk_queue_max_write_zeroes_sectors(q, UINT_MAX);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
#else
	struct queue_limits limits = {
		.logical_block_size = block_bytes,
		.physical_block_size = block_bytes,
		.max_segments = USHRT_MAX,
		.max_segment_size = UINT_MAX,
		.max_hw_sectors = max_bytes >> SECTOR_SHIFT,
		.max_user_sectors = max_bytes >> SECTOR_SHIFT,
		.discard_granularity = block_bytes,
		.max_hw_discard_sectors = UINT_MAX,
		.max_write_zeroes_sectors = UINT_MAX,
	};
	struct gendisk *gendisk = blk_mq_alloc_disk(tags, &limits, queuedata);

	if (IS_ERR(gendisk))
		return gendisk;
#endif
	gendisk->flags |= GENHD_FL_NO_PART;
	return gendisk;
}

/*
 * What a plug hands to ->queue_rqs. In 6.1 it is a stack, its newest request first; since "block: add a rq_list type"
 * (6.13, and in 6.12.y) it is a queue. compat_take_plug() empties it and gives the requests in the order in which they
 * were submitted.
 */
#if CGWB_DISK_IS(6, 1)
typedef struct request *compat_plug_t;

static inline compat_plug_t compat_take_plug(compat_plug_t *plug)
{
	compat_plug_t in_order = NULL;

	while (!rq_list_empty(*plug)) {
		struct request *rq = rq_list_pop(plug);

		rq_list_add(&in_order, rq);
	}
	return in_order;
}
#else
typedef struct rq_list compat_plug_t;

static inline compat_plug_t compat_take_plug(compat_plug_t *plug)
{
	compat_plug_t in_order = *plug;

	rq_list_init(plug);
	return in_order;
}
#endif

/* The first request, taken off; NULL: none is left. */
static inline struct request *compat_plug_pop(compat_plug_t *plug)
{
	return rq_list_pop(plug);
}

#endif
