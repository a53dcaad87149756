// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/fetch.h"
#include "libcgwb/files.h"
#include "libcgwb/nearest.h"
#include "libcgwb/pins.h"

void cgwb_kernel_done(struct cgwb_kernel *kernel)
{
	free(kernel->name);
	free(kernel->release);
	free(kernel->version);
	free(kernel->image);
	free(kernel->modules_dir);
	free(kernel->headers_dir);
	*kernel = (struct cgwb_kernel){ 0 };
}

/* The x86 boot protocol: `HdrS` at 0x202, and at 0x20e where, less 0x200, the version's text is. */
#define IMAGE_MAGIC_AT 0x202
#define IMAGE_VERSION_AT 0x20e
#define IMAGE_VERSION_BASE 0x200

int cgwb_kernel_image_release(const char *path, char **ret_release, struct cgwb_error *error)
{
	unsigned char head[64 * 1024];
	size_t at;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cgwb_error_set(error, -errno, "cannot read the kernel image %s: %s", path,
				      strerror(errno));
	got = pread(fd, head, sizeof(head) - 1, 0);
	close(fd);

	if (got > IMAGE_VERSION_AT + 2 && !memcmp(head + IMAGE_MAGIC_AT, "HdrS", 4)) {
		at = IMAGE_VERSION_BASE + head[IMAGE_VERSION_AT] +
		     ((size_t)head[IMAGE_VERSION_AT + 1] << 8);
		head[got] = '\0';
		if (at < (size_t)got && isdigit(head[at])) {
			*ret_release = strndup((char *)head + at, strcspn((char *)head + at, " "));
			return *ret_release ? 0 : -ENOMEM;
		}
	}
	return cgwb_error_set(error, -ENOEXEC, "%s is no Linux kernel image (bzImage)", path);
}

/* PATH/SUFFIX if there is such a thing, else NULL in `*ret`. */
static int path_if(char **ret, const char *path, const char *suffix)
{
	char *joined;

	*ret = NULL;
	if (asprintf(&joined, "%s/%s", path, suffix) < 0)
		return -ENOMEM;
	if (access(joined, F_OK) == 0) {
		*ret = realpath(joined, NULL);
		free(joined);
		return *ret ? 0 : -errno;
	}
	free(joined);
	return 0;
}

/* A folder that the user named: it must be there. */
static int path_given(char **ret, const char *path, const char *what, struct cgwb_error *error)
{
	*ret = realpath(path, NULL);
	if (!*ret)
		return cgwb_error_set(error, -errno, "the kernel's %s, %s: %s", what, path,
				      strerror(errno));
	return 0;
}

/*
 * `modules_dir` may be a root folder, lib/modules/RELEASE within one, or just a folder of modules.
 */
static int own_modules(struct cgwb_kernel *kernel, const struct cgwb_kernel_request *request,
		       struct cgwb_error *error)
{
	char *suffix, *inner;
	int ret;

	if (!request->modules_dir)
		return 0;
	ret = path_given(&kernel->modules_dir, request->modules_dir, "modules", error);
	if (ret < 0)
		return ret;

	if (asprintf(&suffix, "lib/modules/%s", kernel->release) < 0)
		return -ENOMEM;
	ret = path_if(&inner, kernel->modules_dir, suffix);
	free(suffix);
	if (ret == 0 && inner) {
		free(kernel->modules_dir);
		kernel->modules_dir = inner;
	}
	return ret;
}

static int own_kernel(const struct cgwb_kernel_request *request, struct cgwb_kernel *kernel,
		      struct cgwb_error *error)
{
	char *makefile = NULL;
	int ret;

	ret = cgwb_kernel_image_release(request->name, &kernel->release, error);
	if (ret < 0)
		return ret;
	kernel->name = strdup(kernel->release);
	kernel->image = realpath(request->name, NULL);
	if (!kernel->name || !kernel->image)
		return -ENOMEM;

	ret = own_modules(kernel, request, error);
	if (ret == 0 && request->headers_dir)
		ret = path_given(&kernel->headers_dir, request->headers_dir, "headers", error);
	else if (ret == 0 && kernel->modules_dir)
		ret = path_if(&kernel->headers_dir, kernel->modules_dir, "build");
	if (ret < 0 || !kernel->headers_dir)
		return ret;

	ret = path_if(&makefile, kernel->headers_dir, "Makefile");
	if (ret == 0 && !makefile)
		ret = cgwb_error_set(error, -ENOENT,
				     "%s has no Makefile: modules cannot be built with it",
				     kernel->headers_dir);
	free(makefile);
	return ret;
}

/* Fills in what a kernel in the cache has. -ENOENT: it is not there. */
static int cached_kernel(const struct cgwb_context *context, const char *name, const char *release,
			 struct cgwb_kernel *kernel)
{
	char *folder, *path = NULL;
	json_t *manifest = NULL;
	int ret = -ENOMEM;

	*kernel = (struct cgwb_kernel){ 0 };
	if (asprintf(&folder, "%s/kernels/%s", context->cache_dir, release) < 0)
		return -ENOMEM;
	if (asprintf(&path, "%s/kernel.json", folder) < 0) {
		path = NULL;
		goto out;
	}
	ret = -ENOENT;
	manifest = json_load_file(path, 0, NULL);
	if (!manifest)
		goto out;

	ret = -ENOMEM;
	kernel->name = strdup(name);
	kernel->release = strdup(release);
	kernel->version = strdup(json_string_value(json_object_get(manifest, "version")) ?: "");
	if (!kernel->name || !kernel->release || !kernel->version)
		goto out;
	if (asprintf(&kernel->image, "%s/boot/vmlinuz-%s", folder, release) < 0) {
		kernel->image = NULL;
		goto out;
	}
	if (asprintf(&kernel->headers_dir, "%s/usr/src/linux-headers-%s", folder, release) < 0) {
		kernel->headers_dir = NULL;
		goto out;
	}
	free(path);
	ret = asprintf(&path, "%s/lib/modules/%s", folder, release) < 0 ? -ENOMEM : 0;
	if (ret < 0) {
		path = NULL;
		goto out;
	}
	/* Packages of a system with merged folders say usr/lib. */
	if (access(path, F_OK) < 0) {
		free(path);
		path = NULL;
		if (asprintf(&path, "%s/usr/lib/modules/%s", folder, release) < 0) {
			path = NULL;
			ret = -ENOMEM;
			goto out;
		}
	}
	kernel->modules_dir = path;
	path = NULL;
out:
	if (ret < 0)
		cgwb_kernel_done(kernel);
	json_decref(manifest);
	free(path);
	free(folder);
	return ret;
}

/* The folders of CACHE/kernels that are whole kernels. The caller frees each and the list. */
static int cached_releases(const struct cgwb_context *context, char ***ret_releases, size_t *ret_n)
{
	struct dirent **entries;
	char *folder, **releases;
	int count, i;
	size_t n = 0;

	if (asprintf(&folder, "%s/kernels", context->cache_dir) < 0)
		return -ENOMEM;
	count = scandir(folder, &entries, NULL, versionsort);
	free(folder);
	if (count < 0) {
		*ret_releases = NULL;
		*ret_n = 0;
		return errno == ENOENT ? 0 : -errno;
	}

	releases = calloc(count + 1, sizeof(*releases));
	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (releases && *name != '.' && entries[i]->d_type == DT_DIR &&
		    !strstr(name, ".tmp."))
			releases[n++] = strdup(name);
		free(entries[i]);
	}
	free(entries);
	*ret_releases = releases;
	*ret_n = n;
	return releases ? 0 : -ENOMEM;
}

static void releases_free(char **releases, size_t n)
{
	while (n)
		free(releases[--n]);
	free(releases);
}

/*
 * The newest kernel in the cache whose package would match the pattern, or that has the version
 * (one is NULL).
 */
static int cached_match(const struct cgwb_context *context, const char *name, const char *pattern,
			const char *version, struct cgwb_kernel *kernel)
{
	char **releases;
	size_t n, i;
	int ret;

	ret = cached_releases(context, &releases, &n);
	if (ret < 0)
		return ret;

	ret = -ENOENT;
	for (i = n; i-- > 0 && ret == -ENOENT;) {
		if (pattern && !pins_match(pattern, releases[i]))
			continue;
		ret = cached_kernel(context, name, releases[i], kernel);
		if (ret == 0 && version && strcmp(kernel->version, version)) {
			cgwb_kernel_done(kernel);
			ret = -ENOENT;
		}
	}
	releases_free(releases, n);
	return ret;
}

/* For every way in which an archive can fail to give a kernel. */
static int archive_failed(struct cgwb_error *error, int err, const char *name)
{
	struct cgwb_error why = CGWB_ERROR_INIT;

	if (err == -EINTR)
		return err;
	if (error) {
		why = *error;
		*error = (struct cgwb_error)CGWB_ERROR_INIT;
	}
	cgwb_error_set(error, err, "no kernel %s: %s; without an archive, give --kernel BZIMAGE",
		       name,
		       why.text	      ? why.text :
		       err == -ENOENT ? "the archive does not have it" :
					strerror(-err));
	cgwb_error_done(&why);
	return err;
}

/*
 * The version that a short name stands for cannot be had: the newest of its series. `err` says why.
 */
static int pin_replaced(const struct cgwb_context *context, const struct pin *pin, int err,
			struct cgwb_kernel *kernel, struct cgwb_error *error)
{
	const struct fetch_request newest = { .pattern = pin->newest };
	char *release;
	int ret;

	if (err == -ENOENT) {
		ret = fetch_kernel(context, &newest, &release, error);
		if (ret == 0) {
			ret = cached_kernel(context, pin->name, release, kernel);
			free(release);
		}
	} else {
		ret = cached_match(context, pin->name, pin->newest, NULL, kernel);
	}
	if (ret == -ENOENT)
		return archive_failed(error, err, pin->name);
	if (ret < 0)
		return archive_failed(error, ret, pin->name);

	cgwb_error_done(error);
	cgwb_context_notice(context,
			    "kernel %s should be %s, which %s: using %s. Results of "
			    "different kernels differ.",
			    pin->name, pin->release,
			    err == -ENOENT ? "the archive no longer has" : "cannot be fetched now",
			    kernel->release);
	return 0;
}

static int pin_kernel(const struct cgwb_context *context, const struct pin *pin,
		      struct cgwb_kernel *kernel, struct cgwb_error *error)
{
	const struct fetch_request exact = { .release = pin->release, .version = pin->version };
	char *release;
	int ret;

	ret = cached_kernel(context, pin->name, pin->release, kernel);
	if (ret != -ENOENT)
		return ret;

	ret = fetch_kernel(context, &exact, &release, error);
	if (ret == 0) {
		ret = cached_kernel(context, pin->name, release, kernel);
		free(release);
		return ret;
	}
	if (ret == -ENOENT || ret == -EHOSTUNREACH || ret == -ENOPKG)
		return pin_replaced(context, pin, ret, kernel, error);
	return archive_failed(error, ret, pin->name);
}

static bool is_release(const char *name)
{
	const char *dash = strrchr(name, '-');

	return isdigit((unsigned char)*name) && dash && !strcmp(dash, "-amd64");
}

static bool is_version(const char *name)
{
	return isdigit((unsigned char)*name) && strchr(name, '-') && !is_release(name);
}

/* A release or a package version: that one or none. */
static int exact_kernel(const struct cgwb_context *context, const char *name,
			struct cgwb_kernel *kernel, struct cgwb_error *error)
{
	struct fetch_request request = { 0 };
	char *release;
	int ret;

	if (is_release(name)) {
		request.release = name;
		ret = cached_kernel(context, name, name, kernel);
	} else {
		request.pattern = "^linux-image-[0-9.]+.*-cloud-amd64$";
		request.version = name;
		ret = cached_match(context, name, NULL, name, kernel);
	}
	if (ret != -ENOENT)
		return ret;

	ret = fetch_kernel(context, &request, &release, error);
	if (ret < 0)
		return archive_failed(error, ret, name);
	ret = cached_kernel(context, name, release, kernel);
	free(release);
	return ret;
}

/*
 * A slash says so; without one, a file of that name in this folder does, if it can be nothing else.
 */
static bool is_path(const char *name)
{
	return strchr(name, '/') || (!isdigit((unsigned char)*name) && access(name, F_OK) == 0);
}

int cgwb_kernel_check_name(const struct cgwb_context *context, const char *name,
			   struct cgwb_error *error)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(name);
	struct pins pins;
	size_t i;
	int ret;

	if (is_path(name) || is_release(name) || is_version(name))
		return 0;

	ret = pins_read(context, &pins, error);
	if (ret < 0)
		return ret;
	if (!pins_find(&pins, name)) {
		for (i = 0; i < pins.n; i++)
			cgwb_nearest_offer(&nearest, pins.pins[i].name);
		ret = cgwb_error_set(error, -EINVAL,
				     "no kernel is called '%s': a short name, a release "
				     "(6.1.0-57-cloud-amd64), a package version (6.1.192-3), or "
				     "the path of a bzImage",
				     name);
		cgwb_error_nearest(error, ret, nearest.best);
	}
	pins_done(&pins);
	return ret;
}

int cgwb_kernel_get(const struct cgwb_context *context, const struct cgwb_kernel_request *request,
		    struct cgwb_kernel *ret_kernel, struct cgwb_error *error)
{
	const struct pin *pin;
	struct pins pins;
	int ret;

	*ret_kernel = (struct cgwb_kernel){ 0 };

	ret = cgwb_kernel_check_name(context, request->name, error);
	if (ret < 0)
		return ret;

	if (is_path(request->name)) {
		ret = own_kernel(request, ret_kernel, error);
	} else if (request->modules_dir || request->headers_dir) {
		ret = cgwb_error_set(error, -EINVAL,
				     "folders of modules or headers go with a kernel image "
				     "(--kernel BZIMAGE); kernel %s brings its own",
				     request->name);
	} else {
		ret = pins_read(context, &pins, error);
		if (ret < 0)
			return ret;
		pin = pins_find(&pins, request->name);
		ret = pin ? pin_kernel(context, pin, ret_kernel, error) :
			    exact_kernel(context, request->name, ret_kernel, error);
		pins_done(&pins);
	}
	if (ret < 0)
		cgwb_kernel_done(ret_kernel);
	return ret;
}

static json_t *kernel_json(const struct cgwb_kernel *kernel, const struct pin *pin)
{
	return json_pack("{s:s*, s:s, s:s*, s:b, s:s*, s:s*, s:s*}", "name", pin ? pin->name : NULL,
			 "release", kernel->release, "version", kernel->version, "cached", 1,
			 "image", kernel->image, "modules", kernel->modules_dir, "headers",
			 kernel->headers_dir);
}

int cgwb_kernel_list(const struct cgwb_context *context, json_t **ret_list,
		     struct cgwb_error *error)
{
	struct cgwb_kernel kernel;
	json_t *list;
	char **releases;
	struct pins pins;
	size_t n, i;
	int ret;

	ret = pins_read(context, &pins, error);
	if (ret < 0)
		return ret;
	ret = cached_releases(context, &releases, &n);
	if (ret < 0) {
		pins_done(&pins);
		return cgwb_error_set(error, ret, "cannot read %s/kernels: %s", context->cache_dir,
				      strerror(-ret));
	}

	list = json_array();
	for (i = 0; i < pins.n; i++) {
		if (cached_kernel(context, pins.pins[i].name, pins.pins[i].release, &kernel) == 0) {
			json_array_append_new(list, kernel_json(&kernel, &pins.pins[i]));
			cgwb_kernel_done(&kernel);
			continue;
		}
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:b}", "name", pins.pins[i].name,
						"release", pins.pins[i].release, "version",
						pins.pins[i].version, "cached", 0));
	}
	for (i = 0; i < n; i++) {
		if (pins_find_release(&pins, releases[i]) ||
		    cached_kernel(context, releases[i], releases[i], &kernel) < 0)
			continue;
		json_array_append_new(list, kernel_json(&kernel, NULL));
		cgwb_kernel_done(&kernel);
	}
	releases_free(releases, n);
	pins_done(&pins);
	*ret_list = list;
	return list ? 0 : -ENOMEM;
}

/*
 * Removes one kernel and the modules built for it. Moved away first: a kernel that is there is
 * whole.
 */
static int prune_release(const struct cgwb_context *context, const char *release)
{
	static const char *const parts[] = { "kernels", "modules" };
	char *path, *away;
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && ret == 0; i++) {
		if (asprintf(&path, "%s/%s/%s", context->cache_dir, parts[i], release) < 0)
			return -ENOMEM;
		if (asprintf(&away, "%s.tmp.pruned", path) < 0) {
			free(path);
			return -ENOMEM;
		}
		if (rename(path, away) < 0 && errno != ENOENT)
			ret = -errno;
		cgwb_remove_stale(path);
		free(away);
		free(path);
	}
	return ret;
}

int cgwb_kernel_prune(const struct cgwb_context *context, bool all, json_t **ret_removed,
		      struct cgwb_error *error)
{
	json_t *removed = json_array();
	char **releases, *lists;
	struct pins pins;
	size_t n, i;
	int ret;

	if (!removed)
		return -ENOMEM;
	ret = pins_read(context, &pins, error);
	if (ret < 0) {
		json_decref(removed);
		return ret;
	}
	ret = cached_releases(context, &releases, &n);
	for (i = 0; ret == 0 && i < n; i++) {
		if (!all && pins_find_release(&pins, releases[i]))
			continue;
		ret = prune_release(context, releases[i]);
		if (ret == 0)
			json_array_append_new(removed, json_string(releases[i]));
		else
			cgwb_error_set(error, ret, "cannot remove kernel %s from %s: %s",
				       releases[i], context->cache_dir, strerror(-ret));
	}
	releases_free(releases, n);
	pins_done(&pins);

	if (ret == 0 && asprintf(&lists, "%s/apt", context->cache_dir) >= 0) {
		cgwb_remove(lists);
		free(lists);
	}
	if (ret < 0)
		json_decref(removed);
	else
		*ret_removed = removed;
	return ret;
}
