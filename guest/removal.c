// SPDX-License-Identifier: GPL-2.0-or-later
#include "removal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "cgroup.h"
#include "clock.h"

#define DROP_CACHES "/proc/sys/vm/drop_caches"
/* Often beside the time that writing back takes, seldom beside what it costs to walk all inodes. */
#define DROP_NS (NS_PER_S / 4)
/* Twice the age at which what is dirty is written (vm.dirty_expire_centisecs). */
#define WAIT_NS (60 * NS_PER_S)

int removal_init(struct removal *removal, const struct cell *cell, struct error *error)
{
	removal->removed = calloc(cell->n_cgroups + 1, sizeof(*removal->removed));
	if (!removal->removed)
		return error_errno(error, -ENOMEM, "cannot prepare the removal of cgroups");
	/* Only lets the kernel say nothing of it on the console. */
	return cell_removes(cell) ? attribute_write(error, "4", DROP_CACHES) : 0;
}

static bool is_in(const struct job *job, const char *cgroup)
{
	return job->cgroup && !strcmp(job->cgroup, cgroup);
}

static bool has_ended(const struct jobs *jobs, const char *cgroup)
{
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		if (jobs->runs[i].pid && is_in(jobs->runs[i].job, cgroup))
			return false;
	}
	return true;
}

static int caches_drop(struct removal *removal, struct error *error)
{
	removal->drop_ns = clock_now_ns() + DROP_NS;
	/* 1: clean pages, no inodes or dentries. */
	return attribute_write(error, "1", DROP_CACHES);
}

static int cgroup_end(struct removal *removal, struct measuring *measuring, const struct jobs *jobs,
		      size_t i, struct error *error)
{
	const struct cgroup *cgroup = &measuring->cell->cgroups[i];
	size_t j;
	int err = 0;

	removal->removed[i] = true;
	for (j = 0; j < jobs->n && !err; j++) {
		if (is_in(jobs->runs[j].job, cgroup->path))
			err = job_release(jobs->runs[j].job, error);
	}
	err = err ?: caches_drop(removal, error);
	err = err ?: measuring_leave(measuring, cgroup, error);
	return err ?: cgroup_remove(cgroup->path, error);
}

/* Whether one is known not to be freed yet. */
static bool is_pending(const struct measuring *measuring)
{
	return measuring->frees_seen && measuring->freed < measuring->removed;
}

int removal_step(struct removal *removal, struct measuring *measuring, const struct jobs *jobs,
		 uint64_t *until_ns, struct error *error)
{
	const struct cell *cell = measuring->cell;
	size_t i;
	int err = 0;

	for (i = 0; i < cell->n_cgroups && !err; i++) {
		if (cell->cgroups[i].remove && !removal->removed[i] &&
		    has_ended(jobs, cell->cgroups[i].path))
			err = cgroup_end(removal, measuring, jobs, i, error);
	}
	if (err || !is_pending(measuring))
		return err;
	if (clock_now_ns() >= removal->drop_ns) {
		err = measuring_drain(measuring, error);
		err = err ?: caches_drop(removal, error);
	}
	if (removal->drop_ns < *until_ns)
		*until_ns = removal->drop_ns;
	return err;
}

int removal_wait(struct removal *removal, struct measuring *measuring, const struct jobs *jobs,
		 struct error *error)
{
	uint64_t end_ns = clock_now_ns() + WAIT_NS;
	int err;

	for (;;) {
		uint64_t until_ns = end_ns;

		err = removal_step(removal, measuring, jobs, &until_ns, error);
		if (err || !is_pending(measuring) || clock_now_ns() >= end_ns)
			return err;
		clock_sleep_until(until_ns);
	}
}

void removal_done(struct removal *removal)
{
	free(removal->removed);
	removal->removed = NULL;
}
