/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of cases of policy_test. Each leaves no module, disk or cgroup behind. */
#ifndef CGWB_TESTS_POLICY_TEST_H
#define CGWB_TESTS_POLICY_TEST_H

void policy_load_cases(void);
void policy_count_cases(void);
void policy_sweep_cases(void);
void policy_disk_cases(void);
void policy_bgthresh_cases(void);
void policy_reclaim_cases(void);
void policy_file_cases(void);

#endif
