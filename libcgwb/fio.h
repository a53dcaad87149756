/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of fio's job options, so that a misspelt one is found when a scenario is read, not
 * minutes later in a guest.
 *
 * These are the options and aliases of fio 3.33, and those of its Linux engines. Left out is what
 * belongs to the scenario: where and when a job runs, under which name, and how often (name,
 * cgroup*, startdelay, wait_for*, numjobs, stonewall, new_group), and commands for a shell, which a
 * guest does not have (exec_*). Internal to libcgwb.
 */
#ifndef CGWB_FIO_H
#define CGWB_FIO_H

#include <stdbool.h>

/* NULL-terminated, sorted */
const char *const *fio_options(void);

bool fio_option_known(const char *name);

#endif
