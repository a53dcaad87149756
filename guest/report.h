/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest says, and how it ends: frames on the second serial port, then out of QEMU.
 *
 * Frames may come from two threads (PID 1 and the limit's); a result is the last frame, and there is
 * one: whoever is second finds nothing to do, because the first has left.
 */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "error.h"

/* "boot", "prepare", ...; the limit's thread names it. */
void report_phase(const char *phase);
const char *report_phase_now(void);

/* Opens the port. Until then, and if it cannot be opened, what is said is lost; errors also go to stderr. */
int report_open(struct error *error);

/* @jobs_left < 0: not running any. */
void report_progress(int jobs_left);

/* Sends the result and leaves. */
void report_result(json_t *result) __attribute__((noreturn));

#endif
