/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a run, for run*.c. Internal to libcgwb; see run.h.
 */
#ifndef CGWB_RUN_CELLS_H
#define CGWB_RUN_CELLS_H

#include <time.h>

#include "libcgwb/boot.h"
#include "libcgwb/cache.h"
#include "libcgwb/host.h"
#include "libcgwb/kit.h"
#include "libcgwb/run.h"
#include "libcgwb/vm.h"

struct run_cell {
	struct cgwb_cell *cell;
	struct cgwb_boot *boot;
	const char *variant; /* the run's */
	unsigned int seed;
	enum cgwb_cell_state state;
	enum cgwb_cell_source source;

	struct cgwb_timing expected;
	double limit_virtual_s;
	double limit_wall_s;

	struct cgwb_vm vm; /* while it runs */
	double started_s; /* now_s() */
	double virtual_s;
	double wall_s;
	uint64_t peak_memory_bytes;

	const struct cgwb_result *result; /* the run's; NULL: not done */
	char *result_path;
	char *console_path;
};

struct cgwb_run {
	const struct cgwb_context *context;
	const struct cgwb_scenario *scenario;
	struct cgwb_run_options options;
	struct cgwb_kit kit;
	struct cgwb_host host;
	struct cgwb_plan plan;

	const char **variants; /* the scenario's names; NULL-terminated */
	unsigned int *seeds;
	size_t n_seeds;
	struct run_cell *cells;
	size_t n_cells;
	struct cgwb_results results;

	char *folder;
	int folder_fd; /* locked while it runs */
	char *temporary; /* the folder for guests' files; NULL: none */
	int temporary_fd; /* its lock */
	char started[32]; /* ISO 8601, UTC */
};

/* Seconds of a clock that only goes forward. */
double now_s(void);

/*
 * run-folder.c: whether the folder, if there is one, is one of a run of this scenario in this form.
 */
int run_folder_check(struct cgwb_run *run, struct cgwb_error *error);

/* Makes what is not there yet, locks it, writes the scenario's copy and run.json. */
int run_folder_open(struct cgwb_run *run, struct cgwb_error *error);

/* Writes run.json. */
int run_folder_record(struct cgwb_run *run, struct cgwb_error *error);

/*
 * The folder for temporary files: makes it, after removing those of runs that were killed; removes
 * it.
 */
int run_temporary_make(struct cgwb_run *run, struct cgwb_error *error);
void run_temporary_remove(struct cgwb_run *run);

#endif
