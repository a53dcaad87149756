/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep: the arithmetic of writing a stretch of a mapping in bounded slices, for whoever asks while it goes on.
 *
 * What it owes: a page that was dirty when somebody asked is passed by a slice that begins after the ask. So an
 * ask is taken at a slice's beginning, never in its middle, and from there the sweep goes once around the stretch:
 * to its end, and from its start to the page where it took the ask. Asks that come while it runs make the stretch
 * longer and move the page where the sweep ends, they start nothing. Once there, it rests; it needs no further
 * word to get there, because who is throttled dirties nothing and so could not ask again.
 *
 * A page that is dirty and under writeback at once cannot be written, only passed: its dirtier may have been waiting
 * for just that page. Such pages are noted, and the stretch between the first and the last of them is passed once more
 * when the sweep has ended, for as long as the ask is younger than the dirty_expire interval (after which periodic
 * writeback takes them).
 *
 * Nothing here locks: the caller does.
 */
#ifndef CGWB_SWEEP_H
#define CGWB_SWEEP_H

#include "decide.h"
#include "place.h"

/**
 * struct cgwb_sweep - where it is and how far it goes; zeroed is at rest
 * @first: the stretch: its first page ...
 * @last: ... and its last one
 * @cursor: the page at which the next slice begins
 * @lap: how often @cursor has passed the end of the stretch
 * @until: the sweep ends at this page ...
 * @until_lap: ... of this lap
 * @again_first: the stretch to pass once more, in pages; none when the first is behind the last
 * @again_last: its last page
 * @asked_first: what the waiting asks want: the first page ...
 * @asked_last: ... and the last one
 * @asked_at: jiffies_64 of the latest ask
 * @asked: an ask waits for the next slice's beginning
 */
struct cgwb_sweep {
	pgoff_t first;
	pgoff_t last;
	pgoff_t cursor;
	u64 lap;
	pgoff_t until;
	u64 until_lap;
	pgoff_t again_first;
	pgoff_t again_last;
	pgoff_t asked_first;
	pgoff_t asked_last;
	u64 asked_at;
	bool asked;
};

/* cgwb_sweep_init() - at rest, owing nothing */
void cgwb_sweep_init(struct cgwb_sweep *sweep);

/* cgwb_sweep_ask() - owe whoever calls a pass over pages @first to @last from the next slice on */
void cgwb_sweep_ask(struct cgwb_sweep *sweep, pgoff_t first, pgoff_t last, u64 now);

/**
 * cgwb_sweep_begin() - the beginning of a slice: take what was asked, say what may be written
 * @sweep: the sweep
 * @clock: now
 * @first: gets the first page of the slice
 * @last: gets the last page that the slice may reach
 *
 * Returns false, and sets nothing, when nothing is owed: the sweep is at rest.
 */
bool cgwb_sweep_begin(struct cgwb_sweep *sweep, const struct cgwb_clock *clock, pgoff_t *first,
		      pgoff_t *last);

/* cgwb_sweep_missed() - pages @first to @last were passed by the slice that is running, some of them not written */
void cgwb_sweep_missed(struct cgwb_sweep *sweep, pgoff_t first, pgoff_t last);

/**
 * cgwb_sweep_end() - the end of a slice that has passed everything up to @last
 *
 * Returns true when with it the sweep has come to where it ends, so that all that were asking before are satisfied
 * (but for missed pages, which are passed again).
 */
bool cgwb_sweep_end(struct cgwb_sweep *sweep, pgoff_t last);

/* cgwb_sweep_give_up() - owe nothing of what slices have begun with; what was asked since then is still owed */
void cgwb_sweep_give_up(struct cgwb_sweep *sweep);

/* cgwb_sweep_is_owed() - is there a slice to be done? */
bool cgwb_sweep_is_owed(const struct cgwb_sweep *sweep, const struct cgwb_clock *clock);

/* cgwb_sweep_is_young() - is the latest ask younger than the dirty_expire interval? */
bool cgwb_sweep_is_young(const struct cgwb_sweep *sweep, const struct cgwb_clock *clock);

/* cgwb_slice_pages() - how many pages a slice of @slice_ms may write where @bandwidth_pages are written in a second */
unsigned long cgwb_slice_pages(unsigned long bandwidth_pages, unsigned int slice_ms);

/*
 * A slice is what the device writes in this time, unless it was chosen otherwise. Metadata that is being written
 * is locked, and filesystem operations of all cgroups wait for it: with slices of seconds a flush for one cgroup
 * would stall all the others. It is also the longest pause of a throttled task, who so sees the effect of a slice
 * each time it wakes up.
 */
#define CGWB_SLICE_MS 200

/*
 * The bandwidth is an estimate. A wb that has written little, or behind a low io.max, may show next to nothing: from
 * 1 MiB on a slice is worth its seeks, and some 100 MiB of dirty metadata are passed within a dirty_expire interval.
 * At the other end, 64 MiB of locked buffers are enough on any device: a fast one drains them and is asked again.
 */
#define CGWB_SLICE_MIN_PAGES (1UL << (20 - PAGE_SHIFT))
#define CGWB_SLICE_MAX_PAGES (64UL << (20 - PAGE_SHIFT))

#endif /* CGWB_SWEEP_H */
