/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels that guests boot.
 *
 * A kernel is asked for by
 *   - a short name from data/kernels.ini (`6.1`), which stands for one version; gone from the
 *     archive: the newest of its series, with a notice;
 *   - a release (`6.1.0-55-cloud-amd64`) or a package version (`6.1.192-1`): that one or none;
 *   - the path of a bzImage, with the folders of its modules and of its headers if there are any.
 *     No archive is asked.
 *
 * What comes from the archive is unpacked into CACHE/kernels/RELEASE, installed nowhere, and
 * complete once it has that name: boot/vmlinuz-*, lib/modules, and usr/src and usr/lib with what
 * builds modules, changed so that it works from there. Processes that want the same kernel at the
 * same time wait for each other.
 */
#ifndef CGWB_KERNEL_H
#define CGWB_KERNEL_H

#include <jansson.h>

#include "libcgwb/context.h"

struct cgwb_kernel {
	char *name; /* as it was asked for; for a bzImage its release */
	char *release; /* uname -r */
	char *version; /* of the package; NULL: a bzImage */
	char *image; /* the bzImage */
	char *modules_dir; /* its modules, somewhere below; NULL: none */
	char *headers_dir; /* to build modules with; NULL: none */
};

struct cgwb_kernel_request {
	const char *name; /* as above */
	const char *modules_dir; /* for a bzImage; may be NULL */
	const char *headers_dir; /* for a bzImage; NULL: modules_dir/build, if it is there */
};

/*
 * Finds the kernel, fetching it if need be. Undo with cgwb_kernel_done(). Returns 0 or a negative
 * errno.
 */
int cgwb_kernel_get(const struct cgwb_context *context, const struct cgwb_kernel_request *request,
		    struct cgwb_kernel *ret_kernel, struct cgwb_error *error);
void cgwb_kernel_done(struct cgwb_kernel *kernel);

/*
 * Whether `name` could be a kernel, without asking any archive: -EINVAL, with the nearest short
 * name in the error, if it is none of the above.
 */
int cgwb_kernel_check_name(const struct cgwb_context *context, const char *name,
			   struct cgwb_error *error);

/* The release in a bzImage's header; the caller frees it. -ENOEXEC: not a bzImage. */
int cgwb_kernel_image_release(const char *path, char **ret_release, struct cgwb_error *error);

/*
 * Short names and what is in the cache: an array of objects with `release`, and, where there is
 * such a thing, `name`, `version`, `image`, `modules`, `headers`; `cached` is true or false. The
 * caller owns the reference.
 */
int cgwb_kernel_list(const struct cgwb_context *context, json_t **ret_list,
		     struct cgwb_error *error);

/*
 * Removes from the cache, with the modules built for it, every kernel that has no short name, or,
 * with `all`, every one; the archive's lists too. `*ret_removed` is an array of the releases
 * removed.
 */
int cgwb_kernel_prune(const struct cgwb_context *context, bool all, json_t **ret_removed,
		      struct cgwb_error *error);

#endif
