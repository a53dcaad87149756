// SPDX-License-Identifier: GPL-2.0-or-later
#include "extent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BATCH 256

static int extent_compare(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

void extents_sort(struct extents *extents)
{
	size_t i, n = 0;

	if (extents->n)
		qsort(extents->items, extents->n, sizeof(*extents->items), extent_compare);
	for (i = 0; i < extents->n; i++) {
		struct extent *last = n ? &extents->items[n - 1] : NULL;
		struct extent *next = &extents->items[i];

		if (last && next->first <= last->end) {
			if (next->end > last->end)
				last->end = next->end;
		} else {
			extents->items[n++] = *next;
		}
	}
	extents->n = n;
}

uint64_t extents_overlap(const struct extents *extents, uint64_t first, uint64_t n)
{
	size_t low = 0, high = extents->n;
	uint64_t end = first + n, sectors = 0;

	/* The first extent that ends behind @first. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (extents->items[middle].end <= first)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < extents->n && extents->items[low].first < end; low++) {
		const struct extent *extent = &extents->items[low];
		uint64_t from = extent->first > first ? extent->first : first;
		uint64_t to = extent->end < end ? extent->end : end;

		sectors += to - from;
	}
	return sectors;
}

uint64_t extents_sectors(const struct extents *extents)
{
	uint64_t sectors = 0;
	size_t i;

	for (i = 0; i < extents->n; i++)
		sectors += extents->items[i].end - extents->items[i].first;
	return sectors;
}

bool extents_equal(const struct extents *a, const struct extents *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->items, b->items, a->n * sizeof(*a->items)));
}

static int extents_add(struct extents *extents, const struct fiemap *map, const char *path,
		       struct error *error)
{
	const uint32_t elsewhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC |
				   FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_ENCRYPTED |
				   FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_INLINE |
				   FIEMAP_EXTENT_DATA_TAIL;
	struct extent *items;
	unsigned int i;

	items = realloc(extents->items, (extents->n + map->fm_mapped_extents) * sizeof(*items));
	if (!items)
		return error_errno(error, -ENOMEM, "cannot read the extents of %s", path);
	extents->items = items;
	for (i = 0; i < map->fm_mapped_extents; i++) {
		const struct fiemap_extent *extent = &map->fm_extents[i];

		if (extent->fe_flags & elsewhere)
			return error_set(
				error, -ENODATA,
				"%s: an extent has no plain place on the disk (flags 0x%x)", path,
				extent->fe_flags);
		items[extents->n++] = (struct extent){
			.first = extent->fe_physical / SECTOR_BYTES,
			.end = (extent->fe_physical + extent->fe_length) / SECTOR_BYTES,
		};
	}
	return 0;
}

static int extents_map(int fd, const char *path, struct extents *extents, struct error *error)
{
	struct fiemap *map;
	uint64_t start = 0;
	bool last = false;
	int err = 0;

	map = malloc(sizeof(*map) + BATCH * sizeof(map->fm_extents[0]));
	if (!map)
		return error_errno(error, -ENOMEM, "cannot read the extents of %s", path);
	while (!last && !err) {
		const struct fiemap_extent *end;

		memset(map, 0, sizeof(*map));
		map->fm_start = start;
		map->fm_length = FIEMAP_MAX_OFFSET - start;
		map->fm_flags = FIEMAP_FLAG_SYNC;
		map->fm_extent_count = BATCH;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0) {
			err = error_errno(error, -ENODATA,
					  "%s: the filesystem cannot say where it lies", path);
			break;
		}
		if (!map->fm_mapped_extents)
			break;
		err = extents_add(extents, map, path, error);
		end = &map->fm_extents[map->fm_mapped_extents - 1];
		last = end->fe_flags & FIEMAP_EXTENT_LAST;
		start = end->fe_logical + end->fe_length;
	}
	free(map);
	return err;
}

int extents_read(const char *path, struct extents *ret, struct error *error)
{
	struct extents extents = { NULL, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return error_errno(error, -errno, "cannot open %s", path);
	err = extents_map(fd, path, &extents, error);
	close(fd);
	if (err < 0) {
		extents_done(&extents);
		return err;
	}
	extents_sort(&extents);
	*ret = extents;
	return 0;
}

int extents_dev(const char *path, uint32_t *ret_dev, struct error *error)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(error, -errno, "cannot find %s", path);
	*ret_dev = major(st.st_dev) << 20 | minor(st.st_dev);
	return 0;
}

void extents_done(struct extents *extents)
{
	free(extents->items);
	extents->items = NULL;
	extents->n = 0;
}
