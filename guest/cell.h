/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cell (docs/cell.md) as the guest works with it: read once, checked as a whole before anything
 * is done, and constant afterwards.
 *
 * Strings and JSON are borrowed from the document, which the cell holds. An unknown key is an error:
 * what the guest would silently leave out is not the experiment that was asked for.
 */
#ifndef GUEST_CELL_H
#define GUEST_CELL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "libcgwb/measure-kind.h"

#define CELL_SCHEMA 1

struct disk {
	const char *name;
	uint64_t base_bytes, size_bytes, write_bps, read_bps, iops, latency_ns, depth;
	const char *scheduler;
	uint64_t wbt_lat_us, max_sectors_kb;
};

struct mount {
	const char *path, *disk, *type, *options;
	json_t *mkfs; /* words; the device is put behind them. Empty: nothing is made */
};

struct file {
	const char *path;
	uint64_t size_bytes;
};

struct cgroup {
	const char *path, *group, *name;
	json_t *settings; /* attribute: text */
	bool remove; /* when its last job has ended */
};

struct job {
	const char *name, *group;
	const char *cgroup; /* NULL: the root */
	const struct engine *engine;
	void *parameters; /* the engine's */
	uint64_t start_ns, duration_ns, seed;
	bool measured;
};

struct measure {
	const char *name;
	enum cgwb_measure_kind kind;
	const char *of; /* the file, the group of jobs, the group of cgroups ... */
	const char *with[2]; /* the other keys that its form needs, in its order */
	const char *trigger; /* NULL: any */
};

struct cell {
	json_t *json;
	const char *variant;
	uint64_t seed, limit_ns;
	const char *policy; /* NULL: no policy module */
	json_t *policy_parameters;
	json_t *sysctl;
	struct disk *disks;
	struct mount *mounts;
	struct file *files;
	struct cgroup *cgroups;
	struct job *jobs;
	struct measure *measures;
	size_t n_disks, n_mounts, n_files, n_cgroups, n_jobs, n_measures;
};

/* Reads and checks @text. -EINVAL: the error says what is wrong where. cell_done() in any case. */
int cell_parse(struct cell *cell, const char *text, struct error *error);
int cell_read(struct cell *cell, const char *path, struct error *error);
void cell_done(struct cell *cell);

/* Whether any cgroup is removed while the cell runs. */
bool cell_removes(const struct cell *cell);

const struct disk *cell_disk(const struct cell *cell, const char *name);

#endif
