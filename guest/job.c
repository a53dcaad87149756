// SPDX-License-Identifier: GPL-2.0-or-later
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"
#include "json.h"
#include "program.h"

#define JOB_DIRECTORY "/tmp/jobs"
/* Between the release and the zero of the jobs' times: all of them must be asleep by then. */
#define RELEASE_NS (NS_PER_S / 100)
#define ERROR_TAIL_BYTES 300
#define OUTPUT_BYTES (64u << 10)

void job_path(const struct job *job, const char *what, char *path, size_t size)
{
	snprintf(path, size, JOB_DIRECTORY "/%s.%s", job->name, what);
}

char *job_tail(const struct job *job, const char *what, size_t max)
{
	char path[512], *text = calloc(1, max + 1);
	struct stat st;
	ssize_t n;
	int fd;

	job_path(job, what, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!text || fd < 0 || fstat(fd, &st) < 0)
		goto out;
	n = pread(fd, text, max, (size_t)st.st_size > max ? st.st_size - (off_t)max : 0);
	text[n > 0 ? n : 0] = '\0';
out:
	if (fd >= 0)
		close(fd);
	return text;
}

static int file_release(const char *path, struct error *error)
{
	struct stat st;
	char *bytes;
	FILE *file;
	int err = 0;

	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : error_errno(error, -errno, "cannot open %s", path);
	bytes = fstat(fileno(file), &st) < 0 ? NULL : malloc(st.st_size + 1);
	if (!bytes || fread(bytes, 1, st.st_size, file) != (size_t)st.st_size)
		err = error_set(error, -EIO, "cannot read %s", path);
	fclose(file);
	if (!err && unlink(path) < 0)
		err = error_errno(error, -errno, "cannot delete %s", path);
	file = err ? NULL : fopen(path, "we");
	if (!err && (!file || fwrite(bytes, 1, st.st_size, file) != (size_t)st.st_size))
		err = error_set(error, -EIO, "cannot write %s", path);
	if (file && fclose(file) && !err)
		err = error_errno(error, -errno, "cannot write %s", path);
	free(bytes);
	return err;
}

int job_release(const struct job *job, struct error *error)
{
	static const char *const files[] = { "out", "err", "json", "fio" };
	char path[512];
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !err; i++) {
		job_path(job, files[i], path, sizeof(path));
		err = file_release(path, error);
	}
	return err;
}

static void output_open(const struct job *job, const char *what, int to)
{
	char path[512];
	int fd;

	job_path(job, what, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
	close(fd);
}

static void __attribute__((noreturn)) job_main(const struct job *job, int go)
{
	uint64_t zero_ns = 0;
	sigset_t none;
	int null;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(go, &zero_ns, sizeof(zero_ns)) != sizeof(zero_ns))
		_exit(126);
	close(go);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	output_open(job, "out", STDOUT_FILENO);
	output_open(job, "err", STDERR_FILENO);
	if (chdir("/tmp") < 0)
		_exit(126);
	clock_sleep_until(zero_ns + job->start_ns);
	_exit(job->engine->run(job));
}

int jobs_prepare(struct jobs *jobs, const struct cell *cell, struct error *error)
{
	int fds[2], err = 0;
	size_t i;

	jobs->runs = calloc(cell->n_jobs + 1, sizeof(*jobs->runs));
	jobs->go = -1;
	if (!jobs->runs)
		return error_errno(error, -ENOMEM, "cannot prepare the jobs");
	if (mkdir(JOB_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return error_errno(error, -errno, "cannot make " JOB_DIRECTORY);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(error, -errno, "cannot prepare the jobs");
	jobs->go = fds[1];
	for (i = 0; i < cell->n_jobs && !err; i++) {
		struct job_run *run = &jobs->runs[i];

		run->job = &cell->jobs[i];
		run->pid = fork();
		if (run->pid == 0) {
			close(fds[1]);
			job_main(run->job, fds[0]);
		}
		if (run->pid < 0) {
			run->pid = 0;
			err = error_errno(error, -errno, "cannot fork for the job %s",
					  run->job->name);
			break;
		}
		jobs->n = i + 1;
		err = cgroup_place(run->job->cgroup, run->pid, error);
	}
	close(fds[0]);
	return err;
}

int jobs_release(struct jobs *jobs, struct error *error)
{
	size_t i;

	jobs->zero_ns = clock_now_ns() + RELEASE_NS;
	for (i = 0; i < jobs->n; i++) {
		/* Less than PIPE_BUF, so each job takes one whole number. */
		if (write(jobs->go, &jobs->zero_ns, sizeof(jobs->zero_ns)) < 0)
			return error_errno(error, -errno, "cannot release the jobs");
	}
	close(jobs->go);
	jobs->go = -1;
	return 0;
}

size_t jobs_left(const struct jobs *jobs)
{
	size_t i, left = 0;

	for (i = 0; i < jobs->n; i++)
		left += jobs->runs[i].pid != 0;
	return left;
}

static uint64_t timeval_us(struct timeval time)
{
	return time.tv_sec * 1000000ull + time.tv_usec;
}

static int job_ended(struct job_run *run, int status, const struct rusage *usage,
		     struct error *error)
{
	char text[64], *tail;

	run->cpu_us = timeval_us(usage->ru_utime) + timeval_us(usage->ru_stime);
	run->pid = 0;
	run->status = status;
	run->end_ns = clock_now_ns();
	if (!status || run->stopped)
		return 0;
	program_status_text(status, text, sizeof(text));
	tail = job_tail(run->job, "err", ERROR_TAIL_BYTES);
	error_set(error, -ECHILD, "job %s: %s%s%s", run->job->name, text,
		  tail && tail[0] ? ": " : "", tail ?: "");
	free(tail);
	return -ECHILD;
}

/* Reaps everything that has ended; PID 1 also inherits what jobs leave behind. */
static int reap(struct jobs *jobs, size_t *ret_ended, struct error *error)
{
	struct rusage usage;
	int status, err = 0;
	pid_t pid;
	size_t i;

	*ret_ended = 0;
	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		for (i = 0; i < jobs->n; i++) {
			if (jobs->runs[i].pid != pid)
				continue;
			++*ret_ended;
			err = job_ended(&jobs->runs[i], status, &usage, error) ?: err;
		}
	}
	return err;
}

/* Ends jobs of engines that do not end by themselves; returns when the next is due, or @until_ns. */
static uint64_t durations_apply(struct jobs *jobs, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		struct job_run *run = &jobs->runs[i];
		uint64_t end_ns = jobs->zero_ns + run->job->start_ns + run->job->duration_ns;

		if (!run->pid || run->stopped || !run->job->engine->stopped_from_outside ||
		    !run->job->duration_ns)
			continue;
		if (end_ns <= now_ns) {
			run->stopped = true;
			kill(-run->pid, SIGTERM);
		} else if (end_ns < until_ns) {
			until_ns = end_ns;
		}
	}
	return until_ns;
}

int jobs_wait(struct jobs *jobs, uint64_t until_ns, struct error *error)
{
	size_t ended = 0;
	sigset_t child;
	int err = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		uint64_t now_ns, next_ns;
		struct timespec timeout;

		err = reap(jobs, &ended, error);
		next_ns = durations_apply(jobs, until_ns);
		now_ns = clock_now_ns();
		if (err < 0 || ended || now_ns >= until_ns)
			return err;
		if (next_ns <= now_ns)
			continue;
		timeout = clock_timespec(next_ns - now_ns);
		/* SIGCHLD is blocked, so one that came since reap() is pending and not lost. */
		sigtimedwait(&child, NULL, &timeout);
	}
}

void jobs_kill(struct jobs *jobs)
{
	struct error ignored = { "ignored" };
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		if (jobs->runs[i].pid)
			kill(-jobs->runs[i].pid, SIGKILL);
		if (jobs->runs[i].pid)
			kill(jobs->runs[i].pid, SIGKILL);
	}
	/* What is stuck in the kernel cannot be waited for without end: the limit takes care of it. */
	while (jobs_left(jobs))
		jobs_wait(jobs, clock_now_ns() + NS_PER_S, &ignored);
}

json_t *jobs_output(const struct cell *cell)
{
	static const char *const streams[] = { "out", "err" }, *const keys[] = { "stdout",
										 "stderr" };
	json_t *jobs = json_object();
	size_t i, j;

	for (i = 0; i < cell->n_jobs; i++) {
		json_t *job = json_object();

		for (j = 0; j < 2; j++)
			json_object_set_new(
				job, keys[j],
				json_text(job_tail(&cell->jobs[i], streams[j], OUTPUT_BYTES)));
		json_object_set_new(jobs, cell->jobs[i].name, job);
	}
	return jobs;
}

static json_t *run_details(const struct jobs *jobs, const struct job_run *run)
{
	json_t *details = json_object();
	char text[64];

	program_status_text(run->status, text, sizeof(text));
	json_object_set_new(details, "engine", json_string(run->job->engine->name));
	json_object_set_new(details, "cgroup", json_string(run->job->cgroup ?: "/"));
	json_object_set_new(details, "status",
			    json_string(run->stopped ? "stopped" :
					run->status  ? text :
						       "ok"));
	json_object_set_new(details, "start_s", json_real(clock_seconds(run->job->start_ns)));
	json_object_set_new(details, "end_s",
			    json_real(clock_seconds(run->end_ns - jobs->zero_ns)));
	json_object_set_new(details, "cpu_s", json_rounded(run->cpu_us / 1e6, 6));
	return details;
}

int jobs_collect(struct jobs *jobs, json_t *details, struct error *error)
{
	int err = 0;
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		struct job_run *run = &jobs->runs[i];
		bool failed = run->status && !run->stopped;
		json_t *of = run_details(jobs, run);

		if (run->job->engine->collect(run->job, failed, &run->figures, of, error) < 0)
			err = -EIO;
		json_object_set_new(details, run->job->name, of);
	}
	return err;
}

void jobs_done(struct jobs *jobs)
{
	if (jobs->go > 0)
		close(jobs->go);
	free(jobs->runs);
	memset(jobs, 0, sizeof(*jobs));
}
