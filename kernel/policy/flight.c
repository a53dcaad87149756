// SPDX-License-Identifier: GPL-2.0-only
/* Unfinished flushes of whole wbs: see flight.h. */

#include "flight.h"

static bool is_at_rest(const struct cgwb_flight *flight)
{
	return atomic_read(&flight->done.cnt) == 1;
}

void cgwb_flights_init(struct cgwb_flights *flights, wait_queue_head_t *waitq)
{
	unsigned int i;

	raw_spin_lock_init(&flights->lock);
	for (i = 0; i < CGWB_FLIGHTS; i++) {
		flights->flights[i].done.waitq = waitq;
		atomic_set(&flights->flights[i].done.cnt, 1);
	}
}

int cgwb_flight_claim(struct cgwb_flights *flights, u64 bdi_id, s32 owner_id,
		      struct cgwb_flight **ret_flight)
{
	struct cgwb_flight *idle = NULL;
	unsigned long flags;
	unsigned int i;
	int ret = 0;

	raw_spin_lock_irqsave(&flights->lock, flags);
	for (i = 0; i < CGWB_FLIGHTS; i++) {
		struct cgwb_flight *flight = &flights->flights[i];

		/* A flight only ever comes to rest by itself; it leaves it under the lock. */
		if (is_at_rest(flight)) {
			idle = idle ?: flight;
		} else if (flight->bdi_id == bdi_id && flight->owner_id == owner_id) {
			ret = -EBUSY;
			goto out;
		}
	}
	if (!idle) {
		ret = -ENOSPC;
		goto out;
	}
	idle->bdi_id = bdi_id;
	idle->owner_id = owner_id;
	/* The claim itself counts, until it is released: the kernel counts the work only when it is queued. */
	atomic_inc(&idle->done.cnt);
	*ret_flight = idle;
out:
	raw_spin_unlock_irqrestore(&flights->lock, flags);
	return ret;
}

void cgwb_flight_release(struct cgwb_flight *flight)
{
	atomic_dec(&flight->done.cnt);
}

unsigned int cgwb_flights_unfinished(struct cgwb_flights *flights)
{
	unsigned int i, n = 0;

	for (i = 0; i < CGWB_FLIGHTS; i++)
		n += !is_at_rest(&flights->flights[i]);
	return n;
}
