// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files whole or not at all, digests, and where the lab looks for things.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/digest.h"
#include "libcgwb/files.h"
#include "rig.h"

static void test_write_read(void **state)
{
	const char *path = rig_path(*state, "a/b/c");
	char *text;
	size_t size;

	rig_write(path, "x\0y", 3);
	assert_int_equal(cgwb_read_file(path, &text, &size), 0);
	assert_int_equal(size, 3);
	assert_memory_equal(text, "x\0y", 4);
	free(text);
	assert_int_equal(rig_entries(rig_path(*state, "a/b")), 1);
	assert_int_equal(cgwb_read_file(rig_path(*state, "nothing"), &text, &size), -ENOENT);
}

/* A disk that fills up: what was there stays, nothing else is left. */
static void test_write_fails(void **state)
{
	const char *path = rig_path(*state, "d/file");
	struct rlimit old, small = { 1000, 1000 };
	static char big[4096];
	char *text;
	int ret;

	rig_write_text(path, "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	ret = cgwb_write_file(path, big, sizeof(big));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);

	assert_int_equal(ret, -EFBIG);
	assert_int_equal(cgwb_read_file(path, &text, NULL), 0);
	assert_string_equal(text, "old");
	free(text);
	assert_int_equal(rig_entries(rig_path(*state, "d")), 1);
}

static void test_stale(void **state)
{
	char *temporary;

	assert_int_equal(cgwb_mkdir_temporary(rig_path(*state, "k"), &temporary), 0);
	rig_write_text(rig_path(*state, "k.tmp.killed/sub/file"), "x");
	rig_write_text(rig_path(*state, "kept"), "x");
	cgwb_remove_stale(rig_path(*state, "k"));
	assert_int_equal(access(temporary, F_OK), -1);
	assert_int_equal(access(rig_path(*state, "k.tmp.killed"), F_OK), -1);
	assert_int_equal(access(rig_path(*state, "kept"), F_OK), 0);
	free(temporary);
	assert_int_equal(cgwb_remove(NULL), 0);
	assert_int_equal(cgwb_remove(rig_path(*state, "none")), -ENOENT);
}

static void test_lock(void **state)
{
	struct rig *rig = *state;
	const char *path = rig_path(rig, "lock");
	int fd = cgwb_lock_file(path);

	assert_true(fd >= 0);
	assert_int_equal(cgwb_trylock_file(path), -EWOULDBLOCK);
	close(fd);
	fd = cgwb_trylock_file(path);
	assert_true(fd >= 0);

	/* Who waits can be stopped. */
	assert_int_equal(mkfifo(rig_path(rig, "fifo"), 0600), 0);
	rig->context.cancel_fd = open(rig_path(rig, "fifo"), O_RDWR | O_CLOEXEC);
	assert_int_equal(write(rig->context.cancel_fd, "x", 1), 1);
	assert_int_equal(cgwb_context_lock(&rig->context, path), -EINTR);
	assert_non_null(strstr(rig->steps, "waiting for another cgwb"));
	close(rig->context.cancel_fd);
	rig->context.cancel_fd = -1;
	close(fd);
	fd = cgwb_context_lock(&rig->context, path);
	assert_true(fd >= 0);
	close(fd);
}

static void test_find_program(void **state)
{
	char *path;

	assert_int_equal(cgwb_find_program("sh", &path), 0);
	assert_int_equal(*path, '/');
	free(path);
	assert_int_equal(cgwb_find_program("no-such-program-here", &path), -ENOENT);
	assert_int_equal(cgwb_find_program("/no/such/program", &path), -ENOENT);

	/* Where mkfs is, for a user whose PATH does not say so. */
	setenv("PATH", "/proc/nonexistent", 1);
	assert_int_equal(cgwb_find_program("mkfs.ext4", &path), 0);
	free(path);
}

/* Test vectors of FIPS 180-2. */
static void test_digest(void **state)
{
	const char *path = rig_path(*state, "abc");
	char digest[CGWB_DIGEST_SIZE], other[CGWB_DIGEST_SIZE];
	json_t *a, *b;

	rig_write_text(path, "abc");
	assert_int_equal(cgwb_digest_file(path, digest), 0);
	assert_string_equal(digest,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(cgwb_digest_bytes("", 0, digest), 0);
	assert_string_equal(digest,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_int_equal(cgwb_digest_file("/no/such/file", digest), -ENOENT);

	a = json_loads("{\"x\": 1, \"y\": [2, 3]}", 0, NULL);
	b = json_loads("{\"y\":[2,3],\n \"x\":1}", 0, NULL);
	assert_int_equal(cgwb_digest_json(a, digest), 0);
	assert_int_equal(cgwb_digest_json(b, other), 0);
	assert_string_equal(digest, other);
	json_object_set_new(b, "x", json_integer(2));
	assert_int_equal(cgwb_digest_json(b, other), 0);
	assert_string_not_equal(digest, other);
	json_decref(a);
	json_decref(b);
}

/* The cache is where XDG says, and nowhere if nobody says where. */
static void test_context(void **state)
{
	struct rig *rig = *state;
	struct cgwb_context context;

	assert_string_equal(rig->context.cache_dir, rig_path(rig, "cgwb"));

	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", rig->folder, 1);
	assert_int_equal(cgwb_context_init(&context, NULL), 0);
	assert_string_equal(context.cache_dir, rig_path(rig, ".cache/cgwb"));
	cgwb_context_done(&context);

	unsetenv("HOME");
	assert_int_equal(cgwb_context_init(&context, &rig->error), -ENOENT);
	assert_string_equal(rig_error(rig, -ENOENT),
			    "no place for the cache: set XDG_CACHE_HOME or HOME");

	rig_write_text(rig_path(rig, "file"), "");
	setenv("XDG_CACHE_HOME", rig_path(rig, "file"), 1);
	assert_int_equal(cgwb_context_init(&context, &rig->error), -ENOTDIR);
	assert_non_null(strstr(rig_error(rig, -ENOTDIR), "cannot make the cache folder"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_read), TEST(test_write_fails),	TEST(test_stale),
		TEST(test_lock),       TEST(test_find_program), TEST(test_digest),
		TEST(test_context),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
