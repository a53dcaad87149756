// SPDX-License-Identifier: GPL-2.0-or-later
#include "context.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "libcgwb/files.h"

#define LOCK_RETRY_MS 200

static int context_find_cache(struct cgwb_context *context, struct cgwb_error *error)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int ret;

	/* The XDG specification says that a relative path is to be ignored. */
	if (xdg && *xdg == '/')
		ret = asprintf(&context->cache_dir, "%s/cgwb", xdg);
	else if (home && *home == '/')
		ret = asprintf(&context->cache_dir, "%s/.cache/cgwb", home);
	else
		return cgwb_error_set(error, -ENOENT,
				      "no place for the cache: set XDG_CACHE_HOME or HOME");
	if (ret < 0) {
		context->cache_dir = NULL;
		return -ENOMEM;
	}

	ret = cgwb_mkdir_p(context->cache_dir);
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot make the cache folder %s: %s",
				      context->cache_dir, strerror(-ret));
	return 0;
}

static int context_find_data(struct cgwb_context *context, struct cgwb_error *error)
{
	char exe[PATH_MAX];
	char *slash;
	ssize_t len;

	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len < 0)
		return cgwb_error_set(error, -errno, "cannot read /proc/self/exe: %s",
				      strerror(errno));
	exe[len] = '\0';

	len = strlen(CGWB_BUILD_DIR);
	if (!strncmp(exe, CGWB_BUILD_DIR, len) && exe[len] == '/') {
		context->data_dir = strdup(CGWB_SOURCE_DIR);
		context->guest_init = strdup(CGWB_BUILD_DIR "/guest/cgwb-guest");
		return context->data_dir && context->guest_init ? 0 : -ENOMEM;
	}

	slash = strrchr(exe, '/');
	*slash = '\0';
	if (asprintf(&context->data_dir, "%s/../share/cgwb", exe) < 0) {
		context->data_dir = NULL;
		return -ENOMEM;
	}
	if (asprintf(&context->guest_init, "%s/../libexec/cgwb/cgwb-guest", exe) < 0) {
		context->guest_init = NULL;
		return -ENOMEM;
	}
	return 0;
}

int cgwb_context_init(struct cgwb_context *context, struct cgwb_error *error)
{
	int ret;

	*context = (struct cgwb_context){ .cancel_fd = -1 };

	ret = context_find_data(context, error);
	if (ret == 0)
		ret = context_find_cache(context, error);
	if (ret < 0)
		cgwb_context_done(context);
	return ret;
}

void cgwb_context_done(struct cgwb_context *context)
{
	free(context->cache_dir);
	free(context->data_dir);
	free(context->guest_init);
	*context = (struct cgwb_context){ .cancel_fd = -1 };
}

bool cgwb_context_cancelled(const struct cgwb_context *context)
{
	struct pollfd poll_fd = { .fd = context->cancel_fd, .events = POLLIN };

	return context->cancel_fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

int cgwb_context_lock(const struct cgwb_context *context, const char *path)
{
	struct pollfd poll_fd = { .fd = context->cancel_fd, .events = POLLIN };
	int fd = cgwb_trylock_file(path);

	if (fd == -EWOULDBLOCK)
		cgwb_context_step(context, "waiting for another cgwb, which has %s", path);
	while (fd == -EWOULDBLOCK) {
		if (poll(&poll_fd, 1, LOCK_RETRY_MS) > 0)
			return -EINTR;
		fd = cgwb_trylock_file(path);
	}
	return fd;
}

static void context_say(void (*say)(void *, const char *), void *user, const char *format,
			va_list args)
{
	char *text;

	if (!say || vasprintf(&text, format, args) < 0)
		return;
	say(user, text);
	free(text);
}

void cgwb_context_step(const struct cgwb_context *context, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	context_say(context->step, context->user, format, args);
	va_end(args);
}

void cgwb_context_notice(const struct cgwb_context *context, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	context_say(context->notice, context->user, format, args);
	va_end(args);
}
