/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cells of a run have in common: QEMU, the kernel, modules built for it, the guest's PID
 * 1, programs.
 *
 * Each part is found, built and hashed once, when the first cell asks for it.
 */
#ifndef CGWB_KIT_H
#define CGWB_KIT_H

#include <stddef.h>

#include "libcgwb/binary.h"
#include "libcgwb/context.h"
#include "libcgwb/digest.h"
#include "libcgwb/kernel.h"
#include "libcgwb/module.h"
#include "libcgwb/qemu.h"

struct cgwb_kit_digest {
	char *path;
	char digest[CGWB_DIGEST_SIZE];
};

struct cgwb_kit {
	const struct cgwb_context *context;
	struct cgwb_qemu qemu;
	struct cgwb_kernel kernel;
	struct cgwb_module_index *index;

	/* The rest is for the functions below. */
	char *disk_module;
	char *policy_module;
	struct cgwb_binary **binaries;
	size_t n_binaries;
	struct cgwb_kit_digest *digests;
	size_t n_digests;
};

/* Finds QEMU and the guest's PID 1, gets the kernel. Undo with cgwb_kit_done(). */
int cgwb_kit_init(struct cgwb_kit *kit, const struct cgwb_context *context,
		  const struct cgwb_kernel_request *request, struct cgwb_error *error);
void cgwb_kit_done(struct cgwb_kit *kit);

/*
 * The file of one of cgwb's own modules, `cgwb_disk` or `cgwb`: from the kernel's own folder of
 * modules if it is there, which for a bzImage it may be, else built. Borrowed.
 */
int cgwb_kit_module(struct cgwb_kit *kit, const char *name, const char **ret_path,
		    struct cgwb_error *error);

/* As cgwb_binary_find(), borrowed. */
int cgwb_kit_binary(struct cgwb_kit *kit, const char *program, const char *guest_path,
		    const char *version_option, const struct cgwb_binary **ret_binary,
		    struct cgwb_error *error);

/* The digest of a file of the host's. */
int cgwb_kit_digest(struct cgwb_kit *kit, const char *path, char digest[CGWB_DIGEST_SIZE],
		    struct cgwb_error *error);

#endif
