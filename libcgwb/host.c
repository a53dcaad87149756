// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "libcgwb/files.h"

/*
 * The value after `key` and a colon in a /proc file of such lines; the caller frees it. NULL: not
 * there.
 */
static char *proc_value(const char *path, const char *key)
{
	char *text, *at, *end, *value = NULL;
	size_t len = strlen(key);

	if (cgwb_read_file(path, &text, NULL) < 0)
		return NULL;

	for (at = text; at && !value; at = end ? end + 1 : NULL) {
		end = strchr(at, '\n');
		if (end)
			*end = '\0';
		if (strncmp(at, key, len) || !strchr(": \t", at[len]))
			continue;
		at += len;
		value = strdup(at + strspn(at, ": \t"));
	}
	free(text);
	return value;
}

static int cgroup_u64(const char *cgroup, const char *file, uint64_t *ret)
{
	char *path, *text;
	int result;

	if (asprintf(&path, "/sys/fs/cgroup%s/%s", cgroup, file) < 0)
		return -ENOMEM;
	result = cgwb_read_file(path, &text, NULL);
	free(path);
	if (result < 0)
		return result;
	if (sscanf(text, "%" SCNu64, ret) != 1) /* "max" */
		result = -ERANGE;
	free(text);
	return result;
}

/* What this process's cgroup and those above it leave of `bytes`. */
static uint64_t memory_within_cgroup(uint64_t bytes)
{
	uint64_t max, current;
	char *text, *cgroup, *slash;

	if (cgwb_read_file("/proc/self/cgroup", &text, NULL) < 0)
		return bytes;

	cgroup = strstr(text, "0::/");
	if (cgroup) {
		cgroup += 3;
		*strchrnul(cgroup, '\n') = '\0';
		for (;;) {
			if (cgroup_u64(cgroup, "memory.max", &max) == 0 &&
			    cgroup_u64(cgroup, "memory.current", &current) == 0 &&
			    max - (current < max ? current : max) < bytes)
				bytes = max - (current < max ? current : max);
			slash = strrchr(cgroup, '/');
			if (!slash)
				break;
			*slash = '\0';
		}
	}
	free(text);
	return bytes;
}

void cgwb_host_read(struct cgwb_host *host)
{
	struct utsname uts;
	cpu_set_t cpus;
	char *value;

	memset(host, 0, sizeof(*host));

	host->cpus = 1;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		host->cpus = CPU_COUNT(&cpus);

	value = proc_value("/proc/meminfo", "MemAvailable");
	if (value)
		host->memory_available_bytes =
			memory_within_cgroup(strtoull(value, NULL, 10) * 1024);
	free(value);

	value = proc_value("/proc/cpuinfo", "model name");
	snprintf(host->cpu_model, sizeof(host->cpu_model), "%s", value ? value : "");
	free(value);

	if (uname(&uts) == 0)
		snprintf(host->kernel_release, sizeof(host->kernel_release), "%s", uts.release);
}

int cgwb_host_disk_free(const char *path, uint64_t *ret_bytes)
{
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return -errno;
	*ret_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

json_t *cgwb_host_json(const struct cgwb_host *host)
{
	return json_pack("{s:i, s:s, s:I, s:s}", "cpus", (int)host->cpus, "cpu_model",
			 host->cpu_model, "memory_available_bytes",
			 (json_int_t)host->memory_available_bytes, "kernel", host->kernel_release);
}
