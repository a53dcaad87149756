/* SPDX-License-Identifier: GPL-2.0-only */
/* A slice of a sweep: the next dirty pages of a mapping, as many as a slice may have. */
#ifndef CGWB_SLICE_H
#define CGWB_SLICE_H

#include "decide.h"
#include "place.h"

/**
 * struct cgwb_slice - one slice, as it goes
 * @place: the inode, and how to find it
 * @first: the first page
 * @last: the last page that it may reach; when it is written, the last that it has passed
 * @budget: how many dirty pages it takes
 * @pages: how many were submitted
 * @missed: how many were passed, being under writeback; the stretch of them ...
 * @missed_first: ... begins here ...
 * @missed_last: ... and ends here
 */
struct cgwb_slice {
	struct cgwb_place place;
	pgoff_t first;
	pgoff_t last;
	unsigned long budget;
	unsigned long pages;
	unsigned long missed;
	pgoff_t missed_first;
	pgoff_t missed_last;
};

/**
 * cgwb_slice_write() - write a slice
 *
 * The caller sets @slice->place, first and last; the rest says what became of it. Process context; sleeps, for as long
 * as the disk keeps it waiting. Returns 0, or what cgwb_inode_get() could not do.
 */
int cgwb_slice_write(struct cgwb_slice *slice);

#endif /* CGWB_SLICE_H */
