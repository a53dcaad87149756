/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in a guest: CLOCK_MONOTONIC in nanoseconds, which begins with the kernel. It is the clock of
 * the trace too, so that events and the guest's own steps can be compared.
 */
#ifndef GUEST_CLOCK_H
#define GUEST_CLOCK_H

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Sleeps until @ns, through signals; at once if that is past. */
static inline void clock_sleep_until(uint64_t ns)
{
	struct timespec until = clock_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Rounds to a fixed number of decimals, so that a result has the same bytes every time. */
static inline double round_to(double value, unsigned int decimals)
{
	double scale = pow(10, decimals);

	return round(value * scale) / scale;
}

/* As results have it: with three decimals. */
static inline double clock_seconds(uint64_t ns)
{
	return round_to(ns / 1e9, 3);
}

#endif
