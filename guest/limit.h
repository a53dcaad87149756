/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of virtual time. A thread of its own waits for it, so that it also ends a guest whose
 * PID 1 is stuck in the kernel behind a disk that does not answer.
 */
#ifndef GUEST_LIMIT_H
#define GUEST_LIMIT_H

#include <stdint.h>

#include "error.h"

/* From now on the guest ends with a failed result when CLOCK_MONOTONIC reaches @limit_ns; 0: never. */
int limit_begin(uint64_t limit_ns, struct error *error);

#endif
