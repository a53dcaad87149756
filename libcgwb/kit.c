// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/build.h"

void cgwb_kit_done(struct cgwb_kit *kit)
{
	size_t i;

	for (i = 0; i < kit->n_binaries; i++) {
		cgwb_binary_done(kit->binaries[i]);
		free(kit->binaries[i]);
	}
	for (i = 0; i < kit->n_digests; i++)
		free(kit->digests[i].path);
	free(kit->binaries);
	free(kit->digests);
	free(kit->disk_module);
	free(kit->policy_module);
	cgwb_module_index_free(kit->index);
	cgwb_kernel_done(&kit->kernel);
	cgwb_qemu_done(&kit->qemu);
	*kit = (struct cgwb_kit){ 0 };
}

int cgwb_kit_init(struct cgwb_kit *kit, const struct cgwb_context *context,
		  const struct cgwb_kernel_request *request, struct cgwb_error *error)
{
	int ret;

	*kit = (struct cgwb_kit){ .context = context };
	/* What costs nothing to miss comes first. */
	if (access(context->guest_init, R_OK) < 0)
		return cgwb_error_set(error, -errno,
				      "the guest's init, %s: %s: is the installation complete?",
				      context->guest_init, strerror(errno));
	ret = cgwb_qemu_find(context, &kit->qemu, error);
	if (ret == 0)
		ret = cgwb_kernel_get(context, request, &kit->kernel, error);
	if (ret == 0)
		ret = cgwb_module_index_new(&kit->kernel, &kit->index, error);
	if (ret < 0)
		cgwb_kit_done(kit);
	return ret;
}

int cgwb_kit_module(struct cgwb_kit *kit, const char *name, const char **ret_path,
		    struct cgwb_error *error)
{
	bool disk = !strcmp(name, "cgwb_disk");
	char **path = disk ? &kit->disk_module : &kit->policy_module;
	const char *found;
	int ret;

	if (!*path) {
		found = cgwb_module_index_find(kit->index, name);
		if (found) {
			*path = strdup(found);
			ret = *path ? 0 : -ENOMEM;
		} else {
			ret = cgwb_build_module(kit->context, &kit->kernel,
						disk ? "disk" : "policy", name, path, error);
		}
		if (ret < 0)
			return ret;
	}
	*ret_path = *path;
	return 0;
}

static const struct cgwb_binary *kit_find_binary(const struct cgwb_kit *kit, const char *program,
						 const char *guest_path)
{
	size_t i;

	for (i = 0; i < kit->n_binaries; i++) {
		const struct cgwb_binary *binary = kit->binaries[i];

		if (!strcmp(binary->program, program) &&
		    !strcmp(binary->files[0].guest_path, guest_path))
			return binary;
	}
	return NULL;
}

int cgwb_kit_binary(struct cgwb_kit *kit, const char *program, const char *guest_path,
		    const char *version_option, const struct cgwb_binary **ret_binary,
		    struct cgwb_error *error)
{
	struct cgwb_binary **bigger, *binary;
	int ret;

	*ret_binary = kit_find_binary(kit, program, guest_path);
	if (*ret_binary)
		return 0;

	bigger = realloc(kit->binaries, (kit->n_binaries + 1) * sizeof(struct cgwb_binary *));
	if (!bigger)
		return -ENOMEM;
	kit->binaries = bigger;
	binary = malloc(sizeof(*binary));
	if (!binary)
		return -ENOMEM;
	ret = cgwb_binary_find(kit->context, program, guest_path, version_option, binary, error);
	if (ret < 0) {
		free(binary);
		return ret;
	}
	kit->binaries[kit->n_binaries++] = binary;
	*ret_binary = binary;
	return 0;
}

int cgwb_kit_digest(struct cgwb_kit *kit, const char *path, char digest[CGWB_DIGEST_SIZE],
		    struct cgwb_error *error)
{
	struct cgwb_kit_digest *bigger;
	size_t i;
	int ret;

	for (i = 0; i < kit->n_digests; i++) {
		if (!strcmp(kit->digests[i].path, path)) {
			strcpy(digest, kit->digests[i].digest);
			return 0;
		}
	}

	bigger = realloc(kit->digests, (kit->n_digests + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	kit->digests = bigger;
	ret = cgwb_digest_file(path, kit->digests[kit->n_digests].digest);
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot read %s: %s", path, strerror(-ret));
	kit->digests[kit->n_digests].path = strdup(path);
	if (!kit->digests[kit->n_digests].path)
		return -ENOMEM;
	strcpy(digest, kit->digests[kit->n_digests++].digest);
	return 0;
}
