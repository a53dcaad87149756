// SPDX-License-Identifier: GPL-2.0-or-later
#include "tool.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "libcgwb/nearest.h"

static void vsay(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	fprintf(stderr, "cgwb: %s\n", text);
	free(text);
}

void tool_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

int tool_usage(const char *command, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	tool_say("%s (see cgwb %s%s-h)", text ? text : "wrong usage", command, *command ? " " : "");
	free(text);
	return EXIT_USAGE;
}

int tool_error(struct cgwb_error *error, int err)
{
	char *line = cgwb_error_line(error, err);

	tool_say("%s", line ? line : strerror(-err));
	free(line);
	cgwb_error_done(error);
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int tool_dispatch(const struct tool_command *commands, const char *usage, int argc, char **argv)
{
	const struct tool_command *command;
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(argc > 1 ? argv[1] : "");

	if (argc < 2 || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "help")) {
		FILE *out = argc < 2 ? stderr : stdout;

		fprintf(out, "Usage: %s\n\n", usage);
		for (command = commands; command->name; command++)
			fprintf(out, "  %-10s %s\n", command->name, command->about);
		return argc < 2 ? EXIT_USAGE : tool_flush();
	}
	for (command = commands; command->name; command++) {
		if (!strcmp(command->name, argv[1]))
			return command->main(argc - 1, argv + 1);
		cgwb_nearest_offer(&nearest, command->name);
	}
	if (nearest.best)
		tool_say("no command '%s'; did you mean %s?", argv[1], nearest.best);
	else
		tool_say("no command '%s' (usage: %s)", argv[1], usage);
	return EXIT_USAGE;
}

int tool_option_error(const char *command, const struct option *options, int argc, char **argv,
		      int got)
{
	const char *given = argv[optind - 1];
	char word[64];
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(word);

	if (got == ':')
		return tool_usage(command, "%s needs a value", given);
	if (strncmp(given, "--", 2))
		return tool_usage(command, "no option -%c", optopt);

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(given + 2, "="), given + 2);
	for (; options->name; options++) {
		if (!strcmp(options->name, word))
			return tool_usage(command, "--%s takes no value", word);
		cgwb_nearest_offer(&nearest, options->name);
	}
	if (nearest.best)
		return tool_usage(command, "no option --%s; did you mean --%s?", word,
				  nearest.best);
	return tool_usage(command, "no option --%s", word);
}

static void print_step(void *user, const char *text)
{
	fprintf(stderr, "cgwb: %s ...\n", text);
}

static void print_notice(void *user, const char *text)
{
	fprintf(stderr, "cgwb: note: %s\n", text);
}

int tool_context(struct cgwb_context *context)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct cgwb_error error = CGWB_ERROR_INIT;
	sigset_t set;
	size_t i;
	int ret;

	ret = cgwb_context_init(context, &error);
	if (ret < 0) {
		tool_error(&error, ret);
		return EXIT_FAILED;
	}
	sigemptyset(&set);
	for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	context->cancel_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	context->step = print_step;
	context->notice = print_notice;
	return 0;
}

void tool_context_done(struct cgwb_context *context)
{
	if (context->cancel_fd >= 0)
		close(context->cancel_fd);
	cgwb_context_done(context);
}

int tool_flush(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	if (errno != EPIPE)
		tool_say("cannot write to standard output: %s", strerror(errno));
	return EXIT_FAILED;
}
