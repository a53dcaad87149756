// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of a scoped wake-up: see wake.h. */

#include "wake.h"

static bool is_remembered(const struct cgwb_waker *waker, const struct cgwb_wake_clock *clock)
{
	return waker->at && !time_after64(clock->now, waker->at + clock->memory);
}

struct cgwb_waker *cgwb_waker_find(struct cgwb_waker *wakers, u64 serial,
				   const struct cgwb_wake_clock *clock)
{
	struct cgwb_waker *idle = NULL;
	int i;

	for (i = 0; i < CGWB_WAKE_WAYS; i++) {
		if (wakers[i].serial == serial)
			return &wakers[i];
		if (!idle && !is_remembered(&wakers[i], clock))
			idle = &wakers[i];
	}
	if (idle)
		*idle = (struct cgwb_waker){ .serial = serial };
	return idle;
}

bool cgwb_waker_is_due(const struct cgwb_waker *waker, bool is_at_max,
		       const struct cgwb_wake_clock *clock)
{
	if (!is_remembered(waker, clock))
		return true;
	if (is_at_max && waker->has_failed)
		return true;
	return !time_before64(clock->now, waker->at + clock->patience);
}

static bool is_flushing(const struct cgwb_waker *waker, const struct cgwb_wake_clock *clock)
{
	return waker->flushed_at && !time_after64(clock->now, waker->flushed_at + clock->memory);
}

enum cgwb_wake cgwb_waker_decide(struct cgwb_waker *waker, const struct cgwb_scope *scope,
				 const struct cgwb_wake_clock *clock)
{
	enum cgwb_wake wake = CGWB_WAKE_SCOPED;

	if (scope->flushed)
		waker->flushed_at = clock->now;
	if (is_remembered(waker, clock) && !scope->writeback && scope->dirty >= waker->dirty)
		wake = CGWB_WAKE_AGAIN;
	else if (scope->reached < scope->dirty - scope->dirty / 2 && !is_flushing(waker, clock))
		wake = CGWB_WAKE_UNREACHABLE;
	waker->at = clock->now;
	waker->dirty = scope->dirty;
	waker->wake = wake;
	waker->has_failed = false;
	return wake;
}

void cgwb_waker_failed(struct cgwb_waker *wakers, u64 serial)
{
	int i;

	for (i = 0; i < CGWB_WAKE_WAYS; i++)
		if (wakers[i].serial == serial)
			wakers[i].has_failed = true;
}
