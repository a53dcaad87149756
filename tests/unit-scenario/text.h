/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios in a string, for tests: pieces that go together, and reading them.
 */
#ifndef TEXT_H
#define TEXT_H

#include "libcgwb/scenario.h"

/* One line each for the numbers in errors: SCENARIO is lines 1 and 2, DISK 3 and 4, MOUNT 5 to 7. */
#define SCENARIO "[scenario]\ntitle = t\n"
#define DISK "[disk nb0]\nsize = 64M\n"
#define MOUNT "[mount /data]\ndisk = nb0\ntype = ext4\n"
#define VARIANT "[variant stock]\npolicy = stock\n"

/* Reads it under the file name `t.ini`. */
int text_read(const char *text, struct cgwb_scenario **ret_scenario, struct cgwb_error *error);

/* Reads what must be right. */
struct cgwb_scenario *text_scenario(const char *text);

/* The line that a user sees for what is wrong with a text; "" if nothing is. The caller frees it. */
char *text_error(const char *text);

#endif
