// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pace against closed forms in 128-bit rationals.
 *
 * A server that takes requests in order, request j at time a[j] for c[j], ends j at the largest a[i] + c[i] + ... +
 * c[j] over all i <= j. That says nothing of remainders, idle time or order, so it can judge how pace.c keeps them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pace.h"

#define NS_PER_S 1000000000ULL
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define REQUESTS 300

typedef unsigned __int128 u128;

static u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* ceil(units * 10^9 / rate) */
static u64 cost_ns(u64 units, u64 rate)
{
	return rate ? (u64)(((u128)units * NS_PER_S + rate - 1) / rate) : 0;
}

/* xorshift64: the same numbers on every machine. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static const u64 sizes[] = { 512, 4096, 4608, 65536, 131072, 135168, 1048576 };
static const u64 rates[] = { PACE_BPS_MIN, 7777777,	  104857601,
			     209715200,	   1234567890123, PACE_BPS_MAX };

/* A meter that never idles ends request n at ceil(n * size / rate), for every n. */
static void busy_meter_is_exact(void **state)
{
	for (size_t r = 0; r < ARRAY_SIZE(rates); r++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			struct pace pace;

			pace_init(&pace);
			pace_set_rate(&pace.bytes[PACE_WRITE], rates[r]);
			for (u64 n = 1; n <= 10000; n++)
				assert_int_equal(pace_admit(&pace, PACE_WRITE, 12345, sizes[s]),
						 12345 + cost_ns(n * sizes[s], rates[r]));
		}
	}
}

static void rate_is_within_a_thousandth(void **state)
{
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		u64 bytes = 0, end = 0;
		struct pace pace;

		pace_init(&pace);
		pace_set_rate(&pace.bytes[PACE_READ], 209715200);
		while (bytes < 209715200) {
			end = pace_admit(&pace, PACE_READ, 0, sizes[s]);
			bytes += sizes[s];
		}
		double bps = (double)bytes * NS_PER_S / (double)end;

		assert_true(bps <= 209715200.0);
		assert_true(bps > 209715200.0 * 0.999);
	}
}

struct trace {
	enum pace_class class[REQUESTS];
	u64 now_ns[REQUESTS];
	u64 bytes[REQUESTS];
	u64 due_ns[REQUESTS];
	u64 slot_ns[REQUESTS]; /* when the IOPS meter let it in */
};

/* Requests of all classes at irregular times: bursts, and pauses long enough to drain them. */
static void make_trace(struct trace *trace, u64 seed)
{
	u64 now = 1000;

	for (int i = 0; i < REQUESTS; i++) {
		u64 r = next_random(&seed);

		if (r % 10 == 0)
			now += next_random(&seed) % (NS_PER_S / 4);
		else if (r % 3 == 0)
			now += next_random(&seed) % 1000;
		trace->now_ns[i] = now;
		trace->class[i] = next_random(&seed) % PACE_CLASS_NR;
		trace->bytes[i] = 512 * (1 + next_random(&seed) % 2048);
	}
}

static void run_trace(struct trace *trace, struct pace *pace)
{
	for (int i = 0; i < REQUESTS; i++)
		trace->due_ns[i] =
			pace_admit(pace, trace->class[i], trace -> now_ns[i], trace -> bytes[i]);
}

/* When the first i requests have left the IOPS meter, and it takes request i. */
static void expect_slots(struct trace *trace, u64 iops)
{
	for (int j = 0; j < REQUESTS; j++) {
		u64 before = 0;

		trace->slot_ns[j] = trace->now_ns[j];
		for (int i = j - 1; i >= 0; i--) {
			if (trace->class[i] == PACE_OTHER)
				continue;
			before++;
			trace->slot_ns[j] = max_u64(trace->slot_ns[j],
						    trace->now_ns[i] + cost_ns(before, iops));
		}
	}
}

/* What holds without any cap: the latency, and the order within the class. */
static u64 expect_floor(const struct trace *trace, int j, u64 latency_ns)
{
	u64 due = trace->now_ns[j] + latency_ns;

	for (int i = j - 1; i >= 0; i--)
		if (trace->class[i] == trace->class[j])
			return max_u64(due, trace->due_ns[i]);
	return due;
}

/* Every due time, from nothing but arrivals and costs. */
static void check_trace(const struct trace *trace, const struct pace *pace)
{
	for (int j = 0; j < REQUESTS; j++) {
		enum pace_class class = trace->class[j];
		u64 due = expect_floor(trace, j, pace->latency_ns);
		u64 bytes = 0, slots = 0;

		for (int i = j; i >= 0 && class != PACE_OTHER; i--) {
			if (trace->class[i] != PACE_OTHER)
				due = max_u64(due,
					      trace->now_ns[i] + cost_ns(++slots, pace->iops.rate));
			if (trace->class[i] != class)
				continue;
			bytes += trace->bytes[i];
			due = max_u64(due,
				      trace->slot_ns[i] + cost_ns(bytes, pace->bytes[class].rate));
		}
		assert_int_equal(trace->due_ns[j], due);
	}
}

static void irregular_load_matches_closed_form(void **state)
{
	static const struct {
		u64 read_bps, write_bps, iops, latency_ns;
	} settings[] = {
		{ 0, 0, 0, 0 },
		{ 0, 0, 0, 80000 },
		{ 0, 209715200, 0, 80000 },
		{ 104857601, 209715200, 0, 0 },
		{ 7777777, 209715200, 977, 3000000 },
		{ 0, 0, 3, 1 },
		{ 1234567890123, 33333333, 100003, 80000 },
		{ PACE_BPS_MIN, PACE_BPS_MAX, PACE_IOPS_MAX, 0 },
	};
	static struct trace trace;

	for (size_t s = 0; s < ARRAY_SIZE(settings); s++) {
		for (u64 seed = 1; seed <= 20; seed++) {
			struct pace pace;

			pace_init(&pace);
			pace_set_rate(&pace.bytes[PACE_READ], settings[s].read_bps);
			pace_set_rate(&pace.bytes[PACE_WRITE], settings[s].write_bps);
			pace_set_rate(&pace.iops, settings[s].iops);
			pace_set_latency(&pace, settings[s].latency_ns);
			make_trace(&trace, seed * 0x9e3779b97f4a7c15ULL);
			run_trace(&trace, &pace);
			expect_slots(&trace, settings[s].iops);
			check_trace(&trace, &pace);
		}
	}
}

/* Whatever is changed under way: in a class nobody overtakes, and nobody ends before his latency. */
static void order_survives_changes(void **state)
{
	u64 last[PACE_CLASS_NR] = { 0 }, seed = 7, now = 0;
	struct pace pace;

	pace_init(&pace);
	for (int i = 0; i < 20000; i++) {
		enum pace_class class = next_random(&seed) % PACE_CLASS_NR;
		u64 due;

		switch (next_random(&seed) % 8) {
		case 0:
			pace_set_latency(&pace, next_random(&seed) % 10000000);
			break;
		case 1:
			pace_set_rate(&pace.bytes[PACE_WRITE], rates[next_random(&seed) % 6]);
			break;
		case 2:
			pace_set_rate(&pace.bytes[PACE_READ], 0);
			break;
		case 3:
			pace_set_rate(&pace.iops, next_random(&seed) % 100000);
			break;
		}
		now += next_random(&seed) % 100000;
		due = pace_admit(&pace, class, now, 4096);
		assert_true(due >= last[class]);
		assert_true(due >= now + pace.latency_ns);
		last[class] = due;
	}
}

static void idle_time_earns_no_burst(void **state)
{
	struct pace pace;

	pace_init(&pace);
	pace_set_rate(&pace.bytes[PACE_WRITE], 1048576);
	assert_int_equal(pace_admit(&pace, PACE_WRITE, 0, 1048576), NS_PER_S);
	assert_int_equal(pace_admit(&pace, PACE_WRITE, 10 * NS_PER_S, 1048576), 11 * NS_PER_S);
	assert_int_equal(pace_admit(&pace, PACE_WRITE, 10 * NS_PER_S, 1048576), 12 * NS_PER_S);
}

static void classes_do_not_wait_for_each_others_bytes(void **state)
{
	struct pace pace;

	pace_init(&pace);
	pace_set_rate(&pace.bytes[PACE_WRITE], 1048576);
	pace_set_rate(&pace.bytes[PACE_READ], 2097152);
	pace_set_latency(&pace, 1000);
	for (u64 n = 1; n <= 10; n++)
		assert_int_equal(pace_admit(&pace, PACE_WRITE, 0, 1048576), n * NS_PER_S);
	assert_int_equal(pace_admit(&pace, PACE_READ, 0, 1048576), NS_PER_S / 2);
	assert_int_equal(pace_admit(&pace, PACE_OTHER, 0, 1ULL << 31), 1000);
}

static void restart_forgets_the_backlog_only(void **state)
{
	struct pace pace;

	pace_init(&pace);
	pace_set_rate(&pace.bytes[PACE_WRITE], 1048576);
	pace_set_latency(&pace, 5000);
	for (int n = 0; n < 100; n++)
		pace_admit(&pace, PACE_WRITE, 0, 1048576);
	pace_restart(&pace);
	assert_int_equal(pace_admit(&pace, PACE_WRITE, 7, 1048576), 7 + NS_PER_S);
	assert_int_equal(pace_admit(&pace, PACE_READ, 7, 1048576), 7 + 5000);
}

/* The bounds of pace.h: the deepest queue of the largest requests at the lowest rate. */
static void bounds_do_not_overflow(void **state)
{
	u64 start = 10 * 365 * 86400ULL * NS_PER_S;
	struct pace pace;

	pace_init(&pace);
	pace_set_rate(&pace.bytes[PACE_WRITE], PACE_BPS_MIN);
	pace_set_rate(&pace.iops, 1);
	pace_set_latency(&pace, PACE_LATENCY_MAX_NS);
	for (u64 n = 1; n <= 10240; n++) {
		u64 due = pace_admit(&pace, PACE_WRITE, start, 16 << 20);

		assert_int_equal(due, start + cost_ns(n * (16 << 20), PACE_BPS_MIN));
		assert_true(due < INT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_meter_is_exact),
		cmocka_unit_test(rate_is_within_a_thousandth),
		cmocka_unit_test(irregular_load_matches_closed_form),
		cmocka_unit_test(order_survives_changes),
		cmocka_unit_test(idle_time_earns_no_burst),
		cmocka_unit_test(classes_do_not_wait_for_each_others_bytes),
		cmocka_unit_test(restart_forgets_the_backlog_only),
		cmocka_unit_test(bounds_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
