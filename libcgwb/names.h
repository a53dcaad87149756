/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of names, NULL-terminated. */
#ifndef CGWB_NAMES_H
#define CGWB_NAMES_H

#include <stddef.h>

/* Frees the list and the names. NULL-safe, returns NULL. */
char **cgwb_names_free(char **names);

/*
 * Appends a copy of the first `length` bytes; a list that is NULL becomes one. 0 or -ENOMEM.
 * Internal to libcgwb.
 */
int names_add(char ***names, const char *name, size_t length);

/* The words between commas; no words make an empty list. 0 or -ENOMEM. Internal to libcgwb. */
int names_split(const char *text, char ***ret_names);

#endif
