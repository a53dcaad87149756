/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cell: one variant of a scenario with one seed, with everything resolved. docs/cell.md is its
 * format.
 *
 * The same scenario, variant, seed and form give the same cell, byte for byte, wherever it is made:
 * it names no path of the host, and is not influenced by its clock or environment.
 */
#ifndef CGWB_CELL_H
#define CGWB_CELL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "scenario.h"

#define CGWB_CELL_SCHEMA 1

struct cgwb_cell;

/* A program of the host's that goes into the guest. */
struct cgwb_program {
	char *program; /* as the scenario names it: see cgwb_scenario_program() */
	char *guest_path; /* "/bin/NAME" */
};

/* -EINVAL with what is wrong; -ENOMEM */
int cgwb_cell_new(const struct cgwb_scenario *scenario, const char *variant, unsigned int seed,
		  bool quick, struct cgwb_cell **ret_cell, struct cgwb_error *error);

/* NULL-safe, returns NULL */
struct cgwb_cell *cgwb_cell_free(struct cgwb_cell *cell);

/* Borrowed; not to be changed. */
const json_t *cgwb_cell_json(const struct cgwb_cell *cell);

/*
 * The text that the guest gets: compact JSON and a newline. The caller frees it. NULL: out of
 * memory.
 */
char *cgwb_cell_text(const struct cgwb_cell *cell);

/* "VARIANT-SEED", the name of the cell in its run */
const char *cgwb_cell_name(const struct cgwb_cell *cell);

/* The programs of its exec jobs, each once; borrowed. */
size_t cgwb_cell_programs(const struct cgwb_cell *cell, const struct cgwb_program **ret_programs);

/*
 * The kernel modules that the scenario asks for, besides those that the lab knows to be needed.
 * NULL-terminated.
 */
const char *const *cgwb_cell_modules(const struct cgwb_cell *cell);

/*
 * What running it needs, estimated: the host's memory that QEMU will have touched in the end, and
 * the virtual time from boot to result. estimate.h says how.
 */
uint64_t cgwb_cell_host_memory_bytes(const struct cgwb_cell *cell);
double cgwb_cell_virtual_s(const struct cgwb_cell *cell);

#endif
