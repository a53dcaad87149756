/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mkfs line of a mount: the scenario's options with the UUID, and on ext2/3/4 the directory
 * hash seed, that the cell's seed decides. Internal to libcgwb.
 */
#ifndef CGWB_MKFS_H
#define CGWB_MKFS_H

#include <jansson.h>

#include "seed.h"

/*
 * The argument vector, without the device, which the guest appends. `type` is a type of filesystem
 * that the schema knows; `options` are the scenario's, between blanks, or NULL. mke2fs honours only
 * the last -E, so all of them are merged into one. -EINVAL: the options set what the seed decides,
 * with that option in `*ret_wrong` (borrowed); -ENOMEM.
 */
int mkfs_argv(const char *type, const char *options, struct cgwb_seed seed, json_t **ret_argv,
	      const char **ret_wrong);

#endif
