// SPDX-License-Identifier: GPL-2.0-or-later
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcgwb/files.h"

/*
 * In the child, between fork and exec: only what is safe there. Reports an error through
 * `failed_fd`.
 */
static void __attribute__((noreturn))
child_exec(const struct cgwb_command *command, char *const envp[], int out_fd, int err_fd,
	   int failed_fd)
{
	sigset_t none;
	int null_fd, err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd >= 0 && (!command->folder || chdir(command->folder) == 0) &&
	    dup2(null_fd, 0) >= 0 && dup2(out_fd < 0 ? null_fd : out_fd, 1) >= 0 &&
	    dup2(err_fd < 0 ? null_fd : err_fd, 2) >= 0)
		execve(command->argv[0], (char *const *)command->argv, envp);

	err = errno;
	if (write(failed_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * The environment with `env` before it: the first of two settings of a name is what getenv() finds.
 */
static char **environment(const char *const env[])
{
	size_t n = 0, m = 0, i;
	char **all;

	while (environ[n])
		n++;
	while (env && env[m])
		m++;
	all = calloc(n + m + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (i = 0; i < m; i++)
		all[i] = (char *)env[i];
	for (i = 0; i < n; i++) {
		size_t name = strcspn(environ[i], "=") + 1;
		size_t j;

		for (j = 0; j < m && strncmp(env[j], environ[i], name); j++)
			;
		all[m + i] = j < m ? (char *)env[j] : environ[i];
	}
	return all;
}

int cgwb_process_start(struct cgwb_process *process, const struct cgwb_command *command, int out_fd,
		       int err_fd)
{
	char **envp = environment(command->env);
	int failed[2];
	ssize_t got;
	pid_t pid;
	int err = 0;

	if (!envp)
		return -ENOMEM;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		err = errno;
		goto out_env;
	}

	pid = fork();
	if (pid < 0) {
		err = errno;
		close(failed[0]);
		close(failed[1]);
		goto out_env;
	}
	if (pid == 0)
		child_exec(command, envp, out_fd, err_fd, failed[1]);

	close(failed[1]);
	setpgid(pid, pid); /* here too: whoever comes first */
	do {
		got = read(failed[0], &err, sizeof(err));
	} while (got < 0 && errno == EINTR);
	close(failed[0]);
	if (got > 0) {
		waitpid(pid, NULL, 0);
		goto out_env;
	}

	err = 0;
	process->pid = pid;
	process->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd < 0) {
		err = errno;
		cgwb_process_kill(process);
	} else {
		fcntl(process->pidfd, F_SETFD, FD_CLOEXEC);
	}
out_env:
	free(envp);
	return -err;
}

int cgwb_process_wait(struct cgwb_process *process)
{
	uint64_t peak_bytes;

	return cgwb_process_wait_peak(process, &peak_bytes);
}

int cgwb_process_wait_peak(struct cgwb_process *process, uint64_t *ret_peak_bytes)
{
	struct rusage usage;
	int status, ret = 0;

	*ret_peak_bytes = 0;

	if (!process->pid)
		return -ECHILD;

	while (wait4(process->pid, &status, 0, &usage) < 0) {
		if (errno == EINTR)
			continue;
		ret = -errno;
		break;
	}
	if (process->pidfd >= 0)
		close(process->pidfd);
	*process = (struct cgwb_process)CGWB_PROCESS_INIT;

	if (ret < 0)
		return ret;
	*ret_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

void cgwb_process_kill(struct cgwb_process *process)
{
	if (!process->pid)
		return;
	kill(-process->pid, SIGKILL);
	cgwb_process_wait(process);
}

void cgwb_output_done(struct cgwb_output *output)
{
	free(output->out);
	free(output->err);
	*output = (struct cgwb_output){ 0 };
}

static char *last_line(char *text)
{
	char *line;
	size_t len;

	if (!text)
		return NULL;
	for (len = strlen(text); len && strchr("\n\r ", text[len - 1]);)
		text[--len] = '\0';
	if (!len)
		return NULL;
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

const char *cgwb_output_last_line(struct cgwb_output *output)
{
	char *line = last_line(output->err);

	if (!line)
		line = last_line(output->out);
	return line ? line : "it said nothing";
}

struct reader {
	int fd; /* -1: at its end */
	char *text;
	size_t size;
	size_t capacity;
};

/* One read. Returns 0 or -ENOMEM; closes the descriptor at its end. */
static int reader_read(struct reader *reader)
{
	char *bigger;
	ssize_t got;

	if (reader->capacity - reader->size < 4096) {
		bigger = realloc(reader->text, reader->capacity * 2 + 8192);
		if (!bigger)
			return -ENOMEM;
		reader->text = bigger;
		reader->capacity = reader->capacity * 2 + 8192;
	}
	got = read(reader->fd, reader->text + reader->size, reader->capacity - reader->size - 1);
	if (got < 0 && errno == EINTR)
		return 0;
	if (got > 0)
		reader->size += got;
	reader->text[reader->size] = '\0';
	if (got <= 0) {
		close(reader->fd);
		reader->fd = -1;
	}
	return 0;
}

/* Reads both to their ends. -EINTR: the user wants to stop. */
static int readers_drain(struct reader readers[2], int cancel_fd)
{
	struct pollfd fds[3];
	int i, ret;

	while (readers[0].fd >= 0 || readers[1].fd >= 0) {
		fds[0] = (struct pollfd){ .fd = readers[0].fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = readers[1].fd, .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = cancel_fd, .events = POLLIN };
		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		for (i = 0; i < 2; i++) {
			ret = fds[i].revents ? reader_read(&readers[i]) : 0;
			if (ret < 0)
				return ret;
		}
		if (fds[2].revents)
			return -EINTR;
	}
	return 0;
}

static int command_run(const struct cgwb_context *context, const struct cgwb_command *command,
		       struct cgwb_output *output)
{
	struct cgwb_process process = CGWB_PROCESS_INIT;
	struct reader readers[2] = { { .fd = -1 }, { .fd = -1 } };
	int out[2], err[2];
	int ret;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		ret = -errno;
		close(out[0]);
		close(out[1]);
		return ret;
	}
	readers[0].fd = out[0];
	readers[1].fd = err[0];
	ret = cgwb_process_start(&process, command, out[1], err[1]);
	close(out[1]);
	close(err[1]);

	if (ret == 0)
		ret = readers_drain(readers, context->cancel_fd);
	if (ret == 0)
		ret = cgwb_process_wait(&process);
	else
		cgwb_process_kill(&process);

	for (int i = 0; i < 2; i++) {
		if (readers[i].fd >= 0)
			close(readers[i].fd);
	}
	*output = (struct cgwb_output){ readers[0].text, readers[1].text };
	return ret;
}

int cgwb_command_run(const struct cgwb_context *context, const struct cgwb_command *command,
		     struct cgwb_output *output, struct cgwb_error *error)
{
	struct cgwb_command found = *command;
	struct cgwb_output own = { 0 };
	const char **argv;
	size_t n = 0;
	char *path;
	int ret;

	ret = cgwb_find_program(command->argv[0], &path);
	if (ret < 0)
		return cgwb_error_set(error, ret, "%s is not installed", command->argv[0]);

	while (command->argv[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	ret = -ENOMEM;
	if (argv) {
		memcpy(argv, command->argv, n * sizeof(*argv));
		argv[0] = path;
		found.argv = argv;
		ret = command_run(context, &found, &own);
	}
	if (ret < 0)
		cgwb_error_set(error, ret, ret == -EINTR ? "stopped" : "cannot run %s: %s", path,
			       strerror(-ret));
	free(argv);
	free(path);
	if (output)
		*output = own;
	else
		cgwb_output_done(&own);
	return ret;
}
