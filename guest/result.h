/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result (docs/cell.md): everything that comes back, always with the same keys in the same order. */
#ifndef GUEST_RESULT_H
#define GUEST_RESULT_H

#include <jansson.h>
#include <stdint.h>

#include "cell.h"
#include "error.h"

struct result_times {
	uint64_t boot_ns, prepared_ns; /* 0: never got there */
};

/* A failed result with nothing measured; @details is taken over. Runs no program. */
json_t *result_failed(const struct error *error, json_t *details);

/*
 * @error empty: ok. @measures and @details are taken over (NULL: empty). Asks the programs that the
 * cell used for their versions.
 */
json_t *result_new(const struct cell *cell, const struct error *error,
		   const struct result_times *times, json_t *measures, json_t *details);

#endif
