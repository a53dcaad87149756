// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <errno.h>

#define LOW_TOP (2ULL << 30) /* max-ram-below-4g */
#define HIGH_BASE (4ULL << 30)

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + LAYOUT_ALIGN - 1) & ~(LAYOUT_ALIGN - 1);
}

int layout_init(struct layout *layout, uint64_t memory_bytes)
{
	if (memory_bytes < LAYOUT_MEMORY_MIN)
		return -ENOSPC;
	if (memory_bytes > LAYOUT_TOP_MAX - (HIGH_BASE - LOW_TOP))
		return -ERANGE;
	if (memory_bytes % LAYOUT_ALIGN)
		return -EINVAL;

	layout->memory_bytes = memory_bytes;
	layout->mem_limit_bytes = memory_bytes;
	if (memory_bytes > LOW_TOP)
		layout->mem_limit_bytes += HIGH_BASE - LOW_TOP;
	layout->top_bytes = layout->mem_limit_bytes;
	return 0;
}

int layout_add(struct layout *layout, uint64_t disk_bytes, uint64_t *ret_base_bytes)
{
	uint64_t base = layout->top_bytes < HIGH_BASE ? HIGH_BASE : align_up(layout->top_bytes);

	if (base > LAYOUT_TOP_MAX || disk_bytes > LAYOUT_TOP_MAX - base)
		return -ERANGE;

	layout->top_bytes = base + disk_bytes;
	*ret_base_bytes = base;
	return 0;
}

uint64_t layout_ram_bytes(const struct layout *layout)
{
	uint64_t top = align_up(layout->top_bytes);

	/* With all below 2 GiB there is no hole in between. */
	return top <= LOW_TOP ? top : top - (HIGH_BASE - LOW_TOP);
}
