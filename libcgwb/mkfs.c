// SPDX-License-Identifier: GPL-2.0-or-later
#include "mkfs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

struct mkfs {
	json_t *argv;
	struct strbuf extended; /* ext*: what goes into the one -E */
	bool failed;
};

static void add(struct mkfs *mkfs, const char *argument)
{
	if (json_array_append_new(mkfs->argv, json_string(argument)))
		mkfs->failed = true;
}

/* Copies the scenario's options, but for -E of ext*, which is collected. */
static const char *add_options(struct mkfs *mkfs, char *options, bool ext)
{
	char *rest = options, *word;

	while ((word = strtok_r(rest, " \t", &rest))) {
		const char *extended = NULL;

		if (!strncmp(word, "-U", 2))
			return "-U";
		if (strstr(word, "uuid="))
			return "uuid=";

		if (ext && !strcmp(word, "-E"))
			extended = strtok_r(rest, " \t", &rest);
		else if (ext && !strncmp(word, "-E", 2))
			extended = word + 2;
		else
			add(mkfs, word);

		if (!extended)
			continue;
		if (strstr(extended, "hash_seed"))
			return "hash_seed";
		strbuf_addf(&mkfs->extended, "%s,", extended);
	}
	return NULL;
}

static const char *make_argv(struct mkfs *mkfs, const char *type, char *options,
			     struct cgwb_seed *seed)
{
	bool ext = !strncmp(type, "ext", 3);
	char uuid[CGWB_UUID_TEXT], uuid_option[CGWB_UUID_TEXT + 8];
	char program[32];
	const char *wrong;

	cgwb_seed_uuid(seed, uuid);
	snprintf(program, sizeof(program), "mkfs.%s", type);
	add(mkfs, program);
	add(mkfs, "-q");

	if (!strcmp(type, "xfs")) {
		snprintf(uuid_option, sizeof(uuid_option), "uuid=%s", uuid);
		add(mkfs, "-f");
		add(mkfs, "-m");
		add(mkfs, uuid_option);
	} else {
		add(mkfs, ext ? "-F" : "-f");
		add(mkfs, "-U");
		add(mkfs, uuid);
	}

	wrong = add_options(mkfs, options, ext);
	if (!wrong && ext) {
		cgwb_seed_uuid(seed, uuid);
		strbuf_addf(&mkfs->extended, "hash_seed=%s", uuid);
	}
	return wrong;
}

int mkfs_argv(const char *type, const char *options, struct cgwb_seed seed, json_t **ret_argv,
	      const char **ret_wrong)
{
	char *copy = strdup(options ? options : ""), *extended = NULL;
	struct mkfs mkfs = { .argv = json_array(), .extended = STRBUF_INIT };

	*ret_wrong = NULL;
	if (!copy || !mkfs.argv)
		mkfs.failed = true;
	else
		*ret_wrong = make_argv(&mkfs, type, copy, &seed);
	free(copy);

	if (strbuf_finish(&mkfs.extended, &extended))
		mkfs.failed = true;
	if (!mkfs.failed && *extended) {
		add(&mkfs, "-E");
		add(&mkfs, extended);
	}
	free(extended);

	if (mkfs.failed || *ret_wrong) {
		json_decref(mkfs.argv);
		return mkfs.failed ? -ENOMEM : -EINVAL;
	}
	*ret_argv = mkfs.argv;
	return 0;
}
