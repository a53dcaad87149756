// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel and the policy module count by themselves, in files: how much it grew from the
 * beginning to the end.
 */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "cgroup.h"
#include "json.h"

#define POLICY_STATS "/sys/kernel/cgwb/stats"
#define US_PER_S 1e6

/* One file of one measure; a group of cgroups has several. */
struct account {
	const struct measure *measure;
	const char *cgroup; /* its path; NULL: the policy module's */
	uint64_t begin, end;
	bool ended; /* before the end of the cell, with its cgroup */
};

struct state {
	struct measuring *m;
	struct account *accounts;
	size_t n;
};

static bool is_account(const struct measure *measure)
{
	return measure->kind == CGWB_MEMORY_EVENT || measure->kind == CGWB_PRESSURE ||
	       measure->kind == CGWB_POLICY_STAT;
}

static int account_read(const struct account *account, uint64_t *ret_value, struct error *error)
{
	const struct measure *measure = account->measure;
	int err;

	switch (measure->kind) {
	case CGWB_MEMORY_EVENT:
		return cgroup_memory_event(account->cgroup, measure->with[0], ret_value, error);
	case CGWB_PRESSURE:
		return cgroup_pressure_us(account->cgroup, measure->with[0], measure->with[1],
					  ret_value, error);
	default:
		err = attribute_read_u64(error, ret_value, POLICY_STATS "/%s", measure->of);
		if (err == -ENOENT)
			error_set(error, err, "the policy module has no counter '%s'", measure->of);
		return err;
	}
}

static int account_add(struct state *state, const struct measure *measure, const char *cgroup,
		       struct error *error)
{
	struct account *account = &state->accounts[state->n++];

	account->measure = measure;
	account->cgroup = cgroup;
	return account_read(account, &account->begin, error);
}

static int group_add(struct state *state, const struct measure *measure, struct error *error)
{
	const struct cell *cell = state->m->cell;
	size_t i;
	int err = 0;

	for (i = 0; i < cell->n_cgroups && !err; i++) {
		if (!strcmp(cell->cgroups[i].group, measure->of))
			err = account_add(state, measure, cell->cgroups[i].path, error);
	}
	return err;
}

static int account_start(struct measuring *m, void *data, struct error *error)
{
	const struct cell *cell = m->cell;
	struct state *state = data;
	size_t i;
	int err = 0;

	state->m = m;
	state->accounts =
		calloc(cell->n_measures * (cell->n_cgroups + 1) + 1, sizeof(*state->accounts));
	if (!state->accounts)
		return error_errno(error, -ENOMEM, "cannot read accounts");
	for (i = 0; i < cell->n_measures && !err; i++) {
		const struct measure *measure = &cell->measures[i];

		if (measure->kind != CGWB_POLICY_STAT && is_account(measure))
			err = group_add(state, measure, error);
		else if (measure->kind == CGWB_POLICY_STAT && cell->policy)
			err = account_add(state, measure, NULL, error);
	}
	return err;
}

static int account_stop(struct measuring *m, void *data, struct error *error)
{
	struct state *state = data;
	size_t i;
	int err = 0;

	for (i = 0; i < state->n && !err; i++) {
		if (!state->accounts[i].ended)
			err = account_read(&state->accounts[i], &state->accounts[i].end, error);
	}
	return err;
}

static int account_leave(struct measuring *m, void *data, const struct cgroup *cgroup,
			 struct error *error)
{
	struct state *state = data;
	size_t i;
	int err = 0;

	for (i = 0; i < state->n && !err; i++) {
		struct account *account = &state->accounts[i];

		if (!account->cgroup || strcmp(account->cgroup, cgroup->path))
			continue;
		account->ended = true;
		err = account_read(account, &account->end, error);
	}
	return err;
}

/* The sum of a measure's accounts, and each of them in the details. */
static void measure_report(const struct state *state, const struct measure *measure,
			   json_t *measures, json_t *details)
{
	json_t *of = json_object();
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < state->n; i++) {
		const struct account *account = &state->accounts[i];

		if (account->measure != measure)
			continue;
		sum += account->end - account->begin;
		json_object_set_new(of, account->cgroup ?: measure->of,
				    json_integer(account->end - account->begin));
	}
	measuring_set(measures, measure,
		      measure->kind == CGWB_PRESSURE ? json_rounded(sum / US_PER_S, 3) :
						       json_integer(sum));
	json_object_set_new(details, measure->name, of);
}

static int account_report(struct measuring *m, void *data, json_t *measures, json_t *details,
			  struct error *error)
{
	struct state *state = data;
	size_t i;

	for (i = 0; i < m->cell->n_measures; i++) {
		const struct measure *measure = &m->cell->measures[i];

		if (!is_account(measure))
			continue;
		if (measure->kind == CGWB_POLICY_STAT && !m->cell->policy)
			measuring_null(m, measures, measure, "the policy module is not loaded");
		else
			measure_report(state, measure, measures, details);
	}
	return 0;
}

static void account_done(void *data)
{
	struct state *state = data;

	free(state->accounts);
}

const struct measure_family measure_account = {
	.name = "accounts",
	.state_bytes = sizeof(struct state),
	.start = account_start,
	.stop = account_stop,
	.leave = account_leave,
	.report = account_report,
	.done = account_done,
};
