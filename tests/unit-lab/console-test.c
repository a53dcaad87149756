// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What counts as a complaint of a guest's kernel, and what does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "libcgwb/console.h"

static const struct {
	const char *text;
	unsigned int warn;
	const char *first; /* NULL: none */
	bool panicked;
} cases[] = {
	{ "", 0, NULL, false },
	{ "[    1.274025] reboot: Power down\r\n", 0, NULL, false },
	/* Words of warnings that are none. */
	{ "[    0.000000] Command line: BUG: WARNING: oops=panic\n", 0, NULL, false },
	{ "[    3.1] cgwb_disk: loading out-of-tree module taints kernel.\n", 0, NULL, false },
	{ "[    3.1] sched_clock: Marking unstable; this is no BUG\n", 0, NULL, false },
	/* One each. */
	{ "[   12.3] WARNING: CPU: 0 PID: 7 at mm/memcontrol.c:1 f+0x1/0x2\n", 1,
	  "WARNING: CPU: 0 PID: 7 at mm/memcontrol.c:1 f+0x1/0x2", false },
	{ "[   12.3][   T7] BUG: KASAN: use-after-free in f\n", 1,
	  "BUG: KASAN: use-after-free in f", false },
	{ "WARNING: possible recursive locking detected", 1,
	  "WARNING: possible recursive locking detected", false },
	{ "[ 1.0] INFO: task fio:12 blocked for more than 120 seconds.\n", 1,
	  "INFO: task fio:12 blocked for more than 120 seconds.", false },
	{ "[ 1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [fio:9]\n", 1,
	  "watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [fio:9]", false },
	{ "[ 1.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n", 1,
	  "rcu: INFO: rcu_preempt self-detected stall on CPU", false },
	{ "[ 1.0] Memory cgroup out of memory: Killed process 9 (fio)\n", 1,
	  "Memory cgroup out of memory: Killed process 9 (fio)", false },
	{ "[ 1.0] fio: page allocation failure: order:0\n", 1,
	  "fio: page allocation failure: order:0", false },
	{ "[ 1.0] Buffer I/O error on dev nb0, logical block 1\n", 1,
	  "Buffer I/O error on dev nb0, logical block 1", false },
	{ "[ 1.0] EXT4-fs error (device nb0): ext4_find_entry:1: bad\n", 1,
	  "EXT4-fs error (device nb0): ext4_find_entry:1: bad", false },
	{ "[ 1.0] UBSAN: shift-out-of-bounds in a.c:1:2\n", 1,
	  "UBSAN: shift-out-of-bounds in a.c:1:2", false },
	/* A trace belongs to the report above it... */
	{ "[ 1.0] WARNING: CPU: 0 at x\n[ 1.0] Modules linked in: cgwb\n[ 1.0] RIP: 0010:f\n"
	  "[ 1.0] Call Trace:\n[ 1.0]  <TASK>\n",
	  1, "WARNING: CPU: 0 at x", false },
	/* ...or is a report of its own. */
	{ "[ 1.0] hello\n[ 1.0] Call Trace:\n[ 1.0]  f+0x1\n", 1, "Call Trace:", false },
	{ "[ 1.0] WARNING: a\n[ 1.1] WARNING: b\n[ 1.2] WARNING: c\n", 3, "WARNING: a", false },
	{ "[ 1.0] Kernel panic - not syncing: Fatal exception\n", 1,
	  "Kernel panic - not syncing: Fatal exception", true },
	/* What a terminal would obey is not passed on. */
	{ "WARNING: \033[31mred\n", 1, "WARNING:  [31mred", false },
};

static void test_lines(void **state)
{
	struct cgwb_console console;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cgwb_console_scan(&console, cases[i].text, strlen(cases[i].text)),
				 0);
		if (console.warn != cases[i].warn)
			print_message("# in: %s", cases[i].text);
		assert_int_equal(console.warn, cases[i].warn);
		assert_int_equal(console.panicked, cases[i].panicked);
		if (cases[i].first)
			assert_string_equal(console.first, cases[i].first);
		else
			assert_null(console.first);
		cgwb_console_done(&console);
	}
}

/* Any bytes are a console: cut anywhere, nothing is read beyond the end. */
static void test_any_bytes(void **state)
{
	static const char text[] = "[    1.0][\0WARNING: x\n[[[[ ]\n\n[ 1.0] Kernel panic - not s";
	struct cgwb_console console;
	size_t size;

	for (size = 0; size < sizeof(text); size++) {
		assert_int_equal(cgwb_console_scan(&console, text, size), 0);
		assert_int_equal(console.warn, 0);
		cgwb_console_done(&console);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
