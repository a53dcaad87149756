/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pace: when a disk of given caps and latency would have finished each request.
 *
 * A pace is arithmetic and nothing else. It reads no clock, takes no lock and touches no hardware, so the same file is
 * built into the module and into a user space test. Times are nanoseconds of whatever clock the caller hands in; they
 * must not run backwards between two calls. The caller serialises calls on one pace.
 *
 * The model, in the order in which a request goes through it:
 *
 *   1. the shared IOPS meter admits requests one after another, 1/iops apart, reads and writes alike;
 *   2. from that moment the meter of its class (reads and writes have one each) moves its bytes at the cap, one request
 *      after another; neither class waits for the other's bytes;
 *   3. it is due when its slot and its bytes are over, and not before latency_ns after it was issued.
 *
 * Discards, write-zeroes and flushes move no bytes: they are due latency_ns after issue.
 *
 * What holds:
 *
 *   - within a class, due times never decrease in the order of the calls (strict FIFO), whatever is changed in between;
 *   - a meter that is never idle ends request n at ceil(start + n_units / rate): remainders are carried, so nothing is
 *     lost or gained however long it runs and however small the requests are; nobody is ever early;
 *   - time in which a meter was idle is gone: it earns no burst.
 */
#ifndef CGWB_DISK_PACE_H
#define CGWB_DISK_PACE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint64_t u64;
#endif

/*
 * Bounds on what a caller may set, so that no sum can overflow 64 bits: the deepest queue (10240) of the largest
 * requests (16 MiB) at the smallest rate is 1.3 years.
 */
#define PACE_BPS_MIN 4096ULL
#define PACE_BPS_MAX (1ULL << 50)
#define PACE_IOPS_MAX 1000000000ULL
#define PACE_LATENCY_MAX_NS 3600000000000ULL

enum pace_class {
	PACE_READ,
	PACE_WRITE,
	PACE_OTHER, /* moves no bytes: latency only */
	PACE_CLASS_NR,
};

/* One thing at a time at `rate` units a second. next_ns + rem / rate is the moment at which it is free. */
struct pace_meter {
	u64 rate; /* 0: no cap, costs nothing */
	u64 next_ns;
	u64 rem; /* below rate */
};

struct pace {
	struct pace_meter bytes[PACE_OTHER]; /* reads, writes */
	struct pace_meter iops;
	u64 latency_ns;
	u64 last_due_ns[PACE_CLASS_NR];
};

/* An idle pace with no caps and no latency. */
void pace_init(struct pace *pace);

/* Forget what was admitted, keep caps and latency: for a disk whose requests have all been thrown away. */
void pace_restart(struct pace *pace);

/*
 * Change a cap (`meter` is one of the pace's) or the latency. What was admitted before keeps its due time, what comes
 * after is not due before it. 0 is no cap; the caller keeps values within the bounds above.
 */
void pace_set_rate(struct pace_meter *meter, u64 rate);
void pace_set_latency(struct pace *pace, u64 latency_ns);

/* Admit a request of `bytes` issued at now_ns. Returns when it is due, at or after now_ns + latency_ns. */
u64 pace_admit(struct pace *pace, enum pace_class class, u64 now_ns, u64 bytes);

#endif
