/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel modules that a guest loads: which files, in which order.
 *
 * A module's needs are read from the module itself (its `depends` and `softdep` lines), so that any
 * folder of modules will do, with or without depmod's indexes. A module that is built in is not
 * needed. One that was built for another kernel is refused here rather than by a guest.
 */
#ifndef CGWB_MODULE_H
#define CGWB_MODULE_H

#include <stddef.h>

#include "libcgwb/context.h"
#include "libcgwb/kernel.h"

struct cgwb_module {
	char *name; /* with '_' for '-' */
	char *path; /* on the host; maybe compressed */
};

/* In an order in which they can be loaded; each once. */
struct cgwb_modules {
	struct cgwb_module *modules;
	size_t n;
};

void cgwb_modules_done(struct cgwb_modules *modules);

/* Where a kernel's modules are. */
struct cgwb_module_index;

/* A kernel without a folder of modules has an empty index. `kernel` is borrowed. */
int cgwb_module_index_new(const struct cgwb_kernel *kernel, struct cgwb_module_index **ret_index,
			  struct cgwb_error *error);

/* NULL-safe, returns NULL. */
struct cgwb_module_index *cgwb_module_index_free(struct cgwb_module_index *index);

/* The file of a module, borrowed. NULL: it is built in, or not there. */
const char *cgwb_module_index_find(const struct cgwb_module_index *index, const char *name);

/*
 * Whether the kernel lists it as built in, or has no modules at all, so that it must have
 * everything built in.
 */
bool cgwb_module_index_built_in(const struct cgwb_module_index *index, const char *name);

/*
 * Adds a module of the kernel's, after all that it needs. Returns 0, also if it is built in;
 * -ENOENT if the kernel has no such module; -ENOEXEC if it is one of another kernel.
 */
int cgwb_modules_add(struct cgwb_modules *modules, struct cgwb_module_index *index,
		     const char *name, struct cgwb_error *error);

/* Adds a file, after what it needs from the kernel's modules. */
int cgwb_modules_add_file(struct cgwb_modules *modules, struct cgwb_module_index *index,
			  const char *path, struct cgwb_error *error);

#endif
