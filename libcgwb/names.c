// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char **cgwb_names_free(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
	return NULL;
}

int names_add(char ***names, const char *name, size_t length)
{
	size_t n = 0;
	char **list;

	while (*names && (*names)[n])
		n++;
	list = reallocarray(*names, n + 2, sizeof(*list));
	if (!list)
		return -ENOMEM;

	list[n] = strndup(name, length);
	list[n + 1] = NULL;
	*names = list;
	return list[n] ? 0 : -ENOMEM;
}

int names_split(const char *text, char ***ret_names)
{
	char **names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;

	for (text += strspn(text, ", \t"); *text; text += strspn(text, ", \t")) {
		size_t length = strcspn(text, ", \t");

		if (names_add(&names, text, length)) {
			cgwb_names_free(names);
			return -ENOMEM;
		}
		text += length;
	}
	*ret_names = names;
	return 0;
}
