/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's command line for a guest.
 *
 * In virtual time the guest's clock advances by 2 ns an instruction and skips idle time, so nothing
 * of the host's speed or load reaches it; there is one processor, and no device whose timing is the
 * host's. The host's memory is taken as the guest touches it: a guest with more RAM than the host
 * has free can start.
 */
#ifndef CGWB_QEMU_H
#define CGWB_QEMU_H

#include <jansson.h>

#include "libcgwb/context.h"

struct cgwb_qemu {
	char *path;
	char *version; /* "7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)" */
};

/* Looks for qemu-system-x86_64. -ENOPKG: not there. Undo with cgwb_qemu_done(). */
int cgwb_qemu_find(const struct cgwb_context *context, struct cgwb_qemu *ret_qemu,
		   struct cgwb_error *error);
void cgwb_qemu_done(struct cgwb_qemu *qemu);

/* Files on the host, by their paths. */
struct cgwb_qemu_files {
	const char *kernel;
	const char *initrd;
	const char *console; /* written: what the kernel prints */
	const char *result; /* written: the second serial port */
};

/*
 * The command line for a cell's `machine` (docs/cell.md). `*ret_argv` ends with NULL; the caller
 * frees it with cgwb_qemu_argv_free(). -EINVAL: not such an object.
 */
int cgwb_qemu_argv(const struct cgwb_qemu *qemu, const json_t *machine,
		   const struct cgwb_qemu_files *files, char ***ret_argv, struct cgwb_error *error);

/* NULL-safe, returns NULL. */
char **cgwb_qemu_argv_free(char **argv);

/* The command line as a shell takes it; the caller frees it. NULL: out of memory. */
char *cgwb_qemu_argv_text(char *const argv[]);

#endif
