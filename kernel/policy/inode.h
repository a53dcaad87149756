/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the inode of a place again, and keeping it for as long as one slice takes.
 *
 * A block device's inode is found by its number, and its disk is pinned: an inode alone does not keep a disk's queue.
 *
 * A file's is looked for on the lists of dirty inodes of the wbs of its bdi, under their locks: first on those of its
 * owner when it was dirtied, then on all others, for it may have been switched. What is on none of them is not dirty,
 * or has just been dirtied and is about to be put there. Its superblock is pinned, by trylock, as the flusher does it:
 * a filesystem that is being unmounted must not find our reference.
 */
#ifndef CGWB_INODE_H
#define CGWB_INODE_H

#include "place.h"

struct inode;

/*
 * How many inodes are looked at, at most, to find one, with a spinlock of the flusher's held. The newest stand at the
 * front. Beyond this the owner's whole wb is flushed, as the kernel does.
 */
#define CGWB_LOOKS 1024

/**
 * cgwb_inode_get() - find the inode of @place
 *
 * Returns 0 and the inode in @ret_inode, which the caller gives back by cgwb_inode_put(). -ENODEV: no such device any
 * more. -ENOENT: no such inode is dirty. -EBUSY: the filesystem is being mounted, unmounted or frozen. -E2BIG: too many
 * dirty inodes. Process context; may sleep for a block device only.
 */
int cgwb_inode_get(const struct cgwb_place *place, struct inode **ret_inode);
void cgwb_inode_put(struct inode *inode);

#endif /* CGWB_INODE_H */
