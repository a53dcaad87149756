// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/digest.h"
#include "libcgwb/initramfs.h"

#define POLICY_MODULE "cgwb"
#define DISK_MODULE "cgwb_disk"

struct cgwb_boot {
	struct cgwb_kit *kit;
	const struct cgwb_scenario *scenario;
	const struct cgwb_cell *cell;
	json_t *json; /* the cell, of the kit's kernel */
	json_t *inputs;
	json_t *modules; /* parts of the inputs */
	json_t *programs;
	struct cgwb_initramfs *initramfs;
};

struct cgwb_boot *cgwb_boot_free(struct cgwb_boot *boot)
{
	if (!boot)
		return NULL;
	cgwb_initramfs_free(boot->initramfs);
	json_decref(boot->programs);
	json_decref(boot->modules);
	json_decref(boot->inputs);
	json_decref(boot->json);
	free(boot);
	return NULL;
}

const json_t *cgwb_boot_cell(const struct cgwb_boot *boot)
{
	return boot->json;
}

const json_t *cgwb_boot_inputs(const struct cgwb_boot *boot)
{
	return boot->inputs;
}

const char *cgwb_boot_name(const struct cgwb_boot *boot)
{
	return cgwb_cell_name(boot->cell);
}

uint64_t cgwb_boot_initramfs_bytes(const struct cgwb_boot *boot)
{
	return cgwb_initramfs_bytes(boot->initramfs);
}

uint64_t cgwb_boot_host_memory_bytes(const struct cgwb_boot *boot)
{
	return cgwb_cell_host_memory_bytes(boot->cell);
}

double cgwb_boot_virtual_s(const struct cgwb_boot *boot)
{
	return cgwb_cell_virtual_s(boot->cell);
}

static json_t *digest_json(const char *digest)
{
	return json_sprintf("sha256:%s", digest);
}

/* Of a file of the host's, as a member of `object`. */
static int add_digest(struct cgwb_boot *boot, json_t *object, const char *key, const char *path,
		      struct cgwb_error *error)
{
	char digest[CGWB_DIGEST_SIZE];
	int ret;

	ret = cgwb_kit_digest(boot->kit, path, digest, error);
	if (ret < 0)
		return ret;
	return json_object_set_new(object, key, digest_json(digest)) < 0 ? -ENOMEM : 0;
}

/* A kernel module, and its line in `list` if it is to be loaded before anything else. */
static int add_module(struct cgwb_boot *boot, const struct cgwb_module *module, FILE *list,
		      struct cgwb_error *error)
{
	char *path;
	int ret;

	if (asprintf(&path, "/modules/%s.ko", module->name) < 0)
		return -ENOMEM;
	if (list)
		fprintf(list, "%s\n", path);
	ret = cgwb_initramfs_add_module(boot->initramfs, path, module->path);
	if (ret == 0)
		ret = add_digest(boot, boot->modules, module->name, module->path, error);
	free(path);
	return ret;
}

/* A filesystem's module. ext2 and ext3 are ext4's where they have none of their own. */
static int need_filesystem(struct cgwb_boot *boot, struct cgwb_modules *modules, const char *type,
			   struct cgwb_error *error)
{
	struct cgwb_module_index *index = boot->kit->index;

	if (!strncmp(type, "ext", 3) && !cgwb_module_index_find(index, type) &&
	    !cgwb_module_index_built_in(index, type))
		type = "ext4";
	return cgwb_modules_add(modules, index, type, error);
}

/* A scheduler's module is its name, but for kyber's. */
static int need_scheduler(struct cgwb_boot *boot, struct cgwb_modules *modules, const char *name,
			  struct cgwb_error *error)
{
	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "kyber"))
		name = "kyber-iosched";
	return cgwb_modules_add(modules, boot->kit->index, name, error);
}

static int need_own(struct cgwb_boot *boot, struct cgwb_modules *modules, const char *name,
		    struct cgwb_error *error)
{
	const char *path;
	int ret;

	ret = cgwb_kit_module(boot->kit, name, &path, error);
	return ret < 0 ? ret : cgwb_modules_add_file(modules, boot->kit->index, path, error);
}

static bool asks_for(const struct cgwb_boot *boot, const char *module)
{
	const char *const *at;

	for (at = cgwb_cell_modules(boot->cell); at && *at; at++) {
		if (!strcmp(*at, module))
			return true;
	}
	return false;
}

/* What is loaded at boot. */
static int need_modules(struct cgwb_boot *boot, struct cgwb_modules *modules,
			struct cgwb_error *error)
{
	const json_t *disks = json_object_get(boot->json, "disks"), *item;
	const char *const *at;
	size_t i;
	int ret = 0;

	json_array_foreach(json_object_get(boot->json, "mounts"), i, item) {
		if (ret == 0)
			ret = need_filesystem(boot, modules,
					      json_string_value(json_object_get(item, "type")),
					      error);
	}
	json_array_foreach(disks, i, item) {
		if (ret == 0)
			ret = need_scheduler(boot, modules,
					     json_string_value(json_object_get(item, "scheduler")),
					     error);
	}
	for (at = cgwb_cell_modules(boot->cell); ret == 0 && at && *at; at++) {
		if (strcmp(*at, POLICY_MODULE) && strcmp(*at, DISK_MODULE))
			ret = cgwb_modules_add(modules, boot->kit->index, *at, error);
	}
	if (ret == 0 && (json_array_size(disks) || asks_for(boot, DISK_MODULE)))
		ret = need_own(boot, modules, DISK_MODULE, error);
	return ret;
}

static int add_modules(struct cgwb_boot *boot, struct cgwb_error *error)
{
	bool policy = json_is_object(json_object_get(boot->json, "policy")) ||
		      asks_for(boot, POLICY_MODULE);
	struct cgwb_modules modules = { 0 };
	char *text = NULL;
	size_t size, loaded, i;
	FILE *list = open_memstream(&text, &size);
	int ret;

	if (!list)
		return -ENOMEM;
	ret = need_modules(boot, &modules, error);
	loaded = modules.n;
	/* The policy's module comes along, and the guest loads it when everything is prepared. */
	if (ret == 0 && policy)
		ret = need_own(boot, &modules, POLICY_MODULE, error);
	for (i = 0; i < modules.n && ret == 0; i++)
		ret = add_module(
			boot, &modules.modules[i],
			i < loaded || strcmp(modules.modules[i].name, POLICY_MODULE) ? list : NULL,
			error);
	if (fclose(list) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0)
		ret = cgwb_initramfs_add_data(boot->initramfs, "/modules.load", 0644, text, size);
	free(text);
	cgwb_modules_done(&modules);
	return ret;
}

static int add_program(struct cgwb_boot *boot, const char *program, const char *guest_path,
		       const char *version_option, struct cgwb_error *error)
{
	const struct cgwb_binary *binary;
	size_t i;
	int ret;

	ret = cgwb_kit_binary(boot->kit, program, guest_path, version_option, &binary, error);
	for (i = 0; ret == 0 && i < binary->n; i++)
		ret = cgwb_initramfs_add_file(boot->initramfs, binary->files[i].guest_path, 0755,
					      binary->files[i].path);
	if (ret < 0)
		return ret;
	return json_object_set_new(boot->programs, binary->name,
				   json_pack("{s:s*, s:o}", "version", binary->version, "digest",
					     digest_json(binary->digest))) < 0 ?
		       -ENOMEM :
		       0;
}

static int add_bin(struct cgwb_boot *boot, const char *name, const char *version_option,
		   struct cgwb_error *error)
{
	char *guest_path;
	int ret;

	if (asprintf(&guest_path, "/bin/%s", name) < 0)
		return -ENOMEM;
	ret = add_program(boot, name, guest_path, version_option, error);
	free(guest_path);
	return ret;
}

static int add_programs(struct cgwb_boot *boot, struct cgwb_error *error)
{
	const struct cgwb_program *programs;
	const json_t *item;
	bool fio = false;
	size_t i, n;
	int ret = 0;

	json_array_foreach(json_object_get(boot->json, "jobs"), i, item)
		fio |= json_object_get(item, "fio") != NULL;
	if (fio)
		ret = add_bin(boot, "fio", "--version", error);

	json_array_foreach(json_object_get(boot->json, "mounts"), i, item) {
		const json_t *mkfs = json_array_get(json_object_get(item, "mkfs"), 0);

		if (ret == 0 && mkfs)
			ret = add_bin(boot, json_string_value(mkfs), "-V", error);
	}

	n = cgwb_cell_programs(boot->cell, &programs);
	for (i = 0; i < n && ret == 0; i++) {
		char *path;

		ret = cgwb_scenario_program(boot->scenario, programs[i].program, &path, error);
		if (ret < 0)
			break;
		ret = add_program(boot, path, programs[i].guest_path, NULL, error);
		free(path);
	}
	return ret;
}

static int add_cell(struct cgwb_boot *boot, struct cgwb_error *error)
{
	char digest[CGWB_DIGEST_SIZE];
	char *text;
	int ret;

	boot->json = json_deep_copy(cgwb_cell_json(boot->cell));
	if (!boot->json ||
	    json_object_set_new(boot->json, "kernel", json_string(boot->kit->kernel.name)) < 0)
		return -ENOMEM;
	text = json_dumps(boot->json, JSON_COMPACT);
	if (!text)
		return -ENOMEM;
	ret = cgwb_initramfs_add_data(boot->initramfs, "/cell.json", 0644, text, strlen(text));
	if (ret == 0)
		ret = cgwb_digest_bytes(text, strlen(text), digest);
	if (ret == 0 && json_object_set_new(boot->inputs, "cell", digest_json(digest)) < 0)
		ret = -ENOMEM;
	free(text);
	return ret;
}

/* QEMU's options, with names for what differs from host to host. */
static int add_machine(struct cgwb_boot *boot, struct cgwb_error *error)
{
	static const struct cgwb_qemu_files files = { "kernel", "initrd", "console", "result" };
	const struct cgwb_qemu qemu = { .path = (char *)"qemu" };
	char digest[CGWB_DIGEST_SIZE];
	char **argv, *text;
	int ret;

	ret = cgwb_qemu_argv(&qemu, json_object_get(boot->json, "machine"), &files, &argv, error);
	if (ret < 0)
		return ret;
	text = cgwb_qemu_argv_text(argv);
	cgwb_qemu_argv_free(argv);
	ret = text ? cgwb_digest_bytes(text, strlen(text), digest) : -ENOMEM;
	free(text);
	if (ret == 0 &&
	    (json_object_set_new(boot->inputs, "machine", digest_json(digest)) < 0 ||
	     json_object_set_new(boot->inputs, "qemu", json_string(boot->kit->qemu.version)) < 0))
		ret = -ENOMEM;
	return ret;
}

static int boot_fill(struct cgwb_boot *boot, struct cgwb_error *error)
{
	const char *init = boot->kit->context->guest_init;
	int ret;

	ret = add_cell(boot, error);
	if (ret == 0)
		ret = add_digest(boot, boot->inputs, "kernel", boot->kit->kernel.image, error);
	if (ret == 0)
		ret = add_digest(boot, boot->inputs, "init", init, error);
	if (ret == 0)
		ret = cgwb_initramfs_add_file(boot->initramfs, "/init", 0755, init);
	if (ret == 0)
		ret = add_modules(boot, error);
	if (ret == 0)
		ret = add_programs(boot, error);
	if (ret == 0 && (json_object_set(boot->inputs, "modules", boot->modules) < 0 ||
			 json_object_set(boot->inputs, "programs", boot->programs) < 0))
		ret = -ENOMEM;
	if (ret == 0)
		ret = add_machine(boot, error);
	return ret;
}

int cgwb_boot_new(struct cgwb_kit *kit, const struct cgwb_scenario *scenario,
		  const struct cgwb_cell *cell, struct cgwb_boot **ret_boot,
		  struct cgwb_error *error)
{
	struct cgwb_boot *boot = calloc(1, sizeof(*boot));
	int ret = -ENOMEM;

	if (!boot)
		return -ENOMEM;
	*boot = (struct cgwb_boot){ .kit = kit, .scenario = scenario, .cell = cell };
	boot->inputs = json_object();
	boot->modules = json_object();
	boot->programs = json_object();
	boot->initramfs = cgwb_initramfs_new();
	if (boot->inputs && boot->modules && boot->programs && boot->initramfs)
		ret = boot_fill(boot, error);
	if (ret < 0)
		cgwb_boot_free(boot);
	else
		*ret_boot = boot;
	return ret;
}

int cgwb_boot_write_initramfs(struct cgwb_boot *boot, const char *path, struct cgwb_error *error)
{
	return cgwb_initramfs_write(boot->initramfs, boot->kit->context, path, error);
}

int cgwb_boot_argv(const struct cgwb_boot *boot, const char *initrd, const char *console,
		   const char *result, char ***ret_argv, struct cgwb_error *error)
{
	const struct cgwb_qemu_files files = { boot->kit->kernel.image, initrd, console, result };

	return cgwb_qemu_argv(&boot->kit->qemu, json_object_get(boot->json, "machine"), &files,
			      ret_argv, error);
}
