// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PID 1 of a lab guest: the order of things (docs/cell.md). Each step either works or ends the cell
 * with a failed result that says what failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "attribute.h"
#include "cell.h"
#include "cgroup.h"
#include "clock.h"
#include "disk.h"
#include "filesystem.h"
#include "job.h"
#include "limit.h"
#include "measure.h"
#include "module.h"
#include "removal.h"
#include "report.h"
#include "result.h"

/* How often PID 1 looks at what has happened while jobs run. */
#define TICK_NS NS_PER_S

struct guest {
	struct cell cell;
	struct jobs jobs;
	struct measuring measuring;
	struct removal removal;
	struct result_times times;
	struct error error;
	json_t *measures, *details;
};

static int api_mount(const char *path, const char *type, struct error *error)
{
	int err = directory_make(path, error);

	if (!err && mount(type, path, type, 0, NULL) < 0)
		err = error_errno(error, -errno, "cannot mount %s on %s", type, path);
	return err;
}

static int boot(struct guest *guest)
{
	static const struct {
		const char *path, *type;
	} mounts[] = {
		{ "/proc", "proc" },
		{ "/sys", "sysfs" },
		{ "/dev", "devtmpfs" },
		{ "/dev/shm", "tmpfs" },
		{ "/tmp", "tmpfs" },
		{ "/sys/fs/cgroup", "cgroup2" },
		{ "/sys/kernel/debug", "debugfs" },
		{ "/sys/kernel/tracing", "tracefs" },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]) && !err; i++)
		err = api_mount(mounts[i].path, mounts[i].type, &guest->error);
	err = err ?: report_open(&guest->error);
	err = err ?: cell_read(&guest->cell, "/cell.json", &guest->error);
	err = err ?: limit_begin(&guest->cell, &guest->error);
	err = err ?: modules_load("/modules.load", &guest->error);
	/* configfs is a module on some kernels. */
	if (!err && guest->cell.n_disks)
		err = api_mount("/sys/kernel/config", "configfs", &guest->error);
	guest->times.boot_ns = clock_now_ns();
	if (!err)
		report_progress(-1);
	return err;
}

static int sysctl_write(struct guest *guest)
{
	const char *key;
	json_t *value;

	json_object_foreach(guest->cell.sysctl, key, value) {
		char path[256], *c;
		int err;

		snprintf(path, sizeof(path), "/proc/sys/%s", key);
		for (c = path + strlen("/proc/sys/"); *c; c++) {
			if (*c == '.')
				*c = '/';
		}
		err = attribute_write(&guest->error, json_string_value(value), "%s", path);
		if (err < 0)
			return err;
	}
	return 0;
}

static int prepare(struct guest *guest)
{
	const struct cell *cell = &guest->cell;
	struct error *error = &guest->error;
	size_t i;
	int err;

	report_phase("prepare");
	report_progress(-1);
	err = sysctl_write(guest);
	for (i = 0; i < cell->n_disks && !err; i++)
		err = disk_make(&cell->disks[i], error);
	for (i = 0; i < cell->n_mounts && !err; i++)
		err = filesystem_make(&cell->mounts[i], error);
	for (i = 0; i < cell->n_files && !err; i++)
		err = file_make(&cell->files[i], cell->seed, error);
	for (i = 0; i < cell->n_mounts && !err; i++)
		err = filesystem_sync(&cell->mounts[i], error);
	return err;
}

static int policy(struct guest *guest)
{
	report_phase("policy");
	report_progress(-1);
	return policy_load(&guest->cell, &guest->error);
}

static int run(struct guest *guest)
{
	struct error *error = &guest->error;
	uint64_t tick_ns, until_ns;
	int err;

	report_phase("run");
	err = cgroups_make(&guest->cell, error);
	err = err ?: jobs_prepare(&guest->jobs, &guest->cell, error);
	err = err ?: removal_init(&guest->removal, &guest->cell, error);
	err = err ?: measuring_start(&guest->measuring, &guest->cell, error);
	err = err ?: jobs_release(&guest->jobs, error);
	guest->times.prepared_ns = guest->jobs.zero_ns;
	tick_ns = guest->jobs.zero_ns;
	while (!err && jobs_left(&guest->jobs)) {
		if (clock_now_ns() >= tick_ns) {
			report_progress(jobs_left(&guest->jobs));
			err = measuring_drain(&guest->measuring, error);
			tick_ns += TICK_NS;
		}
		until_ns = tick_ns;
		err = err   ?:
			      removal_step(&guest->removal, &guest->measuring, &guest->jobs,
					   &until_ns, error);
		err = err ?: jobs_wait(&guest->jobs, until_ns, error);
	}
	err = err ?: removal_wait(&guest->removal, &guest->measuring, &guest->jobs, error);
	/* One that failed makes the rest of the experiment worthless. */
	if (err < 0)
		jobs_kill(&guest->jobs);
	return err;
}

static int sync_all(struct guest *guest)
{
	size_t i;
	int err = 0;

	report_phase("sync");
	report_progress(-1);
	for (i = 0; i < guest->cell.n_mounts && !err; i++)
		err = filesystem_sync(&guest->cell.mounts[i], &guest->error);
	return err ?: measuring_stop(&guest->measuring, &guest->error);
}

static int measure(struct guest *guest)
{
	json_t *jobs = json_object();
	int err;

	report_phase("measure");
	report_progress(-1);
	json_object_set_new(guest->details, "jobs", jobs);
	err = jobs_collect(&guest->jobs, jobs, &guest->error);
	return err   ?:
		       measuring_report(&guest->measuring, &guest->jobs, guest->measures,
					guest->details, &guest->error);
}

/* What the jobs said is worth having when one of them failed. */
static void jobs_salvage(struct guest *guest)
{
	json_t *jobs = json_object();

	if (!json_object_get(guest->details, "jobs")) {
		jobs_collect(&guest->jobs, jobs, &guest->error);
		json_object_set(guest->details, "jobs", jobs);
	}
	json_decref(jobs);
}

int main(void)
{
	static struct guest guest;
	sigset_t blocked;
	int err;

	if (getpid() != 1) {
		fprintf(stderr, "cgwb-guest: is PID 1 of a lab guest, and nothing else\n");
		return 2;
	}
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	guest.measures = json_object();
	guest.details = json_object();
	err = boot(&guest);
	err = err ?: prepare(&guest);
	err = err ?: policy(&guest);
	err = err ?: run(&guest);
	err = err ?: sync_all(&guest);
	err = err ?: measure(&guest);
	if (err < 0) {
		if (!guest.error.text[0])
			error_errno(&guest.error, err, "phase %s failed", report_phase_now());
		fprintf(stderr, "cgwb-guest: %s\n", guest.error.text);
		jobs_salvage(&guest);
		json_object_clear(guest.measures);
	}
	report_result(
		result_new(&guest.cell, &guest.error, &guest.times, guest.measures, guest.details));
}
