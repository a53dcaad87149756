// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure-names.h"

#include <stddef.h>
#include <string.h>

static const char *const fixed[] = {
	"seconds",
	"mib_s",
	"iops",
	"mean_ms",
	"p99_ms",
	"foreign_records",
	"foreign_flushes",
	"foreign_pages_asked",
	"foreign_pages_written",
	"mapping_flushes",
	"mapping_pages_written",
	"works_peak",
	"throttled_s",
	"flusher_cpu_s",
	"warn", /* the lab's, from the console */
};

bool measure_name_is_fixed(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!strcmp(fixed[i], name))
			return true;
	}
	return false;
}
