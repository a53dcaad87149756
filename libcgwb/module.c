// SPDX-License-Identifier: GPL-2.0-or-later
#include "module.h"

#include <errno.h>
#include <fts.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkmod.h>

#include "libcgwb/files.h"

struct cgwb_module_index {
	const struct cgwb_kernel *kernel;
	struct kmod_ctx *kmod;
	struct cgwb_modules files; /* sorted by name */
	struct cgwb_modules built_in; /* sorted by name; paths are NULL */
};

void cgwb_modules_done(struct cgwb_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->n; i++) {
		free(modules->modules[i].name);
		free(modules->modules[i].path);
	}
	free(modules->modules);
	*modules = (struct cgwb_modules){ 0 };
}

/*
 * The name of a module in a file of that name: foo-bar.ko.xz is foo_bar. NULL in `*ret`: not a
 * module's file.
 */
static int module_name(const char *file, char **ret)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	const char *ko = strstr(base, ".ko");
	char *at;

	*ret = NULL;
	if (!ko || (ko[3] && ko[3] != '.'))
		return 0;
	*ret = strndup(base, ko - base);
	if (!*ret)
		return -ENOMEM;
	for (at = *ret; *at; at++) {
		if (*at == '-')
			*at = '_';
	}
	return 0;
}

/* Appends a module of that name; `path` may be NULL. Doubles the room at powers of 2. */
static int modules_append(struct cgwb_modules *modules, const char *name, const char *path)
{
	struct cgwb_module module = { strdup(name), path ? strdup(path) : NULL };
	struct cgwb_module *bigger;

	if (!module.name || (path && !module.path))
		goto fail;
	if ((modules->n & (modules->n - 1)) == 0) {
		bigger = realloc(modules->modules,
				 (modules->n ? modules->n * 2 : 1) * sizeof(*bigger));
		if (!bigger)
			goto fail;
		modules->modules = bigger;
	}
	modules->modules[modules->n++] = module;
	return 0;
fail:
	free(module.name);
	free(module.path);
	return -ENOMEM;
}

static int modules_append_file(struct cgwb_modules *modules, const char *file, bool with_path)
{
	char *name;
	int ret;

	ret = module_name(file, &name);
	if (ret == 0 && name)
		ret = modules_append(modules, name, with_path ? file : NULL);
	free(name);
	return ret;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct cgwb_module *)a)->name, ((const struct cgwb_module *)b)->name);
}

static void modules_sort(struct cgwb_modules *modules)
{
	if (modules->n)
		qsort(modules->modules, modules->n, sizeof(*modules->modules), compare);
}

/* `name` with any mixture of '-' and '_'. */
static const struct cgwb_module *modules_find(const struct cgwb_modules *modules, const char *name)
{
	struct cgwb_module key = { 0 };
	const struct cgwb_module *found;
	char *at;

	key.name = strdup(name);
	if (!key.name || !modules->n) {
		free(key.name);
		return NULL;
	}
	for (at = key.name; *at; at++) {
		if (*at == '-')
			*at = '_';
	}
	found = bsearch(&key, modules->modules, modules->n, sizeof(key), compare);
	free(key.name);
	return found;
}

static int index_files(struct cgwb_module_index *index)
{
	char *roots[] = { index->kernel->modules_dir, NULL };
	FTSENT *entry;
	int ret = 0;
	FTS *fts;

	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!fts)
		return -errno;
	/* `build` and `source` are links, which are not followed. */
	while (ret == 0 && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_F)
			ret = modules_append_file(&index->files, entry->fts_path, true);
	}
	fts_close(fts);
	modules_sort(&index->files);
	return ret;
}

static int index_built_in(struct cgwb_module_index *index)
{
	char *path, *text, *line, *rest = NULL;
	int ret;

	if (asprintf(&path, "%s/modules.builtin", index->kernel->modules_dir) < 0)
		return -ENOMEM;
	ret = cgwb_read_file(path, &text, NULL);
	free(path);
	if (ret < 0)
		return ret == -ENOENT ? 0 : ret;
	for (line = strtok_r(text, "\n", &rest); line && ret == 0;
	     line = strtok_r(NULL, "\n", &rest))
		ret = modules_append_file(&index->built_in, line, false);
	free(text);
	modules_sort(&index->built_in);
	return ret;
}

int cgwb_module_index_new(const struct cgwb_kernel *kernel, struct cgwb_module_index **ret_index,
			  struct cgwb_error *error)
{
	static const char *const no_config[] = { NULL };
	struct cgwb_module_index *index = calloc(1, sizeof(*index));
	int ret = 0;

	if (!index)
		return -ENOMEM;
	index->kernel = kernel;
	/* Neither the host's configuration nor its modules are of any interest. */
	index->kmod = kmod_new("/nonexistent", no_config);
	if (!index->kmod)
		ret = -ENOMEM;
	if (ret == 0 && kernel->modules_dir) {
		ret = index_files(index);
		if (ret == 0)
			ret = index_built_in(index);
		if (ret < 0)
			cgwb_error_set(error, ret, "cannot read the modules in %s: %s",
				       kernel->modules_dir, strerror(-ret));
	}
	if (ret < 0)
		cgwb_module_index_free(index);
	else
		*ret_index = index;
	return ret;
}

struct cgwb_module_index *cgwb_module_index_free(struct cgwb_module_index *index)
{
	if (!index)
		return NULL;
	if (index->kmod)
		kmod_unref(index->kmod);
	cgwb_modules_done(&index->files);
	cgwb_modules_done(&index->built_in);
	free(index);
	return NULL;
}

const char *cgwb_module_index_find(const struct cgwb_module_index *index, const char *name)
{
	const struct cgwb_module *module = modules_find(&index->files, name);

	return module ? module->path : NULL;
}

bool cgwb_module_index_built_in(const struct cgwb_module_index *index, const char *name)
{
	return !index->kernel->modules_dir || modules_find(&index->built_in, name);
}

static bool modules_have(const struct cgwb_modules *modules, const char *name)
{
	size_t i;

	for (i = 0; i < modules->n; i++) {
		if (!strcmp(modules->modules[i].name, name))
			return true;
	}
	return false;
}

static int check_vermagic(struct cgwb_module_index *index, const char *path, const char *vermagic,
			  struct cgwb_error *error)
{
	size_t len = strcspn(vermagic, " ");

	if (strlen(index->kernel->release) == len &&
	    !strncmp(vermagic, index->kernel->release, len))
		return 0;
	return cgwb_error_set(error, -ENOEXEC, "%s is a module for kernel %.*s, not for %s", path,
			      (int)len, vermagic, index->kernel->release);
}

/*
 * `depends`: names separated by commas, all needed. `softdep`: `pre: a b post: c`, wished for.
 * crc32c is one that several modules provide; the generic one always works.
 */
static int add_needs(struct cgwb_modules *modules, struct cgwb_module_index *index,
		     const char *text, bool soft, struct cgwb_error *error)
{
	char *copy = strdup(text), *at, *rest = NULL, *generic;
	bool pre = !soft;
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	for (at = strtok_r(copy, ", ", &rest); at && ret == 0; at = strtok_r(NULL, ", ", &rest)) {
		if (soft && at[strlen(at) - 1] == ':') {
			pre = !strcmp(at, "pre:");
			continue;
		}
		if (!pre)
			continue;
		if (!soft || cgwb_module_index_find(index, at)) {
			ret = cgwb_modules_add(modules, index, at, error);
			continue;
		}
		if (asprintf(&generic, "%s_generic", at) < 0) {
			ret = -ENOMEM;
			break;
		}
		if (cgwb_module_index_find(index, generic))
			ret = cgwb_modules_add(modules, index, generic, error);
		free(generic);
	}
	free(copy);
	return ret;
}

static int read_info(struct cgwb_modules *modules, struct cgwb_module_index *index,
		     const char *path, struct kmod_list *info, struct cgwb_error *error)
{
	struct kmod_list *at;
	int ret = 0;

	kmod_list_foreach(at, info) {
		const char *key = kmod_module_info_get_key(at);
		const char *value = kmod_module_info_get_value(at);

		if (!strcmp(key, "vermagic"))
			ret = check_vermagic(index, path, value, error);
		else if (!strcmp(key, "depends") || !strcmp(key, "softdep"))
			ret = add_needs(modules, index, value, *key == 's', error);
		if (ret < 0)
			break;
	}
	return ret;
}

int cgwb_modules_add_file(struct cgwb_modules *modules, struct cgwb_module_index *index,
			  const char *path, struct cgwb_error *error)
{
	struct kmod_list *info = NULL;
	struct kmod_module *module = NULL;
	char *name = NULL;
	int ret;

	ret = module_name(path, &name);
	if (ret < 0)
		return ret;
	if (!name)
		return cgwb_error_set(error, -EINVAL, "%s is no module: no .ko in its name", path);
	if (modules_have(modules, name))
		goto out;

	ret = kmod_module_new_from_path(index->kmod, path, &module);
	if (ret == 0)
		ret = kmod_module_get_info(module, &info);
	if (ret < 0) {
		cgwb_error_set(error, ret, "cannot read the module %s: %s", path, strerror(-ret));
		goto out;
	}
	ret = read_info(modules, index, path, info, error);
	if (ret == 0 && !modules_have(modules, name))
		ret = modules_append(modules, name, path);
out:
	if (info)
		kmod_module_info_free_list(info);
	if (module)
		kmod_module_unref(module);
	free(name);
	return ret;
}

int cgwb_modules_add(struct cgwb_modules *modules, struct cgwb_module_index *index,
		     const char *name, struct cgwb_error *error)
{
	const char *path = cgwb_module_index_find(index, name);

	if (path)
		return cgwb_modules_add_file(modules, index, path, error);
	if (cgwb_module_index_built_in(index, name))
		return 0;
	return cgwb_error_set(error, -ENOENT,
			      "kernel %s has no module %s: neither built in nor in %s",
			      index->kernel->release, name, index->kernel->modules_dir);
}
