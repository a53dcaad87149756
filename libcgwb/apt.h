/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distribution's package archive, asked through its own tools by an ordinary user, changing
 * nothing on the system.
 *
 * There are two sets of package lists: the system's, as they are, and cgwb's own in the cache,
 * which can be brought up to date. Which archives there are, their keys, and proxies, always come
 * from the system's configuration. apt checks signatures, sizes and hashes of what it fetches.
 *
 * Functions return 0 or a negative errno: -ENOPKG where there is no apt, -EHOSTUNREACH where the
 * archive cannot be reached, -EINTR if the user wants to stop.
 */
#ifndef CGWB_APT_H
#define CGWB_APT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcgwb/context.h"

struct cgwb_apt {
	const struct cgwb_context *context;
	char *config; /* a file of apt settings; NULL: the system's lists */
};

/* Prepares one of the two sets of lists for use. Undo with cgwb_apt_done(). */
int cgwb_apt_init(struct cgwb_apt *apt, const struct cgwb_context *context, bool own_lists,
		  struct cgwb_error *error);
void cgwb_apt_done(struct cgwb_apt *apt);

/* Fetches the own lists anew. The error says what apt said. */
int cgwb_apt_update(struct cgwb_apt *apt, struct cgwb_error *error);

/* Whether that was done within the last hours: the archive changes a few times a day. */
bool cgwb_apt_updated_lately(const struct cgwb_apt *apt);

struct cgwb_apt_package {
	char *name;
	char *version;
	char *depends; /* may be NULL */
	char *sha256;
	char *file; /* how the file is called that is fetched */
	uint64_t size_bytes; /* to fetch */
	uint64_t installed_bytes; /* unpacked, about */
};

void cgwb_apt_package_done(struct cgwb_apt_package *package);

/*
 * One package; the candidate if `version` is NULL. -ENOENT, with no error set: not in these lists.
 */
int cgwb_apt_show(struct cgwb_apt *apt, const char *name, const char *version,
		  struct cgwb_apt_package *ret_package, struct cgwb_error *error);

/*
 * Of the packages whose name matches the extended regular expression, the one with the highest
 * name, numbers counting as numbers; with `version`, only those that there are in this version.
 * -ENOENT, with no error set: none.
 */
int cgwb_apt_newest(struct cgwb_apt *apt, const char *pattern, const char *version,
		    struct cgwb_apt_package *ret_package, struct cgwb_error *error);

/* Fetches a package into a folder, as `file`, and checks its size and hash once more. */
int cgwb_apt_download(struct cgwb_apt *apt, const struct cgwb_apt_package *package,
		      const char *folder, struct cgwb_error *error);

#endif
