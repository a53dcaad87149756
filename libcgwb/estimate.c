// SPDX-License-Identifier: GPL-2.0-or-later
#include "estimate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define KERNEL_BYTES (192ULL << 20)
#define METADATA_BYTES (64ULL << 20)
#define FILE_OVERHEAD_BYTES (5ULL << 10) /* an inode, a directory entry, a block */
#define FILES_PER_S 2000
#define BLOCK_BYTES 4096
#define OVERHEAD_S 10.0
#define NS_PER_S 1e9

/* What a job does. */
struct work {
	const char *path; /* on whose disk */
	uint64_t span_bytes;
	uint64_t written_bytes;
	double seconds; /* by itself; 0: as fast as its disk is */
	bool buffered;
};

static uint64_t get_integer(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? value : 0;
}

static const char *get_string(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* A fio option's value; NULL: it is not set */
static const char *fio_option(const json_t *job, const char *name)
{
	const json_t *option;
	size_t i;

	json_array_foreach(json_object_get(job, "fio"), i, option) {
		if (!strcmp(json_string_value(json_array_get(option, 0)), name))
			return json_string_value(json_array_get(option, 1));
	}
	return NULL;
}

static uint64_t fio_bytes(const json_t *job, const char *name, uint64_t otherwise)
{
	const char *text = fio_option(job, name);
	uint64_t bytes;

	return text && !cgwb_parse_bytes(text, &bytes) ? bytes : otherwise;
}

/* A bare number is in seconds, as fio takes it. */
static double fio_seconds(const json_t *job, const char *name)
{
	const char *text = fio_option(job, name);
	uint64_t value;

	if (!text)
		return 0;
	if (!cgwb_parse_u64(text, &value))
		return value;
	return cgwb_parse_ns(text, &value) ? 0 : value / NS_PER_S;
}

static struct work fio_work(const json_t *job)
{
	const char *path = fio_option(job, "filename"), *direct = fio_option(job, "direct");
	const char *rw = fio_option(job, "rw");
	uint64_t rate = fio_bytes(job, "rate", 0);
	struct work work = {
		.path = path ? path : fio_option(job, "directory"),
		.span_bytes = fio_bytes(job, "size", fio_bytes(job, "filesize", 0)),
		.seconds = fio_seconds(job, "runtime"),
		.buffered = !direct || !strcmp(direct, "0"),
	};

	work.written_bytes = fio_bytes(job, "io_size", work.span_bytes);
	if (!work.seconds && rate)
		work.seconds = (double)work.written_bytes / rate;
	if (!rw || !strcmp(rw, "read") || !strcmp(rw, "randread"))
		work.written_bytes = 0;
	/* With a runtime the bytes are whatever it gets done. */
	if (fio_option(job, "runtime"))
		work.written_bytes = 0;
	return work;
}

/* The lowest write cap that a cgroup or one above it has on any disk; 0: none */
static uint64_t cgroup_cap_bps(const json_t *cell, const char *path)
{
	const json_t *cgroup;
	uint64_t cap_bps = 0, bps;
	size_t i;

	json_array_foreach(json_object_get(cell, "cgroups"), i, cgroup) {
		const char *above = get_string(cgroup, "path"), *io_max, *wbps;

		if (strncmp(path, above, strlen(above)))
			continue;
		io_max = get_string(json_object_get(cgroup, "settings"), "io.max");
		wbps = strstr(io_max, "wbps=");
		bps = wbps ? strtoull(wbps + strlen("wbps="), NULL, 10) : 0;
		if (bps && (!cap_bps || bps < cap_bps))
			cap_bps = bps;
	}
	return cap_bps;
}

/* How many files a second an unpaced job makes: as many as its cgroup may write, or FILES_PER_S. */
static uint64_t files_rate(const json_t *cell, const json_t *job)
{
	uint64_t cap_bps = cgroup_cap_bps(cell, get_string(job, "cgroup"));
	uint64_t every = get_integer(job, "data_every"), bytes = get_integer(job, "file_bytes");

	bytes = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
	if (every)
		bytes += get_integer(job, "data_bytes") / every;
	if (!cap_bps || !bytes || cap_bps / bytes > FILES_PER_S)
		return FILES_PER_S;
	return cap_bps / bytes + 1;
}

static struct work files_work(const json_t *cell, const json_t *job)
{
	uint64_t files = get_integer(job, "files"), rate = get_integer(job, "files_per_s");
	struct work work = {
		.path = get_string(job, "directory"),
		.seconds = get_integer(job, "duration_ns") / NS_PER_S,
		.buffered = true,
	};

	if (!rate)
		rate = files_rate(cell, job);
	if (!work.seconds)
		work.seconds = (double)files / rate;
	if (!files)
		files = work.seconds * rate;
	work.span_bytes = get_integer(job, "data_span_bytes") +
			  files * (FILE_OVERHEAD_BYTES + get_integer(job, "file_bytes"));
	return work;
}

static struct work pages_work(const json_t *job)
{
	uint64_t passes = get_integer(job, "passes"), rate = get_integer(job, "pages_per_s");
	uint64_t bytes = get_integer(job, "size_bytes"), stride = get_integer(job, "stride_bytes");
	uint64_t pages = passes * ((bytes + stride - 1) / stride);
	struct work work = {
		.path = get_string(job, "filename"),
		.span_bytes = bytes,
		.seconds = get_integer(job, "duration_ns") / NS_PER_S,
		.buffered = true,
	};

	/* With a duration it is whatever it gets done. */
	if (!work.seconds)
		work.written_bytes = pages * 4096;
	if (!work.seconds && rate)
		work.seconds = (double)pages / rate;
	return work;
}

static struct work job_work(const json_t *cell, const json_t *job)
{
	const char *engine = get_string(job, "engine");

	if (!strcmp(engine, "fio"))
		return fio_work(job);
	if (!strcmp(engine, "files"))
		return files_work(cell, job);
	if (!strcmp(engine, "pages"))
		return pages_work(job);
	return (struct work){ .seconds = get_integer(job, "duration_ns") / NS_PER_S };
}

/* The index of the disk that a path lies on; -1: none */
static int disk_of(const json_t *cell, const char *path)
{
	const json_t *mount, *disk;
	const char *name = NULL;
	size_t i, longest = 0;

	if (!path)
		return -1;
	json_array_foreach(json_object_get(cell, "mounts"), i, mount) {
		const char *folder = get_string(mount, "path");
		size_t length = strlen(folder);

		if (length > longest && !strncmp(path, folder, length)) {
			longest = length;
			name = get_string(mount, "disk");
		}
	}
	if (!name && !strncmp(path, "/dev/", 5))
		name = path + 5;

	json_array_foreach(json_object_get(cell, "disks"), i, disk) {
		if (name && !strcmp(get_string(disk, "name"), name))
			return i;
	}
	return -1;
}

static double longest(double a, double b)
{
	return a > b ? a : b;
}

/*
 * What goes to one disk: its written part, the page cache for it, and how long it takes under the
 * disk's cap.
 */
struct load {
	uint64_t touched_bytes;
	uint64_t cached_bytes;
	double seconds;
};

static void load_add(struct load *load, const json_t *disk, const struct work *work)
{
	uint64_t cap_bps = get_integer(disk, "write_bps");

	load->touched_bytes += work->span_bytes;
	if (work->buffered)
		load->cached_bytes += work->span_bytes;
	if (cap_bps)
		load->seconds += (double)work->written_bytes / cap_bps;
}

static bool is_written_by_fio(const json_t *cell, const char *path)
{
	const json_t *job;
	size_t i;

	json_array_foreach(json_object_get(cell, "jobs"), i, job) {
		const char *name = fio_option(job, "filename");

		if (name && !strcmp(name, path))
			return true;
	}
	return false;
}

static struct load disk_load(const json_t *cell, int index)
{
	const json_t *disk = json_array_get(json_object_get(cell, "disks"), index), *item;
	struct load load = { 0 };
	size_t i;

	json_array_foreach(json_object_get(cell, "mounts"), i, item) {
		if (disk_of(cell, get_string(item, "path")) == index)
			load.touched_bytes += METADATA_BYTES;
	}
	json_array_foreach(json_object_get(cell, "files"), i, item) {
		struct work work = {
			.span_bytes = get_integer(item, "size_bytes"),
			.written_bytes = get_integer(item, "size_bytes"),
			.buffered = true,
		};

		/* A job that writes it again has it in its own span. */
		if (is_written_by_fio(cell, get_string(item, "path")))
			work.span_bytes = 0;
		if (disk_of(cell, get_string(item, "path")) == index)
			load_add(&load, disk, &work);
	}
	json_array_foreach(json_object_get(cell, "jobs"), i, item) {
		struct work work = job_work(cell, item);

		if (disk_of(cell, work.path) == index)
			load_add(&load, disk, &work);
	}

	if (load.touched_bytes > get_integer(disk, "size_bytes"))
		load.touched_bytes = get_integer(disk, "size_bytes");
	return load;
}

/* The longest of the jobs by themselves */
static double jobs_seconds(const json_t *cell)
{
	const json_t *job;
	double seconds = 0;
	size_t i;

	json_array_foreach(json_object_get(cell, "jobs"), i, job) {
		struct work work = job_work(cell, job);

		seconds = longest(seconds, get_integer(job, "start_ns") / NS_PER_S + work.seconds);
	}
	return seconds;
}

struct estimate estimate_cell(const json_t *cell)
{
	uint64_t memory_bytes = get_integer(json_object_get(cell, "machine"), "memory_bytes");
	uint64_t kernel_bytes = KERNEL_BYTES, stores_bytes = 0;
	int n_disks = json_array_size(json_object_get(cell, "disks"));
	double seconds = jobs_seconds(cell);

	for (int i = 0; i < n_disks; i++) {
		struct load load = disk_load(cell, i);

		kernel_bytes += load.cached_bytes;
		stores_bytes += load.touched_bytes;
		seconds = longest(seconds, load.seconds);
	}

	return (struct estimate){
		.host_memory_bytes =
			(kernel_bytes < memory_bytes ? kernel_bytes : memory_bytes) + stores_bytes,
		.virtual_s = seconds + OVERHEAD_S,
	};
}
