/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control files of a cgroup (version 2) that a scenario can set, and their values.
 *
 * `memory.high = 32M`, `io.max = nb0 wbps=2M`: sizes are written with units and turned into the
 * bytes that the kernel takes, an io.latency target into microseconds; a disk is named by its name
 * in the scenario. Whatever else a file takes goes to it as it stands. Internal to libcgwb.
 */
#ifndef CGWB_CONTROL_H
#define CGWB_CONTROL_H

#include <stdbool.h>

#include "nearest.h"

/* Whether there is a control file of that name that can be written. */
bool control_known(const char *file);

void control_offer(struct cgwb_nearest *nearest);

/*
 * Whether the file's value begins with the name of a disk, and which: copied to `*ret_disk` (the
 * caller frees it), or NULL if the file takes no disk, or this value names none (`io.weight =
 * default 100`). 0 or -ENOMEM.
 */
int control_disk(const char *file, const char *value, char **ret_disk);

/*
 * The value as the kernel takes it, but for a disk's name, which the guest resolves. The caller
 * frees `*ret_value`.
 * -EINVAL, with the word that is wrong in `*ret_wrong` (the caller frees it); -ENOMEM.
 */
int control_value(const char *file, const char *value, char **ret_value, char **ret_wrong);

#endif
