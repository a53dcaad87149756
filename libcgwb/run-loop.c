// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-cells.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/console.h"

/* How often guests' progress is looked at. */
#define TICK_MS 500

struct loop {
	struct cgwb_run *run;
	const struct cgwb_run_watch *watch;
	size_t running;
};

static void loop_tell(struct loop *loop, const struct run_cell *cell)
{
	struct cgwb_run_cell seen;

	if (!loop->watch || !loop->watch->changed)
		return;
	if (cell)
		seen = cgwb_run_cell(loop->run, cell - loop->run->cells);
	loop->watch->changed(loop->watch->user, loop->run, cell ? &seen : NULL);
}

/* The result becomes the run's, in its folder and in memory. */
static int cell_conclude(struct loop *loop, struct run_cell *cell, struct cgwb_result *result,
			 struct cgwb_error *error)
{
	int ret;

	ret = cgwb_result_write(result, cell->result_path, error);
	if (ret == 0)
		ret = cgwb_results_add(&loop->run->results, result);
	if (ret < 0) {
		cgwb_result_free(result);
		return ret;
	}
	cell->result = result;
	cell->state = CGWB_CELL_DONE;
	ret = run_folder_record(loop->run, error);
	loop_tell(loop, cell);
	return ret;
}

/*
 * What the guest said and what the console shows, or why there is nothing. A bad message is a
 * failure like others.
 */
static int cell_result(struct run_cell *cell, const char *failed, unsigned int warn,
		       struct cgwb_result **ret_result)
{
	struct cgwb_outcome outcome = {
		.cell = cgwb_boot_cell(cell->boot),
		.inputs = cgwb_boot_inputs(cell->boot),
		.guest = cell->vm.result,
		.warn = warn,
		.error = failed,
	};
	struct cgwb_error error = CGWB_ERROR_INIT;
	int ret;

	ret = cgwb_result_new(&outcome, ret_result, &error);
	if (ret == -EINVAL) {
		outcome.guest = NULL;
		outcome.error = error.text ? error.text : "the guest's result cannot be read";
		ret = cgwb_result_new(&outcome, ret_result, NULL);
	}
	cgwb_error_done(&error);
	return ret;
}

static void cell_remember(struct cgwb_run *run, struct run_cell *cell,
			  const struct cgwb_result *result)
{
	const struct cgwb_timing timing = { cgwb_boot_virtual_s(cell->boot), cell->virtual_s,
					    cell->wall_s, cell->peak_memory_bytes };

	/* Neither is worth more than a second run of this cell. */
	if (!cgwb_result_ok(result))
		return;
	cgwb_cache_put(run->context, cgwb_boot_inputs(cell->boot), result, cell->console_path);
	cgwb_timing_put(run->context, cgwb_boot_cell(cell->boot), &timing);
}

/* The guest has ended, or, with `failed`, is ended because of that. */
static int cell_end(struct loop *loop, struct run_cell *cell, const char *failed,
		    struct cgwb_error *error)
{
	struct cgwb_error why = CGWB_ERROR_INIT;
	struct cgwb_console console = { 0 };
	struct cgwb_result *result;
	int ret = 0;

	cell->wall_s = now_s() - cell->started_s;
	if (failed)
		cgwb_process_kill(&cell->vm.process);
	else
		ret = cgwb_vm_finish(&cell->vm, cell->console_path, &why);
	if (ret < 0 && !failed)
		failed = why.text ? why.text : strerror(-ret);
	cell->virtual_s = cell->vm.virtual_s;
	cell->peak_memory_bytes = cell->vm.peak_memory_bytes;

	cgwb_console_scan_file(&console, cell->console_path);
	ret = cell_result(cell, failed, console.warn, &result);
	cgwb_console_done(&console);
	cgwb_vm_done(&cell->vm);
	cgwb_error_done(&why);
	loop->running--;
	cell->state =
		CGWB_CELL_WAITING; /* until it is concluded: no guest is to be ended any more */
	if (ret < 0)
		return ret;
	cell_remember(loop->run, cell, result);
	return cell_conclude(loop, cell, result, error);
}

/*
 * A result of another run: from the cache into this run's folder. It may be gone meanwhile; then
 * the cell is run.
 */
static int cell_reuse(struct loop *loop, struct run_cell *cell, struct cgwb_error *error)
{
	struct cgwb_result *result;
	int ret;

	ret = cgwb_cache_get(loop->run->context, cgwb_boot_cell(cell->boot),
			     cgwb_boot_inputs(cell->boot), cell->console_path, &result);
	if (ret < 0) {
		cell->source = CGWB_CELL_RUN;
		return 0;
	}
	return cell_conclude(loop, cell, result, error);
}

static int cell_start(struct loop *loop, struct run_cell *cell, struct cgwb_error *error)
{
	struct cgwb_error why = CGWB_ERROR_INIT;
	struct cgwb_result *result;
	char *line;
	int ret;

	cell->started_s = now_s();
	ret = cgwb_vm_start(&cell->vm, loop->run->context, cell->boot, loop->run->temporary,
			    cell->console_path, &why);
	if (ret == 0) {
		cell->state = CGWB_CELL_RUNNING;
		loop->running++;
		loop_tell(loop, cell);
		return 0;
	}
	if (ret == -EINTR) {
		cgwb_error_done(&why);
		return ret;
	}
	/* A result says nothing of the host: the whole of it is for the user now. */
	line = cgwb_error_line(&why, ret);
	cgwb_context_notice(loop->run->context, "%s: %s", cgwb_boot_name(cell->boot), line ?: "");
	free(line);
	cgwb_error_done(&why);
	ret = cell_result(cell, "the guest could not be started", 0, &result);
	return ret < 0 ? ret : cell_conclude(loop, cell, result, error);
}

/* Starts cells, in their order, while there is room. */
static int loop_start(struct loop *loop, struct cgwb_error *error)
{
	struct cgwb_run *run = loop->run;
	size_t i;
	int ret = 0;

	for (i = 0; i < run->n_cells && ret == 0; i++) {
		struct run_cell *cell = &run->cells[i];

		if (cgwb_context_cancelled(run->context))
			return -EINTR;
		if (cell->state != CGWB_CELL_WAITING)
			continue;
		if (cell->source == CGWB_CELL_CACHED)
			ret = cell_reuse(loop, cell, error);
		if (ret == 0 && cell->state == CGWB_CELL_WAITING && loop->running < run->plan.jobs)
			ret = cell_start(loop, cell, error);
	}
	return ret;
}

/* What a running guest has said; whether it is beyond a limit. */
static int cell_look(struct loop *loop, struct run_cell *cell, bool ended, struct cgwb_error *error)
{
	char failed[128];
	int ret;

	if (ended)
		return cell_end(loop, cell, NULL, error);
	ret = cgwb_vm_read(&cell->vm);
	if (ret < 0)
		return ret;

	if (cell->vm.virtual_s > cell->limit_virtual_s) {
		snprintf(failed, sizeof(failed),
			 "no end after %.0f s of virtual time (in phase %s)", cell->vm.virtual_s,
			 cell->vm.phase);
		return cell_end(loop, cell, failed, error);
	}
	if (now_s() - cell->started_s > cell->limit_wall_s) {
		snprintf(
			failed, sizeof(failed),
			"no end after %.0f s of real time (in phase %s, at %.0f s of virtual time)",
			cell->limit_wall_s, cell->vm.phase, cell->vm.virtual_s);
		return cell_end(loop, cell, failed, error);
	}
	return 0;
}

/* Waits for guests to end, for the next tick, or for the user to stop it. */
static int loop_wait(struct loop *loop, struct pollfd *fds, struct cgwb_error *error)
{
	struct cgwb_run *run = loop->run;
	size_t n = 0, i, k;
	int ret = 0;

	fds[n++] = (struct pollfd){ .fd = run->context->cancel_fd, .events = POLLIN };
	for (i = 0; i < run->n_cells; i++) {
		if (run->cells[i].state == CGWB_CELL_RUNNING)
			fds[n++] = (struct pollfd){ .fd = run->cells[i].vm.process.pidfd,
						    .events = POLLIN };
	}
	if (poll(fds, n, TICK_MS) < 0 && errno != EINTR)
		return -errno;
	if (cgwb_context_cancelled(run->context))
		return -EINTR;
	for (i = 0, k = 1; i < run->n_cells && ret == 0; i++) {
		if (run->cells[i].state == CGWB_CELL_RUNNING)
			ret = cell_look(loop, &run->cells[i], fds[k++].revents != 0, error);
	}
	loop_tell(loop, NULL);
	return ret;
}

/* Ends what still runs. Those cells have no result. */
static void loop_stop(struct loop *loop)
{
	size_t i;

	for (i = 0; i < loop->run->n_cells; i++) {
		struct run_cell *cell = &loop->run->cells[i];

		if (cell->state != CGWB_CELL_RUNNING)
			continue;
		cgwb_vm_done(&cell->vm);
		cell->state = CGWB_CELL_WAITING;
	}
	loop->running = 0;
}

static bool loop_finished(const struct loop *loop)
{
	size_t i;

	for (i = 0; i < loop->run->n_cells; i++) {
		if (loop->run->cells[i].state != CGWB_CELL_DONE)
			return false;
	}
	return true;
}

int cgwb_run_execute(struct cgwb_run *run, const struct cgwb_run_watch *watch,
		     struct cgwb_error *error)
{
	struct loop loop = { .run = run, .watch = watch };
	struct pollfd *fds;
	int ret;

	fds = calloc(run->n_cells + 1, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	ret = run_folder_open(run, error);
	if (ret == 0)
		ret = run_temporary_make(run, error);

	while (ret == 0 && !loop_finished(&loop)) {
		ret = loop_start(&loop, error);
		if (ret == 0 && loop.running)
			ret = loop_wait(&loop, fds, error);
	}

	loop_stop(&loop);
	run_temporary_remove(run);
	if (run->folder_fd >= 0)
		run_folder_record(run, NULL);
	free(fds);
	if (ret < 0)
		cgwb_error_set(error, ret, "the run in %s cannot go on: %s", run->folder,
			       strerror(-ret));
	return ret;
}
