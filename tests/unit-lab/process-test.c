// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other programs: what they say, how they end, and that they do end.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcgwb/process.h"
#include "rig.h"

static int sh(struct rig *rig, const char *script, const char *folder, struct cgwb_output *output)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	static const char *const env[] = { "RIG_WORD=word", "HOME=/here", NULL };
	const struct cgwb_command command = { argv, env, folder };

	return cgwb_command_run(&rig->context, &command, output, &rig->error);
}

static void test_output(void **state)
{
	struct cgwb_output output;

	assert_int_equal(
		sh(*state, "echo out $RIG_WORD $HOME; echo err >&2; exit 7", NULL, &output), 7);
	assert_string_equal(output.out, "out word /here\n");
	assert_string_equal(output.err, "err\n");
	assert_string_equal(cgwb_output_last_line(&output), "err");
	cgwb_output_done(&output);
	assert_string_equal(cgwb_output_last_line(&output), "it said nothing");

	assert_int_equal(sh(*state, "pwd; read x || echo no input", "/", &output), 0);
	assert_string_equal(output.out, "/\nno input\n");
	cgwb_output_done(&output);
}

/* More than a pipe holds, on both at once. */
static void test_much_output(void **state)
{
	struct cgwb_output output;

	assert_int_equal(sh(*state,
			    "head -c 300000 /dev/zero | tr '\\0' a; "
			    "head -c 400000 /dev/zero | tr '\\0' b >&2",
			    NULL, &output),
			 0);
	assert_int_equal(strlen(output.out), 300000);
	assert_int_equal(strlen(output.err), 400000);
	cgwb_output_done(&output);
}

static void test_signal_missing(void **state)
{
	static const char *const argv[] = { "no-such-program-here", NULL };
	const struct cgwb_command command = { .argv = argv };
	struct rig *rig = *state;

	assert_int_equal(sh(rig, "kill -9 $$", NULL, NULL), 256 + SIGKILL);
	assert_int_equal(cgwb_command_run(&rig->context, &command, NULL, &rig->error), -ENOENT);
	assert_string_equal(rig_error(rig, -ENOENT), "no-such-program-here is not installed");
	assert_int_equal(sh(rig, "true", "/no/such/folder", NULL), -ENOENT);
}

/* The user stops it: it ends, with its children, and at once. */
static void test_cancel(void **state)
{
	struct rig *rig = *state;
	const char *fifo = rig_path(rig, "fifo");
	struct cgwb_output output;
	char script[512];
	int status;
	pid_t child;

	/* Its children are ours to wait for when it is gone. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	rig->context.cancel_fd = open(fifo, O_RDWR | O_CLOEXEC);
	assert_true(rig->context.cancel_fd >= 0);

	snprintf(script, sizeof(script), "sleep 1000 & echo $!; echo stop >%s; wait", fifo);
	assert_int_equal(sh(rig, script, NULL, &output), -EINTR);
	assert_string_equal(rig_error(rig, -EINTR), "stopped");
	child = atoi(output.out);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	cgwb_output_done(&output);

	/* Once stopped, nothing more is begun. */
	assert_int_equal(sh(rig, "sleep 1000", NULL, NULL), -EINTR);
	close(rig->context.cancel_fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_output),
		TEST(test_much_output),
		TEST(test_signal_missing),
		TEST(test_cancel),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
