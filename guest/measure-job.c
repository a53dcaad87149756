// SPDX-License-Identifier: GPL-2.0-or-later
/* What jobs did, by themselves: the measured job's figures, and those that a cell asks for of a group. */
#include "measure.h"

#include <cpuid.h>
#include <string.h>

#include "clock.h"
#include "json.h"

/* QEMU's -icount shift=1 */
#define NS_PER_INSTRUCTION 2
#define NS_PER_US 1000
#define HYPERVISOR_LEAF 0x40000000
#define EMULATOR_NAME "TCGTCGTCGTCG"

/* Null where the engine has no such figure. */
static void figures_report(const struct job_figures *figures, json_t *measures)
{
	bool valid = figures->valid, latency = valid && figures->has_latency;

	json_object_set_new(measures, "seconds",
			    valid ? json_rounded(figures->seconds, 3) : json_null());
	json_object_set_new(measures, "mib_s",
			    valid ? json_rounded(figures->mib_s, 2) : json_null());
	json_object_set_new(measures, "iops", valid ? json_rounded(figures->iops, 2) : json_null());
	json_object_set_new(measures, "mean_ms",
			    latency ? json_rounded(figures->mean_ms, 3) : json_null());
	json_object_set_new(measures, "p99_ms",
			    latency ? json_rounded(figures->p99_ms, 3) : json_null());
}

/* What all jobs of a group come to. */
struct sums {
	uint64_t count, cpu_us;
	double seconds, mib_s, p99_ms; /* the longest, together, the worst */
	const char *no_figures, *no_latency; /* a job that has none */
};

static void sums_add(struct sums *sums, const struct jobs *jobs, const struct job_run *run)
{
	const struct job_figures *figures = &run->figures;
	double seconds = figures->seconds;

	/* An engine that has no figures of its own: from the job's time to its end. */
	if (run->job->engine == &engine_exec)
		seconds = (run->end_ns - jobs->zero_ns - run->job->start_ns) / 1e9;
	else if (!figures->valid)
		sums->no_figures = run->job->name;
	if (!figures->valid || !figures->has_latency)
		sums->no_latency = run->job->name;
	sums->count += figures->count;
	sums->cpu_us += run->cpu_us;
	sums->mib_s += figures->mib_s;
	if (seconds > sums->seconds)
		sums->seconds = seconds;
	if (figures->p99_ms > sums->p99_ms)
		sums->p99_ms = figures->p99_ms;
}

/* The hypervisor's name for itself: the emulator. Any other means real time. */
static bool is_emulated(void)
{
	unsigned int leaf, name[3] = { 0 };

	__cpuid(HYPERVISOR_LEAF, leaf, name[0], name[1], name[2]);
	return !memcmp(name, EMULATOR_NAME, sizeof(name));
}

static void instructions_report(struct measuring *m, const struct measure *measure, uint64_t cpu_us,
				json_t *measures)
{
	if (is_emulated())
		measuring_set(measures, measure,
			      json_integer(cpu_us * NS_PER_US / NS_PER_INSTRUCTION));
	else
		measuring_null(m, measures, measure, "time is not virtual");
}

static void group_report(struct measuring *m, const struct jobs *jobs,
			 const struct measure *measure, json_t *measures)
{
	struct sums sums = { 0 };
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		if (!strcmp(jobs->runs[i].job->group, measure->of))
			sums_add(&sums, jobs, &jobs->runs[i]);
	}
	switch (measure->kind) {
	case CGWB_JOB_COUNT:
		measuring_set(measures, measure, json_integer(sums.count));
		break;
	case CGWB_JOB_SECONDS:
		measuring_set(measures, measure, json_rounded(sums.seconds, 3));
		break;
	case CGWB_JOB_RATE:
		measuring_set(measures, measure, json_rounded(sums.mib_s, 2));
		break;
	case CGWB_JOB_P99:
		measuring_set(measures, measure, json_rounded(sums.p99_ms, 3));
		break;
	case CGWB_CPU:
		measuring_set(measures, measure, json_rounded(sums.cpu_us / 1e6, 6));
		return;
	case CGWB_INSTRUCTIONS:
		instructions_report(m, measure, sums.cpu_us, measures);
		return;
	default:
		return;
	}
	if (measure->kind == CGWB_JOB_P99 && sums.no_latency)
		measuring_null(m, measures, measure, "the job %s has no latencies",
			       sums.no_latency);
	else if (measure->kind != CGWB_JOB_COUNT && sums.no_figures)
		measuring_null(m, measures, measure, "the job %s has no figures", sums.no_figures);
}

void measuring_jobs(struct measuring *m, const struct jobs *jobs, json_t *measures)
{
	const struct cell *cell = m->cell;
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		if (jobs->runs[i].job->measured)
			figures_report(&jobs->runs[i].figures, measures);
	}
	for (i = 0; i < cell->n_measures; i++) {
		/* The others' families fill in theirs; so all stand in the cell's order. */
		measuring_set(measures, &cell->measures[i], json_null());
		group_report(m, jobs, &cell->measures[i], measures);
	}
}
