/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What running a cell needs, estimated from its JSON: for warnings, progress, and the default time
 * limit.
 *
 * Memory, by what a guest touches: 192 MiB for the kernel, its page tables and the initramfs; each
 * disk, as far as jobs and files write it (a fio job its size, a files job its data span and 5 KiB
 * a file, a file its size; 64 MiB of metadata for each filesystem), at most the disk; and the page
 * cache of what goes through it, at most the guest's memory, since Linux keeps clean pages while it
 * can. A files job that is not told how many makes as many as its cgroup's write cap lets through,
 * at most 2,000 a second.
 *
 * Time: a disk with a write cap needs its bytes over that cap; a job, its start and its duration,
 * or what it writes over its own rate. The longest of these counts, and 10 s for all that is around
 * it. Jobs share disks, which only the run itself can know the effect of: the estimate is not a
 * bound. Internal to libcgwb.
 */
#ifndef CGWB_ESTIMATE_H
#define CGWB_ESTIMATE_H

#include <jansson.h>
#include <stdint.h>

struct estimate {
	uint64_t host_memory_bytes;
	double virtual_s;
};

struct estimate estimate_cell(const json_t *cell);

#endif
