// SPDX-License-Identifier: GPL-2.0-or-later
#include "console.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/files.h"

/*
 * How complaints begin. `start` ones only count at the start of a message: elsewhere they are
 * quoted words, such as a boot line that names an option.
 */
static const struct {
	const char *text;
	bool start;
} complaints[] = {
	{ "WARNING: ", true }, /* WARN(), lockdep */
	{ "BUG: ", true }, /* bad access, KASAN, sleeping while atomic, scheduling while atomic */
	{ "kernel BUG at ", true },
	{ "watchdog: BUG: ", true },
	{ "Oops", true },
	{ "general protection fault", true },
	{ "Internal error", true },
	{ "divide error", true },
	{ "invalid opcode", true },
	{ "stack segment", true },
	{ "double fault", true },
	{ "INFO: task ", true }, /* hung task */
	{ "INFO: possible ", true }, /* lockdep */
	{ "INFO: trying to register non-static key", true },
	{ "INFO: rcu_", true },
	{ "INFO: lockdep is turned off", true },
	{ "rcu: INFO: ", true },
	{ "UBSAN: ", true },
	{ "Kernel panic - not syncing", true },
	{ "Out of memory: ", true },
	{ "Memory cgroup out of memory: ", true },
	{ "page allocation failure", false },
	{ "workqueue lockup", false },
	{ "DEBUG_LOCKS_WARN_ON", false },
	{ "list_add corruption", true },
	{ "list_del corruption", true },
	{ "refcount_t: ", true },
	{ "Buffer I/O error", true },
	{ "I/O error, dev ", true },
	{ "EXT4-fs error", true },
	{ "JBD2: Detected IO errors", true },
	{ "BTRFS error", true },
	{ "BTRFS critical", true },
	{ "XFS: Assertion failed", true },
	{ "Corruption of in-memory data", false },
	{ "livepatch: failed", true },
};

/*
 * Longer than any report's part between its first line and its call trace: registers, modules,
 * taint, code.
 */
#define TRACE_LINES 60

/*
 * The message of a console line: without `[   12.345678] `, or, with printk.caller, `[
 * 12.345678][   T12] `.
 */
static const char *line_message(const char *line, const char *end)
{
	const char *at = line;

	while (at < end && *at == '[') {
		const char *close = memchr(at, ']', end - at);

		if (!close)
			break;
		at = close + 1;
	}
	while (at < end && *at == ' ')
		at++;
	return at;
}

static bool line_complains(const char *message, const char *end)
{
	size_t size = end - message;
	size_t i;

	for (i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
		size_t len = strlen(complaints[i].text);

		if (complaints[i].start ? len <= size && !memcmp(message, complaints[i].text, len) :
					  memmem(message, size, complaints[i].text, len) != NULL)
			return true;
	}
	return false;
}

static bool line_is(const char *message, const char *end, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(end - message) >= len && !memcmp(message, text, len);
}

/* A line as a string: what a terminal might take for a command is not kept. */
static char *line_copy(const char *message, const char *end)
{
	char *copy = strndup(message, end - message);
	char *at;

	for (at = copy; at && *at; at++) {
		if (iscntrl((unsigned char)*at))
			*at = ' ';
	}
	return copy;
}

static int scan_line(struct cgwb_console *console, const char *line, const char *end,
		     unsigned int *since)
{
	const char *message = line_message(line, end);
	bool trace = line_is(message, end, "Call Trace:") && *since > TRACE_LINES;

	(*since)++;
	if (line_is(message, end, "Kernel panic - not syncing")) {
		console->panicked = true;
		if (!console->panic)
			console->panic = line_copy(message, end);
		if (!console->panic)
			return -ENOMEM;
	}
	if (!trace && !line_complains(message, end))
		return 0;

	*since = 0;
	console->warn++;
	if (!console->first)
		console->first = line_copy(message, end);
	return console->first ? 0 : -ENOMEM;
}

int cgwb_console_scan(struct cgwb_console *console, const char *text, size_t size)
{
	unsigned int since = TRACE_LINES + 1; /* lines since a complaint */
	const char *end = text + size;
	int ret = 0;

	*console = (struct cgwb_console){ 0 };

	while (text < end && ret == 0) {
		const char *newline = memchr(text, '\n', end - text);
		const char *stop = newline ? newline : end;

		while (stop > text && stop[-1] == '\r')
			stop--;
		ret = scan_line(console, text, stop, &since);
		text = newline ? newline + 1 : end;
	}
	if (ret < 0)
		cgwb_console_done(console);
	return ret;
}

int cgwb_console_scan_file(struct cgwb_console *console, const char *path)
{
	char *text;
	size_t size;
	int ret;

	ret = cgwb_read_file(path, &text, &size);
	if (ret < 0)
		return ret;
	ret = cgwb_console_scan(console, text, size);
	free(text);
	return ret;
}

void cgwb_console_done(struct cgwb_console *console)
{
	free(console->first);
	free(console->panic);
	*console = (struct cgwb_console){ 0 };
}
