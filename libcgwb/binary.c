// SPDX-License-Identifier: GPL-2.0-or-later
#include "binary.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/files.h"
#include "libcgwb/process.h"

void cgwb_binary_done(struct cgwb_binary *binary)
{
	size_t i;

	for (i = 0; i < binary->n; i++) {
		free(binary->files[i].path);
		free(binary->files[i].guest_path);
	}
	free(binary->files);
	free(binary->program);
	free(binary->name);
	free(binary->version);
	*binary = (struct cgwb_binary){ 0 };
}

static int binary_add(struct cgwb_binary *binary, const char *path, const char *guest_path)
{
	struct cgwb_binary_file *bigger;

	bigger = realloc(binary->files, (binary->n + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	binary->files = bigger;
	bigger[binary->n].path = realpath(path, NULL);
	if (!bigger[binary->n].path)
		return -errno;
	bigger[binary->n].guest_path = strdup(guest_path);
	if (!bigger[binary->n].guest_path) {
		free(bigger[binary->n].path);
		return -ENOMEM;
	}
	binary->n++;
	return 0;
}

/*
 * The loader that an ELF program names; empty: it is static, or a kernel module. -ENOEXEC: not for
 * the guest's processor.
 */
static int elf_loader(int fd, char loader[PATH_MAX])
{
	Elf64_Phdr segment;
	Elf64_Ehdr head;
	unsigned int i;
	ssize_t got;

	*loader = '\0';
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != EM_X86_64)
		return -ENOEXEC;
	if (head.e_type == ET_REL)
		return 0;
	if ((head.e_phnum && head.e_phentsize != sizeof(segment)))
		return -ENOEXEC;
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), head.e_phoff + i * sizeof(segment)) !=
		    sizeof(segment))
			return -ENOEXEC;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz >= PATH_MAX)
			return -ENOEXEC;
		got = pread(fd, loader, segment.p_filesz, segment.p_offset);
		if (got != (ssize_t)segment.p_filesz)
			return -ENOEXEC;
		loader[got] = '\0';
		break;
	}
	return 0;
}

/*
 * One line of what the loader lists: `NAME => PATH (0x...)`, `PATH (0x...)`, or `NAME (0x...)` for
 * the vDSO. All libraries go where the C library is, which is where the loader looks without any
 * configuration.
 */
static int add_library(struct cgwb_binary *binary, const char *line, const char *folder,
		       struct cgwb_error *error)
{
	const char *arrow = strstr(line, " => ");
	const char *path = arrow ? arrow + 4 : line;
	char *host, *guest = NULL, *name;
	int ret;

	while (*path == ' ' || *path == '\t')
		path++;
	if (arrow && !strncmp(path, "not found", 9))
		return cgwb_error_set(error, -ENOEXEC, "%s needs a library that is not there: %s",
				      binary->name, line + strspn(line, " \t"));
	if (*path != '/' || !arrow)
		return 0; /* the vDSO, or the loader, which is there already */

	host = strndup(path, strcspn(path, " "));
	name = strndup(line + strspn(line, " \t"), arrow - line - strspn(line, " \t"));
	ret = -ENOMEM;
	/* A library that was linked by its path is looked for there. */
	if (host && name && *name == '/')
		ret = binary_add(binary, host, name);
	else if (host && name && asprintf(&guest, "%s/%s", folder, name) >= 0)
		ret = binary_add(binary, host, guest);
	free(guest);
	free(name);
	free(host);
	return ret;
}

/* The folder in which the loader found the C library, from its list. */
static char *library_folder(const char *list)
{
	const char *libc = strstr(list, "libc.so.6 => ");
	char *path, *folder;

	if (!libc)
		return strdup("/usr/lib");
	libc += strlen("libc.so.6 => ");
	path = strndup(libc, strcspn(libc, " \n"));
	folder = path ? strdup(dirname(path)) : NULL;
	free(path);
	return folder;
}

static int add_libraries(const struct cgwb_context *context, struct cgwb_binary *binary,
			 const char *loader, struct cgwb_error *error)
{
	/* No such level of processors exists, so none of their folders is used. */
	const char *const argv[] = { loader,   "--glibc-hwcaps-mask", "none",
				     "--list", binary->files[0].path, NULL };
	static const char *const env[] = { "LC_ALL=C", "LD_PRELOAD=", "LD_LIBRARY_PATH=", NULL };
	const struct cgwb_command command = { .argv = argv, .env = env };
	struct cgwb_output output = { 0 };
	char *line, *folder = NULL, *rest = NULL;
	int ret;

	ret = cgwb_command_run(context, &command, &output, error);
	if (ret > 0)
		ret = cgwb_error_set(error, -ENOEXEC, "cannot find the libraries of %s: %s",
				     binary->name, cgwb_output_last_line(&output));
	if (ret == 0) {
		folder = library_folder(output.out);
		ret = folder ? binary_add(binary, loader, loader) : -ENOMEM;
	}
	for (line = ret == 0 ? strtok_r(output.out, "\n", &rest) : NULL; line && ret == 0;
	     line = strtok_r(NULL, "\n", &rest))
		ret = add_library(binary, line, folder, error);
	free(folder);
	cgwb_output_done(&output);
	return ret;
}

/* `#!/bin/sh -e`: the shell too. */
static int add_interpreter(const struct cgwb_context *context, struct cgwb_binary *binary,
			   const char *line, struct cgwb_error *error)
{
	struct cgwb_binary interpreter;
	char *path;
	size_t i;
	int ret;

	line += strspn(line, " \t");
	path = strndup(line, strcspn(line, " \t\n"));
	if (!path)
		return -ENOMEM;
	if (*path != '/' || !strcmp(path, "/usr/bin/env"))
		ret = cgwb_error_set(error, -ENOEXEC,
				     "%s is a script of %s: name its interpreter by its path",
				     binary->name, *path ? path : "nothing");
	else
		ret = cgwb_binary_find(context, path, path, NULL, &interpreter, error);
	free(path);
	if (ret < 0)
		return ret;
	for (i = 0; i < interpreter.n && ret == 0; i++)
		ret = binary_add(binary, interpreter.files[i].path,
				 interpreter.files[i].guest_path);
	cgwb_binary_done(&interpreter);
	return ret;
}

static int add_needs(const struct cgwb_context *context, struct cgwb_binary *binary,
		     struct cgwb_error *error)
{
	char loader[PATH_MAX], head[256];
	ssize_t got;
	int fd, ret;

	fd = open(binary->files[0].path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cgwb_error_set(error, -errno, "cannot read %s: %s", binary->files[0].path,
				      strerror(errno));
	got = pread(fd, head, sizeof(head) - 1, 0);
	head[got > 0 ? got : 0] = '\0';
	ret = elf_loader(fd, loader);
	close(fd);

	if (!strncmp(head, "#!", 2))
		return add_interpreter(context, binary, head + 2, error);
	if (ret < 0)
		return cgwb_error_set(error, ret, "%s is no x86-64 program", binary->files[0].path);
	return *loader ? add_libraries(context, binary, loader, error) : 0;
}

/*
 * The first word in what a program says of itself that begins with a digit, or with its name, '-'
 * and a digit.
 */
static char *version_in(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (*text) {
		text += strspn(text, " \t\n,()");
		if (!strncmp(text, name, len) && text[len] == '-' &&
		    isdigit((unsigned char)text[len + 1]))
			text += len + 1;
		if (*text == 'v' && isdigit((unsigned char)text[1]))
			text++;
		if (isdigit((unsigned char)*text))
			return strndup(text, strcspn(text, " \t\n,()"));
		text += strcspn(text, " \t\n,()");
	}
	return NULL;
}

static int ask_version(const struct cgwb_context *context, struct cgwb_binary *binary,
		       const char *option, struct cgwb_error *error)
{
	const char *const argv[] = { binary->files[0].path, option, NULL };
	const struct cgwb_command command = { .argv = argv };
	struct cgwb_output output = { 0 };
	int ret;

	ret = cgwb_command_run(context, &command, &output, error);
	if (ret >= 0) {
		ret = 0;
		binary->version = version_in(output.out ?: "", binary->name);
		if (!binary->version)
			binary->version = version_in(output.err ?: "", binary->name);
	}
	cgwb_output_done(&output);
	return ret;
}

static int digest_files(struct cgwb_binary *binary)
{
	char digest[CGWB_DIGEST_SIZE], *text = NULL;
	size_t size, i;
	FILE *stream = open_memstream(&text, &size);
	int ret = 0;

	if (!stream)
		return -ENOMEM;
	for (i = 0; i < binary->n && ret == 0; i++) {
		ret = cgwb_digest_file(binary->files[i].path, digest);
		if (ret == 0)
			fprintf(stream, "%s %s\n", binary->files[i].guest_path, digest);
	}
	if (fclose(stream) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0)
		ret = cgwb_digest_bytes(text, size, binary->digest);
	free(text);
	return ret;
}

int cgwb_binary_find(const struct cgwb_context *context, const char *program,
		     const char *guest_path, const char *version_option,
		     struct cgwb_binary *ret_binary, struct cgwb_error *error)
{
	struct cgwb_binary *binary = ret_binary;
	const char *slash = strrchr(guest_path, '/');
	char *path;
	int ret;

	*binary = (struct cgwb_binary){ 0 };
	ret = cgwb_find_program(program, &path);
	if (ret < 0)
		return cgwb_error_set(error, ret, "%s: %s", program,
				      strchr(program, '/') ? strerror(-ret) : "not installed");

	binary->name = strdup(slash ? slash + 1 : guest_path);
	binary->program = strdup(program);
	ret = binary->name && binary->program ? binary_add(binary, path, guest_path) : -ENOMEM;
	if (ret == 0)
		ret = add_needs(context, binary, error);
	if (ret == 0 && version_option)
		ret = ask_version(context, binary, version_option, error);
	if (ret == 0)
		ret = digest_files(binary);
	if (ret < 0) {
		cgwb_error_set(error, ret, "cannot put %s into a guest: %s", path, strerror(-ret));
		cgwb_binary_done(binary);
	}
	free(path);
	return ret;
}
