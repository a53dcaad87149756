/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a kernel worker runs, from the address that workqueue events give. */
#ifndef GUEST_WORKER_H
#define GUEST_WORKER_H

#include <stdint.h>

#include "error.h"
#include "writes.h"

struct workers {
	uint64_t flusher, throttle; /* addresses; 0: this kernel has none */
	uint64_t policy_first, policy_end; /* the policy module's, [first, end) */
};

/* Reads /proc/kallsyms and /proc/modules. */
int workers_read(struct workers *workers, struct error *error);

enum work workers_work(const struct workers *workers, uint64_t function);

/* A trace filter that lets through what workers_work() knows. */
void workers_filter(const struct workers *workers, char *text, unsigned int size);

#endif
