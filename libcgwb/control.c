// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"
#include "units.h"

enum control_type {
	CONTROL_TEXT,
	CONTROL_SIZE, /* bytes, or "max" */
	CONTROL_DISK, /* DISK, then words; those that end in bps= are sizes, target= is a time */
	CONTROL_WEIGHT, /* a number, or `default N`, or `DISK N` */
};

/*
 * Documentation/admin-guide/cgroup-v2.rst: the files that can be written and are a setting, 6.1 and
 * 6.12.
 */
static const struct control {
	const char *file;
	enum control_type type;
} controls[] = {
	{ "cgroup.max.depth", CONTROL_TEXT },
	{ "cgroup.max.descendants", CONTROL_TEXT },
	{ "cgroup.pressure", CONTROL_TEXT },
	{ "cgroup.type", CONTROL_TEXT },
	{ "cpu.idle", CONTROL_TEXT },
	{ "cpu.max", CONTROL_TEXT },
	{ "cpu.max.burst", CONTROL_TEXT },
	{ "cpu.weight", CONTROL_TEXT },
	{ "cpu.weight.nice", CONTROL_TEXT },
	{ "cpuset.cpus", CONTROL_TEXT },
	{ "cpuset.mems", CONTROL_TEXT },
	{ "io.bfq.weight", CONTROL_WEIGHT },
	{ "io.latency", CONTROL_DISK },
	{ "io.max", CONTROL_DISK },
	{ "io.prio.class", CONTROL_TEXT },
	{ "io.weight", CONTROL_WEIGHT },
	{ "memory.high", CONTROL_SIZE },
	{ "memory.low", CONTROL_SIZE },
	{ "memory.max", CONTROL_SIZE },
	{ "memory.min", CONTROL_SIZE },
	{ "memory.oom.group", CONTROL_TEXT },
	{ "memory.swap.high", CONTROL_SIZE },
	{ "memory.swap.max", CONTROL_SIZE },
	{ "memory.zswap.max", CONTROL_SIZE },
	{ "memory.zswap.writeback", CONTROL_TEXT },
	{ "pids.max", CONTROL_TEXT },
	{ NULL, 0 },
};

static const struct control *control_find(const char *file)
{
	for (const struct control *control = controls; control->file; control++) {
		if (!strcmp(control->file, file))
			return control;
	}
	return NULL;
}

bool control_known(const char *file)
{
	return control_find(file) != NULL;
}

void control_offer(struct cgwb_nearest *nearest)
{
	for (const struct control *control = controls; control->file; control++)
		cgwb_nearest_offer(nearest, control->file);
}

int control_disk(const char *file, const char *value, char **ret_disk)
{
	const struct control *control = control_find(file);
	size_t length = strcspn(value, " \t");
	char *disk = NULL;

	if (control && (control->type == CONTROL_DISK ||
			(control->type == CONTROL_WEIGHT && value[length] &&
			 (length != strlen("default") || strncmp(value, "default", length))))) {
		disk = strndup(value, length);
		if (!disk)
			return -ENOMEM;
	}
	*ret_disk = disk;
	return 0;
}

/* The settings of the files that take a disk first, and how their values are read. */
static const struct setting {
	const char *name;
	int (*parse)(const char *text, uint64_t *ret_value);
	uint64_t divisor; /* from what is read to what the kernel takes */
} settings[] = {
	{ "rbps", cgwb_parse_bytes, 1 },   { "wbps", cgwb_parse_bytes, 1 },
	{ "riops", cgwb_parse_u64, 1 },	   { "wiops", cgwb_parse_u64, 1 },
	{ "target", cgwb_parse_ns, 1000 }, { NULL, NULL, 0 },
};

/* One word of io.max or io.latency, to the buffer; -EINVAL: it is none */
static int print_setting(struct strbuf *buf, const char *word)
{
	size_t length = strcspn(word, "=");
	uint64_t value;

	for (const struct setting *setting = settings; setting->name; setting++) {
		if (strlen(setting->name) != length || strncmp(word, setting->name, length))
			continue;
		if (!strcmp(word + length, "=max")) {
			strbuf_addf(buf, " %s", word);
			return 0;
		}
		if (!word[length] || setting->parse(word + length + 1, &value))
			return -EINVAL;
		strbuf_addf(buf, " %s=%" PRIu64, setting->name, value / setting->divisor);
		return 0;
	}
	return -EINVAL;
}

/* DISK NAME=VALUE ... */
static int print_disk_value(struct strbuf *buf, char *words, char **ret_wrong)
{
	char *word, *rest = words;

	word = strtok_r(rest, " \t", &rest);
	if (!word)
		return -EINVAL;
	strbuf_addf(buf, "%s", word);

	while ((word = strtok_r(rest, " \t", &rest))) {
		if (print_setting(buf, word)) {
			*ret_wrong = strdup(word);
			return *ret_wrong ? -EINVAL : -ENOMEM;
		}
	}
	return 0;
}

static int print_value(struct strbuf *buf, enum control_type type, char *value, char **ret_wrong)
{
	uint64_t bytes;

	switch (type) {
	case CONTROL_SIZE:
		if (strcmp(value, "max")) {
			if (cgwb_parse_bytes(value, &bytes)) {
				*ret_wrong = strdup(value);
				return *ret_wrong ? -EINVAL : -ENOMEM;
			}
			strbuf_addf(buf, "%" PRIu64, bytes);
			return 0;
		}
		break;
	case CONTROL_DISK:
		return print_disk_value(buf, value, ret_wrong);
	case CONTROL_TEXT:
	case CONTROL_WEIGHT:
		break;
	}

	strbuf_addf(buf, "%s", value);
	return 0;
}

int control_value(const char *file, const char *value, char **ret_value, char **ret_wrong)
{
	const struct control *control = control_find(file);
	struct strbuf buf = STRBUF_INIT;
	char *copy = strdup(value);
	int err;

	*ret_wrong = NULL;
	if (!copy)
		return -ENOMEM;

	err = control ? print_value(&buf, control->type, copy, ret_wrong) : -EINVAL;
	free(copy);
	if (err)
		strbuf_done(&buf);
	else
		err = strbuf_finish(&buf, ret_value);
	return err;
}
