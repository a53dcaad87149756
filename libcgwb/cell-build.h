/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a cell is made: what cell.c (the machine, disks, filesystems, cgroups) and cell-jobs.c (the
 * jobs) share. Internal to libcgwb.
 */
#ifndef CGWB_CELL_BUILD_H
#define CGWB_CELL_BUILD_H

#include <jansson.h>

#include "cell.h"
#include "estimate.h"
#include "layout.h"
#include "sections.h"
#include "seed.h"

#define NS_PER_S 1000000000ULL

struct cgwb_cell {
	json_t *json;
	char *name;
	char **modules;
	struct cgwb_program *programs;
	size_t n_programs;
	struct estimate estimate;
};

struct builder {
	struct cgwb_cell *cell;
	const struct sections *sections; /* with all overrides applied, and checked */
	struct cgwb_error *error;
	unsigned int seed;
	struct layout layout;
};

/* The section of that kind that has no name; borrowed. */
const struct section *builder_section(const struct builder *builder, const char *kind);

/* The stream of random numbers that decides `what` of [kind name]. */
struct cgwb_seed builder_seed(const struct builder *builder, const char *kind, const char *name,
			      const char *what);

/* An error at a key, or at its section if the key is not there. Returns -EINVAL. */
int builder_fail(struct builder *builder, const struct section *section, const char *name,
		 const char *what);

/* Appends a new reference; a NULL value is -ENOMEM. */
int builder_append(json_t *array, json_t *value);

/*
 * The name of an instance: NAME0, NAME1 ... if the section is counted, else NAME. The caller frees
 * it. NULL: out of memory.
 */
char *builder_instance(const char *name, const struct section *counted, uint64_t index);

/* What follows the last slash. */
const char *builder_base_name(const char *path);

/* Appends the jobs of a [job] section: one, or one in each cgroup of a group. */
int builder_add_jobs(struct builder *builder, const struct section *section, json_t *array);

#endif
