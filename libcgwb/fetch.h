/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetching a kernel from the distribution's archive into the cache. Internal to libcgwb; see
 * kernel.h.
 */
#ifndef CGWB_FETCH_H
#define CGWB_FETCH_H

#include "libcgwb/context.h"

/*
 * Which kernel: this release, or, if that is NULL, the newest of those whose package name matches
 * the pattern.
 */
struct fetch_request {
	const char *release;
	const char *pattern;
	const char *version; /* the package's; NULL: the archive's candidate */
};

/*
 * Fetches and unpacks it into CACHE/kernels/RELEASE, or finds that it is there. `*ret_release` is
 * which it was in the end; the caller frees it. The file kernel.json in that folder says what it
 * came from.
 *
 * -ENOENT: the archive has no such kernel. -EHOSTUNREACH: the archive cannot be reached.
 */
int fetch_kernel(const struct cgwb_context *context, const struct fetch_request *request,
		 char **ret_release, struct cgwb_error *error);

#endif
