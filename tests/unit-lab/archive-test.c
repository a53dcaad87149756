// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packages that are unpacked, and an initramfs that is packed.
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

#include <archive.h>
#include <archive_entry.h>

#include "libcgwb/deb.h"
#include "libcgwb/digest.h"
#include "libcgwb/files.h"
#include "libcgwb/initramfs.h"
#include "package.h"
#include "rig.h"

static const struct package_file files[] = {
	{ "./boot/vmlinuz-1", "kernel" },
	{ "./usr/share/doc/x/README", "no" },
	{ "./lib/modules/1/a.ko", "module" },
	{ NULL },
};

static void test_deb(void **state)
{
	struct rig *rig = *state;
	const char *deb = rig_path(rig, "x.deb");
	char *text;

	package_write(deb, files);
	assert_int_equal(mkdir(rig_path(rig, "to"), 0777), 0);
	assert_int_equal(cgwb_deb_unpack(&rig->context, deb, rig_path(rig, "to"), &rig->error), 0);
	assert_int_equal(cgwb_read_file(rig_path(rig, "to/boot/vmlinuz-1"), &text, NULL), 0);
	assert_string_equal(text, "kernel");
	free(text);
	assert_int_equal(access(rig_path(rig, "to/lib/modules/1/a.ko"), F_OK), 0);
	assert_int_equal(access(rig_path(rig, "to/usr"), F_OK), -1);
}

/* Cut off anywhere, it is an error with a line, and never a whole package. */
static void test_deb_damaged(void **state)
{
	struct rig *rig = *state;
	const char *deb = rig_path(rig, "x.deb"), *cut = rig_path(rig, "cut.deb");
	size_t size, at;
	char *text;
	int ret;

	package_write(deb, files);
	assert_int_equal(cgwb_read_file(deb, &text, &size), 0);
	for (at = 0; at + 64 < size; at += 37) {
		rig_write(cut, text, at);
		ret = cgwb_deb_unpack(&rig->context, cut, rig_path(rig, "to"), &rig->error);
		if (ret != -EBADMSG)
			print_message("# cut at %zu of %zu\n", at, size);
		assert_int_equal(ret, -EBADMSG);
		assert_non_null(strstr(rig_error(rig, ret), "cannot unpack"));
	}
	free(text);
	assert_int_equal(cgwb_deb_unpack(&rig->context, rig_path(rig, "none.deb"),
					 rig_path(rig, "to"), &rig->error),
			 -ENOENT);
}

static void test_deb_outside(void **state)
{
	static const struct package_file outside[] = { { "./a/../../outside", "no" }, { NULL } };
	struct rig *rig = *state;
	const char *deb = rig_path(rig, "x.deb");

	package_write(deb, outside);
	assert_int_equal(mkdir(rig_path(rig, "to"), 0777), 0);
	assert_true(cgwb_deb_unpack(&rig->context, deb, rig_path(rig, "to"), &rig->error) < 0);
	assert_int_equal(access(rig_path(rig, "outside"), F_OK), -1);
}

static struct cgwb_initramfs *packed(struct rig *rig, bool other_order)
{
	struct cgwb_initramfs *initramfs = cgwb_initramfs_new();
	const char *host = rig_path(rig, "host"), *module = rig_path(rig, "m.ko.gz");

	assert_non_null(initramfs);
	if (other_order)
		assert_int_equal(cgwb_initramfs_add_data(initramfs, "/cell.json", 0644, "{}", 2),
				 0);
	assert_int_equal(cgwb_initramfs_add_file(initramfs, "/bin/prog", 0755, host), 0);
	assert_int_equal(cgwb_initramfs_add_module(initramfs, "/modules/m.ko", module), 0);
	if (!other_order)
		assert_int_equal(cgwb_initramfs_add_data(initramfs, "/cell.json", 0644, "{}", 2),
				 0);
	/* A second time: the first counts. */
	assert_int_equal(cgwb_initramfs_add_data(initramfs, "/cell.json", 0644, "XX", 2), 0);
	return initramfs;
}

static void write_gz(const char *path, const char *text)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	archive_write_add_filter_gzip(archive);
	archive_write_set_format_raw(archive);
	assert_int_equal(archive_write_open_filename(archive, path), ARCHIVE_OK);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_write_header(archive, entry);
	assert_int_equal(archive_write_data(archive, text, strlen(text)), strlen(text));
	archive_entry_free(entry);
	archive_write_free(archive);
}

/* The whole archive as text: PATH MODE CONTENT, a line each. */
static char *listing(const char *path)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	char content[64], *text = NULL;
	la_ssize_t got;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	archive_read_support_format_cpio(archive);
	assert_int_equal(archive_read_open_filename(archive, path, 4096), ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		got = archive_read_data(archive, content, sizeof(content));
		assert_true(got >= 0);
		assert_int_equal(archive_entry_uid(entry), 0);
		assert_int_equal(archive_entry_mtime(entry), 0);
		fprintf(stream, "%s %o %.*s\n", archive_entry_pathname(entry),
			archive_entry_mode(entry), (int)got, content);
	}
	archive_read_free(archive);
	fclose(stream);
	return text;
}

static void test_initramfs(void **state)
{
	struct rig *rig = *state;
	char digest[CGWB_DIGEST_SIZE], other[CGWB_DIGEST_SIZE];
	struct cgwb_initramfs *initramfs;
	char *text;

	rig_write_text(rig_path(rig, "host"), "program");
	write_gz(rig_path(rig, "m.ko.gz"), "module");

	initramfs = packed(rig, false);
	assert_int_equal(cgwb_initramfs_write(initramfs, &rig->context, rig_path(rig, "a"), NULL),
			 0);
	cgwb_initramfs_free(initramfs);
	text = listing(rig_path(rig, "a"));
	assert_string_equal(text, "bin 40755 \nbin/prog 100755 program\ncell.json 100644 {}\n"
				  "modules 40755 \nmodules/m.ko 100644 module\n");
	free(text);

	/* The same files make the same bytes, whatever the order, and whenever. */
	initramfs = packed(rig, true);
	assert_int_equal(cgwb_initramfs_write(initramfs, &rig->context, rig_path(rig, "b"), NULL),
			 0);
	cgwb_initramfs_free(initramfs);
	assert_int_equal(cgwb_digest_file(rig_path(rig, "a"), digest), 0);
	assert_int_equal(cgwb_digest_file(rig_path(rig, "b"), other), 0);
	assert_string_equal(digest, other);
}

static void test_initramfs_fails(void **state)
{
	struct rig *rig = *state;
	struct cgwb_initramfs *initramfs = cgwb_initramfs_new();

	assert_int_equal(cgwb_initramfs_add_file(initramfs, "/x", 0755, rig_path(rig, "none")), 0);
	assert_int_equal(
		cgwb_initramfs_write(initramfs, &rig->context, rig_path(rig, "a"), &rig->error),
		-ENOENT);
	assert_non_null(strstr(rig_error(rig, -ENOENT), "none for the initramfs: No such file"));
	cgwb_initramfs_free(initramfs);

	initramfs = cgwb_initramfs_new();
	assert_int_equal(cgwb_initramfs_write(initramfs, &rig->context, "/dev/full", &rig->error),
			 -ENOSPC);
	assert_string_equal(rig_error(rig, -ENOSPC),
			    "cannot write the initramfs /dev/full: No space left on device");
	cgwb_initramfs_free(initramfs);
	assert_null(cgwb_initramfs_free(NULL));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_deb),	      TEST(test_deb_damaged),	  TEST(test_deb_outside),
		TEST(test_initramfs), TEST(test_initramfs_fails),
	};

	return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
