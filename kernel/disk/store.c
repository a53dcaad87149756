// SPDX-License-Identifier: GPL-2.0-only
/* The blocks of a disk: see store.h. */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "store.h"

/* The bitmap's helpers count in unsigned int. */
#define STORE_SIZE_MAX ((u64)INT_MAX << STORE_BLOCK_SHIFT)

/* Memory comes in pieces no smaller than this, so looking once in each finds a hole. */
#define STORE_PROBE_STEP SZ_128M

static int check_bounds(const char *name, u64 base_bytes, u64 size_bytes)
{
	if (!size_bytes || !IS_ALIGNED(base_bytes | size_bytes, STORE_BLOCK_BYTES)) {
		pr_err("%s: base_bytes=%llu size_bytes=%llu: need multiples of %lu, and a size\n",
		       name, base_bytes, size_bytes, STORE_BLOCK_BYTES);
		return -EINVAL;
	}
	if (size_bytes > STORE_SIZE_MAX || base_bytes > iomem_resource.end ||
	    size_bytes - 1 > iomem_resource.end - base_bytes) {
		pr_err("%s: base_bytes=%llu size_bytes=%llu is more than can be addressed\n", name,
		       base_bytes, size_bytes);
		return -ERANGE;
	}
	return 0;
}

/*
 * The kernel must not know the region as anything but "reserved". memremap() would hand out the kernel's own mapping of
 * System RAM, and the disk would overwrite whatever lives there; device memory is no store either.
 */
static int check_unused(const char *name, u64 base_bytes, u64 size_bytes)
{
	if (region_intersects(base_bytes, size_bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pr_err("%s: base_bytes=%llu size_bytes=%llu overlaps System RAM: keep it from the kernel with mem=\n",
		       name, base_bytes, size_bytes);
		return -EBUSY;
	}
	if (region_intersects(base_bytes, size_bytes, IORESOURCE_MEM, IORES_DESC_NONE) ==
		    REGION_DISJOINT ||
	    region_intersects(base_bytes, size_bytes, IORESOURCE_MEM, IORES_DESC_RESERVED) ==
		    REGION_INTERSECTS)
		return 0;
	pr_err("%s: base_bytes=%llu size_bytes=%llu is in use, see /proc/iomem\n", name, base_bytes,
	       size_bytes);
	return -EBUSY;
}

/* Does a word keep what is put into it? Leaves it as it was. */
static bool is_memory(u64 *word)
{
	static const u64 pattern = 0x6377676264736b01ULL;
	u64 was = READ_ONCE(*word);
	bool keeps;

	WRITE_ONCE(*word, pattern);
	mb();
	keeps = READ_ONCE(*word) == pattern;
	WRITE_ONCE(*word, ~pattern);
	mb();
	keeps = keeps && READ_ONCE(*word) == ~pattern;
	WRITE_ONCE(*word, was);
	return keeps;
}

static int probe_memory(const struct store *store, const char *name)
{
	u64 last = store->size_bytes - sizeof(u64);
	u64 pos;

	for (pos = 0;; pos = min_t(u64, pos + STORE_PROBE_STEP, last)) {
		if (!is_memory(store->memory + pos)) {
			pr_err("%s: no memory at physical address %llu\n", name,
			       store->base_bytes + pos);
			return -ENXIO;
		}
		if (pos == last)
			return 0;
	}
}

int store_open(struct store *store, const char *name, u64 base_bytes, u64 size_bytes)
{
	int ret;

	ret = check_bounds(name, base_bytes, size_bytes);
	if (ret)
		return ret;
	ret = check_unused(name, base_bytes, size_bytes);
	if (ret)
		return ret;
	store->base_bytes = base_bytes;
	store->size_bytes = size_bytes;
	/* Settles races between two stores, which the check above does not. */
	if (!request_mem_region(base_bytes, size_bytes, name)) {
		pr_err("%s: base_bytes=%llu size_bytes=%llu is in use, see /proc/iomem\n", name,
		       base_bytes, size_bytes);
		return -EBUSY;
	}
	ret = -ENOMEM;
	store->written = kvcalloc(BITS_TO_LONGS(size_bytes >> STORE_BLOCK_SHIFT),
				  sizeof(*store->written), GFP_KERNEL);
	if (!store->written)
		goto err_region;
	store->memory = memremap(base_bytes, size_bytes, MEMREMAP_WB);
	if (!store->memory) {
		pr_err("%s: cannot map %llu bytes at %llu\n", name, size_bytes, base_bytes);
		goto err_written;
	}
	ret = probe_memory(store, name);
	if (ret)
		goto err_map;
	return 0;

err_map:
	memunmap(store->memory);
err_written:
	kvfree(store->written);
err_region:
	release_mem_region(base_bytes, size_bytes);
	return ret;
}

void store_close(struct store *store)
{
	memunmap(store->memory);
	kvfree(store->written);
	release_mem_region(store->base_bytes, store->size_bytes);
}

/*
 * Copying is the disk's only work on the CPU, and nearly all copies are of a page. copy_page() is string moves on every
 * kernel, memcpy() is not on 6.12 unless the CPU has FSRM: there it takes more than twice the instructions, which in
 * virtual time is twice the time.
 */
static void copy_bytes(void *to, const void *from, size_t bytes)
{
	if (bytes == PAGE_SIZE)
		copy_page(to, (void *)from);
	else
		memcpy(to, from, bytes);
}

void store_write(struct store *store, u64 pos_bytes, const void *from, size_t bytes)
{
	copy_bytes(store->memory + pos_bytes, from, bytes);
}

void store_set_written(struct store *store, u64 pos_bytes, u64 bytes)
{
	bitmap_set(store->written, pos_bytes >> STORE_BLOCK_SHIFT, bytes >> STORE_BLOCK_SHIFT);
}

void store_read(const struct store *store, u64 pos_bytes, void *to, size_t bytes)
{
	while (bytes) {
		size_t in_block = pos_bytes & (STORE_BLOCK_BYTES - 1);
		size_t chunk = min_t(size_t, bytes, STORE_BLOCK_BYTES - in_block);

		if (test_bit(pos_bytes >> STORE_BLOCK_SHIFT, store->written))
			copy_bytes(to, store->memory + pos_bytes, chunk);
		else
			memset(to, 0, chunk);
		pos_bytes += chunk;
		to += chunk;
		bytes -= chunk;
	}
}

void store_zero(struct store *store, u64 pos_bytes, u64 bytes)
{
	bitmap_clear(store->written, pos_bytes >> STORE_BLOCK_SHIFT, bytes >> STORE_BLOCK_SHIFT);
}
