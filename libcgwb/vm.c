// SPDX-License-Identifier: GPL-2.0-or-later
#include "vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/console.h"
#include "libcgwb/files.h"

static void take_progress(struct cgwb_vm *vm, const json_t *json)
{
	const char *phase = json_string_value(json_object_get(json, "phase"));
	const json_t *virtual_s = json_object_get(json, "virtual_s");
	const json_t *jobs_left = json_object_get(json, "jobs_left");

	if (phase)
		snprintf(vm->phase, sizeof(vm->phase), "%s", phase);
	if (json_is_number(virtual_s))
		vm->virtual_s = json_number_value(virtual_s);
	vm->jobs_left = json_is_integer(jobs_left) ? json_integer_value(jobs_left) : -1;
}

/* Frames of other types, or of no JSON, are for other versions: not for this one. */
static int take_frame(void *user, const struct cgwb_frame *frame)
{
	struct cgwb_vm *vm = user;
	json_t *json = json_loadb(frame->json, frame->bytes, 0, NULL);

	if (!strcmp(frame->type, CGWB_FRAME_PROGRESS)) {
		take_progress(vm, json);
	} else if (!strcmp(frame->type, CGWB_FRAME_RESULT) && json_is_object(json)) {
		json_decref(vm->result);
		vm->result = json_incref(json);
	}
	json_decref(json);

	/* QEMU has long read it when the guest speaks. */
	if (vm->initrd) {
		unlink(vm->initrd);
		free(vm->initrd);
		vm->initrd = NULL;
	}
	return 0;
}

static int vm_files(struct cgwb_vm *vm, const char *folder, const char *name)
{
	if (asprintf(&vm->initrd, "%s/%s.initrd", folder, name) < 0) {
		vm->initrd = NULL;
		return -ENOMEM;
	}
	if (asprintf(&vm->serial, "%s/%s.serial", folder, name) < 0) {
		vm->serial = NULL;
		return -ENOMEM;
	}
	if (asprintf(&vm->messages, "%s/%s.messages", folder, name) < 0) {
		vm->messages = NULL;
		return -ENOMEM;
	}
	vm->parser = cgwb_frame_parser_new(take_frame, vm);
	if (!vm->parser)
		return -ENOMEM;

	vm->serial_fd = open(vm->serial, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (vm->serial_fd < 0)
		return -errno;
	vm->messages_fd = open(vm->messages, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return vm->messages_fd < 0 ? -errno : 0;
}

int cgwb_vm_start(struct cgwb_vm *vm, const struct cgwb_context *context, struct cgwb_boot *boot,
		  const char *folder, const char *console, struct cgwb_error *error)
{
	struct cgwb_command command = { 0 };
	char **argv = NULL;
	int ret;

	*vm = (struct cgwb_vm){ .process = CGWB_PROCESS_INIT,
				.phase = "start",
				.jobs_left = -1,
				.serial_fd = -1,
				.messages_fd = -1 };

	ret = vm_files(vm, folder, cgwb_boot_name(boot));
	if (ret < 0)
		cgwb_error_set(error, ret, "cannot write to %s: %s", folder, strerror(-ret));
	/* An old console must not be taken for this guest's. */
	if (ret == 0 && unlink(console) < 0 && errno != ENOENT)
		ret = cgwb_error_set(error, -errno, "cannot remove %s: %s", console,
				     strerror(errno));
	if (ret == 0)
		ret = cgwb_boot_write_initramfs(boot, vm->initrd, error);
	if (ret == 0)
		ret = cgwb_boot_argv(boot, vm->initrd, console, vm->serial, &argv, error);
	if (ret == 0) {
		command.argv = (const char *const *)argv;
		ret = cgwb_process_start(&vm->process, &command, vm->messages_fd, vm->messages_fd);
		if (ret < 0)
			cgwb_error_set(error, ret, "cannot start %s: %s", argv[0], strerror(-ret));
	}
	cgwb_qemu_argv_free(argv);
	if (ret < 0)
		cgwb_vm_done(vm);
	return ret;
}

int cgwb_vm_read(struct cgwb_vm *vm)
{
	char block[64 * 1024];
	ssize_t got;
	int ret = 0;

	/* The file's offset is where the last reading ended. */
	while (ret == 0 && (got = read(vm->serial_fd, block, sizeof(block))) > 0)
		ret = cgwb_frame_parser_feed(vm->parser, block, got);
	return ret;
}

/*
 * QEMU's own last words, such as that it cannot allocate memory; the caller frees them. NULL: it
 * said nothing.
 */
static char *qemu_words(struct cgwb_vm *vm)
{
	struct cgwb_output output = { 0 };
	char *words = NULL;

	if (cgwb_read_file(vm->messages, &output.err, NULL) == 0 && *output.err)
		words = strdup(cgwb_output_last_line(&output));
	cgwb_output_done(&output);
	return words;
}

static int no_result(struct cgwb_vm *vm, int status, const char *path, struct cgwb_error *error)
{
	struct cgwb_console console = { 0 };
	char *words = qemu_words(vm);
	int ret;

	cgwb_console_scan_file(&console, path);
	if (console.panicked)
		ret = cgwb_error_set(error, -EFAULT, "the guest's kernel gave up: %s",
				     console.panic);
	else if (status >= 256)
		ret = cgwb_error_set(error, -ECHILD, "QEMU was ended by signal %d (%s)%s",
				     status - 256, strsignal(status - 256),
				     status == 256 + 9 ? ": the host may be out of memory" : "");
	else if (words)
		ret = cgwb_error_set(error, -EIO, "QEMU: %s", words);
	else
		ret = cgwb_error_set(error, -ENODATA, "the guest ended without a result");
	cgwb_console_done(&console);
	free(words);
	return ret;
}

int cgwb_vm_finish(struct cgwb_vm *vm, const char *console, struct cgwb_error *error)
{
	int status, ret;

	status = cgwb_process_wait_peak(&vm->process, &vm->peak_memory_bytes);
	ret = cgwb_vm_read(vm);
	if (ret == 0)
		ret = cgwb_frame_parser_end(vm->parser);
	if (ret < 0)
		return ret;
	if (vm->result)
		return 0;
	return no_result(vm, status, console, error);
}

void cgwb_vm_done(struct cgwb_vm *vm)
{
	char *const files[] = { vm->initrd, vm->serial, vm->messages };
	size_t i;

	cgwb_process_kill(&vm->process);
	if (vm->serial_fd >= 0)
		close(vm->serial_fd);
	if (vm->messages_fd >= 0)
		close(vm->messages_fd);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i])
			unlink(files[i]);
		free(files[i]);
	}
	cgwb_frame_parser_free(vm->parser);
	json_decref(vm->result);
	*vm = (struct cgwb_vm){ .process = CGWB_PROCESS_INIT, .serial_fd = -1, .messages_fd = -1 };
}
