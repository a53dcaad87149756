/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sections of a scenario say about each other: that every name that is used is there, that
 * what is needed together is together, and that counts make no name twice. For sections that
 * schema_check() has passed, with all overrides applied. Internal to libcgwb.
 */
#ifndef CGWB_REFERENCES_H
#define CGWB_REFERENCES_H

#include "error.h"
#include "sections.h"

/* 0; -EINVAL with the first error in the order of the sections; -ENOMEM. */
int references_check(const struct sections *sections, struct cgwb_error *error);

/* The mount that a path lies under (the longest that fits); NULL: none. Borrowed. */
const struct section *references_mount(const struct sections *sections, const char *path);

#endif
