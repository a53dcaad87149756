// SPDX-License-Identifier: GPL-2.0-or-later
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSHER "wb_workfn"
#define THROTTLE "blk_throtl_dispatch_work_fn"

static int symbols_read(struct workers *workers, struct error *error)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t address;

	if (!file)
		return error_errno(error, -errno, "cannot open /proc/kallsyms");
	while ((!workers->flusher || !workers->throttle) && fgets(line, sizeof(line), file)) {
		/* Most lines are neither: do not take them apart. */
		if (!strstr(line, FLUSHER) && !strstr(line, THROTTLE))
			continue;
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) != 2)
			continue;
		if (!strcmp(name, FLUSHER))
			workers->flusher = address;
		else if (!strcmp(name, THROTTLE))
			workers->throttle = address;
	}
	fclose(file);
	if (!workers->flusher)
		return error_set(error, -ENOENT, "/proc/kallsyms has no address of " FLUSHER);
	return 0;
}

static int policy_read(struct workers *workers, struct error *error)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[512], name[64];
	uint64_t bytes, address;

	if (!file)
		return error_errno(error, -errno, "cannot open /proc/modules");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &bytes, &address) ==
			    3 &&
		    !strcmp(name, "cgwb")) {
			workers->policy_first = address;
			workers->policy_end = address + bytes;
		}
	}
	fclose(file);
	return 0;
}

int workers_read(struct workers *workers, struct error *error)
{
	int err;

	memset(workers, 0, sizeof(*workers));
	err = symbols_read(workers, error);
	return err ?: policy_read(workers, error);
}

enum work workers_work(const struct workers *workers, uint64_t function)
{
	if (function == workers->flusher)
		return WORK_FLUSHER;
	if (function == workers->throttle)
		return WORK_THROTTLE;
	if (function >= workers->policy_first && function < workers->policy_end)
		return WORK_MAPPING;
	return WORK_NONE;
}

void workers_filter(const struct workers *workers, char *text, unsigned int size)
{
	unsigned int n;

	n = snprintf(text, size, "function == 0x%" PRIx64 " || function == 0x%" PRIx64,
		     workers->flusher, workers->throttle);
	if (workers->policy_end && n < size)
		snprintf(text + n, size - n,
			 " || (function >= 0x%" PRIx64 " && function < 0x%" PRIx64 ")",
			 workers->policy_first, workers->policy_end);
}
