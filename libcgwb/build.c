// SPDX-License-Identifier: GPL-2.0-or-later
#include "build.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/digest.h"
#include "libcgwb/files.h"
#include "libcgwb/host.h"
#include "libcgwb/process.h"

/* Raise it when the way of building changes what comes out. */
#define RECIPE "1"

struct build {
	const struct cgwb_context *context;
	const struct cgwb_kernel *kernel;
	const char *module;
	char *sources; /* the folder */
	char *folder; /* CACHE/modules/RELEASE */
	char *target; /* the finished module's folder, below that */
	char *log;
};

static void build_done(struct build *build)
{
	free(build->sources);
	free(build->folder);
	free(build->target);
	free(build->log);
}

static int is_source(const struct dirent *entry)
{
	const char *name = entry->d_name;
	const char *dot = strrchr(name, '.');

	if (*name == '.')
		return 0;
	if (!strcmp(name, "Kbuild") || !strcmp(name, "Makefile"))
		return 1;
	/* foo.mod.c is what a build in the sources' folder leaves. */
	return dot && !strstr(name, ".mod.") &&
	       (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".S") ||
		!strcmp(dot, ".lds"));
}

/* Calls `each` for every source file, in the order of names. */
static int sources_each(struct build *build,
			int (*each)(struct build *build, const char *path, const char *name,
				    void *user),
			void *user, struct cgwb_error *error)
{
	struct dirent **entries;
	int n, i, ret = 0;

	n = scandir(build->sources, &entries, is_source, alphasort);
	if (n <= 0)
		return cgwb_error_set(
			error, n < 0 ? -errno : -ENOENT,
			"no sources of the module %s in %s: is the installation complete?",
			build->module, build->sources);
	for (i = 0; i < n; i++) {
		char *path = NULL;

		if (ret == 0 && asprintf(&path, "%s/%s", build->sources, entries[i]->d_name) < 0) {
			path = NULL;
			ret = -ENOMEM;
		}
		if (ret == 0) {
			ret = each(build, path, entries[i]->d_name, user);
			if (ret < 0)
				cgwb_error_set(error, ret, "%s: %s", path, strerror(-ret));
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

static int source_digest(struct build *build, const char *path, const char *name, void *user)
{
	char digest[CGWB_DIGEST_SIZE];
	int ret = cgwb_digest_file(path, digest);

	if (ret < 0)
		return ret;
	return fprintf(user, "%s %s\n", name, digest) < 0 ? -EIO : 0;
}

static int source_copy(struct build *build, const char *path, const char *name, void *user)
{
	char *text, *to;
	size_t size;
	int ret;

	ret = cgwb_read_file(path, &text, &size);
	if (ret < 0)
		return ret;
	ret = asprintf(&to, "%s/%s", (const char *)user, name) < 0 ? -ENOMEM : 0;
	if (ret == 0) {
		ret = cgwb_write_file(to, text, size);
		free(to);
	}
	free(text);
	return ret;
}

/*
 * A file of the headers that decides what a module looks like; one that is not there decides
 * nothing.
 */
static int header_digest(struct build *build, const char *name, FILE *stream)
{
	char digest[CGWB_DIGEST_SIZE];
	char *path;
	int ret;

	if (asprintf(&path, "%s/%s", build->kernel->headers_dir, name) < 0)
		return -ENOMEM;
	ret = cgwb_digest_file(path, digest);
	free(path);
	if (ret == -ENOENT)
		return 0;
	if (ret == 0 && fprintf(stream, "%s %s\n", name, digest) < 0)
		ret = -EIO;
	return ret;
}

/* Everything that decides what comes out, as one digest. */
static int build_key(struct build *build, char key[CGWB_DIGEST_SIZE], struct cgwb_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int ret;

	if (!stream)
		return -ENOMEM;
	fprintf(stream, "recipe " RECIPE "\nrelease %s\n", build->kernel->release);
	ret = sources_each(build, source_digest, stream, error);
	if (ret == 0)
		ret = header_digest(build, ".config", stream);
	if (ret == 0)
		ret = header_digest(build, "Module.symvers", stream);
	if (fclose(stream) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0)
		ret = cgwb_digest_bytes(text, size, key);
	free(text);
	return ret;
}

static int tool_missing(const struct cgwb_kernel *kernel, const char *tool,
			struct cgwb_error *error)
{
	char *path;
	int ret = cgwb_find_program(tool, &path);

	if (ret == 0) {
		free(path);
		return 0;
	}
	return cgwb_error_set(error, -ENOPKG,
			      "%s is not installed, and building modules for kernel %s takes it "
			      "(apt-get install %s)",
			      tool, kernel->release, tool);
}

static bool config_says(const char *config, const char *line)
{
	const char *at = config ? strstr(config, line) : NULL;

	return at && (at == config || at[-1] == '\n');
}

/* Debian's headers name the compiler that the kernel was built with. */
static void compiler_name(const char *variables, char name[16])
{
	const char *at = variables ? strstr(variables, "gcc-") : NULL;

	if (!at || sscanf(at, "%15[gc0-9-]", name) != 1)
		strcpy(name, "gcc");
}

/* Whether all programs are there, and with what further arguments make is to be called. */
static int check_tools(struct build *build, const char **ret_llvm, struct cgwb_error *error)
{
	char *variables = NULL, *config = NULL, *path;
	char compiler[16];
	bool clang, btf;
	int ret;

	if (asprintf(&path, "%s/.kernelvariables", build->kernel->headers_dir) < 0)
		return -ENOMEM;
	cgwb_read_file(path, &variables, NULL);
	free(path);
	if (asprintf(&path, "%s/.config", build->kernel->headers_dir) < 0) {
		free(variables);
		return -ENOMEM;
	}
	cgwb_read_file(path, &config, NULL);
	free(path);
	ret = asprintf(&path, "%s/vmlinux", build->kernel->headers_dir) < 0 ? -ENOMEM : 0;
	if (ret < 0)
		goto out;

	compiler_name(variables, compiler);
	clang = config_says(config, "CONFIG_CC_IS_CLANG=y");
	/*
	 * Without a vmlinux the kernel's build says so and makes modules without BTF, which work
	 * too.
	 */
	btf = config_says(config, "CONFIG_DEBUG_INFO_BTF_MODULES=y") && access(path, F_OK) == 0;
	free(path);

	*ret_llvm = clang ? "LLVM=1" : NULL;
	ret = tool_missing(build->kernel, "make", error);
	if (ret == 0)
		ret = tool_missing(build->kernel, clang ? "clang" : compiler, error);
	if (ret == 0 && !clang)
		ret = tool_missing(build->kernel, "ld", error);
	if (ret == 0 && btf)
		ret = tool_missing(build->kernel, "pahole", error);
out:
	free(variables);
	free(config);
	return ret;
}

/*
 * Runs make in `folder`, which has a copy of the sources; `output` is what it said. Returns its
 * exit status.
 */
static int run_make(struct build *build, const char *folder, const char *llvm,
		    struct cgwb_output *output, struct cgwb_error *error)
{
	/* A make that called cgwb must not have a say in this one. */
	static const char *const env[] = { "LC_ALL=C",	 "MAKEFLAGS=",	   "MFLAGS=",
					   "MAKELEVEL=", "CROSS_COMPILE=", NULL };
	char *m = NULL, *flags = NULL, *jobs = NULL, *tree = NULL;
	struct cgwb_host host;
	int ret = -ENOMEM;

	cgwb_host_read(&host);
	if (asprintf(&tree, "%s/../../..", build->kernel->headers_dir) < 0)
		tree = NULL;
	if (tree) {
		char *real = realpath(tree, NULL);

		free(tree);
		tree = real;
	}
	if (asprintf(&m, "M=%s", folder) < 0)
		m = NULL;
	if (asprintf(&jobs, "-j%u", host.cpus) < 0)
		jobs = NULL;
	/*
	 * What a file's name is in debug information and in WARN() must not depend on where the
	 * cache is.
	 */
	if (tree && asprintf(&flags, "KCFLAGS=-ffile-prefix-map=%s=. -ffile-prefix-map=%s=/",
			     folder, strcmp(tree, "/") ? tree : "") < 0)
		flags = NULL;

	if (m && jobs && flags) {
		const char *const argv[] = { "make",	"-C", build->kernel->headers_dir,
					     jobs,	m,    flags,
					     "modules", llvm, NULL };
		const struct cgwb_command command = { .argv = argv, .env = env };

		ret = cgwb_command_run(build->context, &command, output, error);
	}
	free(tree);
	free(jobs);
	free(flags);
	free(m);
	return ret;
}

/* The first line of a build's messages that says why it failed. */
static char *first_complaint(const char *text)
{
	static const char *const signs[] = { "error: ", "ERROR: ", "*** " };
	const char *end;
	size_t i;

	for (; text && *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
			if (memmem(text, end - text, signs[i], strlen(signs[i])))
				return strndup(text, end - text);
		}
	}
	return NULL;
}

static int build_failed(struct build *build, const struct cgwb_output *output, int status,
			struct cgwb_error *error)
{
	char *complaint = first_complaint(output->err);
	char *log;
	int ret;

	if (asprintf(&log, "%s\n%s", output->out ?: "", output->err ?: "") >= 0) {
		cgwb_write_file(build->log, log, strlen(log));
		free(log);
	}
	ret = cgwb_error_set(error, -EBADMSG,
			     "cannot build the module %s for kernel %s: %s (all of it: %s)",
			     build->module, build->kernel->release,
			     complaint ? complaint : "make failed", build->log);
	free(complaint);
	return ret;
}

/* Builds in `temporary`, and makes the folder `finished` with nothing but the module in it. */
static int build_in(struct build *build, char *temporary, const char *llvm,
		    struct cgwb_error *error)
{
	struct cgwb_output output = { 0 };
	char *built = NULL, *finished = NULL, *kept = NULL;
	int ret;

	if (strpbrk(temporary, " \t:"))
		return cgwb_error_set(
			error, -EINVAL,
			"modules cannot be built below %s, whose name has a blank or a "
			"colon in it: set XDG_CACHE_HOME to another folder",
			build->folder);
	ret = sources_each(build, source_copy, temporary, error);
	if (ret < 0)
		return ret;

	ret = run_make(build, temporary, llvm, &output, error);
	if (ret > 0)
		ret = build_failed(build, &output, ret, error);
	cgwb_output_done(&output);
	if (ret < 0)
		return ret;

	ret = -ENOMEM;
	if (asprintf(&built, "%s/%s.ko", temporary, build->module) < 0)
		built = NULL;
	if (asprintf(&finished, "%s/finished", temporary) < 0)
		finished = NULL;
	if (finished && asprintf(&kept, "%s/%s.ko", finished, build->module) < 0)
		kept = NULL;
	if (built && kept) {
		ret = cgwb_mkdir_p(finished);
		if (ret == 0 && rename(built, kept) < 0)
			ret = -errno;
		if (ret == 0 && rename(finished, build->target) < 0)
			ret = -errno;
	}
	free(kept);
	free(finished);
	free(built);
	return ret;
}

/* Under the module's lock: builds unless another process just has. */
static int build_locked(struct build *build, const char *llvm, struct cgwb_error *error)
{
	char *temporary = NULL;
	int ret;

	if (access(build->target, F_OK) == 0)
		return 0;
	cgwb_remove_stale(build->target);

	cgwb_context_step(build->context, "building the module %s for kernel %s", build->module,
			  build->kernel->release);
	ret = cgwb_mkdir_temporary(build->target, &temporary);
	if (ret == 0)
		ret = build_in(build, temporary, llvm, error);
	if (temporary)
		cgwb_remove(temporary);
	free(temporary);
	return ret;
}

static int build_paths(struct build *build, const char *folder, struct cgwb_error *error)
{
	char key[CGWB_DIGEST_SIZE];
	int ret;

	if (asprintf(&build->sources, "%s/kernel/%s", build->context->data_dir, folder) < 0) {
		build->sources = NULL;
		return -ENOMEM;
	}
	if (asprintf(&build->folder, "%s/modules/%s", build->context->cache_dir,
		     build->kernel->release) < 0) {
		build->folder = NULL;
		return -ENOMEM;
	}
	if (asprintf(&build->log, "%s/%s.log", build->folder, build->module) < 0) {
		build->log = NULL;
		return -ENOMEM;
	}
	ret = build_key(build, key, error);
	if (ret < 0)
		return ret;
	if (asprintf(&build->target, "%s/%s-%.16s", build->folder, build->module, key) < 0) {
		build->target = NULL;
		return -ENOMEM;
	}
	return 0;
}

int cgwb_build_module(const struct cgwb_context *context, const struct cgwb_kernel *kernel,
		      const char *folder, const char *module, char **ret_path,
		      struct cgwb_error *error)
{
	struct build build = { .context = context, .kernel = kernel, .module = module };
	const char *llvm = NULL;
	char *lock = NULL;
	int ret, lock_fd = -1;

	if (!kernel->headers_dir)
		return cgwb_error_set(error, -ENOENT,
				      "kernel %s has no headers to build the module %s with: give "
				      "--headers, or --modules with a folder that has %s.ko",
				      kernel->release, module, module);

	ret = build_paths(&build, folder, error);
	if (ret == 0 && access(build.target, F_OK) < 0) {
		ret = check_tools(&build, &llvm, error);
		if (ret == 0)
			ret = cgwb_mkdir_p(build.folder);
		if (ret == 0 && asprintf(&lock, "%s/%s.lock", build.folder, module) < 0) {
			lock = NULL;
			ret = -ENOMEM;
		}
		if (ret == 0)
			ret = lock_fd = cgwb_context_lock(context, lock);
		if (ret >= 0)
			ret = build_locked(&build, llvm, error);
	}
	if (ret == 0 && asprintf(ret_path, "%s/%s.ko", build.target, module) < 0)
		ret = -ENOMEM;
	if (ret < 0)
		cgwb_error_set(error, ret,
			       ret == -EINTR ? "stopped" : "cannot build the module %s in %s: %s",
			       module, build.folder ?: context->cache_dir, strerror(-ret));

	if (lock_fd >= 0)
		close(lock_fd);
	free(lock);
	build_done(&build);
	return ret;
}
