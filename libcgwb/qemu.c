// SPDX-License-Identifier: GPL-2.0-or-later
#include "qemu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/files.h"
#include "libcgwb/process.h"

#define QEMU "qemu-system-x86_64"

void cgwb_qemu_done(struct cgwb_qemu *qemu)
{
	free(qemu->path);
	free(qemu->version);
	*qemu = (struct cgwb_qemu){ 0 };
}

int cgwb_qemu_find(const struct cgwb_context *context, struct cgwb_qemu *ret_qemu,
		   struct cgwb_error *error)
{
	static const char before[] = "version ";
	struct cgwb_output output = { 0 };
	const char *at;
	int ret;

	*ret_qemu = (struct cgwb_qemu){ 0 };
	if (cgwb_find_program(QEMU, &ret_qemu->path) < 0)
		return cgwb_error_set(error, -ENOPKG,
				      QEMU " is not installed (apt-get install qemu-system-x86)");

	const char *const argv[] = { ret_qemu->path, "--version", NULL };
	const struct cgwb_command command = { .argv = argv };

	ret = cgwb_command_run(context, &command, &output, error);
	if (ret >= 0) {
		at = output.out ? strstr(output.out, before) : NULL;
		if (ret == 0 && at)
			ret_qemu->version =
				strndup(at + strlen(before), strcspn(at + strlen(before), "\n"));
		ret = ret_qemu->version ?
			      0 :
			      cgwb_error_set(error, -ENOEXEC,
					     "%s --version does not say a version: %s",
					     ret_qemu->path, cgwb_output_last_line(&output));
	}
	cgwb_output_done(&output);
	if (ret < 0)
		cgwb_qemu_done(ret_qemu);
	return ret;
}

struct argv {
	char **argv;
	size_t n;
	bool failed; /* out of memory */
};

static void __attribute__((format(printf, 2, 3)))
argv_add(struct argv *argv, const char *format, ...)
{
	char **bigger = realloc(argv->argv, (argv->n + 2) * sizeof(*bigger));
	va_list args;

	if (!bigger) {
		argv->failed = true;
		return;
	}
	argv->argv = bigger;
	bigger[argv->n + 1] = NULL;
	va_start(args, format);
	if (vasprintf(&bigger[argv->n], format, args) < 0)
		bigger[argv->n] = NULL;
	va_end(args);
	if (bigger[argv->n])
		argv->n++;
	else
		argv->failed = true;
}

/* A path within an option's value, where a comma would end it and two stand for one. */
static void argv_add_path(struct argv *argv, const char *option, const char *path)
{
	char *doubled = malloc(strlen(path) * 2 + 1), *to = doubled;

	if (!doubled) {
		argv->failed = true;
		return;
	}
	for (; *path; path++) {
		if (*path == ',')
			*to++ = ',';
		*to++ = *path;
	}
	*to = '\0';
	argv_add(argv, "%s%s", option, doubled);
	free(doubled);
}

/* The time of the guest is its own: that of the instructions it has executed. */
static void argv_add_virtual_time(struct argv *argv)
{
	argv_add(argv, "-accel");
	argv_add(argv, "tcg,thread=single");
	argv_add(argv, "-icount");
	argv_add(argv, "shift=1,sleep=off");
	argv_add(argv, "-rtc");
	argv_add(argv, "base=2026-01-01,clock=vm");
	/* Without RDRAND: the kernel's random numbers come from the seed. */
	argv_add(argv, "-cpu");
	argv_add(argv, "qemu64");
	argv_add(argv, "-seed");
	argv_add(argv, "1");
}

int cgwb_qemu_argv(const struct cgwb_qemu *qemu, const json_t *machine,
		   const struct cgwb_qemu_files *files, char ***ret_argv, struct cgwb_error *error)
{
	json_int_t cpus, ram_bytes, mem_limit_bytes;
	struct argv argv = { 0 };

	if (json_unpack((json_t *)machine, "{s:I, s:I, s:I}", "cpus", &cpus, "ram_bytes",
			&ram_bytes, "mem_limit_bytes", &mem_limit_bytes) < 0)
		return cgwb_error_set(error, -EINVAL, "the cell has no whole `machine`");

	argv_add(&argv, "%s", qemu->path);
	argv_add(&argv, "-nodefaults");
	argv_add(&argv, "-no-user-config");
	argv_add(&argv, "-machine");
	argv_add(&argv, "q35,max-ram-below-4g=2G,memory-backend=ram");
	argv_add(&argv, "-object");
	argv_add(&argv, "memory-backend-ram,id=ram,size=%" JSON_INTEGER_FORMAT ",reserve=off",
		 ram_bytes);
	argv_add(&argv, "-m");
	argv_add(&argv, "size=%" JSON_INTEGER_FORMAT "B", ram_bytes);
	argv_add(&argv, "-smp");
	argv_add(&argv, "%" JSON_INTEGER_FORMAT, cpus);
	argv_add_virtual_time(&argv);
	argv_add(&argv, "-display");
	argv_add(&argv, "none");
	argv_add(&argv, "-serial");
	argv_add_path(&argv, "file:", files->console);
	argv_add(&argv, "-serial");
	argv_add_path(&argv, "file:", files->result);
	argv_add(&argv, "-device");
	argv_add(&argv, "isa-debug-exit,iobase=0xf4,iosize=4");
	/* With panic=-1: a kernel that panics ends QEMU. */
	argv_add(&argv, "-no-reboot");
	argv_add(&argv, "-kernel");
	argv_add(&argv, "%s", files->kernel);
	argv_add(&argv, "-initrd");
	argv_add(&argv, "%s", files->initrd);
	argv_add(&argv, "-append");
	/*
	 * loglevel 5: warnings reach the console, where they are counted. The crypto algorithms'
	 * self-tests would take more than half of the boot.
	 */
	argv_add(&argv,
		 "console=ttyS0 loglevel=5 panic=-1 nokaslr norandmaps cryptomgr.notests "
		 "mem=%" JSON_INTEGER_FORMAT,
		 mem_limit_bytes);

	if (argv.failed) {
		cgwb_qemu_argv_free(argv.argv);
		return -ENOMEM;
	}
	*ret_argv = argv.argv;
	return 0;
}

char **cgwb_qemu_argv_free(char **argv)
{
	char **at;

	for (at = argv; at && *at; at++)
		free(*at);
	free(argv);
	return NULL;
}

static void put_quoted(FILE *stream, const char *word)
{
	const char *at;

	for (at = word; *at && (isalnum((unsigned char)*at) || strchr("-_./,:=+%@", *at)); at++)
		;
	if (*word && !*at) {
		fputs(word, stream);
		return;
	}
	fputc('\'', stream);
	for (at = word; *at; at++) {
		if (*at == '\'')
			fputs("'\\''", stream);
		else
			fputc(*at, stream);
	}
	fputc('\'', stream);
}

char *cgwb_qemu_argv_text(char *const argv[])
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	size_t i;

	if (!stream)
		return NULL;
	for (i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', stream);
		put_quoted(stream, argv[i]);
	}
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
