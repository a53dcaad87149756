/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab's disks (kernel/disk), made through configfs. */
#ifndef GUEST_DISK_H
#define GUEST_DISK_H

#include <stdint.h>

#include "cell.h"
#include "error.h"

/* Makes the disk and sets its queue; /dev/NAME is there when this returns 0. */
int disk_make(const struct disk *disk, struct error *error);

/* As the kernel's block events have it: major << 20 | minor. */
int disk_dev(const struct disk *disk, uint32_t *ret_dev, struct error *error);

/* "MAJOR:MINOR", as cgroup attributes want it. */
int disk_number_text(const struct disk *disk, char *text, unsigned int size, struct error *error);

/* Waits, at most a virtual second, until no request is in flight; -EBUSY without an error: one still is. */
int disk_wait_idle(const struct disk *disk, struct error *error);

/* What was written, by two accounts that do not know of each other. */
struct disk_account {
	uint64_t written_bytes; /* the disk's own */
	uint64_t block_bytes; /* the block layer's, /sys/block/NAME/stat */
};

int disk_account_read(const struct disk *disk, struct disk_account *ret, struct error *error);

#endif
