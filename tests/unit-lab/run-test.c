// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs, with bin/qemu-system-x86_64 as the guest: what becomes of cells that finish, fail, die or
 * hang, what is kept and reused, and what is left behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/files.h"
#include "libcgwb/frame.h"
#include "libcgwb/run.h"
#include "rig.h"

static const char scenario_text[] = "[scenario]\ntitle = t\nseeds = 1\nvariants = a, b, c\n"
				    "[machine]\nmemory = 512M\n"
				    "[job j]\nengine = exec\nprogram = prog\nargs = 0\n"
				    "[variant a]\nj.args = 1\n[variant b]\nj.args = 2\n"
				    "[variant c]\nj.args = 3\n";

struct bench {
	struct rig *rig;
	struct cgwb_scenario *scenario;
	struct cgwb_run *run;
	struct cgwb_run_options options;
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct rig *rig;
	void *made;
	int ret;

	if (!bench || rig_setup(&made) < 0)
		return -1;
	rig = bench->rig = made;
	free(rig->context.guest_init);
	rig->context.guest_init = strdup(rig_path(rig, "init"));
	rig_write_text(rig->context.guest_init, "init");
	rig_write_text(rig_path(rig, "prog"), "#!/bin/sh\n");
	chmod(rig_path(rig, "prog"), 0755);
	setenv("CGWB_PROGRAM_PATH", rig->folder, 1);
	rig_write_text(rig_path(rig, "s.ini"), scenario_text);
	rig_write_image(rig_path(rig, "bzImage"), "1.2.3-test");
	ret = cgwb_scenario_read(rig_path(rig, "s.ini"), &bench->scenario, &rig->error);
	if (ret < 0) {
		print_message("# %s\n", rig_error(rig, ret));
		return -1;
	}
	bench->options.kernel.name = rig_path(rig, "bzImage");
	bench->options.folder = rig_path(rig, "run");
	bench->options.jobs = 1;
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	void *rig = bench->rig;

	cgwb_run_free(bench->run);
	cgwb_scenario_free(bench->scenario);
	free(bench);
	return rig_teardown(&rig);
}

/* One more frame that a guest is to send. */
static void guest_says(struct bench *bench, const char *cell, const char *type, const char *json)
{
	const char *path = rig_path(bench->rig, "guests/%s", cell);
	char *frame, *old = NULL, *all;
	size_t size;

	assert_int_equal(cgwb_frame_encode(type, json, strlen(json), &frame, &size), 0);
	if (cgwb_read_file(path, &old, NULL) < 0)
		old = strdup("");
	assert_true(asprintf(&all, "%s%s", old, frame) > 0);
	rig_write_text(path, all);
	free(all);
	free(old);
	free(frame);
}

static void guest_does(struct bench *bench, const char *cell, const char *script)
{
	rig_write_text(rig_path(bench->rig, "guests/%s.sh", cell), script);
}

static void guest_prints(struct bench *bench, const char *cell, const char *console)
{
	rig_write_text(rig_path(bench->rig, "guests/%s.console", cell), console);
}

static void guest_ok(struct bench *bench, const char *cell)
{
	guest_says(bench, cell, "progress",
		   "{\"phase\":\"run\",\"virtual_s\":12.5,\"jobs_left\":1}");
	guest_says(bench, cell, "result",
		   "{\"status\":\"ok\",\"kernel\":{\"release\":\"r\",\"version\":\"v\"},"
		   "\"programs\":{},\"measures\":{\"x\":1.5},\"details\":{},\"virtual_s\":13.0}");
}

static int make(struct bench *bench)
{
	cgwb_run_free(bench->run);
	bench->run = NULL;
	return cgwb_run_new(&bench->rig->context, bench->scenario, &bench->options, &bench->run,
			    &bench->rig->error);
}

static void execute(struct bench *bench)
{
	int ret = make(bench);

	if (ret < 0)
		print_message("# %s\n", rig_error(bench->rig, ret));
	assert_int_equal(ret, 0);
	ret = cgwb_run_execute(bench->run, NULL, &bench->rig->error);
	if (ret < 0)
		print_message("# %s\n", rig_error(bench->rig, ret));
	assert_int_equal(ret, 0);
	assert_int_equal(rig_entries(rig_path(bench->rig, "cgwb/running")), 0);
}

static const struct cgwb_result *result_of(struct bench *bench, const char *variant)
{
	const struct cgwb_result *result =
		cgwb_results_find(cgwb_run_results(bench->run), variant, 1);

	assert_non_null(result);
	return result;
}

/* The guests that were started since the last time. */
static const char *started(struct bench *bench)
{
	const char *path = rig_path(bench->rig, "qemu.log");
	static char names[256];
	char *text, *at;

	*names = '\0';
	if (cgwb_read_file(path, &text, NULL) == 0) {
		snprintf(names, sizeof(names), "%s", text);
		free(text);
		unlink(path);
	}
	for (at = names; *at; at++) {
		if (*at == '\n')
			*at = ' ';
	}
	return names;
}

static void test_ok(void **state)
{
	struct bench *bench = *state;
	double value;
	char *text, *again;

	guest_ok(bench, "a-1");
	guest_ok(bench, "b-1");
	guest_ok(bench, "c-1");
	guest_prints(bench, "b-1", "[ 1.0] WARNING: CPU: 0 at x\n");
	execute(bench);
	assert_string_equal(started(bench), "a-1 b-1 c-1 ");
	assert_true(cgwb_result_usable(result_of(bench, "a")));
	assert_int_equal(cgwb_result_measure(result_of(bench, "a"), "x", &value), 0);
	assert_true(value == 1.5);
	assert_int_equal(cgwb_result_warn(result_of(bench, "b")), 1);
	assert_int_equal(cgwb_read_file(rig_path(bench->rig, "run/cells/a-1.json"), &text, NULL),
			 0);

	/* In the same folder nothing is left to do. */
	execute(bench);
	assert_string_equal(started(bench), "");
	assert_int_equal(cgwb_run_cell(bench->run, 0).source, CGWB_CELL_KEPT);

	/* In another one it is reused, the console too. */
	bench->options.folder = rig_path(bench->rig, "run2");
	execute(bench);
	assert_string_equal(started(bench), "");
	assert_int_equal(cgwb_run_cell(bench->run, 0).source, CGWB_CELL_CACHED);
	assert_int_equal(access(rig_path(bench->rig, "run2/consoles/b-1.log"), R_OK), 0);

	/* Unless it is not to be; and it is the same again. */
	bench->options.fresh = true;
	bench->options.folder = rig_path(bench->rig, "run3");
	execute(bench);
	assert_string_equal(started(bench), "a-1 b-1 c-1 ");
	assert_int_equal(cgwb_read_file(rig_path(bench->rig, "run3/cells/a-1.json"), &again, NULL),
			 0);
	assert_string_equal(text, again);
	free(again);
	free(text);
}

/* Whatever decides the result makes it another cell. */
static void test_inputs(void **state)
{
	struct bench *bench = *state;
	static const char *const only_a[] = { "a", NULL };

	bench->options.variants = only_a;
	guest_ok(bench, "a-1");
	execute(bench);
	assert_string_equal(started(bench), "a-1 ");

	rig_write_text(bench->rig->context.guest_init, "init 2");
	execute(bench);
	assert_string_equal(started(bench), "a-1 ");
	rig_write_text(rig_path(bench->rig, "prog"), "#!/bin/sh\n:\n");
	chmod(rig_path(bench->rig, "prog"), 0755);
	execute(bench);
	assert_string_equal(started(bench), "a-1 ");
	rig_write_image(rig_path(bench->rig, "bzImage"), "1.2.3-test+");
	execute(bench);
	assert_string_equal(started(bench), "a-1 ");
	execute(bench);
	assert_string_equal(started(bench), "");

	/* Damaged in the folder and in the cache: run again. */
	rig_write_text(rig_path(bench->rig, "run/cells/a-1.json"), "{\"schema\": 1");
	assert_int_equal(cgwb_remove(rig_path(bench->rig, "cgwb/cells")), 0);
	execute(bench);
	assert_string_equal(started(bench), "a-1 ");
	assert_non_null(strstr(bench->rig->notices, "a-1.json"));
}

static void test_order(void **state)
{
	static const unsigned int seeds[] = { 1, 2, 3 };
	struct bench *bench = *state;
	char name[16];
	unsigned int s;
	const char *v;

	for (s = 1; s <= 3; s++) {
		for (v = "abc"; *v; v++) {
			snprintf(name, sizeof(name), "%c-%u", *v, s);
			guest_ok(bench, name);
		}
	}
	bench->options.seeds = seeds;
	bench->options.n_seeds = 3;
	execute(bench);
	assert_string_equal(started(bench), "a-1 b-1 c-1 c-2 b-2 a-2 a-3 b-3 c-3 ");
}

static void assert_failed(struct bench *bench, const char *variant, const char *error)
{
	const char *found = cgwb_result_error(result_of(bench, variant));

	assert_non_null(found);
	if (!strstr(found, error))
		print_message("# %s\n", found);
	assert_non_null(strstr(found, error));
}

/* Each fails in its own way, and the others go on. */
static void test_faults(void **state)
{
	struct bench *bench = *state;

	guest_prints(bench, "a-1", "[ 9.0] Kernel panic - not syncing: Fatal\n");
	guest_does(bench, "b-1", "kill -9 $$");
	guest_ok(bench, "c-1");
	execute(bench);
	assert_failed(bench, "a", "the guest's kernel gave up: Kernel panic - not syncing: Fatal");
	assert_failed(bench, "b", "QEMU was ended by signal 9");
	assert_true(cgwb_result_ok(result_of(bench, "c")));
	assert_non_null(cgwb_run_cell(bench->run, 0).console);

	/* Only the failed ones again. */
	started(bench);
	guest_does(bench, "a-1", "echo 'cannot set up guest memory' >&2");
	guest_prints(bench, "a-1", "");
	guest_says(bench, "b-1", "result", "{\"status\":\"failed\",\"error\":\"job j: exit 3\"}");
	guest_does(bench, "b-1", "");
	execute(bench);
	assert_string_equal(started(bench), "a-1 b-1 ");
	assert_failed(bench, "a", "QEMU: cannot set up guest memory");
	assert_failed(bench, "b", "job j: exit 3");

	guest_does(bench, "a-1", "");
	rig_write_text(rig_path(bench->rig, "guests/b-1"),
		       "cgwb1 result 400 01234567\n{\"status\":");
	execute(bench);
	assert_failed(bench, "a", "the guest ended without a result");
	assert_failed(bench, "b", "the guest ended without a result");

	rig_write_text(rig_path(bench->rig, "guests/a-1"), "");
	rig_write_text(rig_path(bench->rig, "guests/b-1"), "");
	guest_says(bench, "a-1", "result", "{\"status\":\"ok\",\"measures\":{\"x\":\"text\"}}");
	guest_says(bench, "b-1", "result", "{}");
	execute(bench);
	assert_failed(bench, "a", "the measure x is no number");
	assert_failed(bench, "b", "no status");
}

/* Guests that do not end are ended. */
static void test_limits(void **state)
{
	struct bench *bench = *state;

	guest_does(bench, "a-1", "sleep 1000");
	guest_says(bench, "b-1", "progress", "{\"phase\":\"run\",\"virtual_s\":1e9}");
	guest_does(bench, "b-1", "sleep 1000");
	guest_ok(bench, "c-1");
	bench->options.timeout_s = 2;
	execute(bench);
	assert_failed(bench, "a", "no end after 2 s of real time");
	assert_failed(bench, "b", "of virtual time (in phase run)");
	assert_true(cgwb_result_ok(result_of(bench, "c")));
	assert_int_equal(
		system("ps -eo args | grep -q '[q]emu-system.*guests.tmp.*a-1.initrd'") == 0, 0);
}

struct stopper {
	const char *fifo;
	bool stopped;
};

/* Stops the run when the second cell has begun. */
static void stop_at_second(void *user, const struct cgwb_run *run, const struct cgwb_run_cell *cell)
{
	struct stopper *stopper = user;
	int fd;

	if (!cell || cell->state != CGWB_CELL_RUNNING || strcmp(cell->name, "b-1"))
		return;
	fd = open(stopper->fifo, O_WRONLY);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	stopper->stopped = true;
}

static void test_stop_and_go_on(void **state)
{
	struct bench *bench = *state;
	struct stopper stopper = { .fifo = rig_path(bench->rig, "fifo") };
	const struct cgwb_run_watch watch = { stop_at_second, &stopper };

	assert_int_equal(mkfifo(stopper.fifo, 0600), 0);
	guest_ok(bench, "a-1");
	guest_ok(bench, "c-1");
	guest_does(bench, "b-1", "sleep 1000");
	assert_int_equal(make(bench), 0);
	bench->rig->context.cancel_fd = open(stopper.fifo, O_RDWR | O_CLOEXEC);
	assert_int_equal(cgwb_run_execute(bench->run, &watch, &bench->rig->error), -EINTR);
	assert_true(stopper.stopped);
	cgwb_error_done(&bench->rig->error);
	close(bench->rig->context.cancel_fd);
	bench->rig->context.cancel_fd = -1;
	assert_int_equal(rig_entries(rig_path(bench->rig, "cgwb/running")), 0);
	assert_int_equal(rig_entries(rig_path(bench->rig, "run/cells")), 1);
	assert_int_equal(
		system("ps -eo args | grep -q '[q]emu-system.*guests.tmp.*b-1.initrd'") == 0, 0);

	started(bench);
	guest_does(bench, "b-1", "");
	guest_ok(bench, "b-1");
	execute(bench);
	assert_string_equal(started(bench), "b-1 c-1 ");
}

static const char *make_error(struct bench *bench, int expected)
{
	int ret = make(bench);

	assert_int_equal(ret, expected);
	return rig_error(bench->rig, ret);
}

static void test_refused(void **state)
{
	static const char *const unknown[] = { "a", "bb", NULL };
	struct bench *bench = *state;

	bench->options.variants = unknown;
	assert_non_null(strstr(make_error(bench, -EINVAL), "there is no variant bb"));
	bench->options.variants = NULL;

	rig_write_text(rig_path(bench->rig, "run/something"), "");
	assert_non_null(strstr(make_error(bench, -EEXIST), "is not the folder of a run"));
	rig_write_text(rig_path(bench->rig, "run/run.json"),
		       "{\"schema\":1,\"scenario\":\"other\",\"quick\":false}");
	assert_non_null(strstr(make_error(bench, -EINVAL), "is the folder of a run of other"));
	rig_write_text(rig_path(bench->rig, "run/run.json"), "{\"schema\":1");
	assert_non_null(strstr(make_error(bench, -EBADMSG), "damaged"));
	cgwb_remove(rig_path(bench->rig, "run"));

	unlink(rig_path(bench->rig, "prog"));
	assert_non_null(strstr(make_error(bench, -ENOENT), "prog"));
	unlink(bench->rig->context.guest_init);
	assert_non_null(strstr(make_error(bench, -ENOENT), "the guest's init"));
}

static void test_no_qemu(void **state)
{
	struct bench *bench = *state;

	setenv("PATH", "/proc/nonexistent", 1);
	assert_string_equal(make_error(bench, -ENOPKG), "qemu-system-x86_64 is not installed "
							"(apt-get install qemu-system-x86)");
}

/* What a killed run left is removed by the next one, and what a living one has is not. */
static void test_abandoned(void **state)
{
	struct bench *bench = *state;
	const char *dead = rig_path(bench->rig, "cgwb/running/guests.tmp.dead");
	const char *alive = rig_path(bench->rig, "cgwb/running/guests.tmp.alive");
	int fd;

	rig_write_text(rig_path(bench->rig, "cgwb/running/guests.tmp.dead/a-1.initrd"), "");
	rig_write_text(rig_path(bench->rig, "cgwb/running/guests.tmp.alive/a-1.initrd"), "");
	fd = cgwb_lock_file(rig_path(bench->rig, "unrelated"));
	close(fd);
	fd = open(alive, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0);

	guest_ok(bench, "a-1");
	guest_ok(bench, "b-1");
	guest_ok(bench, "c-1");
	assert_int_equal(make(bench), 0);
	assert_int_equal(cgwb_run_execute(bench->run, NULL, NULL), 0);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(alive, F_OK), 0);
	close(fd);
}

static void test_plan(void **state)
{
	struct bench *bench = *state;
	char *text;

	bench->options.jobs = 0;
	assert_int_equal(make(bench), 0);
	assert_int_equal(cgwb_run_plan(bench->run)->cells, 3);
	assert_int_equal(cgwb_run_plan(bench->run)->to_run, 3);
	assert_true(cgwb_run_plan(bench->run)->jobs >= 1);
	assert_true(cgwb_run_plan(bench->run)->memory_bytes >= 1);
	assert_true(cgwb_run_plan(bench->run)->wall_s > 0);
	/* A plan writes nothing of the run. */
	assert_int_equal(rig_entries(bench->options.folder), -1);

	assert_int_equal(cgwb_run_command_line(bench->run, 0, &text, NULL), 0);
	assert_non_null(strstr(text, " -icount shift=1,sleep=off "));
	assert_non_null(strstr(text, " -nodefaults "));
	assert_non_null(strstr(text, " mem=536870912'"));
	free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plan),      TEST(test_ok),	  TEST(test_inputs),
		TEST(test_order),     TEST(test_faults),  TEST(test_limits),
		TEST(test_refused),   TEST(test_no_qemu), TEST(test_stop_and_go_on),
		TEST(test_abandoned),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
