// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure.h"

#include <string.h>

static const struct cgwb_measure measures[] = {
	{ "seconds", "seconds", 3 },
	{ "mib_s", "MiB/s", 2 },
	{ "iops", "IOPS", 2 },
	{ "mean_ms", "mean_ms", 2 },
	{ "p99_ms", "p99_ms", 2 },
	{ "foreign_records", "foreign_records", 0 },
	{ "foreign_flushes", "foreign_flushes", 0 },
	{ "foreign_pages_asked", "foreign_pages_asked", 0 },
	{ "foreign_pages_written", "foreign_pages_written", 0 },
	{ "mapping_flushes", "mapping_flushes", 0 },
	{ "mapping_pages_written", "mapping_pages_written", 0 },
	{ "works_peak", "works_peak", 0 },
	{ "throttled_s", "throttled_s", 2 },
	{ "flusher_cpu_s", "flusher_cpu_s", 3 },
	{ "warn", "WARN", 0 },
};

#define N_MEASURES (sizeof(measures) / sizeof(*measures))

const struct cgwb_measure *cgwb_measure_find(const char *name)
{
	for (size_t i = 0; i < N_MEASURES; i++) {
		if (!strcmp(measures[i].name, name))
			return &measures[i];
	}
	return NULL;
}

const struct cgwb_measure *cgwb_measure_at(size_t index)
{
	return index < N_MEASURES ? &measures[index] : NULL;
}
