// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * policy_test MOUNT DISK: the policy module, in a guest.
 *
 * MOUNT is a mounted ext4. DISK is one that nothing uses, whose memory is for disks of our own; 512 MiB at
 * least. The module is /modules/cgwb.ko, another livepatch of one of its functions /bin/other_livepatch.ko.
 * cgroup2 and tracefs are at their usual places.
 *
 * TAP on stdout; the exit status is 0 if every case passed.
 */
#include "policy_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "tap.h"

static void kernel_log_is_clean(void)
{
	const char *warning = kernel_log_warning();

	CHECK(!warning, "%s", warning);
}

/*
 * The cell made a disk to keep memory for us and loaded the module: take both over, and give them back, so
 * that the cell ends as it began.
 */
static int take_over(const char *spare)
{
	int err;

	rig_base = disk_get(spare, "base_bytes");
	rig_size = disk_get(spare, "size_bytes");
	if (rig_base == ~0ULL || rig_size == ~0ULL || rig_size < 512 * MIB)
		return -EINVAL;
	err = disk_set(spare, "power", 0);
	if (!err)
		err = disk_rmdir(spare);
	return err ? err : policy_unload();
}

static const char *spare;

static void all_is_given_back(void)
{
	NEED(!disk_mkdir(spare), "mkdir %s", spare);
	CHECK(!disk_set(spare, "base_bytes", rig_base) && !disk_set(spare, "size_bytes", rig_size),
	      "cannot place %s", spare);
	CHECK(!disk_set(spare, "power", 1), "no test may leave a disk on the memory of %s", spare);
	CHECK(!policy_load("policy=stock"), "no test may leave the module loaded");
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 3) {
		fprintf(stderr,
			"usage: policy_test MOUNT DISK: one of at least 512 MiB that nothing uses\n");
		return 2;
	}
	places.mount = argv[1];
	places.module = "/modules/cgwb.ko";
	places.other = "/bin/other_livepatch.ko";
	spare = argv[2];
	err = take_over(spare);
	if (err) {
		fprintf(stderr, "policy_test: cannot take over disk %s and the module: %s\n", spare,
			strerror(-err));
		return 2;
	}
	kernel_log_begin();
	policy_load_cases();
	policy_count_cases();
	policy_sweep_cases();
	policy_file_cases();
	policy_disk_cases();
	policy_bgthresh_cases();
	policy_reclaim_cases();
	tap_case("disk and module are as they were", all_is_given_back);
	tap_case("the kernel's log has no warning", kernel_log_is_clean);
	return tap_done();
}
