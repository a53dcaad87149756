/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measures that every cell has, whatever its scenario: docs/measures.md defines them.
 */
#ifndef CGWB_MEASURE_H
#define CGWB_MEASURE_H

#include <stddef.h>

struct cgwb_measure {
	const char *name; /* the key in a result's `measures` */
	const char *title; /* of a table's column */
	int decimals; /* in tables */
};

/* NULL: there is none of that name, or of that index */
const struct cgwb_measure *cgwb_measure_find(const char *name);
const struct cgwb_measure *cgwb_measure_at(size_t index);

#endif
