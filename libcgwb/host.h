/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that the lab runs on: what it has, for plans made before the first boot and for the
 * record of a run. Nothing of this may enter a result.
 */
#ifndef CGWB_HOST_H
#define CGWB_HOST_H

#include <jansson.h>
#include <stdint.h>

struct cgwb_host {
	unsigned int cpus; /* that this process may use */
	uint64_t memory_available_bytes; /* without swapping; within the process's own cgroup */
	char cpu_model[96];
	char kernel_release[66];
};

/* Fills in what can be found out; what cannot is 0 or empty, except `cpus`, which is at least 1. */
void cgwb_host_read(struct cgwb_host *host);

/*
 * What an ordinary user may still write to the filesystem of `path`. Returns 0 or a negative errno.
 */
int cgwb_host_disk_free(const char *path, uint64_t *ret_bytes);

/* As run.json has it. NULL: out of memory. The caller owns the reference. */
json_t *cgwb_host_json(const struct cgwb_host *host);

#endif
