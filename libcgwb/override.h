/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overrides: what a variant, the quick form, or a command line changes in a scenario.
 *
 *   KEY = VALUE              a key of [scenario]: kernel, policy, seeds ...
 *   SECTION.KEY = VALUE      a key of that section, set or added
 *   SECTION.KEY =            the key removed
 *   drop = NAME, NAME        jobs and cgroups of those names, and the measures of those jobs
 *
 * SECTION is a section's name, with or without its kind before it and a path's leading slash:
 * `dirtier`, `/dirtier` and `cgroup /dirtier` may all mean [cgroup /dirtier]. Only sections that
 * can have such a key come into question, so `dirtier.count` is clear although there is also a job
 * of that name. If several do, it is an error that lists them. Internal to libcgwb.
 */
#ifndef CGWB_OVERRIDE_H
#define CGWB_OVERRIDE_H

#include "error.h"
#include "sections.h"

/*
 * Applies all keys of a [variant] or [quick]: first `drop`, then the others in their order. Values
 * are not checked: that is for schema_check(), afterwards. 0; -EINVAL: it names nothing, or more
 * than one thing; -ENOMEM.
 */
int override_apply(struct sections *sections, const struct section *overrides,
		   struct cgwb_error *error);

/*
 * Adds the sections without a name that the overrides of a scenario may set although it does not
 * have them ([machine], [sysctl]). 0 or -ENOMEM.
 */
int override_prepare(struct sections *sections);

#endif
