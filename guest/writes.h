/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device writes by trigger: why each sector was written, decided from a sequence of events
 * (docs/measures.md, "Writes by trigger").
 *
 * A write is submitted in the context of a task, and completes in an interrupt. So the trigger is
 * decided at submission, from what the submitting task is in the middle of, and remembered in one
 * byte for each 4 KiB of the disk until the completion, which is what counts.
 *
 * Events go in in the order of their time. Nothing here reads a file or knows of a trace.
 */
#ifndef GUEST_WRITES_H
#define GUEST_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "extent.h"

struct writes;

/* What a kernel worker is at work on, as far as it matters here. */
enum work {
	WORK_NONE,
	WORK_FLUSHER,
	WORK_MAPPING,
	WORK_THROTTLE
};

struct writes *writes_new(void);
/* NULL-safe, returns NULL. */
struct writes *writes_free(struct writes *writes);

/* Watch a disk. @dev as in the events: major << 20 | minor. -ENOMEM. */
int writes_disk_add(struct writes *writes, uint32_t dev, uint64_t size_bytes);
/* Watch a file by its extents, which are borrowed. Returns its number, for writes_file_bytes(). */
int writes_file_add(struct writes *writes, uint32_t dev, const struct extents *extents);

/* The task @pid begins and ends writing back for @reason (the kernel's word for it). -ENOMEM. */
int writes_reason_begin(struct writes *writes, int pid, const char *reason);
void writes_reason_end(struct writes *writes, int pid);
/* The worker @pid begins and ends a work item. */
int writes_work_begin(struct writes *writes, int pid, enum work work);
void writes_work_end(struct writes *writes, int pid);
/* The task @pid begins and ends an fsync (fdatasync, msync, O_SYNC). */
int writes_fsync_begin(struct writes *writes, int pid);
void writes_fsync_end(struct writes *writes, int pid);

/* The task @pid, called @comm, submits. @rwbs as the kernel's block events have it. */
int writes_submit(struct writes *writes, int pid, const char *comm, uint32_t dev, uint64_t sector,
		  uint32_t n_sectors, const char *rwbs);
void writes_complete(struct writes *writes, uint32_t dev, uint64_t sector, uint32_t n_sectors,
		     const char *rwbs);

/*
 * How many bytes were written for the trigger number @trigger, whose name is writes_trigger_name():
 * numbers go from 0 until that is NULL. "unknown" is what completed and was not seen submitted.
 */
const char *writes_trigger_name(const struct writes *writes, unsigned int trigger);
uint64_t writes_disk_bytes(const struct writes *writes, uint32_t dev, unsigned int trigger);
uint64_t writes_file_bytes(const struct writes *writes, int file, unsigned int trigger);

#endif
