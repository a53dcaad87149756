/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Store: a disk's blocks, in physical memory that the kernel was told not to use (`mem=`, or `memmap=` as reserved).
 *
 * The memory is claimed in /proc/iomem and mapped once, when the store is opened; nothing is allocated after that. A
 * bit for each block says whether it was ever written: a store opens as all zeros whatever the memory holds, and
 * zeroing any range costs a few words, not a pass over the memory. (mkfs discards the whole disk; the machine that
 * emulates the guest need not have memory for what was never written.)
 *
 * Concurrency: calls that change which blocks are written (store_set_written, store_zero) are serialised by the caller.
 * Copies are not serialised at all: two requests in flight on one block race, as they do on a real disk.
 */
#ifndef CGWB_DISK_STORE_H
#define CGWB_DISK_STORE_H

#include <linux/types.h>

#define STORE_BLOCK_SHIFT 12
#define STORE_BLOCK_BYTES (1UL << STORE_BLOCK_SHIFT)

struct store {
	u64 base_bytes;
	u64 size_bytes;
	void *memory;
	unsigned long *written; /* a bit for each block */
};

/*
 * Claim and map [base_bytes, base_bytes + size_bytes); `name` must live as long as the store and names the region in
 * /proc/iomem. The reason for a refusal is logged. -EINVAL: size is zero, or something is not a multiple of a block.
 * -ERANGE: outside what the CPU can address, or over 8 TiB. -EBUSY: overlaps System RAM, another store, or anything
 * else with an owner. -ENXIO: there is no memory. -ENOMEM.
 */
int store_open(struct store *store, const char *name, u64 base_bytes, u64 size_bytes);
/* Undo store_open. The caller sees to it that nobody uses the store. */
void store_close(struct store *store);

/* Copy in at any position; the blocks count as written only after store_set_written for all of them. */
void store_write(struct store *store, u64 pos_bytes, const void *from, size_t bytes);
/* Whole blocks. Call after the data is in place, so that a reader never sees what the memory held before. */
void store_set_written(struct store *store, u64 pos_bytes, u64 bytes);
/* Copy out from any position; blocks that were not written read as zeros. */
void store_read(const struct store *store, u64 pos_bytes, void *to, size_t bytes);
/* Whole blocks, which read as zeros from now on. */
void store_zero(struct store *store, u64 pos_bytes, u64 bytes);

#endif
