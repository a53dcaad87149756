// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "clock.h"
#include "disk.h"
#include "json.h"

static const struct measure_family *const families[] = { &measure_writes,    &measure_foreign,
							 &measure_writeback, &measure_throttle,
							 &measure_cpu,	     &measure_account,
							 &measure_free };
#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int cgroups_read(struct measuring *m, struct error *error)
{
	const struct cell *cell = m->cell;
	size_t i;
	int err = 0;

	m->cgroup_inos = calloc(cell->n_cgroups + 1, sizeof(*m->cgroup_inos));
	if (!m->cgroup_inos)
		return error_errno(error, -ENOMEM, "cannot measure");
	for (i = 0; i < cell->n_cgroups && !err; i++)
		err = cgroup_ino(cell->cgroups[i].path, &m->cgroup_inos[i], error);
	return err ?: cgroup_ino("/", &m->cgroup_inos[cell->n_cgroups], error);
}

int measuring_start(struct measuring *m, const struct cell *cell, struct error *error)
{
	size_t i;
	int err;

	m->cell = cell;
	m->states = calloc(N_FAMILIES, sizeof(*m->states));
	if (!m->states)
		return error_errno(error, -ENOMEM, "cannot measure");
	err = cgroups_read(m, error);
	err = err ?: workers_read(&m->workers, error);
	if (err < 0)
		return err;
	workers_filter(&m->workers, m->workers_filter, sizeof(m->workers_filter));
	err = trace_new(&m->trace, error);
	for (i = 0; i < N_FAMILIES && !err; i++) {
		m->states[i] = calloc(1, families[i]->state_bytes);
		if (!m->states[i])
			return error_errno(error, -ENOMEM, "cannot measure");
		err = families[i]->start(m, m->states[i], error);
	}
	m->cpu_begin_ns = cpu_now_ns();
	return err ?: trace_start(m->trace, error);
}

int measuring_drain(struct measuring *m, struct error *error)
{
	int err = trace_drain(m->trace, error);

	if (!err && m->failed)
		err = error_errno(error, m->failed, "cannot follow the trace");
	return err;
}

int measuring_leave(struct measuring *m, const struct cgroup *cgroup, struct error *error)
{
	size_t i;
	int err = 0;

	for (i = 0; i < N_FAMILIES && !err; i++) {
		if (families[i]->leave)
			err = families[i]->leave(m, m->states[i], cgroup, error);
	}
	if (!m->left)
		m->left = json_object();
	json_object_set_new(m->left, cgroup->path, cgroup_details(m->cell, cgroup->path, error));
	m->removed++;
	return err;
}

int measuring_stop(struct measuring *m, struct error *error)
{
	size_t i;
	int err;

	/* First what goes on counting, at once; reading the rest of the trace takes its time. */
	err = trace_stop(m->trace, error);
	for (i = 0; i < N_FAMILIES && !err; i++) {
		if (families[i]->stop)
			err = families[i]->stop(m, m->states[i], error);
	}
	err = err ?: trace_finish(m->trace, error);
	if (!err && m->failed)
		err = error_errno(error, m->failed, "cannot follow the trace");
	return err;
}

static void cgroups_report(const struct measuring *m, json_t *details, struct error *error)
{
	json_t *cgroups = json_object();
	size_t i;

	json_object_set_new(cgroups, "/", cgroup_details(m->cell, "", error));
	for (i = 0; i < m->cell->n_cgroups; i++) {
		const char *path = m->cell->cgroups[i].path;
		json_t *left = json_object_get(m->left, path);

		json_object_set_new(cgroups, path,
				    left ? json_incref(left) :
					   cgroup_details(m->cell, path, error));
	}
	json_object_set_new(details, "cgroups", cgroups);
}

int measuring_report(struct measuring *m, const struct jobs *jobs, json_t *measures,
		     json_t *details, struct error *error)
{
	uint64_t cpu_ns = cpu_now_ns() - m->cpu_begin_ns;
	json_t *of;
	size_t i;
	int err = 0;

	m->zero_ns = jobs->zero_ns;
	measuring_jobs(m, jobs, measures);
	for (i = 0; i < N_FAMILIES && !err; i++) {
		of = json_object();
		json_object_set_new(details, families[i]->name, of);
		err = families[i]->report(m, m->states[i], measures, of, error);
	}
	cgroups_report(m, details, error);
	if (m->not_measured)
		json_object_set(details, "not_measured", m->not_measured);
	/* What the measuring itself cost, and whether it saw everything. */
	of = json_object();
	json_object_set_new(of, "cpu_s", json_rounded(cpu_ns / 1e9, 3));
	json_object_set_new(of, "events", json_integer(trace_events(m->trace)));
	json_object_set_new(of, "lost_events", json_integer(trace_lost(m->trace)));
	json_object_set_new(details, "guest", of);
	return err;
}

void measuring_done(struct measuring *m)
{
	size_t i;

	m->trace = trace_free(m->trace);
	for (i = 0; m->states && i < N_FAMILIES; i++) {
		if (m->states[i] && families[i]->done)
			families[i]->done(m->states[i]);
		free(m->states[i]);
	}
	free(m->states);
	free(m->cgroup_inos);
	json_decref(m->not_measured);
	json_decref(m->left);
	m->not_measured = m->left = NULL;
	m->states = NULL;
	m->cgroup_inos = NULL;
}

void measuring_set(json_t *measures, const struct measure *measure, json_t *value)
{
	json_object_set_new(measures, measure->name, value);
}

void measuring_null(struct measuring *m, json_t *measures, const struct measure *measure,
		    const char *format, ...)
{
	va_list arguments;

	measuring_set(measures, measure, json_null());
	if (!m->not_measured)
		m->not_measured = json_object();
	va_start(arguments, format);
	json_object_set_new(m->not_measured, measure->name, json_vsprintf(format, arguments));
	va_end(arguments);
}

static bool is_within(const char *path, const char *of)
{
	size_t n = strlen(of);

	return !strncmp(path, of, n) && path[n] == '/';
}

bool measuring_of(const struct measuring *m, const struct measure *measure, uint64_t ino)
{
	const struct cell *cell = m->cell;
	size_t i;

	for (i = 0; i < cell->n_cgroups; i++) {
		if (m->cgroup_inos[i] == ino)
			return !strcmp(cell->cgroups[i].group, measure->of) ||
			       is_within(cell->cgroups[i].path, measure->of);
	}
	return false;
}

struct tally measuring_tally(const struct measuring *m, const struct measure *measure,
			     const struct tallies *tallies, unsigned int key)
{
	struct tally sum = { .hits = 0 };
	size_t i;

	for (i = 0; i < tallies->n; i++) {
		if (measuring_of(m, measure, tallies->items[i].keys[key])) {
			sum.hits += tallies->items[i].hits;
			sum.value += tallies->items[i].value;
		}
	}
	return sum;
}

const char *measuring_cgroup_name(const struct measuring *m, uint64_t ino, char text[24])
{
	const struct cell *cell = m->cell;
	size_t i;

	for (i = 0; i < cell->n_cgroups; i++) {
		if (m->cgroup_inos[i] == ino)
			return cell->cgroups[i].path;
	}
	if (m->cgroup_inos[cell->n_cgroups] == ino)
		return "/";
	snprintf(text, 24, "#%" PRIu64, ino);
	return text;
}

const char *measuring_disk_name(const struct measuring *m, const char *bdi)
{
	struct error ignored = { "" };
	char number[32];
	size_t i;

	for (i = 0; i < m->cell->n_disks; i++) {
		if (!disk_number_text(&m->cell->disks[i], number, sizeof(number), &ignored) &&
		    !strcmp(number, bdi))
			return m->cell->disks[i].name;
	}
	return bdi;
}
