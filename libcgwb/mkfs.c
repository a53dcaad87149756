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

/* The letters after which a program takes what follows as an argument */
static const char *letters_with_argument(const char *type)
{
	if (!strcmp(type, "xfs"))
		return "bcdilLmnprs";
	if (!strcmp(type, "btrfs"))
		return "AblnsmdLROrU";
	return "bCdEegGiIJlLmMNoOrRstTU";
}

/*
 * Letters may stand together: -qFE is -q, -F and -E. Only the last can have an argument: that one,
 * or the end of the word.
 */
static char *last_letter(char *word, const char *type)
{
	if (word[0] != '-' || word[1] == '-')
		return word + strlen(word);
	return word + 1 + strcspn(word + 1, letters_with_argument(type));
}

/* Copies the scenario's options, but for -E of ext*, which is collected. -R is an old name for it. */
static const char *add_options(struct mkfs *mkfs, const char *type, char *options, bool ext)
{
	char *rest = options, *word;

	while ((word = strtok_r(rest, " \t", &rest))) {
		char *letter = last_letter(word, type);
		const char *extended = NULL;

		if (*letter == 'U')
			return "-U";
		if (!strncmp(word, "--u", 3))
			return "--uuid";
		if (strstr(word, "uuid="))
			return "uuid=";

		if (ext && (*letter == 'E' || *letter == 'R')) {
			extended = letter[1] ? letter + 1 : strtok_r(rest, " \t", &rest);
			*letter = '\0';
		}
		if (strcmp(word, "-"))
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

	wrong = add_options(mkfs, type, options, ext);
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
