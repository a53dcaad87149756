// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * policy_test MOUNT BASE SIZE [CGWB_KO [OTHER_KO]]: the policy module, in a guest that has not loaded it.
 *
 * MOUNT is a mounted ext4; BASE and SIZE are bytes of physical memory for disks of our own, as for disk_test, 512 MiB at
 * least, and cgwb_disk is loaded. The modules are /modules/cgwb.ko and /modules/other_livepatch.ko unless given. cgroup2
 * and tracefs are at their usual places.
 *
 * TAP on stdout; the exit status is 0 if every case passed.
 */
#include "policy_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "tap.h"

static void kernel_log_is_clean(void)
{
	const char *warning = kernel_log_warning();

	CHECK(!warning, "%s", warning);
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
	if (argc < 4 || argc > 6 || !parse(argv[2], &rig_base) || !parse(argv[3], &rig_size) ||
	    rig_size < 512 * MIB) {
		fprintf(stderr, "usage: policy_test MOUNT BASE SIZE [CGWB_KO [OTHER_KO]]\n");
		return 2;
	}
	places.mount = argv[1];
	places.module = argc > 4 ? argv[4] : "/modules/cgwb.ko";
	places.other = argc > 5 ? argv[5] : "/modules/other_livepatch.ko";
	kernel_log_begin();
	policy_load_cases();
	policy_count_cases();
	policy_sweep_cases();
	policy_disk_cases();
	tap_case("the kernel's log has no warning", kernel_log_is_clean);
	return tap_done();
}
