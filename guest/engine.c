// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"

#include <stddef.h>
#include <string.h>

static const struct engine *const engines[] = { &engine_exec, &engine_files, &engine_fio,
						&engine_pages };

const struct engine *engine_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	}
	return NULL;
}
