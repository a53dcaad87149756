/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other programs: apt, make, QEMU.
 *
 * Each runs in a process group of its own, so that a Ctrl-C at the terminal reaches only cgwb,
 * which then ends what it has started in good order; and the kernel ends it if cgwb dies by force.
 * It has no standard input.
 */
#ifndef CGWB_PROCESS_H
#define CGWB_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "libcgwb/context.h"

struct cgwb_process {
	pid_t pid; /* also its process group; 0: none */
	int pidfd; /* readable when it has ended */
};

#define CGWB_PROCESS_INIT                                                                          \
	{                                                                                          \
		.pid = 0, .pidfd = -1                                                              \
	}

/* What to run, and how; lists end with NULL. */
struct cgwb_command {
	const char *const *argv;
	const char *const *env; /* NAME=VALUE, put before what there is; NULL: nothing */
	const char *folder; /* to run it in; NULL: this one */
};

/*
 * Starts argv[0], a path. Output goes to the two descriptors, which stay the caller's; -1: to
 * nowhere. Returns 0, or a negative errno if it cannot be run.
 */
int cgwb_process_start(struct cgwb_process *process, const struct cgwb_command *command, int out_fd,
		       int err_fd);

/*
 * Waits for its end. Returns its exit status (0 to 255), or 256 + the number of the signal that
 * ended it, or a negative errno. The process is CGWB_PROCESS_INIT again.
 */
int cgwb_process_wait(struct cgwb_process *process);

/* The same, with the most memory that it ever had; 0 if that cannot be told. */
int cgwb_process_wait_peak(struct cgwb_process *process, uint64_t *ret_peak_bytes);

/* Ends it and its children at once, and waits. Nothing if there is none. */
void cgwb_process_kill(struct cgwb_process *process);

/* What a finished command said; 0-terminated. Undo with cgwb_output_done(). */
struct cgwb_output {
	char *out;
	char *err;
};

void cgwb_output_done(struct cgwb_output *output);

/*
 * The last line of `err`, else of `out`, that is not empty: what a failed command mostly says.
 * Borrowed, never NULL.
 */
const char *cgwb_output_last_line(struct cgwb_output *output);

/*
 * Runs a command to its end and keeps what it says; `output` may be NULL. argv[0] is looked up as
 * cgwb_find_program() does. Returns its exit status as cgwb_process_wait() does; -EINTR if the user
 * wants to stop; -ENOENT if there is no such program. `error` is set for a negative result only,
 * since a nonzero status may be an answer.
 */
int cgwb_command_run(const struct cgwb_context *context, const struct cgwb_command *command,
		     struct cgwb_output *output, struct cgwb_error *error);

#endif
