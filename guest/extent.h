/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a file lies on its disk: extents of 512-byte sectors, sorted, none touching another. */
#ifndef GUEST_EXTENT_H
#define GUEST_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define SECTOR_BYTES 512u

struct extent {
	uint64_t first, end; /* end is the first sector that is not in it */
};

struct extents {
	struct extent *items;
	size_t n;
};

/* Sorts, and joins neighbours. */
void extents_sort(struct extents *extents);

/* How many of the @n sectors from @first are in @extents. */
uint64_t extents_overlap(const struct extents *extents, uint64_t first, uint64_t n);

uint64_t extents_sectors(const struct extents *extents);
bool extents_equal(const struct extents *a, const struct extents *b);

/*
 * Asks the filesystem (FIEMAP), after writing out what is not allocated yet. -ENODATA with an error:
 * the file's data has no plain place of its own (inline, compressed, encrypted, unknown), or the
 * filesystem cannot say. -ENOENT: there is no such file.
 */
int extents_read(const char *path, struct extents *ret, struct error *error);

/* The device (major << 20 | minor) of the filesystem that has the file. */
int extents_dev(const char *path, uint32_t *ret_dev, struct error *error);

void extents_done(struct extents *extents);

#endif
