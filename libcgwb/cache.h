/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finished cells, kept by what decides their results, so that the same cell is not run twice.
 *
 * CACHE/cells/SHA256-OF-INPUTS.json is the result, .log beside it the console. Only results that
 * are `ok` are kept: a failure is worth another try.
 */
#ifndef CGWB_CACHE_H
#define CGWB_CACHE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcgwb/context.h"
#include "libcgwb/result.h"

/*
 * The result of a cell with these inputs; its console is copied to the file `console`. -ENOENT:
 * there is none, or none that can be used.
 */
int cgwb_cache_get(const struct cgwb_context *context, const json_t *cell, const json_t *inputs,
		   const char *console, struct cgwb_result **ret_result);

/* Whether there is one. */
bool cgwb_cache_has(const struct cgwb_context *context, const json_t *cell, const json_t *inputs);

/* Keeps a result with its console. One that is not ok is not kept, which is no error. */
int cgwb_cache_put(const struct cgwb_context *context, const json_t *inputs,
		   const struct cgwb_result *result, const char *console);

/*
 * What running a cell of this kind took on this host the last time, for estimates: the same
 * scenario, variant, form and kernel, any seed.
 */
struct cgwb_timing {
	double estimate_s; /* of virtual time, by cgwb_cell_virtual_s(): tells forms of a scenario apart */
	double virtual_s;
	double wall_s;
	uint64_t memory_bytes; /* the most that QEMU had */
};

/* -ENOENT: none has been run here whose estimate was about `estimate_s`. */
int cgwb_timing_get(const struct cgwb_context *context, const json_t *cell, double estimate_s,
		    struct cgwb_timing *ret_timing);
int cgwb_timing_put(const struct cgwb_context *context, const json_t *cell,
		    const struct cgwb_timing *timing);

#endif
