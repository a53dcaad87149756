/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgwb's own kernel modules, built for a kernel.
 *
 * The sources are those beside the program (kernel/policy makes cgwb.ko, kernel/disk cgwb_disk.ko).
 * They are copied and built below CACHE/modules/RELEASE, once for each state of the sources and of
 * the kernel's configuration and symbols. The same sources, kernel and compiler make the same
 * bytes, wherever the cache is: a result names the modules' digests.
 */
#ifndef CGWB_BUILD_H
#define CGWB_BUILD_H

#include "libcgwb/context.h"
#include "libcgwb/kernel.h"

/*
 * Builds a module, or finds it built. `folder` is its sources' (`policy`), `module` its name
 * (`cgwb`). The path of the .ko is the caller's to free.
 *
 * -ENOPKG: a program is missing that this takes; -ENOENT: the kernel has no headers; -EBADMSG: it
 * does not compile, and the error has the compiler's first error and the path of all that was said.
 */
int cgwb_build_module(const struct cgwb_context *context, const struct cgwb_kernel *kernel,
		      const char *folder, const char *module, char **ret_path,
		      struct cgwb_error *error);

#endif
