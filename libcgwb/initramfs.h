/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The archive that a guest's kernel unpacks as its root filesystem.
 *
 * Files are added in any order, and written sorted, owned by root, at time 0: the same files make
 * the same bytes. Folders come by themselves. A path that is added twice keeps what came first, as
 * libraries of several programs do.
 */
#ifndef CGWB_INITRAMFS_H
#define CGWB_INITRAMFS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libcgwb/context.h"

struct cgwb_initramfs;

struct cgwb_initramfs *cgwb_initramfs_new(void);

/* NULL-safe, returns NULL. */
struct cgwb_initramfs *cgwb_initramfs_free(struct cgwb_initramfs *initramfs);

/* Adds a file of the host's at `path`; it is read when the archive is written. 0 or -ENOMEM. */
int cgwb_initramfs_add_file(struct cgwb_initramfs *initramfs, const char *path, mode_t mode,
			    const char *host_path);

/* The same, decompressed if it is compressed: a kernel module. */
int cgwb_initramfs_add_module(struct cgwb_initramfs *initramfs, const char *path,
			      const char *host_path);

/* Adds a file with this content, which is copied. */
int cgwb_initramfs_add_data(struct cgwb_initramfs *initramfs, const char *path, mode_t mode,
			    const void *data, size_t size);

/* Writes the archive to a file. Returns 0 or a negative errno. */
int cgwb_initramfs_write(struct cgwb_initramfs *initramfs, const struct cgwb_context *context,
			 const char *file, struct cgwb_error *error);

/* The bytes of the host's files and the data that go into it, about. */
uint64_t cgwb_initramfs_bytes(const struct cgwb_initramfs *initramfs);

#endif
