// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * disk_test BASE SIZE: the disk module, in a guest that has it loaded, in virtual time.
 *
 * BASE and SIZE are bytes of physical memory that the kernel does not know and no disk uses; SIZE is at least 512 MiB.
 * Makes its own disks through configfs, and leaves none. TAP on stdout; the exit status is 0 if every case passed.
 *
 * Where the module promises an exact time, the time is the exact one plus what it takes to see it: a timer interrupt,
 * the end of the request, a wake-up. In virtual time that is a number of instructions, and SEEN_NS bounds it.
 */
#include "disk_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk_rig.h"
#include "tap.h"

#define RIG_MIN (512 * MIB)

static int kernel_log = -1;

/* Everything that the kernel says from now on is ours to answer for. */
static void open_kernel_log(void)
{
	kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kernel_log >= 0)
		lseek(kernel_log, 0, SEEK_END);
}

static void kernel_log_is_clean(void)
{
	static const char *const bad[] = { "WARNING:",
					   "BUG:",
					   "Call Trace:",
					   "INFO: task",
					   "possible recursive locking",
					   "general protection" };
	char line[8192];
	ssize_t got;

	NEED(kernel_log >= 0, "cannot read the kernel's log");
	while ((got = read(kernel_log, line, sizeof(line) - 1)) > 0 ||
	       (got < 0 && errno == EPIPE)) {
		if (got < 0)
			continue;
		line[got] = '\0';
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			CHECK(!strstr(line, bad[i]), "%s", line);
	}
}

static bool parse(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !parse(argv[1], &rig_base) || !parse(argv[2], &rig_size) ||
	    rig_size < RIG_MIN) {
		fprintf(stderr, "usage: disk_test BASE SIZE, SIZE at least %llu\n", RIG_MIN);
		return 2;
	}
	open_kernel_log();
	disk_config_cases();
	disk_pace_cases();
	disk_data_cases();
	disk_removal_cases();
	tap_case("the kernel's log has no warning", kernel_log_is_clean);
	return tap_done();
}
