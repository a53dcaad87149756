// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of a sweep: see sweep.h for what it owes. */

#include "sweep.h"

static bool is_running(const struct cgwb_sweep *sweep)
{
	return sweep->lap < sweep->until_lap ||
	       (sweep->lap == sweep->until_lap && sweep->cursor < sweep->until);
}

static bool has_missed(const struct cgwb_sweep *sweep)
{
	return sweep->again_first <= sweep->again_last;
}

static void forget_missed(struct cgwb_sweep *sweep)
{
	sweep->again_first = CGWB_LAST_PAGE;
	sweep->again_last = 0;
}

bool cgwb_sweep_is_young(const struct cgwb_sweep *sweep, const struct cgwb_clock *clock)
{
	return time_after64(sweep->asked_at, clock->now - clock->expire);
}

void cgwb_sweep_init(struct cgwb_sweep *sweep)
{
	*sweep = (struct cgwb_sweep){ 0 };
	forget_missed(sweep);
}

void cgwb_sweep_ask(struct cgwb_sweep *sweep, pgoff_t first, pgoff_t last, u64 now)
{
	sweep->asked_first = sweep->asked ? min(sweep->asked_first, first) : first;
	sweep->asked_last = sweep->asked ? max(sweep->asked_last, last) : last;
	sweep->asked = true;
	sweep->asked_at = now;
}

bool cgwb_sweep_is_owed(const struct cgwb_sweep *sweep, const struct cgwb_clock *clock)
{
	return sweep->asked || is_running(sweep) ||
	       (has_missed(sweep) && cgwb_sweep_is_young(sweep, clock));
}

bool cgwb_sweep_begin(struct cgwb_sweep *sweep, const struct cgwb_clock *clock, pgoff_t *first,
		      pgoff_t *last)
{
	if (sweep->asked) {
		/* One that rests may begin anywhere: at the start, so that a short stretch needs one slice, not two. */
		if (!is_running(sweep)) {
			sweep->first = sweep->asked_first;
			sweep->last = sweep->asked_last;
			sweep->cursor = sweep->first;
		}
		sweep->first = min(sweep->first, sweep->asked_first);
		sweep->last = max(sweep->last, sweep->asked_last);
		sweep->until = sweep->cursor;
		sweep->until_lap = sweep->lap + 1;
		sweep->asked = false;
		forget_missed(sweep);
	} else if (!is_running(sweep)) {
		if (!has_missed(sweep) || !cgwb_sweep_is_young(sweep, clock)) {
			forget_missed(sweep);
			return false;
		}
		sweep->cursor = sweep->again_first;
		sweep->until = sweep->again_last + 1;
		sweep->until_lap = sweep->lap;
		forget_missed(sweep);
	}
	*first = sweep->cursor;
	*last = sweep->lap < sweep->until_lap ? sweep->last : sweep->until - 1;
	return true;
}

void cgwb_sweep_missed(struct cgwb_sweep *sweep, pgoff_t first, pgoff_t last)
{
	sweep->again_first = min(sweep->again_first, first);
	sweep->again_last = max(sweep->again_last, last);
}

bool cgwb_sweep_end(struct cgwb_sweep *sweep, pgoff_t last)
{
	if (last < sweep->last) {
		sweep->cursor = last + 1;
	} else {
		sweep->cursor = sweep->first;
		sweep->lap++;
	}
	return !is_running(sweep);
}

void cgwb_sweep_give_up(struct cgwb_sweep *sweep)
{
	sweep->until = sweep->cursor;
	sweep->until_lap = sweep->lap;
	forget_missed(sweep);
}

unsigned long cgwb_slice_pages(unsigned long bandwidth_pages, unsigned int slice_ms)
{
	/* Divided first: the bandwidth is what the kernel believes, and must not overflow. */
	unsigned long pages = bandwidth_pages / 1000 * slice_ms;

	return clamp(pages, CGWB_SLICE_MIN_PAGES, CGWB_SLICE_MAX_PAGES);
}
