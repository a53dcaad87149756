/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine `files` does when: arithmetic only, without a clock or a file. */
#ifndef GUEST_ENGINE_FILES_H
#define GUEST_ENGINE_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct files_plan {
	const char *directory;
	uint64_t file_bytes, files_per_directory;
	uint64_t data_every; /* a piece of data after every so many files; 0: never */
	uint64_t data_bytes, data_span_bytes;
	uint64_t files; /* 0: no limit */
	uint64_t files_per_s; /* 0: not paced */
	uint64_t xattr_bytes; /* 0: none */
	bool delete; /* delete all of it at the end, within the job's time */
	bool sync; /* sync the filesystem at the end, within the job's time */
};

/* When file @n (from 0) is due, after the beginning. */
uint64_t files_plan_due_ns(const struct files_plan *plan, uint64_t n);

/* Whether the work is over when @n files are made and @elapsed_ns have gone. @duration_ns 0: no end. */
bool files_plan_ends(const struct files_plan *plan, uint64_t n, uint64_t elapsed_ns,
		     uint64_t duration_ns);

/* Whether data is written after file @n, and where: whole pieces, from 0, within the span. */
bool files_plan_has_data(const struct files_plan *plan, uint64_t n);
uint64_t files_plan_data_offset(const struct files_plan *plan, uint64_t n);

#endif
