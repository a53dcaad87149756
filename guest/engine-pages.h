/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine `pages` does when: arithmetic only, without a clock or a file. */
#ifndef GUEST_ENGINE_PAGES_H
#define GUEST_ENGINE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define PAGES_PAGE 4096

struct pages_plan {
	const char *filename;
	uint64_t offset_bytes, size_bytes; /* the window of the file; whole pages */
	uint64_t stride_bytes; /* from one page to the next; whole pages */
	uint64_t passes; /* over the window; 0: no limit */
	uint64_t pages_per_s; /* 0: not paced */
};

/* How many pages a pass dirties. */
uint64_t pages_plan_pass(const struct pages_plan *plan);

/* Where in the window page @n (from 0, over all passes) lies, in bytes. */
uint64_t pages_plan_at(const struct pages_plan *plan, uint64_t n);

/* When it is due, after the beginning. */
uint64_t pages_plan_due_ns(const struct pages_plan *plan, uint64_t n);

/* Whether the work is over when @n pages are done and @elapsed_ns have gone. @duration_ns 0: no end. */
bool pages_plan_ends(const struct pages_plan *plan, uint64_t n, uint64_t elapsed_ns,
		     uint64_t duration_ns);

#endif
