/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measures that every result has (docs/measures.md): a scenario cannot give these names away. */
#ifndef GUEST_MEASURE_NAMES_H
#define GUEST_MEASURE_NAMES_H

#include <stdbool.h>

bool measure_name_is_fixed(const char *name);

#endif
