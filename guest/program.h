/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of the initramfs: run to their end, with a fixed environment, their output kept for the
 * error message.
 */
#ifndef GUEST_PROGRAM_H
#define GUEST_PROGRAM_H

#include <stdint.h>

#include "error.h"

/* The whole environment of every program, so that nothing in it can differ between two runs. */
extern char *const program_environment[];

/* Runs argv; if it fails or its status is not 0, the error has its name and the last it said. */
int program_run(char *const argv[], struct error *error);

/* As above, whatever the status; the output (stdout and stderr, at most 4 KiB) is the caller's to free. */
int program_output(char *const argv[], char **ret_text, int *ret_status, struct error *error);

/* "exit status 3", "killed by signal 9 (Killed)"; text of @size bytes. */
void program_status_text(int status, char *text, unsigned int size);

#endif
