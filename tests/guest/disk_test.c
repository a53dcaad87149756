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

/* The cell made a disk to keep memory for us: take that over, and give it back so that the cell ends as it began. */
static int take_memory(const char *name)
{
	int err;

	rig_base = disk_get(name, "base_bytes");
	rig_size = disk_get(name, "size_bytes");
	if (rig_base == ~0ULL || rig_size == ~0ULL || rig_size < RIG_MIN)
		return -EINVAL;
	err = disk_set(name, "power", 0);
	return err ? err : disk_rmdir(name);
}

static void give_memory_back(const char *name)
{
	NEED(!disk_mkdir(name), "mkdir %s", name);
	CHECK(!disk_set(name, "base_bytes", rig_base) && !disk_set(name, "size_bytes", rig_size),
	      "cannot place %s", name);
	CHECK(!disk_set(name, "power", 1), "no test may leave a disk on the memory of %s", name);
}

static const char *spare;

static void memory_is_free_again(void)
{
	give_memory_back(spare);
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2) {
		fprintf(stderr,
			"usage: disk_test DISK: one of at least %llu MiB that nothing uses\n",
			RIG_MIN / MIB);
		return 2;
	}
	spare = argv[1];
	err = take_memory(spare);
	if (err) {
		fprintf(stderr,
			"disk_test: cannot take the memory of disk %s, which needs %llu MiB: %s\n",
			spare, RIG_MIN / MIB, strerror(-err));
		return 2;
	}
	open_kernel_log();
	disk_config_cases();
	disk_pace_cases();
	disk_data_cases();
	disk_removal_cases();
	tap_case("the memory of all disks is free again", memory_is_free_again);
	tap_case("the kernel's log has no warning", kernel_log_is_clean);
	return tap_done();
}
