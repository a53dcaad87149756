/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flights: flushes of whole wbs that were asked for and have not ended, by the wb that they write.
 *
 * The kernel counts unfinished flushes in the slots of each memcg that asks, so that N memcgs with a record of the same
 * owner queue N works that each write all of it. Counted here, by (bdi, owner), there is one, whoever asks.
 *
 * A flight's completion is in memory of its own, because the kernel's flusher writes to it when the work has ended,
 * which may be long after the module is gone. Nobody waits for it: a count of 1 is at rest.
 */
#ifndef CGWB_FLIGHT_H
#define CGWB_FLIGHT_H

#include "decide.h"

/* Owners with an unfinished flush at the same time. With more the kernel's own counting is used. */
#define CGWB_FLIGHTS 128

struct cgwb_flight {
	u64 bdi_id;
	s32 owner_id;
	struct wb_completion done;
};

struct cgwb_flights {
	raw_spinlock_t lock;
	struct cgwb_flight flights[CGWB_FLIGHTS];
};

/* cgwb_flights_init() - all at rest; @waitq is what the kernel may wake and must outlive the module */
void cgwb_flights_init(struct cgwb_flights *flights, wait_queue_head_t *waitq);

/**
 * cgwb_flight_claim() - begin a flush of (@bdi_id, @owner_id)
 * @flights: all of them
 * @bdi_id: the bdi
 * @owner_id: css id of the owner
 * @ret_flight: gets the flight
 *
 * Returns 0; the caller then asks for the flush with the flight's completion, or does not, and releases the flight
 * in either case. -EBUSY: such a flush has not ended. -ENOSPC: none is at rest. Any context.
 */
int cgwb_flight_claim(struct cgwb_flights *flights, u64 bdi_id, s32 owner_id,
		      struct cgwb_flight **ret_flight);
void cgwb_flight_release(struct cgwb_flight *flight);

/* cgwb_flights_unfinished() - how many have not ended */
unsigned int cgwb_flights_unfinished(struct cgwb_flights *flights);

#endif /* CGWB_FLIGHT_H */
