// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A job that does to its guest what guests should not do: for tests of how the lab takes it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "none";

	printf("fault: %s\n", fault);
	fflush(stdout);
	if (!strcmp(fault, "fail"))
		return 3;
	if (!strcmp(fault, "panic"))
		put("/proc/sysrq-trigger", "c");
	if (!strcmp(fault, "warn"))
		put("/dev/kmsg", "<4>WARNING: CPU: 0 PID: 1 at a test\n");
	if (!strcmp(fault, "leave")) /* the machine is switched off behind PID 1's back */
		reboot(RB_POWER_OFF);
	/* Virtual time goes on, and nothing else does. */
	while (!strcmp(fault, "sleep"))
		pause();
	/* Virtual time goes on only as fast as real time. */
	while (!strcmp(fault, "spin"))
		;
	return 0;
}
