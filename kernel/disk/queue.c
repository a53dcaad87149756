// SPDX-License-Identifier: GPL-2.0-only
/*
 * Serving requests.
 *
 * ->queue_rq gives a request its due time, puts it at the end of its class's list, and then copies the data, while the
 * request is already being served: a real disk moves data by DMA within its service time, not before it. A request ends
 * when it is due and its data is in place, from the timer. In each class due times never decrease, so each list is in
 * order by itself and the earliest of all is among three heads.
 *
 * Data is visible at once: a read that is queued after a write, while that is still in flight, sees what it wrote. A
 * reader that must not see it waits for nothing in real life either.
 *
 * Requests end in the timer's hard interrupt, at their own time and one after another, and not through the softirq of
 * blk_mq_complete_request(): that would give away exactly the order and the time that this disk exists for.
 *
 * There is no ->timeout: a request that has been waiting for a slow cap longer than the block layer's timeout is all
 * right, and without the operation the block layer just goes on waiting.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/ktime.h>

#include "compat.h"
#include "disk.h"

/* What is kept with each request. */
struct disk_cmd {
	struct list_head node;
	u64 due_ns;
	u64 pos_bytes;
	u32 bytes;
	enum disk_op op;
	bool copied;
	blk_status_t status;
};

const unsigned int disk_queue_cmd_bytes = sizeof(struct disk_cmd);

static int rq_disk_op(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return DISK_READ;
	case REQ_OP_WRITE:
		return DISK_WRITE;
	case REQ_OP_DISCARD:
		return DISK_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return DISK_WRITE_ZEROES;
	case REQ_OP_FLUSH:
		/* Comes only if somebody declares a volatile cache in sysfs, as 6.1 lets him. */
		return DISK_FLUSH;
	default:
		return -EOPNOTSUPP;
	}
}

static enum pace_class op_class(enum disk_op op)
{
	switch (op) {
	case DISK_READ:
		return PACE_READ;
	case DISK_WRITE:
		return PACE_WRITE;
	default:
		return PACE_OTHER;
	}
}

/* The request that ends next, or NULL if there is none that can. The caller holds the lock. */
static struct disk_cmd *next_cmd(struct disk *disk)
{
	struct disk_cmd *next = NULL;
	int i;

	lockdep_assert_held(&disk->lock);
	for (i = 0; i < PACE_CLASS_NR; i++) {
		struct disk_cmd *cmd =
			list_first_entry_or_null(&disk->pending[i], struct disk_cmd, node);

		if (cmd && cmd->copied && (!next || cmd->due_ns < next->due_ns))
			next = cmd;
	}
	return next;
}

static bool is_over(const struct disk *disk, const struct disk_cmd *cmd, u64 now_ns)
{
	return disk->dead || cmd->due_ns <= now_ns;
}

static void arm_timer(struct disk *disk)
{
	const struct disk_cmd *next = next_cmd(disk);

	if (next)
		hrtimer_start(&disk->timer, ns_to_ktime(disk->dead ? 0 : next->due_ns),
			      HRTIMER_MODE_ABS);
}

static void count(struct disk_account *account, struct disk_cmd *cmd, u64 now_ns)
{
	if (cmd->status) {
		account->failed_requests++;
	} else {
		account->requests[cmd->op]++;
		account->bytes[cmd->op] += cmd->bytes;
		account->late_max_ns = max(account->late_max_ns, now_ns - cmd->due_ns);
	}
	if (!--account->in_flight)
		account->drained++;
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct disk *disk = container_of(timer, struct disk, timer);
	struct disk_cmd *cmd, *next;
	unsigned long flags;
	LIST_HEAD(over);
	u64 now_ns;

	spin_lock_irqsave(&disk->lock, flags);
	now_ns = ktime_get_ns();
	while ((cmd = next_cmd(disk)) && is_over(disk, cmd, now_ns)) {
		cmd->status = disk->dead ? BLK_STS_IOERR : BLK_STS_OK;
		count(&disk->account, cmd, now_ns);
		list_move_tail(&cmd->node, &over);
	}
	arm_timer(disk);
	spin_unlock_irqrestore(&disk->lock, flags);

	list_for_each_entry_safe(cmd, next, &over, node) {
		list_del(&cmd->node);
		blk_mq_end_request(blk_mq_rq_from_pdu(cmd), cmd->status);
	}
	return HRTIMER_NORESTART;
}

/* Whole blocks within the disk: the block layer sees to it, but a mistake here writes over somebody else's memory. */
static bool is_in_store(const struct disk *disk, const struct disk_cmd *cmd)
{
	u64 size_bytes = disk->store.size_bytes;

	return IS_ALIGNED(cmd->pos_bytes | cmd->bytes, STORE_BLOCK_BYTES) &&
	       cmd->pos_bytes <= size_bytes && cmd->bytes <= size_bytes - cmd->pos_bytes;
}

/* Give a request its place. An error if it gets none. */
static blk_status_t admit(struct disk *disk, struct disk_cmd *cmd)
{
	enum pace_class class = op_class(cmd->op);
	blk_status_t status = BLK_STS_OK;
	unsigned long flags;

	spin_lock_irqsave(&disk->lock, flags);
	if (disk->dead || !is_in_store(disk, cmd)) {
		disk->account.failed_requests++;
		status = BLK_STS_IOERR;
	} else {
		cmd->due_ns = pace_admit(&disk->pace, class, ktime_get_ns(), cmd->bytes);
		list_add_tail(&cmd->node, &disk->pending[class]);
		disk->account.in_flight++;
	}
	spin_unlock_irqrestore(&disk->lock, flags);
	return status;
}

static void copy(struct disk *disk, struct request *rq, const struct disk_cmd *cmd)
{
	u64 pos_bytes = cmd->pos_bytes;
	struct req_iterator iter;
	struct bio_vec bvec;

	rq_for_each_segment(bvec, rq, iter) {
		void *data = bvec_kmap_local(&bvec);

		if (cmd->op == DISK_WRITE)
			store_write(&disk->store, pos_bytes, data, bvec.bv_len);
		else
			store_read(&disk->store, pos_bytes, data, bvec.bv_len);
		kunmap_local(data);
		pos_bytes += bvec.bv_len;
	}
}

/* The data is in place: the request may end. */
static void publish(struct disk *disk, struct disk_cmd *cmd)
{
	unsigned long flags;

	spin_lock_irqsave(&disk->lock, flags);
	if (cmd->op == DISK_WRITE)
		store_set_written(&disk->store, cmd->pos_bytes, cmd->bytes);
	else if (cmd->op == DISK_DISCARD || cmd->op == DISK_WRITE_ZEROES)
		store_zero(&disk->store, cmd->pos_bytes, cmd->bytes);
	cmd->copied = true;
	if (next_cmd(disk) == cmd)
		arm_timer(disk);
	spin_unlock_irqrestore(&disk->lock, flags);
}

static void queue_one(struct disk *disk, struct request *rq)
{
	struct disk_cmd *cmd = blk_mq_rq_to_pdu(rq);
	int op = rq_disk_op(rq);
	blk_status_t status;

	blk_mq_start_request(rq);
	if (op < 0) {
		blk_mq_end_request(rq, BLK_STS_NOTSUPP);
		return;
	}
	cmd->op = op;
	cmd->pos_bytes = op == DISK_FLUSH ? 0 : (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	cmd->bytes = op == DISK_FLUSH ? 0 : blk_rq_bytes(rq);
	cmd->copied = false;
	status = admit(disk, cmd);
	if (status) {
		blk_mq_end_request(rq, status);
		return;
	}
	if (op == DISK_READ || op == DISK_WRITE)
		copy(disk, rq, cmd);
	publish(disk, cmd);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	queue_one(hctx->queue->queuedata, bd->rq);
	return BLK_STS_OK;
}

/* A plug is taken whole, for the sake of its order: on 6.1 the block layer would issue it back to front. */
static void queue_rqs(compat_plug_t *plug)
{
	compat_plug_t rqs = compat_take_plug(plug);
	struct request *rq;

	while ((rq = compat_plug_pop(&rqs)))
		queue_one(rq->q->queuedata, rq);
}

const struct blk_mq_ops disk_queue_ops = {
	.queue_rq = queue_rq,
	.queue_rqs = queue_rqs,
};

void disk_queue_init(struct disk *disk)
{
	hrtimer_init(&disk->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	disk->timer.function = timer_fired;
	spin_lock_irq(&disk->lock);
	pace_restart(&disk->pace);
	memset(&disk->account, 0, sizeof(disk->account));
	disk->dead = false;
	spin_unlock_irq(&disk->lock);
}

void disk_queue_fail(struct disk *disk)
{
	spin_lock_irq(&disk->lock);
	disk->dead = true;
	arm_timer(disk);
	spin_unlock_irq(&disk->lock);
}

void disk_queue_stop(struct disk *disk)
{
	hrtimer_cancel(&disk->timer);
}
