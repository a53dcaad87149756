// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine `pages`: makes pages of one file dirty, each with one store into its mapping. It costs next to nothing
 * beside what the kernel does for it, and takes no lock of the inode while it sleeps in balance_dirty_pages(), as
 * write() does: many can wait for one file at a time.
 *
 * The work is a plan (pages_plan_*, pure arithmetic, unit-tested) and its execution.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "engine-pages.h"
#include "job.h"
#include "json.h"
#include "random.h"
#include "work.h"

static const char *const keys[] = { "filename", "offset_bytes", "size_bytes", "stride_bytes",
				    "passes",	"pages_per_s",	NULL };

static int pages_parse(struct job *job, json_t *json, const char *where, struct error *error)
{
	struct pages_plan *plan = calloc(1, sizeof(*plan));
	int err;

	if (!plan)
		return error_errno(error, -ENOMEM, "cannot read %s", where);
	job->parameters = plan;
	err = json_get_string(json, where, "filename", &plan->filename, error);
	err = err ?: json_get_u64(json, where, "offset_bytes", &plan->offset_bytes, error);
	err = err ?: json_get_u64(json, where, "size_bytes", &plan->size_bytes, error);
	err = err ?: json_get_u64(json, where, "stride_bytes", &plan->stride_bytes, error);
	err = err ?: json_get_u64(json, where, "passes", &plan->passes, error);
	err = err ?: json_get_u64(json, where, "pages_per_s", &plan->pages_per_s, error);
	if (err < 0)
		return err;
	if (!plan->passes && !job->duration_ns)
		return error_set(error, -EINVAL,
				 "cell: %s: neither 'passes' nor 'duration_ns' says when it ends",
				 where);
	if (!plan->size_bytes || !plan->stride_bytes || plan->size_bytes % PAGES_PAGE ||
	    plan->offset_bytes % PAGES_PAGE || plan->stride_bytes % PAGES_PAGE)
		return error_set(
			error, -EINVAL,
			"cell: %s: 'size_bytes', 'offset_bytes' and 'stride_bytes' are not "
			"whole pages",
			where);
	return 0;
}

uint64_t pages_plan_pass(const struct pages_plan *plan)
{
	return (plan->size_bytes + plan->stride_bytes - 1) / plan->stride_bytes;
}

uint64_t pages_plan_at(const struct pages_plan *plan, uint64_t n)
{
	return n % pages_plan_pass(plan) * plan->stride_bytes;
}

uint64_t pages_plan_due_ns(const struct pages_plan *plan, uint64_t n)
{
	return work_due_ns(plan->pages_per_s, n);
}

bool pages_plan_ends(const struct pages_plan *plan, uint64_t n, uint64_t elapsed_ns,
		     uint64_t duration_ns)
{
	return (plan->passes && n >= plan->passes * pages_plan_pass(plan)) ||
	       (duration_ns && elapsed_ns >= duration_ns);
}

/* The window of the file; what of it lies behind the file's end becomes a hole. */
static int window_map(const struct pages_plan *plan, char **ret)
{
	off_t end = plan->offset_bytes + plan->size_bytes;
	struct stat status;
	void *window;
	int fd, err = 0;

	fd = open(plan->filename, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return work_complain("open", plan->filename);
	if (fstat(fd, &status) < 0 ||
	    (S_ISREG(status.st_mode) && status.st_size < end && ftruncate(fd, end) < 0))
		err = work_complain("make room in", plan->filename);
	window = err ? MAP_FAILED :
		       mmap(NULL, plan->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    plan->offset_bytes);
	if (!err && window == MAP_FAILED)
		err = work_complain("map", plan->filename);
	/* The kernel would bring in neighbours, too, and charge them to this cgroup. */
	if (!err && madvise(window, plan->size_bytes, MADV_RANDOM) < 0)
		err = work_complain("map", plan->filename);
	close(fd);
	*ret = window;
	return err;
}

static int pages_run(const struct job *job)
{
	const struct pages_plan *plan = job->parameters;
	struct random random = { random_seed(job->seed, job->name) };
	uint64_t begin_ns = clock_now_ns(), n;
	char *window = NULL;

	if (window_map(plan, &window) < 0)
		return 1;
	for (n = 0; !pages_plan_ends(plan, n, clock_now_ns() - begin_ns, job->duration_ns); n++) {
		uint64_t value = random_next(&random);

		if (plan->pages_per_s)
			clock_sleep_until(begin_ns + pages_plan_due_ns(plan, n));
		memcpy(window + pages_plan_at(plan, n), &value, sizeof(value));
	}
	if (work_report(job, json_pack("{s:I}", "pages", (json_int_t)n),
			clock_now_ns() - begin_ns) < 0) {
		work_complain("report on", job->name);
		return 1;
	}
	return 0;
}

static int pages_collect(const struct job *job, bool failed, struct job_figures *figures,
			 json_t *details, struct error *error)
{
	json_t *report;
	int err = work_collect(job, failed, "pages", figures, details, &report, error);

	if (figures->valid)
		figures->mib_s = (double)figures->count * PAGES_PAGE / 1048576 / figures->seconds;
	json_decref(report);
	return err;
}

const struct engine engine_pages = {
	.name = "pages",
	.keys = keys,
	.parse = pages_parse,
	.run = pages_run,
	.collect = pages_collect,
};
