/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cell's cgroups (v2), at /sys/fs/cgroup. */
#ifndef GUEST_CGROUP_H
#define GUEST_CGROUP_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "cell.h"
#include "error.h"

/* Makes all of them, enables the controllers that the settings need, writes the settings in order. */
int cgroups_make(const struct cell *cell, struct error *error);

/* Removes one that has no process. The kernel frees it when nothing is charged to it any more. */
int cgroup_remove(const char *path, struct error *error);

/* Puts a process into the cgroup at @path; NULL is the root. */
int cgroup_place(const char *path, pid_t pid, struct error *error);

/* The inode number by which the kernel's trace events name the cgroup at @path. */
int cgroup_ino(const char *path, uint64_t *ret_ino, struct error *error);

/* A counter of memory.events, by its name; the total of a pressure file, for "some" or "full". */
int cgroup_memory_event(const char *path, const char *event, uint64_t *ret, struct error *error);
int cgroup_pressure_us(const char *path, const char *resource, const char *share, uint64_t *ret,
		       struct error *error);

/* What the kernel says of one at the end: memory.events, memory.stat, io.stat, pressure, cpu. */
json_t *cgroup_details(const struct cell *cell, const char *path, struct error *error);

#endif
