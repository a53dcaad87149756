/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: the cells of a scenario that a user asked for, each with its result in the end.
 *
 * cgwb_run_new() plans: it resolves the cells, finds all that they need, and looks which are
 * finished already, so that whatever is missing is known before the first guest boots.
 * cgwb_run_execute() does it.
 *
 * A run has a folder:
 *
 *   run.json                     what ran, on what, how long each cell took
 *   SCENARIO.ini                 the scenario as it was
 *   cells/VARIANT-SEED.json      results (result.h): the same bytes for the same input
 *   consoles/VARIANT-SEED.log    what each guest's kernel printed
 *
 * One run after another can use the same folder: cells that are finished there are kept, failed
 * ones run again. Cells run in rounds, one for each seed, odd seeds in the order of the variants,
 * even ones in the reverse of it, so that a drift of the host, which should not matter, would not
 * favour one side.
 *
 * A cell fails if its guest panics, dies, says so itself, or goes beyond its limits of virtual or
 * real time. The others go on.
 */
#ifndef CGWB_RUN_H
#define CGWB_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcgwb/context.h"
#include "libcgwb/kernel.h"
#include "libcgwb/result.h"
#include "libcgwb/scenario.h"

struct cgwb_run;

struct cgwb_run_options {
	const char *const *variants; /* NULL-terminated; NULL: the scenario's own */
	const unsigned int *seeds; /* NULL: 1 to what the scenario says */
	size_t n_seeds;
	bool quick;
	bool fresh; /* run also what is finished */
	unsigned int jobs; /* guests at once; 0: as many as processors and memory allow */
	unsigned int
		timeout_s; /* limit of real time for a cell; 0: ten times what is expected, and some minutes */
	const char *folder; /* NULL: cgwb-runs/TIME-SCENARIO */
	struct cgwb_kernel_request kernel; /* name NULL: the scenario's */
};

enum cgwb_cell_state {
	CGWB_CELL_WAITING,
	CGWB_CELL_RUNNING,
	CGWB_CELL_DONE, /* has a result, which may be a failure */
};

enum cgwb_cell_source {
	CGWB_CELL_RUN, /* is to be run, or was */
	CGWB_CELL_KEPT, /* was finished in the run's folder */
	CGWB_CELL_CACHED, /* was finished in another run, with the same inputs */
};

/* One cell of a run, as its user may see it. */
struct cgwb_run_cell {
	const char *name; /* VARIANT-SEED */
	const char *variant;
	unsigned int seed;
	enum cgwb_cell_state state;
	enum cgwb_cell_source source;

	/* Before and while it runs. */
	double expected_virtual_s;
	double expected_wall_s;
	uint64_t expected_memory_bytes;
	const char *phase;
	double virtual_s; /* how far it is, or was in the end */
	double wall_s; /* so far, or in the end */

	/* Once it is done. */
	const struct cgwb_result *result;
	const char *console; /* path; NULL: it never had one */
};

/* What a run takes, and what there is. */
struct cgwb_plan {
	size_t cells; /* all */
	size_t to_run; /* the others are finished */
	unsigned int jobs; /* guests at once */
	double wall_s; /* until the end, about */
	uint64_t memory_bytes; /* at most, with so many guests */
	uint64_t memory_available_bytes;
	uint64_t disk_bytes; /* temporary files and results */
	uint64_t disk_available_bytes;
};

/*
 * Plans a run. Nothing is written but caches. Returns 0 or a negative errno: -EINVAL for an unknown
 * variant or one named twice, an unknown kernel, or a folder that is not this scenario's run, -EBADMSG if
 * what that says of itself is damaged, -ENOSPC if the disk is too full.
 */
int cgwb_run_new(const struct cgwb_context *context, const struct cgwb_scenario *scenario,
		 const struct cgwb_run_options *options, struct cgwb_run **ret_run,
		 struct cgwb_error *error);

/* NULL-safe, returns NULL. Ends guests that still run. */
struct cgwb_run *cgwb_run_free(struct cgwb_run *run);

const struct cgwb_plan *cgwb_run_plan(const struct cgwb_run *run);
const char *cgwb_run_folder(const struct cgwb_run *run);
const struct cgwb_kernel *cgwb_run_kernel(const struct cgwb_run *run);
const char *cgwb_run_qemu_version(const struct cgwb_run *run);

/* The variants, in the order of tables. NULL-terminated, borrowed. */
const char *const *cgwb_run_variants(const struct cgwb_run *run);

/* Cells in the order in which they run; cgwb_run_plan()->cells of them. */
struct cgwb_run_cell cgwb_run_cell(const struct cgwb_run *run, size_t index);

/* QEMU's command line for a cell, as a shell takes it; the caller frees it. */
int cgwb_run_command_line(const struct cgwb_run *run, size_t index, char **ret_text,
			  struct cgwb_error *error);

/* Called while it runs: when a cell has begun or ended, and about twice a second with NULL. */
struct cgwb_run_watch {
	void (*changed)(void *user, const struct cgwb_run *run, const struct cgwb_run_cell *cell);
	void *user;
};

/*
 * Runs what is to be run. Returns 0 when each cell has a result, failed ones included; -EINTR if
 * the user stopped it, with no guest left and every finished cell kept; another negative errno if
 * the run itself cannot go on.
 */
int cgwb_run_execute(struct cgwb_run *run, const struct cgwb_run_watch *watch,
		     struct cgwb_error *error);

const struct cgwb_results *cgwb_run_results(const struct cgwb_run *run);

/* Seconds until the end, about, from now. */
double cgwb_run_remaining_s(const struct cgwb_run *run);

#endif
