// SPDX-License-Identifier: GPL-2.0-or-later
#include "fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/apt.h"
#include "libcgwb/deb.h"
#include "libcgwb/files.h"
#include "libcgwb/host.h"

#define IMAGE "linux-image-"
#define HEADERS "linux-headers-"

/*
 * An image, its headers, the headers' common part, and the kernel's build programs; a few more do
 * no harm.
 */
#define PACKAGES_MAX 8

struct fetch {
	const struct cgwb_context *context;
	struct cgwb_apt apt;
	struct cgwb_apt_package packages[PACKAGES_MAX]; /* the first is the image */
	size_t n;
};

static void fetch_done(struct fetch *fetch)
{
	while (fetch->n)
		cgwb_apt_package_done(&fetch->packages[--fetch->n]);
	cgwb_apt_done(&fetch->apt);
}

static int find_image(struct fetch *fetch, const struct fetch_request *request,
		      struct cgwb_error *error)
{
	char *name;
	int ret;

	if (!request->release) {
		ret = cgwb_apt_newest(&fetch->apt, request->pattern, request->version,
				      &fetch->packages[0], error);
	} else {
		if (asprintf(&name, IMAGE "%s", request->release) < 0)
			return -ENOMEM;
		ret = cgwb_apt_show(&fetch->apt, name, request->version, &fetch->packages[0],
				    error);
		free(name);
	}
	fetch->n = ret == 0;
	return ret;
}

/* One of the headers' dependencies, `NAME (REL VERSION)`: is it needed, and in which version? */
static int find_dependency(struct fetch *fetch, char *dependency, struct cgwb_error *error)
{
	char *name = dependency + strspn(dependency, " ");
	struct cgwb_apt_package *package = &fetch->packages[fetch->n];
	int ret;

	name[strcspn(name, " (:|")] = '\0';
	if (strncmp(name, HEADERS, strlen(HEADERS)) && strncmp(name, "linux-kbuild-", 13))
		return 0;
	if (fetch->n == PACKAGES_MAX)
		return -E2BIG;

	/* All are built from one source: the image's version is the right one where there is it. */
	ret = cgwb_apt_show(&fetch->apt, name, fetch->packages[0].version, package, error);
	if (ret == -ENOENT)
		ret = cgwb_apt_show(&fetch->apt, name, NULL, package, error);
	if (ret == -ENOENT)
		return cgwb_error_set(error, ret, "the archive does not have %s, which %s needs",
				      name, fetch->packages[1].name);
	fetch->n += ret == 0;
	return ret;
}

static int find_headers(struct fetch *fetch, struct cgwb_error *error)
{
	const struct cgwb_apt_package *image = &fetch->packages[0];
	char *name, *depends, *at, *next;
	int ret;

	if (asprintf(&name, HEADERS "%s", image->name + strlen(IMAGE)) < 0)
		return -ENOMEM;
	ret = cgwb_apt_show(&fetch->apt, name, image->version, &fetch->packages[1], error);
	if (ret == -ENOENT)
		cgwb_error_set(error, ret, "the archive has %s %s but not its headers, %s",
			       image->name, image->version, name);
	free(name);
	if (ret < 0)
		return ret;

	fetch->n = 2;
	depends = strdup(fetch->packages[1].depends ? fetch->packages[1].depends : "");
	if (!depends)
		return -ENOMEM;
	for (at = depends; at && ret == 0; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		ret = find_dependency(fetch, at, error);
	}
	free(depends);
	return ret;
}

static int check_space(struct fetch *fetch, struct cgwb_error *error)
{
	uint64_t needed = 0, there;
	size_t i;

	for (i = 0; i < fetch->n; i++)
		needed += fetch->packages[i].size_bytes + fetch->packages[i].installed_bytes;
	if (cgwb_host_disk_free(fetch->context->cache_dir, &there) == 0 && there < needed)
		return cgwb_error_set(
			error, -ENOSPC,
			"%s has %" PRIu64 " MB left and the kernel needs %" PRIu64
			" MB: make room, or set XDG_CACHE_HOME to a folder on a disk that has it",
			fetch->context->cache_dir, there / 1000000, needed / 1000000);
	return 0;
}

/*
 * The headers include their common part by its absolute path; say it relative to the including
 * file, so that the cache can be anywhere. (make looks for a relative name in the current folder,
 * not where the makefile is.)
 */
static int rewrite_makefile(const char *folder, const char *release, struct cgwb_error *error)
{
	static const char here[] = "$(dir $(lastword $(MAKEFILE_LIST)))../";
	char *path, *text = NULL, *at, *changed = NULL;
	int ret;

	if (asprintf(&path, "%s/usr/src/" HEADERS "%s/Makefile", folder, release) < 0)
		return -ENOMEM;

	ret = cgwb_read_file(path, &text, NULL);
	if (ret == 0) {
		at = strstr(text, "/usr/src/");
		if (at && asprintf(&changed, "%.*s%s%s", (int)(at - text), text, here,
				   at + strlen("/usr/src/")) < 0) {
			changed = NULL;
			ret = -ENOMEM;
		}
	}
	if (changed)
		ret = cgwb_write_file(path, changed, strlen(changed));
	if (ret < 0)
		cgwb_error_set(error, ret, "%s: %s", path, strerror(-ret));
	free(changed);
	free(text);
	free(path);
	return ret;
}

static int write_manifest(struct fetch *fetch, const char *folder, const char *release)
{
	json_t *packages = json_array(), *manifest = NULL;
	char *text = NULL, *path = NULL;
	size_t i;
	int ret = -ENOMEM;

	for (i = 0; i < fetch->n; i++)
		json_array_append_new(packages,
				      json_pack("{s:s, s:s, s:s}", "name", fetch->packages[i].name,
						"version", fetch->packages[i].version, "sha256",
						fetch->packages[i].sha256));
	manifest = json_pack("{s:s, s:s, s:O}", "release", release, "version",
			     fetch->packages[0].version, "packages", packages);
	text = manifest ? json_dumps(manifest, JSON_INDENT(2)) : NULL;
	if (text && asprintf(&path, "%s/kernel.json", folder) < 0)
		path = NULL;
	if (path)
		ret = cgwb_write_file(path, text, strlen(text));
	free(path);
	free(text);
	json_decref(manifest);
	json_decref(packages);
	return ret;
}

/* Everything into `folder`, which is new and not yet the kernel's. */
static int fetch_into(struct fetch *fetch, const char *folder, const char *release,
		      struct cgwb_error *error)
{
	char *debs;
	size_t i;
	int ret;

	if (asprintf(&debs, "%s/debs", folder) < 0)
		return -ENOMEM;
	ret = cgwb_mkdir_p(debs);

	for (i = 0; i < fetch->n && ret == 0; i++)
		ret = cgwb_apt_download(&fetch->apt, &fetch->packages[i], debs, error);

	if (ret == 0)
		cgwb_context_step(fetch->context, "unpacking kernel %s", release);
	for (i = 0; i < fetch->n && ret == 0; i++) {
		char *deb;

		if (asprintf(&deb, "%s/%s", debs, fetch->packages[i].file) < 0) {
			ret = -ENOMEM;
			break;
		}
		ret = cgwb_deb_unpack(fetch->context, deb, folder, error);
		free(deb);
	}
	if (ret == 0)
		ret = cgwb_remove(debs);
	if (ret == 0)
		ret = rewrite_makefile(folder, release, error);
	if (ret == 0)
		ret = write_manifest(fetch, folder, release);
	if (ret < 0)
		cgwb_error_set(error, ret, "cannot put the kernel into %s: %s", folder,
			       strerror(-ret));
	free(debs);
	return ret;
}

/* The kernel that has been found: under its lock, from the temporary folder to its own. */
static int fetch_found(struct fetch *fetch, struct cgwb_error *error)
{
	const char *release = fetch->packages[0].name + strlen(IMAGE);
	char *folder, *lock = NULL, *temporary = NULL;
	int ret, lock_fd = -1;

	if (asprintf(&folder, "%s/kernels/%s", fetch->context->cache_dir, release) < 0)
		return -ENOMEM;
	ret = asprintf(&lock, "%s.lock", folder) < 0 ? -ENOMEM : 0;
	if (ret == 0)
		ret = lock_fd = cgwb_context_lock(fetch->context, lock);
	if (ret < 0) {
		cgwb_error_set(error, ret, ret == -EINTR ? "stopped" : "cannot lock %s: %s", folder,
			       strerror(-ret));
		goto out;
	}

	ret = 0;
	if (access(folder, F_OK) == 0)
		goto out; /* another process has been here meanwhile */
	cgwb_remove_stale(folder);

	ret = find_headers(fetch, error);
	if (ret == 0)
		ret = check_space(fetch, error);
	if (ret == 0)
		ret = cgwb_mkdir_temporary(folder, &temporary);
	if (ret == 0)
		ret = fetch_into(fetch, temporary, release, error);
	if (ret == 0 && chmod(temporary, 0755) < 0)
		ret = -errno;
	if (ret == 0 && rename(temporary, folder) < 0)
		ret = -errno;
	if (ret < 0) {
		cgwb_remove(temporary);
		cgwb_error_set(error, ret, "cannot put the kernel into %s: %s", folder,
			       strerror(-ret));
	}
out:
	if (lock_fd >= 0)
		close(lock_fd);
	free(temporary);
	free(lock);
	free(folder);
	return ret;
}

/*
 * Where to look, in this order: each is tried only if the one before does not have the kernel or
 * cannot fetch it.
 */
enum lists {
	LISTS_SYSTEM,
	LISTS_OWN,
	LISTS_OWN_UPDATED,
	LISTS_END
};

static int fetch_from(const struct cgwb_context *context, const struct fetch_request *request,
		      enum lists lists, char **ret_release, struct cgwb_error *error)
{
	struct cgwb_error stale = CGWB_ERROR_INIT;
	struct fetch fetch = { .context = context };
	int ret, updated = 0;

	ret = cgwb_apt_init(&fetch.apt, context, lists != LISTS_SYSTEM, error);
	if (ret == 0 && lists == LISTS_OWN_UPDATED && !cgwb_apt_updated_lately(&fetch.apt))
		updated = cgwb_apt_update(&fetch.apt, &stale);
	if (ret == 0)
		ret = updated == -EINTR ? updated : find_image(&fetch, request, error);
	/* One archive of several that cannot be reached matters only if it may have the kernel. */
	if (ret == -ENOENT && updated < 0)
		ret = cgwb_error_set(error, updated, "%s", stale.text ?: strerror(-updated));
	cgwb_error_done(&stale);
	if (ret == 0)
		ret = fetch_found(&fetch, error);
	if (ret == 0) {
		*ret_release = strdup(fetch.packages[0].name + strlen(IMAGE));
		ret = *ret_release ? 0 : -ENOMEM;
	}
	fetch_done(&fetch);
	return ret;
}

int fetch_kernel(const struct cgwb_context *context, const struct fetch_request *request,
		 char **ret_release, struct cgwb_error *error)
{
	enum lists lists;
	char *kernels;
	int ret;

	if (asprintf(&kernels, "%s/kernels", context->cache_dir) < 0)
		return -ENOMEM;
	ret = cgwb_mkdir_p(kernels);
	free(kernels);
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot make %s/kernels: %s", context->cache_dir,
				      strerror(-ret));

	for (lists = LISTS_SYSTEM; lists < LISTS_END; lists++) {
		/*
		 * Lists that are out of date are no reason to give up while newer ones may be had.
		 */
		cgwb_error_done(error);
		ret = fetch_from(context, request, lists, ret_release, error);
		if (ret != -ENOENT && ret != -EHOSTUNREACH && ret != -EBADMSG)
			break;
	}
	return ret;
}
