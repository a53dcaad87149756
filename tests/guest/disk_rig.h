/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rig: what the tests of the disk module share - disks made through configfs, and asynchronous I/O by raw system
 * calls, so that a request reaches the disk when the test says, alone and uncached.
 *
 * Functions return 0 or a negative errno. Sizes are bytes, times nanoseconds of CLOCK_MONOTONIC, which is the clock
 * that the module goes by.
 */
#ifndef CGWB_TESTS_DISK_RIG_H
#define CGWB_TESTS_DISK_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define US 1000ULL
#define MS (1000 * US)
#define SECOND (1000 * MS)
#define BLOCK 4096ULL

/* The memory that tests may put disks on, from the command line. */
extern uint64_t rig_base, rig_size;

uint64_t rig_now(void);

/* One file of a disk in configfs. */
int disk_write(const char *name, const char *attribute, const char *text);
int disk_set(const char *name, const char *attribute, uint64_t value);
/* ~0 if it cannot be read. */
uint64_t disk_get(const char *name, const char *attribute);

int disk_mkdir(const char *name);
int disk_rmdir(const char *name);

struct disk_spec {
	uint64_t base; /* counted from rig_base */
	uint64_t size;
	uint64_t write_bps, read_bps, iops, latency_ns;
	uint64_t depth; /* 0: the default */
};

/* mkdir, all attributes, power. Requests on it are not merged, so that one I/O of a test is one request. */
int disk_make(const char *name, const struct disk_spec *spec);
/* A descriptor of /dev/NAME; flags as for open(2). */
int disk_open(const char *name, int flags);
/* A file under /sys/block/NAME. */
int block_write(const char *name, const char *file, const char *text);
int block_read(const char *name, const char *file, char *text, size_t bytes);

struct io {
	int fd;
	bool write;
	uint64_t pos, bytes;
	void *data; /* aligned as O_DIRECT needs */
	/* Results. */
	long result;
	uint64_t end_ns; /* when the event was seen */
	int order; /* of the events: 0, 1, 2 ... */
};

/* Submit ios[0..n) with one system call, without waiting. */
int io_start(struct io *ios, int n);
/* Wait for n events, or as many as come within timeout_ns: returns how many came. */
int io_wait(int n, uint64_t timeout_ns);
/* Begin a new count of events. */
void io_reset_order(void);

/*
 * Keep `depth` requests in flight until `count` were served, each of `bytes`, at positions that are not one behind the
 * other. Any failed request fails the load. A load is driven by load_run(), several at a time.
 */
struct load {
	int fd;
	bool write;
	uint64_t bytes, span; /* span: positions lie below it */
	int count, depth;
	/* Results. */
	uint64_t begin_ns, end_ns; /* before the first was submitted, after the last event */
	uint64_t warm_ns; /* after event number `depth`: from here on, one ends and one is sent */
	/* Inside. */
	struct io *ios;
	int started, ended;
};

int load_run(struct load *loads, int n);

/* Page-aligned memory, zeroed; never NULL: without memory there is no test. */
void *rig_alloc(uint64_t bytes);
/* A known, reproducible sequence. */
uint64_t rig_random(void);

#endif
