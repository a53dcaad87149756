// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine `files`: makes small files without end, as a package install or a mail spool does, and
 * now and then writes a piece of one data file. It makes metadata above all.
 *
 * The work is a plan (files_plan_*, pure arithmetic, unit-tested) and its execution.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attribute.h"
#include "clock.h"
#include "engine-files.h"
#include "filesystem.h"
#include "job.h"
#include "json.h"
#include "random.h"
#include "work.h"

#define XATTR_NAME "user.cgwb"
#define XATTR_MAX_BYTES 65536

static const char *const keys[] = { "directory",  "file_bytes",	 "files_per_directory",
				    "data_every", "data_bytes",	 "data_span_bytes",
				    "files",	  "files_per_s", "xattr_bytes",
				    "sync",	  "delete",	 NULL };

static int files_parse(struct job *job, json_t *json, const char *where, struct error *error)
{
	struct files_plan *plan = calloc(1, sizeof(*plan));
	int err;

	if (!plan)
		return error_errno(error, -ENOMEM, "cannot read %s", where);
	job->parameters = plan;
	err = json_get_string(json, where, "directory", &plan->directory, error);
	err = err ?: json_get_u64(json, where, "file_bytes", &plan->file_bytes, error);
	err = err   ?:
		      json_get_u64(json, where, "files_per_directory", &plan->files_per_directory,
				   error);
	err = err ?: json_get_u64(json, where, "data_every", &plan->data_every, error);
	err = err ?: json_get_u64(json, where, "data_bytes", &plan->data_bytes, error);
	err = err ?: json_get_u64(json, where, "data_span_bytes", &plan->data_span_bytes, error);
	err = err ?: json_get_u64(json, where, "files", &plan->files, error);
	err = err ?: json_get_u64(json, where, "files_per_s", &plan->files_per_s, error);
	err = err ?: json_get_u64(json, where, "xattr_bytes", &plan->xattr_bytes, error);
	err = err ?: json_find_bool(json, where, "sync", &plan->sync, error);
	err = err ?: json_find_bool(json, where, "delete", &plan->delete, error);
	if (err < 0)
		return err;
	if (!plan->files && !job->duration_ns)
		return error_set(error, -EINVAL,
				 "cell: %s: neither 'files' nor 'duration_ns' says when it ends",
				 where);
	if (!plan->files_per_directory)
		return error_set(error, -EINVAL, "cell: %s: 'files_per_directory' is 0", where);
	if (plan->data_every && (!plan->data_bytes || plan->data_span_bytes < plan->data_bytes))
		return error_set(error, -EINVAL,
				 "cell: %s: 'data_span_bytes' does not hold one 'data_bytes'",
				 where);
	if (plan->xattr_bytes && (plan->xattr_bytes < 8 || plan->xattr_bytes > XATTR_MAX_BYTES))
		return error_set(error, -EINVAL, "cell: %s: 'xattr_bytes' is not in 8 to %d", where,
				 XATTR_MAX_BYTES);
	return 0;
}

uint64_t files_plan_due_ns(const struct files_plan *plan, uint64_t n)
{
	return work_due_ns(plan->files_per_s, n);
}

bool files_plan_ends(const struct files_plan *plan, uint64_t n, uint64_t elapsed_ns,
		     uint64_t duration_ns)
{
	return (plan->files && n >= plan->files) || (duration_ns && elapsed_ns >= duration_ns);
}

bool files_plan_has_data(const struct files_plan *plan, uint64_t n)
{
	return plan->data_every && (n + 1) % plan->data_every == 0;
}

uint64_t files_plan_data_offset(const struct files_plan *plan, uint64_t n)
{
	uint64_t pieces = plan->data_span_bytes / plan->data_bytes;

	return ((n + 1) / plan->data_every - 1) % pieces * plan->data_bytes;
}

struct files_work {
	const struct files_plan *plan;
	struct random random;
	char *file, *data, *xattr;
	int data_fd;
	uint64_t files, directories, file_bytes, data_bytes;
};

static int bytes_write(int fd, const char *data, uint64_t bytes, off_t offset, const char *path)
{
	while (bytes) {
		ssize_t n = pwrite(fd, data, bytes, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return work_complain("write", path);
		data += n;
		offset += n;
		bytes -= n;
	}
	return 0;
}

/* Every value differs: some filesystems share equal ones. */
static int xattr_set(struct files_work *work, int fd, const char *path)
{
	if (!work->plan->xattr_bytes)
		return 0;
	memcpy(work->xattr, &work->files, sizeof(work->files));
	if (fsetxattr(fd, XATTR_NAME, work->xattr, work->plan->xattr_bytes, 0) < 0)
		return work_complain("set an xattr of", path);
	return 0;
}

static void file_path(const struct files_plan *plan, uint64_t n, char *path, size_t size)
{
	snprintf(path, size, "%s/d%" PRIu64 "/f%" PRIu64, plan->directory,
		 n / plan->files_per_directory, n);
}

static int file_add(struct files_work *work)
{
	const struct files_plan *plan = work->plan;
	uint64_t directory = work->files / plan->files_per_directory;
	char path[PATH_MAX];
	int fd, err;

	if (work->files % plan->files_per_directory == 0) {
		snprintf(path, sizeof(path), "%s/d%" PRIu64, plan->directory, directory);
		if (mkdir(path, 0755) < 0)
			return work_complain("make the directory", path);
		work->directories++;
	}
	file_path(plan, work->files, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return work_complain("make", path);
	if (plan->file_bytes >= sizeof(work->files))
		memcpy(work->file, &work->files, sizeof(work->files));
	err = bytes_write(fd, work->file, plan->file_bytes, 0, path);
	err = err ?: xattr_set(work, fd, path);
	if (close(fd) < 0 && !err)
		err = work_complain("close", path);
	if (!err) {
		work->files++;
		work->file_bytes += plan->file_bytes;
	}
	return err;
}

/* A piece of the data file; each page of it differs from what stood there. */
static int data_add(struct files_work *work, uint64_t n)
{
	const struct files_plan *plan = work->plan;
	uint64_t i;
	int err;

	for (i = 0; i + sizeof(uint64_t) <= plan->data_bytes; i += 4096) {
		uint64_t value = random_next(&work->random);

		memcpy(work->data + i, &value, sizeof(value));
	}
	err = bytes_write(work->data_fd, work->data, plan->data_bytes,
			  files_plan_data_offset(plan, n), "the data file");
	if (!err)
		work->data_bytes += plan->data_bytes;
	return err;
}

static int work_begin(struct files_work *work, const struct job *job)
{
	const struct files_plan *plan = work->plan;
	struct error error = { "" };
	char path[PATH_MAX];

	work->random.state = random_seed(job->seed, job->name);
	work->file = malloc(plan->file_bytes + 1);
	work->data = malloc(plan->data_bytes + 1);
	work->xattr = malloc(plan->xattr_bytes + 1);
	if (!work->file || !work->data || !work->xattr) {
		errno = ENOMEM;
		return work_complain("begin in", plan->directory);
	}
	random_fill(&work->random, work->file, plan->file_bytes);
	random_fill(&work->random, work->data, plan->data_every ? plan->data_bytes : 0);
	random_fill(&work->random, work->xattr, plan->xattr_bytes);
	if (directory_make(plan->directory, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return -EIO;
	}
	if (!plan->data_every)
		return 0;
	snprintf(path, sizeof(path), "%s/data", plan->directory);
	work->data_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return work->data_fd < 0 ? work_complain("make", path) : 0;
}

/* What it made, in the order in which it was made. */
static int work_delete(struct files_work *work)
{
	const struct files_plan *plan = work->plan;
	char path[PATH_MAX];
	uint64_t n;

	for (n = 0; n < work->files; n++) {
		file_path(plan, n, path, sizeof(path));
		if (unlink(path) < 0)
			return work_complain("delete", path);
	}
	for (n = 0; n < work->directories; n++) {
		snprintf(path, sizeof(path), "%s/d%" PRIu64, plan->directory, n);
		if (rmdir(path) < 0)
			return work_complain("delete", path);
	}
	if (!plan->data_every)
		return 0;
	close(work->data_fd);
	snprintf(path, sizeof(path), "%s/data", plan->directory);
	return unlink(path) < 0 ? work_complain("delete", path) : 0;
}

static int work_do(struct files_work *work, const struct job *job)
{
	const struct files_plan *plan = work->plan;
	uint64_t begin_ns = clock_now_ns();
	int err = 0, fd;

	while (!err &&
	       !files_plan_ends(plan, work->files, clock_now_ns() - begin_ns, job->duration_ns)) {
		uint64_t n = work->files;

		if (plan->files_per_s)
			clock_sleep_until(begin_ns + files_plan_due_ns(plan, n));
		err = file_add(work);
		if (!err && files_plan_has_data(plan, n))
			err = data_add(work, n);
	}
	if (!err && plan->delete)
		err = work_delete(work);
	if (err || !plan->sync)
		return err;
	fd = open(plan->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0)
		err = work_complain("sync", plan->directory);
	close(fd);
	return err;
}

static int files_run(const struct job *job)
{
	struct files_work work = { .plan = job->parameters };
	uint64_t begin_ns = clock_now_ns(), elapsed_ns;
	json_t *report;
	int err;

	err = work_begin(&work, job);
	err = err ?: work_do(&work, job);
	elapsed_ns = clock_now_ns() - begin_ns;
	/* How far it came is worth knowing when it failed, too. */
	report = json_pack("{s:I, s:I, s:I, s:I}", "files", (json_int_t)work.files, "directories",
			   (json_int_t)work.directories, "file_bytes", (json_int_t)work.file_bytes,
			   "data_bytes", (json_int_t)work.data_bytes);
	if (work_report(job, report, elapsed_ns) < 0 && !err)
		err = work_complain("report on", job->name);
	return err ? 1 : 0;
}

static int files_collect(const struct job *job, bool failed, struct job_figures *figures,
			 json_t *details, struct error *error)
{
	json_t *report;
	double bytes;
	int err = work_collect(job, failed, "files", figures, details, &report, error);

	bytes = json_number_value(json_object_get(report, "file_bytes")) +
		json_number_value(json_object_get(report, "data_bytes"));
	if (figures->valid)
		figures->mib_s = bytes / 1048576 / figures->seconds;
	json_decref(report);
	return err;
}

const struct engine engine_files = {
	.name = "files",
	.keys = keys,
	.parse = files_parse,
	.run = files_run,
	.collect = files_collect,
};
