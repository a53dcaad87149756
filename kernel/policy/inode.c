// SPDX-License-Identifier: GPL-2.0-only
/* Inodes, from the numbers of a place: see inode.h. */

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/rculist.h>

#include "compat.h"
#include "inode.h"
#include "symbols.h"

/* With the disk pinned, as the kernel's own open does it; may sleep. */
static int get_bdev_inode(u32 dev, struct inode **ret_inode)
{
	struct inode *inode = ilookup(blockdev_superblock, dev);

	if (!inode)
		return -ENODEV;
	if (!kobject_get_unless_zero(&I_BDEV(inode)->bd_device.kobj)) {
		iput(inode);
		return -ENODEV;
	}
	*ret_inode = inode;
	return 0;
}

/* As the flusher pins a superblock: not while it is being mounted, unmounted, remounted or frozen. */
static bool trylock_superblock(struct super_block *sb)
{
	if (!down_read_trylock(&sb->s_umount))
		return false;
	if (!cgwb_sb_is_dying(sb) && sb->s_root && sb->s_flags & SB_BORN)
		return true;
	up_read(&sb->s_umount);
	return false;
}

/*
 * Under the list lock of the wb on whose lists it is: is @inode that of @place? Then hold it, its superblock first.
 * Inodes that are being freed stay on the lists until they are taken off under that lock, so it can be looked at; and
 * the superblock of one that is not being freed cannot go away meanwhile.
 */
static int hold_file(struct inode *inode, const struct cgwb_place *place)
{
	int ret = -ENOENT;

	if (inode->i_ino != place->ino || inode->i_generation != place->generation)
		return ret;
	spin_lock(&inode->i_lock);
	if (inode->i_state & (I_NEW | I_FREEING | I_WILL_FREE))
		goto out;
	ret = -EBUSY;
	if (!trylock_superblock(inode->i_sb))
		goto out;
	atomic_inc(&inode->i_count);
	ret = 0;
out:
	spin_unlock(&inode->i_lock);
	return ret;
}

/* Under the wb's list lock. Returns -EAGAIN when it is not on this list. */
static int look_on(struct list_head *list, const struct cgwb_place *place, unsigned int *looks,
		   struct inode **ret_inode)
{
	struct inode *inode;
	int ret;

	list_for_each_entry(inode, list, i_io_list) {
		if ((u64)(unsigned long)inode == place->id) {
			ret = hold_file(inode, place);
			if (!ret)
				*ret_inode = inode;
			return ret;
		}
		if (!--*looks)
			return -E2BIG;
	}
	return -EAGAIN;
}

static int look_in_wb(struct bdi_writeback *wb, const struct cgwb_place *place, unsigned int *looks,
		      struct inode **ret_inode)
{
	struct list_head *lists[] = { &wb->b_dirty, &wb->b_io, &wb->b_more_io };
	int i, ret = -EAGAIN;

	spin_lock(&wb->list_lock);
	for (i = 0; ret == -EAGAIN && i < ARRAY_SIZE(lists); i++)
		ret = look_on(lists[i], place, looks, ret_inode);
	spin_unlock(&wb->list_lock);
	return ret;
}

/* RCU keeps the wbs on the bdi's list, and the bdi its root wb. */
static int look_in_bdi(struct backing_dev_info *bdi, const struct cgwb_place *place,
		       struct inode **ret_inode)
{
	unsigned int looks = CGWB_LOOKS;
	struct bdi_writeback *wb;
	int ret = -EAGAIN;

	rcu_read_lock();
	list_for_each_entry_rcu(wb, &bdi->wb_list, bdi_node) {
		if (wb->memcg_css->id != place->owner_id)
			continue;
		ret = look_in_wb(wb, place, &looks, ret_inode);
		if (ret != -EAGAIN)
			goto out;
	}
	list_for_each_entry_rcu(wb, &bdi->wb_list, bdi_node) {
		if (wb->memcg_css->id == place->owner_id)
			continue;
		ret = look_in_wb(wb, place, &looks, ret_inode);
		if (ret != -EAGAIN)
			goto out;
	}
out:
	rcu_read_unlock();
	return ret == -EAGAIN ? -ENOENT : ret;
}

static int get_file_inode(const struct cgwb_place *place, struct inode **ret_inode)
{
	struct backing_dev_info *bdi = static_call(cgwb_bdi_get_by_id)(place->bdi_id);
	int ret;

	if (!bdi)
		return -ENODEV;
	ret = look_in_bdi(bdi, place, ret_inode);
	bdi_put(bdi);
	return ret;
}

int cgwb_inode_get(const struct cgwb_place *place, struct inode **ret_inode)
{
	if (cgwb_id_is_bdev(place->id))
		return get_bdev_inode(place->id, ret_inode);
	return get_file_inode(place, ret_inode);
}

/* The reference may be the last one: then the inode goes here, with its superblock still pinned. */
void cgwb_inode_put(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;

	if (sb_is_blkdev_sb(sb)) {
		put_device(&I_BDEV(inode)->bd_device);
		iput(inode);
		return;
	}
	iput(inode);
	up_read(&sb->s_umount);
}
