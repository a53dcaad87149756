/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debian packages, unpacked into a folder and installed nowhere.
 *
 * No script of the package is run, and documentation (usr/share) is left out. Whether the package
 * is the right one is the caller's business; nothing in it can be written outside the folder by a
 * `..`.
 */
#ifndef CGWB_DEB_H
#define CGWB_DEB_H

#include <stddef.h>

#include "libcgwb/context.h"

/*
 * Returns 0 or a negative errno: -EINTR if the user wants to stop, -ENOSPC, -EBADMSG for a damaged
 * file.
 */
int cgwb_deb_unpack(const struct cgwb_context *context, const char *deb, const char *folder,
		    struct cgwb_error *error);

/*
 * A file's content, decompressed if it is compressed (xz, zstd, gzip): kernel modules, mostly. The
 * caller frees it. Returns 0 or a negative errno.
 */
int cgwb_decompress_file(const char *path, char **ret_data, size_t *ret_size);

#endif
