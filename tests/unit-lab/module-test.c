// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which modules a guest loads, in which order, and which are refused; and programs with their
 * libraries.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/binary.h"
#include "libcgwb/build.h"
#include "libcgwb/files.h"
#include "libcgwb/module.h"
#include "rig.h"

static struct cgwb_kernel kernel_in(struct rig *rig)
{
	struct cgwb_kernel kernel = { 0 };

	kernel.release = (char *)"1.2.3-test";
	kernel.modules_dir = (char *)rig_path(rig, "modules");
	return kernel;
}

/* Puts one of the made-up modules below the kernel's folder. */
static void install(struct rig *rig, const char *module, const char *as)
{
	char *from, *data;
	size_t size;

	if (asprintf(&from, "%s/%s.ko", getenv("CGWB_TEST_MODULES"), module) < 0)
		abort();
	assert_int_equal(cgwb_read_file(from, &data, &size), 0);
	rig_write(rig_path(rig, "modules/%s", as), data, size);
	free(data);
	free(from);
}

static void assert_names(const struct cgwb_modules *modules, const char *expected)
{
	char names[256] = "";
	size_t i;

	for (i = 0; i < modules->n; i++) {
		strcat(names, modules->modules[i].name);
		strcat(names, " ");
	}
	assert_string_equal(names, expected);
}

static void test_order(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);
	struct cgwb_modules modules = { 0 };
	struct cgwb_module_index *index;

	install(rig, "leaf", "kernel/fs/leaf.ko");
	install(rig, "branch", "kernel/fs/branch.ko");
	/* One of several that can stand for a module that is wished for. */
	install(rig, "leaf", "kernel/crypto/wished_generic.ko");
	/* What `branch` needs besides is in the kernel. */
	rig_write_text(rig_path(rig, "modules/modules.builtin"), "kernel/lib/trunk.ko\n");

	assert_int_equal(cgwb_module_index_new(&kernel, &index, &rig->error), 0);
	assert_true(cgwb_module_index_built_in(index, "trunk"));
	assert_int_equal(cgwb_modules_add(&modules, index, "trunk", &rig->error), 0);
	assert_names(&modules, "");
	assert_int_equal(cgwb_modules_add(&modules, index, "branch", &rig->error), 0);
	assert_names(&modules, "leaf wished_generic branch ");
	assert_int_equal(cgwb_modules_add(&modules, index, "leaf", &rig->error), 0);
	assert_names(&modules, "leaf wished_generic branch ");

	assert_int_equal(cgwb_modules_add(&modules, index, "xfs", &rig->error), -ENOENT);
	assert_non_null(strstr(rig_error(rig, -ENOENT), "kernel 1.2.3-test has no module xfs"));
	cgwb_modules_done(&modules);
	cgwb_module_index_free(index);
}

static void test_needs_missing(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);
	struct cgwb_modules modules = { 0 };
	struct cgwb_module_index *index;

	install(rig, "branch", "branch.ko");
	assert_int_equal(cgwb_module_index_new(&kernel, &index, &rig->error), 0);
	assert_int_equal(cgwb_modules_add(&modules, index, "branch", &rig->error), -ENOENT);
	assert_non_null(strstr(rig_error(rig, -ENOENT), "has no module leaf"));
	cgwb_modules_done(&modules);
	cgwb_module_index_free(index);
}

static void test_foreign(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);
	struct cgwb_modules modules = { 0 };
	struct cgwb_module_index *index;

	install(rig, "foreign", "foreign.ko");
	rig_write_text(rig_path(rig, "modules/broken.ko"), "no ELF file");
	assert_int_equal(cgwb_module_index_new(&kernel, &index, &rig->error), 0);
	assert_int_equal(cgwb_modules_add(&modules, index, "foreign", &rig->error), -ENOEXEC);
	assert_non_null(strstr(rig_error(rig, -ENOEXEC),
			       "is a module for kernel 1.2.3-test-2, not for 1.2.3-test"));
	assert_true(cgwb_modules_add(&modules, index, "broken", &rig->error) < 0);
	assert_non_null(strstr(rig_error(rig, -EINVAL), "cannot read the module"));
	assert_names(&modules, "");
	cgwb_modules_done(&modules);
	cgwb_module_index_free(index);
}

/* A kernel without modules has everything built in. */
static void test_no_modules(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);
	struct cgwb_modules modules = { 0 };
	struct cgwb_module_index *index;

	kernel.modules_dir = NULL;
	assert_int_equal(cgwb_module_index_new(&kernel, &index, &rig->error), 0);
	assert_int_equal(cgwb_modules_add(&modules, index, "ext4", &rig->error), 0);
	assert_int_equal(modules.n, 0);
	assert_null(cgwb_module_index_free(index));
}

static const char *build_error(struct rig *rig, struct cgwb_kernel *kernel, int expected)
{
	char *path;
	int ret;

	ret = cgwb_build_module(&rig->context, kernel, "disk", "cgwb_disk", &path, &rig->error);
	assert_int_equal(ret, expected);
	return rig_error(rig, ret);
}

/* Headers whose `modules` does what the test says. */
static void test_build(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);
	char *path;

	free(rig->context.data_dir);
	rig->context.data_dir = strdup(rig_path(rig, "data-dir"));
	assert_non_null(strstr(build_error(rig, &kernel, -ENOENT), "has no headers"));
	kernel.headers_dir = (char *)rig_path(rig, "headers");
	rig_write_text(rig_path(rig, "headers/Makefile"),
		       "modules:\n\techo 'disk.c:1:2: error: nonsense' >&2; false\n");
	assert_non_null(strstr(build_error(rig, &kernel, -ENOENT), "no sources"));
	rig_write_text(rig_path(rig, "data-dir/kernel/disk/disk.c"), "int x;\n");
	rig_write_text(rig_path(rig, "data-dir/kernel/disk/disk.mod.c"), "not a source\n");

	assert_non_null(strstr(build_error(rig, &kernel, -EBADMSG),
			       "cannot build the module cgwb_disk for kernel 1.2.3-test: "
			       "disk.c:1:2: error: nonsense (all of it: "));
	assert_int_equal(access(rig_path(rig, "cgwb/modules/1.2.3-test/cgwb_disk.log"), R_OK), 0);

	rig_write_text(
		rig_path(rig, "headers/Makefile"),
		"modules:\n\ttest ! -e $(M)/disk.mod.c && cp $(M)/disk.c $(M)/cgwb_disk.ko\n");
	assert_int_equal(
		cgwb_build_module(&rig->context, &kernel, "disk", "cgwb_disk", &path, &rig->error),
		0);
	assert_int_equal(access(path, R_OK), 0);
	free(path);

	/* Built once; again when a source changes. */
	rig_write_text(rig_path(rig, "headers/Makefile"), "modules:\n\tfalse\n");
	assert_int_equal(
		cgwb_build_module(&rig->context, &kernel, "disk", "cgwb_disk", &path, &rig->error),
		0);
	free(path);
	rig_write_text(rig_path(rig, "data-dir/kernel/disk/disk.c"), "int y;\n");
	assert_non_null(strstr(build_error(rig, &kernel, -EBADMSG), "Error 1"));
	assert_int_equal(system("ls \"$RIG\"/cgwb/modules/*/*.tmp.* >/dev/null 2>&1") == 0, 0);
}

static void test_compiler_missing(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel kernel = kernel_in(rig);

	free(rig->context.data_dir);
	rig->context.data_dir = strdup(rig_path(rig, "data-dir"));
	kernel.headers_dir = (char *)rig_path(rig, "headers");
	rig_write_text(rig_path(rig, "data-dir/kernel/disk/disk.c"), "int x;\n");
	rig_write_text(rig_path(rig, "headers/Makefile"), "modules:\n");
	rig_write_text(rig_path(rig, "headers/.kernelvariables"), "CC = $(CROSS_COMPILE)gcc-99\n");
	assert_string_equal(build_error(rig, &kernel, -ENOPKG),
			    "gcc-99 is not installed, and building modules for kernel 1.2.3-test "
			    "takes it (apt-get install gcc-99)");
}

/* A real program, and what the loader says of it. */
static void test_binary(void **state)
{
	struct rig *rig = *state;
	struct cgwb_binary binary;
	bool libc = false, loader = false;
	size_t i;

	assert_int_equal(cgwb_binary_find(&rig->context, "mkfs.ext4", "/bin/mkfs.ext4", "-V",
					  &binary, &rig->error),
			 0);
	assert_string_equal(binary.files[0].guest_path, "/bin/mkfs.ext4");
	assert_non_null(binary.version);
	assert_int_equal(strspn(binary.version, "0123456789."), strlen(binary.version));
	for (i = 1; i < binary.n; i++) {
		libc |= strstr(binary.files[i].guest_path, "/libc.so.6") != NULL;
		loader |= strstr(binary.files[i].guest_path, "/ld-linux") != NULL;
	}
	assert_true(libc);
	assert_true(loader);
	cgwb_binary_done(&binary);
}

static void test_binary_refused(void **state)
{
	struct rig *rig = *state;
	struct cgwb_binary binary;
	const char *script = rig_path(rig, "script");

	assert_int_equal(cgwb_binary_find(&rig->context, "no-such-program", "/bin/x", NULL, &binary,
					  &rig->error),
			 -ENOENT);
	assert_string_equal(rig_error(rig, -ENOENT), "no-such-program: not installed");

	rig_write_text(script, "neither ELF nor script");
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(
		cgwb_binary_find(&rig->context, script, "/bin/x", NULL, &binary, &rig->error),
		-ENOEXEC);
	assert_non_null(strstr(rig_error(rig, -ENOEXEC), "is no x86-64 program"));

	/* A kernel module that a test loads needs nothing. */
	install(rig, "leaf", "leaf.ko");
	script = rig_path(rig, "modules/leaf.ko");
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(
		cgwb_binary_find(&rig->context, script, "/bin/leaf.ko", NULL, &binary, &rig->error),
		0);
	assert_int_equal(binary.n, 1);
	cgwb_binary_done(&binary);

	/* A script brings its shell, and what that needs. */
	script = rig_path(rig, "script");
	rig_write_text(script, "#! /bin/sh -e\ntrue\n");
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(
		cgwb_binary_find(&rig->context, script, "/bin/x", NULL, &binary, &rig->error), 0);
	assert_true(binary.n > 2);
	assert_string_equal(binary.files[1].guest_path, "/bin/sh");
	cgwb_binary_done(&binary);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order),      TEST(test_needs_missing),  TEST(test_foreign),
		TEST(test_no_modules), TEST(test_build),	  TEST(test_compiler_missing),
		TEST(test_binary),     TEST(test_binary_refused),
	};

	return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
