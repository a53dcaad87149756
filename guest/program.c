// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES 4096

char *const program_environment[] = { "PATH=/bin:/sbin:/usr/bin:/usr/sbin", "HOME=/", "TMPDIR=/tmp",
				      "LC_ALL=C", NULL };

void program_status_text(int status, char *text, unsigned int size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(status));
}

static void __attribute__((noreturn)) child(char *const argv[], int out)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvpe(argv[0], argv, program_environment);
	fprintf(stderr, "%s\n", strerror(errno));
	_exit(127);
}

int program_output(char *const argv[], char **ret_text, int *ret_status, struct error *error)
{
	char *text, drop[512];
	size_t n = 0;
	ssize_t got;
	int fds[2];
	pid_t pid;

	text = malloc(OUTPUT_BYTES + 1);
	if (!text || pipe2(fds, O_CLOEXEC) < 0) {
		free(text);
		return error_errno(error, text ? -errno : -ENOMEM, "cannot run %s", argv[0]);
	}
	pid = fork();
	if (pid == 0)
		child(argv, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		free(text);
		return error_errno(error, -errno, "cannot run %s", argv[0]);
	}
	while ((got = read(fds[0], n < OUTPUT_BYTES ? text + n : drop,
			   n < OUTPUT_BYTES ? OUTPUT_BYTES - n : sizeof(drop))) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0 && n < OUTPUT_BYTES)
			n += got;
	}
	close(fds[0]);
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	*ret_text = text;
	return 0;
}

int program_run(char *const argv[], struct error *error)
{
	char *text, status_text[64];
	int status = 0, err;

	err = program_output(argv, &text, &status, error);
	if (err < 0)
		return err;
	if (status) {
		program_status_text(status, status_text, sizeof(status_text));
		err = error_set(error, -EIO, "%s failed (%s): %.200s", argv[0], status_text,
				text[0] ? text : "it said nothing");
	}
	free(text);
	return err;
}
