// SPDX-License-Identifier: GPL-2.0-only
/* When a request is due: see pace.h. */
#include "pace.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#else
#include <string.h>
#define NSEC_PER_SEC 1000000000L
static u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}
#endif

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The first whole nanosecond at which the meter is free. Rounded up, so that nobody is early by the fraction. */
static u64 meter_free_ns(const struct pace_meter *meter)
{
	return meter->next_ns + (meter->rem ? 1 : 0);
}

/*
 * Serve `units`, beginning at at_ns or when the meter is free. Returns when they are done; *ret_start_ns is when they
 * began. units is at most 2^32 and rate at most PACE_BPS_MAX, so the product with 10^9 and the sum fit 64 bits.
 */
static u64 meter_take(struct pace_meter *meter, u64 at_ns, u64 units, u64 *ret_start_ns)
{
	if (meter->next_ns < at_ns) {
		meter->next_ns = at_ns;
		meter->rem = 0;
	}
	*ret_start_ns = meter_free_ns(meter);
	if (meter->rate)
		meter->next_ns += div64_u64_rem(units * (u64)NSEC_PER_SEC + meter->rem, meter->rate,
						&meter->rem);
	return meter_free_ns(meter);
}

void pace_init(struct pace *pace)
{
	memset(pace, 0, sizeof(*pace));
}

static void meter_restart(struct pace_meter *meter)
{
	meter->next_ns = 0;
	meter->rem = 0;
}

void pace_restart(struct pace *pace)
{
	meter_restart(&pace->bytes[PACE_READ]);
	meter_restart(&pace->bytes[PACE_WRITE]);
	meter_restart(&pace->iops);
	memset(pace->last_due_ns, 0, sizeof(pace->last_due_ns));
}

void pace_set_rate(struct pace_meter *meter, u64 rate)
{
	/* The remainder counts in units of the old rate: settle it, by less than a nanosecond. */
	meter->next_ns = meter_free_ns(meter);
	meter->rem = 0;
	meter->rate = rate;
}

void pace_set_latency(struct pace *pace, u64 latency_ns)
{
	pace->latency_ns = latency_ns;
}

u64 pace_admit(struct pace *pace, enum pace_class class, u64 now_ns, u64 bytes)
{
	u64 due_ns = now_ns + pace->latency_ns;
	u64 slot_ns, start_ns;

	if (class != PACE_OTHER) {
		due_ns = later(due_ns, meter_take(&pace->iops, now_ns, 1, &slot_ns));
		due_ns = later(due_ns, meter_take(&pace->bytes[class], slot_ns, bytes, &start_ns));
	}
	/* Only a latency that was lowered can make this one earlier than the one before it. */
	due_ns = later(due_ns, pace->last_due_ns[class]);
	pace->last_due_ns[class] = due_ns;
	return due_ns;
}
