// SPDX-License-Identifier: GPL-2.0-or-later
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attribute.h"
#include "clock.h"

#define POLICY_MODULE "/modules/cgwb.ko"
#define LIVEPATCH "/sys/kernel/livepatch/cgwb"
/* A transition waits for tasks that are inside a replaced function: milliseconds, normally. */
#define TRANSITION_MAX_NS (60 * NS_PER_S)
#define TRANSITION_POLL_NS (NS_PER_S / 100)

static int module_load(const char *path, const char *parameters, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return error_errno(error, -errno, "cannot open the module %s", path);
	if (syscall(SYS_finit_module, fd, parameters, 0) < 0)
		err = error_errno(error, -errno, "cannot load the module %s with '%s'", path,
				  parameters);
	close(fd);
	return err;
}

int modules_load(const char *list, struct error *error)
{
	char *text, *line, *rest, *space;
	int err = attribute_read(error, &text, "%s", list);

	if (err == -ENOENT)
		return 0;
	if (err < 0)
		return err;
	for (line = strtok_r(text, "\n", &rest); line && !err; line = strtok_r(NULL, "\n", &rest)) {
		space = strchr(line, ' ');
		if (space)
			*space = '\0';
		err = module_load(line, space ? space + 1 : "", error);
	}
	free(text);
	return err;
}

static int transition_wait(struct error *error)
{
	uint64_t until_ns = clock_now_ns() + TRANSITION_MAX_NS;
	uint64_t running = 1;
	int err;

	for (;;) {
		err = attribute_read_u64(error, &running, LIVEPATCH "/transition");
		if (err == -ENOENT)
			return error_errno(
				error, err,
				"the policy module is loaded, but there is no " LIVEPATCH);
		if (err < 0 || !running)
			return err;
		if (clock_now_ns() > until_ns)
			return error_set(
				error, -ETIMEDOUT,
				"the policy's livepatch is still in transition after %llu s",
				TRANSITION_MAX_NS / NS_PER_S);
		clock_sleep_until(clock_now_ns() + TRANSITION_POLL_NS);
	}
}

int policy_load(const struct cell *cell, struct error *error)
{
	char parameters[512];
	const char *key;
	json_t *value;
	size_t n;
	int err;

	if (!cell->policy)
		return 0;
	n = snprintf(parameters, sizeof(parameters), "policy=%s", cell->policy);
	json_object_foreach(cell->policy_parameters, key, value) {
		if (n < sizeof(parameters))
			n += snprintf(parameters + n, sizeof(parameters) - n, " %s=%s", key,
				      json_string_value(value));
	}
	if (n >= sizeof(parameters))
		return error_set(error, -E2BIG, "the policy's parameters are longer than %zu bytes",
				 sizeof(parameters));
	err = module_load(POLICY_MODULE, parameters, error);
	return err ?: transition_wait(error);
}
