// SPDX-License-Identifier: GPL-2.0-or-later
/* Unfinished flushes: one for each owner, and as many owners as there is room for. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "flight.h"

static struct cgwb_flights *make_flights(void)
{
	static wait_queue_head_t waitq;
	struct cgwb_flights *flights = calloc(1, sizeof(*flights));

	assert_non_null(flights);
	cgwb_flights_init(flights, &waitq);
	for (int i = 0; i < CGWB_FLIGHTS; i++)
		assert_ptr_equal(flights->flights[i].done.waitq, &waitq);
	return flights;
}

/* What the kernel does with a completion when it queues the work, and when the work has ended. */
static void queue(struct cgwb_flight *flight)
{
	atomic_inc(&flight->done.cnt);
}

static void finish(struct cgwb_flight *flight)
{
	atomic_dec(&flight->done.cnt);
	/* At 0 it would wake somebody up. */
	assert_true(atomic_read(&flight->done.cnt) >= 1);
}

static void test_one_for_each_owner(void **state)
{
	struct cgwb_flights *flights = make_flights();
	struct cgwb_flight *first, *second, *again;

	assert_int_equal(cgwb_flight_claim(flights, 7, 1, &first), 0);
	/* not even between the claim and the queueing */
	assert_int_equal(cgwb_flight_claim(flights, 7, 1, &again), -EBUSY);
	queue(first);
	cgwb_flight_release(first);
	assert_int_equal(cgwb_flight_claim(flights, 7, 1, &again), -EBUSY);
	assert_int_equal(cgwb_flights_unfinished(flights), 1);

	/* another owner, and the same owner on another bdi */
	assert_int_equal(cgwb_flight_claim(flights, 7, 2, &second), 0);
	queue(second);
	cgwb_flight_release(second);
	assert_int_equal(cgwb_flight_claim(flights, 8, 1, &again), 0);
	/* it could not be queued */
	cgwb_flight_release(again);
	assert_int_equal(cgwb_flights_unfinished(flights), 2);

	finish(first);
	assert_int_equal(cgwb_flight_claim(flights, 7, 1, &again), 0);
	queue(again);
	/* it ends before its claim is released: it is unfinished for so long */
	finish(again);
	assert_int_equal(cgwb_flight_claim(flights, 7, 1, &first), -EBUSY);
	cgwb_flight_release(again);
	finish(second);
	assert_int_equal(cgwb_flights_unfinished(flights), 0);
	free(flights);
}

static void test_full(void **state)
{
	struct cgwb_flight *flown[CGWB_FLIGHTS], *more;
	struct cgwb_flights *flights = make_flights();

	for (int i = 0; i < CGWB_FLIGHTS; i++) {
		assert_int_equal(cgwb_flight_claim(flights, 7, i, &flown[i]), 0);
		queue(flown[i]);
		cgwb_flight_release(flown[i]);
	}
	assert_int_equal(cgwb_flights_unfinished(flights), CGWB_FLIGHTS);
	assert_int_equal(cgwb_flight_claim(flights, 7, CGWB_FLIGHTS, &more), -ENOSPC);
	assert_int_equal(cgwb_flight_claim(flights, 7, 0, &more), -EBUSY);
	finish(flown[3]);
	assert_int_equal(cgwb_flight_claim(flights, 7, CGWB_FLIGHTS, &more), 0);
	assert_ptr_equal(more, flown[3]);
	free(flights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_for_each_owner),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
