/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place: an inode, a stretch of its pages, and whose wb writes it. What was dirtied, and what is to be written.
 *
 * Only numbers: a place pins nothing, and the address of an inode in it is compared and never followed.
 */
#ifndef CGWB_PLACE_H
#define CGWB_PLACE_H

#include "decide.h"

/* The last page that a mapping can have: byte ranges of writeback are loff_t. */
#define CGWB_LAST_PAGE ((pgoff_t)(LLONG_MAX >> PAGE_SHIFT))

/**
 * struct cgwb_place - where pages are
 * @id: which inode: see below; 0 is none
 * @bdi_id: what the kernel's own record would say: the bdi ...
 * @ino: of a file: its number ...
 * @first: the first page of the stretch
 * @last: its last page
 * @owner_id: ... and the css id of the memcg that owns the inode
 * @generation: ... and its generation, which tell it from one that has come to the same address since
 */
struct cgwb_place {
	u64 id;
	u64 bdi_id;
	unsigned long ino;
	pgoff_t first;
	pgoff_t last;
	s32 owner_id;
	u32 generation;
};

/*
 * What an id means. A block device's is its number in the kernel's encoding, below 1 << 32. A file's is the address of
 * its inode: the kernel's are in the upper half. Between them are whole wbs, which are counted and never swept.
 */
static inline u64 cgwb_wb_id(u64 bdi_id, s32 owner_id)
{
	return 1ULL << 62 | (bdi_id & 0x3fffffff) << 32 | (u32)owner_id;
}

static inline bool cgwb_id_is_bdev(u64 id)
{
	return id < 1ULL << 32;
}

static inline bool cgwb_id_is_wb(u64 id)
{
	return id >> 62 == 1;
}

/* Is it the same inode, whoever owns it? */
static inline bool cgwb_place_is_same(const struct cgwb_place *a, const struct cgwb_place *b)
{
	return a->id == b->id && a->ino == b->ino && a->generation == b->generation;
}

/* Do the stretches have a page in common, or stand side by side? */
static inline bool cgwb_place_touches(const struct cgwb_place *a, const struct cgwb_place *b)
{
	return a->first <= b->last + 1 && b->first <= a->last + 1;
}

#endif /* CGWB_PLACE_H */
