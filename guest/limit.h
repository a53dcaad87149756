/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of virtual time. A thread of its own waits for it, so that it also ends a guest whose
 * PID 1 is stuck in the kernel behind a disk that does not answer.
 */
#ifndef GUEST_LIMIT_H
#define GUEST_LIMIT_H

#include "cell.h"
#include "error.h"

/*
 * From now on the guest ends with a failed result when CLOCK_MONOTONIC reaches the cell's limit (0:
 * never). The result has what the jobs have printed. The cell stays as it is until the end.
 */
int limit_begin(const struct cell *cell, struct error *error);

#endif
