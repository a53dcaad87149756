// SPDX-License-Identifier: GPL-2.0-or-later
#include "pins.h"

#include <errno.h>
#include <ini.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pins_done(struct pins *pins)
{
	size_t i;

	for (i = 0; i < pins->n; i++) {
		free(pins->pins[i].name);
		free(pins->pins[i].release);
		free(pins->pins[i].version);
		free(pins->pins[i].newest);
	}
	free(pins->pins);
	*pins = (struct pins){ 0 };
}

static struct pin *pins_add(struct pins *pins, const char *name)
{
	struct pin *bigger = realloc(pins->pins, (pins->n + 1) * sizeof(*bigger));

	if (!bigger)
		return NULL;
	pins->pins = bigger;
	bigger[pins->n] = (struct pin){ .name = strdup(name) };
	return bigger[pins->n].name ? &bigger[pins->n++] : NULL;
}

/* For inih: 0 is an error. */
static int pins_line(void *user, const char *section, const char *key, const char *value)
{
	struct pins *pins = user;
	struct pin *pin = pins->n ? &pins->pins[pins->n - 1] : NULL;
	char **field;

	if (!pin || strcmp(pin->name, section))
		pin = pins_add(pins, section);
	if (!pin)
		return 0;

	field = !strcmp(key, "release") ? &pin->release :
		!strcmp(key, "version") ? &pin->version :
		!strcmp(key, "newest")	? &pin->newest :
					  NULL;
	if (!field || *field)
		return 0;
	*field = strdup(value);
	return *field != NULL;
}

int pins_read(const struct cgwb_context *context, struct pins *pins, struct cgwb_error *error)
{
	char *path;
	size_t i;
	int ret;

	*pins = (struct pins){ 0 };
	if (asprintf(&path, "%s/data/kernels.ini", context->data_dir) < 0)
		return -ENOMEM;

	ret = ini_parse(path, pins_line, pins);
	if (ret > 0)
		ret = cgwb_error_at(error, -EINVAL, path, ret, "not a kernel's line");
	else if (ret < 0)
		ret = cgwb_error_set(error, -ENOENT, "cannot read %s", path);
	for (i = 0; i < pins->n && ret == 0; i++) {
		if (!pins->pins[i].release || !pins->pins[i].version || !pins->pins[i].newest)
			ret = cgwb_error_set(error, -EINVAL,
					     "%s: [%s] lacks release, version or newest", path,
					     pins->pins[i].name);
	}
	if (ret < 0)
		pins_done(pins);
	free(path);
	return ret;
}

const struct pin *pins_find(const struct pins *pins, const char *name)
{
	size_t i;

	for (i = 0; i < pins->n; i++) {
		if (!strcmp(pins->pins[i].name, name))
			return &pins->pins[i];
	}
	return NULL;
}

const struct pin *pins_find_release(const struct pins *pins, const char *release)
{
	size_t i;

	for (i = 0; i < pins->n; i++) {
		if (!strcmp(pins->pins[i].release, release))
			return &pins->pins[i];
	}
	return NULL;
}

bool pins_match(const char *pattern, const char *release)
{
	bool matches = false;
	regex_t regex;
	char *name;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	if (asprintf(&name, "linux-image-%s", release) >= 0) {
		matches = regexec(&regex, name, 0, NULL, 0) == 0;
		free(name);
	}
	regfree(&regex);
	return matches;
}
