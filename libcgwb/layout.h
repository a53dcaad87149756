/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a guest's memory and its disks lie in physical memory.
 *
 * QEMU is told `max-ram-below-4g=2G`, so RAM is at 0..2 GiB and from 4 GiB up. The kernel is told
 * `mem=` and has what lies below that limit; the disks' stores lie above it, each beginning at a
 * multiple of 2 MiB:
 *
 *   0            2G  (hole)  4G         mem_limit   disk 1     disk 2     top
 *   [ kernel's RAM ]         [ kernel's ]           [ store ]  [ store ]
 *
 * A guest with 2 GiB or less has its disks from 4 GiB up. What RAM it does not use costs the host
 * nothing. Internal to libcgwb.
 */
#ifndef CGWB_LAYOUT_H
#define CGWB_LAYOUT_H

#include <stdint.h>

/*
 * The kernel unpacks the initramfs into at most half of its memory, and one with fio, mkfs, their
 * libraries and the modules did not fit in half of 256 MiB.
 */
#define LAYOUT_MEMORY_MIN (512ULL << 20)

/* qemu64 has 40 physical address bits. */
#define LAYOUT_TOP_MAX (1ULL << 40)

#define LAYOUT_ALIGN (2ULL << 20)

struct layout {
	uint64_t memory_bytes; /* what the kernel sees */
	uint64_t mem_limit_bytes; /* `mem=` */
	uint64_t top_bytes; /* the first address above everything so far */
};

/*
 * Begins with the kernel's memory. -EINVAL: not a multiple of 2 MiB; -ENOSPC: less than
 * LAYOUT_MEMORY_MIN; -ERANGE: more than a guest can have.
 */
int layout_init(struct layout *layout, uint64_t memory_bytes);

/* Places a disk above the others. -ERANGE: there is no room below LAYOUT_TOP_MAX. */
int layout_add(struct layout *layout, uint64_t disk_bytes, uint64_t *ret_base_bytes);

/* What QEMU is told with -m. */
uint64_t layout_ram_bytes(const struct layout *layout);

#endif
