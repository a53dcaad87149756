/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cases of the disk's test program, a file for each subject. */
#ifndef CGWB_TESTS_DISK_TEST_H
#define CGWB_TESTS_DISK_TEST_H

void disk_config_cases(void);
void disk_pace_cases(void);
void disk_data_cases(void);
void disk_removal_cases(void);

#endif
