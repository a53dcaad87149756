/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running guest: QEMU, what has come from it so far, and what became of it.
 *
 * Everything temporary is in one folder of the caller's; the console goes where the caller says,
 * and stays.
 */
#ifndef CGWB_VM_H
#define CGWB_VM_H

#include <jansson.h>
#include <stdint.h>

#include "libcgwb/boot.h"
#include "libcgwb/frame.h"
#include "libcgwb/process.h"

struct cgwb_vm {
	struct cgwb_process process; /* pidfd is readable when the guest has ended */

	/* From its last progress frame. */
	char phase[16];
	double virtual_s;
	int jobs_left; /* -1: it has not said */

	json_t *result; /* the result frame; NULL: none yet */
	uint64_t peak_memory_bytes; /* once it has ended */

	/* The rest is for the functions below. */
	struct cgwb_frame_parser *parser;
	char *initrd;
	char *serial;
	char *messages;
	int serial_fd;
	int messages_fd;
};

/*
 * Writes the initramfs into `folder` and starts QEMU. On failure nothing is left. Undo with
 * cgwb_vm_done().
 */
int cgwb_vm_start(struct cgwb_vm *vm, const struct cgwb_context *context, struct cgwb_boot *boot,
		  const char *folder, const char *console, struct cgwb_error *error);

/* Takes in what the guest has sent since the last time. Returns 0 or -ENOMEM. */
int cgwb_vm_read(struct cgwb_vm *vm);

/*
 * After QEMU has ended, or been ended: reaps it. Returns 0 if there is a result, else a negative
 * errno with why there is none, as far as QEMU and the console say: a panic (-EFAULT), a signal, a
 * message.
 */
int cgwb_vm_finish(struct cgwb_vm *vm, const char *console, struct cgwb_error *error);

/* Ends QEMU if it runs, removes the temporary files. */
void cgwb_vm_done(struct cgwb_vm *vm);

#endif
