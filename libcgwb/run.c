// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * For a kind of cell that has not been run here: about a second for a virtual second, and the boot.
 */
#define WALL_PER_VIRTUAL 1.0
#define WALL_BOOT_S 8.0

/* A guest that takes so much longer than expected is not only slow. */
#define LIMIT_FACTOR 10
#define LIMIT_EXTRA_S 180

/* The guest enforces its limit itself; one that cannot any more is ended a little later. */
#define LIMIT_VIRTUAL_EXTRA_S 60

/* Result, console, messages. */
#define CELL_DISK_BYTES (2u << 20)

double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct cgwb_run *cgwb_run_free(struct cgwb_run *run)
{
	size_t i;

	if (!run)
		return NULL;
	for (i = 0; i < run->n_cells; i++) {
		struct run_cell *cell = &run->cells[i];

		if (cell->state == CGWB_CELL_RUNNING)
			cgwb_vm_done(&cell->vm);
		cgwb_boot_free(cell->boot);
		cgwb_cell_free(cell->cell);
		free(cell->result_path);
		free(cell->console_path);
	}
	run_temporary_remove(run);
	if (run->folder_fd >= 0)
		close(run->folder_fd);
	cgwb_results_done(&run->results);
	cgwb_kit_done(&run->kit);
	free(run->cells);
	free(run->variants);
	free(run->seeds);
	free(run->folder);
	free(run);
	return NULL;
}

/* The names are the scenario's, which live as long as it. Twice the same would be one cell twice. */
static int run_take_variants(struct cgwb_run *run, struct cgwb_error *error)
{
	const char *const *wanted = run->options.variants;
	const char *const *all = cgwb_scenario_all_variants(run->scenario);
	size_t n = 0, i, j;
	int ret;

	if (!wanted)
		wanted = cgwb_scenario_variants(run->scenario, run->options.quick);
	while (wanted[n])
		n++;
	run->variants = calloc(n + 1, sizeof(*run->variants));
	if (!run->variants)
		return -ENOMEM;
	for (i = 0, n = 0; wanted[i]; i++) {
		ret = cgwb_scenario_check_variant(run->scenario, wanted[i], error);
		if (ret < 0)
			return ret;
		for (j = 0; j < n && strcmp(run->variants[j], wanted[i]); j++)
			;
		if (j < n)
			return cgwb_error_set(error, -EINVAL, "variant %s is named twice",
					      wanted[i]);
		for (j = 0; all[j] && strcmp(all[j], wanted[i]); j++)
			;
		run->variants[n++] = all[j];
	}
	return n ? 0 : cgwb_error_set(error, -EINVAL, "no variant to run");
}

static int run_take_seeds(struct cgwb_run *run)
{
	size_t i;

	run->n_seeds = run->options.seeds ? run->options.n_seeds :
					    cgwb_scenario_seeds(run->scenario, run->options.quick);
	run->seeds = calloc(run->n_seeds, sizeof(*run->seeds));
	if (!run->seeds)
		return -ENOMEM;
	for (i = 0; i < run->n_seeds; i++)
		run->seeds[i] = run->options.seeds ? run->options.seeds[i] : i + 1;
	return 0;
}

static int run_name_folder(struct cgwb_run *run)
{
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;

	if (run->options.folder) {
		run->folder = strdup(run->options.folder);
		return run->folder ? 0 : -ENOMEM;
	}
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	if (asprintf(&run->folder, "cgwb-runs/%s-%s", stamp, cgwb_scenario_name(run->scenario)) <
	    0) {
		run->folder = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void cell_expect(struct cgwb_run *run, struct run_cell *cell)
{
	const json_t *limit = json_object_get(cgwb_boot_cell(cell->boot), "limit_virtual_ns");
	double virtual_s = cgwb_boot_virtual_s(cell->boot), wall_s;

	wall_s = virtual_s * WALL_PER_VIRTUAL + WALL_BOOT_S;
	if (cgwb_timing_get(run->context, cgwb_boot_cell(cell->boot), virtual_s, &cell->expected) <
	    0)
		cell->expected = (struct cgwb_timing){ virtual_s, virtual_s, wall_s,
						       cgwb_boot_host_memory_bytes(cell->boot) };
	/* The last time may have been on an idle host: no limit from it alone. */
	if (wall_s < cell->expected.wall_s)
		wall_s = cell->expected.wall_s;

	cell->limit_virtual_s = json_number_value(limit) / 1e9 + LIMIT_VIRTUAL_EXTRA_S;
	cell->limit_wall_s = run->options.timeout_s ? run->options.timeout_s :
						      wall_s * LIMIT_FACTOR + LIMIT_EXTRA_S;
}

/*
 * A result that the run's folder has of these inputs. A damaged or outdated one is as good as none.
 */
static int cell_keep(struct cgwb_run *run, struct run_cell *cell)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_result *result = NULL;
	char *line;
	int ret;

	ret = cgwb_result_read(cell->result_path, &result, &error);
	if (ret < 0 && ret != -ENOENT) {
		line = cgwb_error_line(&error, ret);
		cgwb_context_notice(run->context, "%s: the cell is run again", line ?: "");
		free(line);
	}
	cgwb_error_done(&error);
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0)
		return 0;

	if (!cgwb_result_ok(result) ||
	    !cgwb_result_is_of(result, cgwb_boot_cell(cell->boot), cgwb_boot_inputs(cell->boot))) {
		cgwb_result_free(result);
		return 0;
	}
	ret = cgwb_results_add(&run->results, result);
	if (ret < 0) {
		cgwb_result_free(result);
		return ret;
	}
	cell->result = result;
	cell->state = CGWB_CELL_DONE;
	cell->source = CGWB_CELL_KEPT;
	return 0;
}

static int cell_make(struct cgwb_run *run, struct run_cell *cell, const char *variant,
		     unsigned int seed, struct cgwb_error *error)
{
	const char *name;
	int ret;

	cell->variant = variant;
	cell->seed = seed;
	ret = cgwb_cell_new(run->scenario, variant, seed, run->options.quick, &cell->cell, error);
	if (ret == 0)
		ret = cgwb_boot_new(&run->kit, run->scenario, cell->cell, &cell->boot, error);
	if (ret < 0)
		return ret;

	name = cgwb_boot_name(cell->boot);
	if (asprintf(&cell->result_path, "%s/cells/%s.json", run->folder, name) < 0) {
		cell->result_path = NULL;
		return -ENOMEM;
	}
	if (asprintf(&cell->console_path, "%s/consoles/%s.log", run->folder, name) < 0) {
		cell->console_path = NULL;
		return -ENOMEM;
	}
	cell_expect(run, cell);
	if (run->options.fresh)
		return 0;
	ret = cell_keep(run, cell);
	if (ret == 0 && cell->state == CGWB_CELL_WAITING &&
	    cgwb_cache_has(run->context, cgwb_boot_cell(cell->boot), cgwb_boot_inputs(cell->boot)))
		cell->source = CGWB_CELL_CACHED;
	return ret;
}

/* Rounds of a seed each, forwards for odd seeds, backwards for even ones. */
static int run_make_cells(struct cgwb_run *run, struct cgwb_error *error)
{
	size_t n = 0, s, v;
	int ret;

	while (run->variants[n])
		n++;
	run->cells = calloc(n * run->n_seeds, sizeof(*run->cells));
	if (!run->cells)
		return -ENOMEM;
	for (s = 0; s < run->n_seeds; s++) {
		for (v = 0; v < n; v++) {
			const char *variant = run->variants[run->seeds[s] % 2 ? v : n - 1 - v];

			if (cgwb_context_cancelled(run->context))
				return cgwb_error_set(error, -EINTR, "stopped");
			ret = cell_make(run, &run->cells[run->n_cells++], variant, run->seeds[s],
					error);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

/* In how long the last of the cells ends, if each is started when another ends. */
static double makespan_s(const struct cgwb_run *run)
{
	double free_at[64] = { 0 }, end = 0;
	unsigned int jobs = run->plan.jobs < 64 ? run->plan.jobs : 64, next, job;
	size_t i;

	for (i = 0; i < run->n_cells; i++) {
		const struct run_cell *cell = &run->cells[i];
		double left = cell->expected.wall_s;

		if (cell->state == CGWB_CELL_DONE || cell->source != CGWB_CELL_RUN)
			continue;
		if (cell->state == CGWB_CELL_RUNNING) {
			double wall = now_s() - cell->started_s, share;

			/* Its own pace, once there is one. */
			share = cell->vm.virtual_s / cell->expected.virtual_s;
			if (share > 0.2)
				left = wall / (share < 1 ? share : 1);
			left = left > wall ? left - wall : 1;
		}
		for (next = 0, job = 1; job < jobs; job++) {
			if (free_at[job] < free_at[next])
				next = job;
		}
		free_at[next] += left;
		if (free_at[next] > end)
			end = free_at[next];
	}
	return end;
}

static void run_make_plan(struct cgwb_run *run)
{
	struct cgwb_plan *plan = &run->plan;
	uint64_t memory = 0, initramfs = 0;
	unsigned int fit;
	size_t i;

	cgwb_host_read(&run->host);
	*plan = (struct cgwb_plan){ .cells = run->n_cells };
	for (i = 0; i < run->n_cells; i++) {
		const struct run_cell *cell = &run->cells[i];

		if (cell->state == CGWB_CELL_DONE || cell->source != CGWB_CELL_RUN)
			continue;
		plan->to_run++;
		if (cell->expected.memory_bytes > memory)
			memory = cell->expected.memory_bytes;
		if (cgwb_boot_initramfs_bytes(cell->boot) > initramfs)
			initramfs = cgwb_boot_initramfs_bytes(cell->boot);
	}

	fit = memory ? run->host.memory_available_bytes / memory : 1;
	plan->jobs = run->options.jobs;
	if (!plan->jobs)
		plan->jobs = fit < run->host.cpus ? fit : run->host.cpus;
	if (plan->jobs > plan->to_run)
		plan->jobs = plan->to_run;
	if (!plan->jobs)
		plan->jobs = 1;

	plan->memory_bytes = memory * plan->jobs;
	plan->memory_available_bytes = run->host.memory_available_bytes;
	plan->disk_bytes = initramfs * plan->jobs + run->n_cells * (uint64_t)CELL_DISK_BYTES;
	cgwb_host_disk_free(run->context->cache_dir, &plan->disk_available_bytes);
	plan->wall_s = makespan_s(run);
}

static int run_check_plan(const struct cgwb_run *run, struct cgwb_error *error)
{
	const struct cgwb_plan *plan = &run->plan;

	if (plan->disk_bytes > plan->disk_available_bytes)
		return cgwb_error_set(
			error, -ENOSPC,
			"%s has %.0f MB left and the run needs %.0f MB: make room, or set "
			"XDG_CACHE_HOME to a folder on a disk that has it",
			run->context->cache_dir, (double)plan->disk_available_bytes / 1e6,
			(double)plan->disk_bytes / 1e6);
	if (plan->memory_bytes > plan->memory_available_bytes)
		cgwb_context_notice(
			run->context,
			"%u guest%s at once may take %.1f GB of memory, and %.1f GB are "
			"available: a guest that finds none is a failed cell",
			plan->jobs, plan->jobs > 1 ? "s" : "", (double)plan->memory_bytes / 1e9,
			(double)plan->memory_available_bytes / 1e9);
	return 0;
}

/* The kernel that is asked for, else the scenario's. */
static int run_make_kit(struct cgwb_run *run, struct cgwb_error *error)
{
	struct cgwb_kernel_request request = run->options.kernel;
	struct cgwb_cell *cell;
	int ret;

	ret = cgwb_cell_new(run->scenario, run->variants[0], run->seeds[0], run->options.quick,
			    &cell, error);
	if (ret < 0)
		return ret;
	if (!request.name)
		request.name = json_string_value(json_object_get(cgwb_cell_json(cell), "kernel"));
	ret = cgwb_kit_init(&run->kit, run->context, &request, error);
	cgwb_cell_free(cell);
	return ret;
}

int cgwb_run_new(const struct cgwb_context *context, const struct cgwb_scenario *scenario,
		 const struct cgwb_run_options *options, struct cgwb_run **ret_run,
		 struct cgwb_error *error)
{
	struct cgwb_run *run = calloc(1, sizeof(*run));
	int ret;

	if (!run)
		return -ENOMEM;
	*run = (struct cgwb_run){ .context = context,
				  .scenario = scenario,
				  .options = *options,
				  .folder_fd = -1,
				  .temporary_fd = -1 };

	ret = run_take_variants(run, error);
	if (ret == 0)
		ret = run_take_seeds(run);
	if (ret == 0)
		ret = run_name_folder(run);
	if (ret == 0)
		ret = run_folder_check(run, error);
	if (ret == 0)
		ret = run_make_kit(run, error);
	if (ret == 0)
		ret = run_make_cells(run, error);
	if (ret == 0) {
		run_make_plan(run);
		ret = run_check_plan(run, error);
	}
	if (ret < 0)
		cgwb_run_free(run);
	else
		*ret_run = run;
	return ret;
}

const struct cgwb_plan *cgwb_run_plan(const struct cgwb_run *run)
{
	return &run->plan;
}

const char *cgwb_run_folder(const struct cgwb_run *run)
{
	return run->folder;
}

const struct cgwb_kernel *cgwb_run_kernel(const struct cgwb_run *run)
{
	return &run->kit.kernel;
}

const char *cgwb_run_qemu_version(const struct cgwb_run *run)
{
	return run->kit.qemu.version;
}

const char *const *cgwb_run_variants(const struct cgwb_run *run)
{
	return run->variants;
}

const struct cgwb_results *cgwb_run_results(const struct cgwb_run *run)
{
	return &run->results;
}

struct cgwb_run_cell cgwb_run_cell(const struct cgwb_run *run, size_t index)
{
	const struct run_cell *cell = &run->cells[index];
	bool running = cell->state == CGWB_CELL_RUNNING;

	return (struct cgwb_run_cell){
		.name = cgwb_boot_name(cell->boot),
		.variant = cell->variant,
		.seed = cell->seed,
		.state = cell->state,
		.source = cell->source,
		.expected_virtual_s = cell->expected.virtual_s,
		.expected_wall_s = cell->expected.wall_s,
		.expected_memory_bytes = cell->expected.memory_bytes,
		.phase = running ? cell->vm.phase : "",
		.virtual_s = running ? cell->vm.virtual_s : cell->virtual_s,
		.wall_s = running ? now_s() - cell->started_s : cell->wall_s,
		.result = cell->result,
		.console = access(cell->console_path, F_OK) == 0 ? cell->console_path : NULL,
	};
}

int cgwb_run_command_line(const struct cgwb_run *run, size_t index, char **ret_text,
			  struct cgwb_error *error)
{
	const struct run_cell *cell = &run->cells[index];
	char **argv, *initrd, *serial;
	int ret;

	if (asprintf(&initrd, "%s.initrd", cgwb_boot_name(cell->boot)) < 0)
		return -ENOMEM;
	if (asprintf(&serial, "%s.serial", cgwb_boot_name(cell->boot)) < 0) {
		free(initrd);
		return -ENOMEM;
	}
	ret = cgwb_boot_argv(cell->boot, initrd, cell->console_path, serial, &argv, error);
	if (ret == 0) {
		*ret_text = cgwb_qemu_argv_text(argv);
		ret = *ret_text ? 0 : -ENOMEM;
		cgwb_qemu_argv_free(argv);
	}
	free(serial);
	free(initrd);
	return ret;
}

double cgwb_run_remaining_s(const struct cgwb_run *run)
{
	return makespan_s(run);
}
