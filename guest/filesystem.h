/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cell's filesystems: made, mounted, filled, synced. */
#ifndef GUEST_FILESYSTEM_H
#define GUEST_FILESYSTEM_H

#include "cell.h"
#include "error.h"

/* mkdir -p. */
int directory_make(const char *path, struct error *error);

/* Makes the filesystem on its disk, if the cell has a mkfs, and mounts it. */
int filesystem_make(const struct mount *mount, struct error *error);

/* syncfs: everything that was written to it so far is on its disk when this returns 0. */
int filesystem_sync(const struct mount *mount, struct error *error);

/* Writes a file whose content @seed decides, and syncs it. */
int file_make(const struct file *file, uint64_t seed, struct error *error);

#endif
