// SPDX-License-Identifier: GPL-2.0-or-later
/* The record table: what is remembered, for how long, and what happens when it is full. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record.h"

#define EXPIRE 7500
#define REFRESH 250

static struct cgwb_table make_table(unsigned int memcgs)
{
	unsigned int bits = cgwb_table_bits(memcgs);
	struct cgwb_table table;
	void *memory = calloc(1, cgwb_table_bytes(bits));

	assert_non_null(memory);
	cgwb_table_init(&table, memory, bits);
	return table;
}

static struct cgwb_clock at(u64 now)
{
	return (struct cgwb_clock){ .now = now, .expire = EXPIRE, .refresh = REFRESH };
}

static bool known(struct cgwb_table *table, u64 serial, u32 dev, u64 now)
{
	struct cgwb_clock clock = at(now);

	return cgwb_record_known(table, serial, dev, &clock);
}

static int arm(struct cgwb_table *table, u64 serial, u32 dev, u64 now)
{
	const struct cgwb_record key = { .dev = dev, .bdi_id = dev + 1000, .owner_id = dev + 2000 };
	struct cgwb_clock clock = at(now);

	return cgwb_record_arm(table, serial, &key, &clock);
}

static unsigned int take(struct cgwb_table *table, u64 serial, u64 now, struct cgwb_record *taken)
{
	struct cgwb_clock clock = at(now);

	return cgwb_record_take(table, serial, &clock, taken);
}

static void test_table_size(void **state)
{
	static const struct {
		unsigned int memcgs, rows;
	} rows[] = {
		{ 1, CGWB_ROWS }, { CGWB_ROWS, CGWB_ROWS }, { CGWB_ROWS + 1, 2 * CGWB_ROWS },
		{ 4096, 4096 },	  { 4097, 8192 },	    { 65536, 65536 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(CGWB_ROWS << cgwb_table_bits(rows[i].memcgs), rows[i].rows);
}

/* One record through its life: each step is a time and what is true of it then. */
static void test_life(void **state)
{
	struct cgwb_table table = make_table(4096);
	struct cgwb_record taken[CGWB_TARGETS];
	u64 now = 1000000;

	assert_false(known(&table, 5, 80, now));
	assert_int_equal(arm(&table, 5, 80, now), 1);
	assert_true(known(&table, 5, 80, now));
	assert_true(known(&table, 5, 80, now + REFRESH));
	assert_false(known(&table, 5, 80, now + REFRESH + 1)); /* to be stamped anew */
	assert_false(known(&table, 6, 80, now)); /* another memcg's */
	assert_false(known(&table, 5, 81, now)); /* another device */

	now += REFRESH + 1;
	assert_int_equal(arm(&table, 5, 80, now), 0);
	assert_true(known(&table, 5, 80, now));

	assert_int_equal(take(&table, 6, now, taken), 0);
	assert_int_equal(take(&table, 5, now + EXPIRE - 1, taken), 1);
	assert_int_equal(taken[0].dev, 80);
	assert_int_equal(taken[0].bdi_id, 1080);
	assert_int_equal(taken[0].owner_id, 2080);
	assert_int_equal(taken[0].at, now);

	/* taken: not taken again, and not known, so that the next dirtying arms it */
	assert_int_equal(take(&table, 5, now, taken), 0);
	assert_false(known(&table, 5, 80, now));
	assert_int_equal(arm(&table, 5, 80, now), 0);
	assert_int_equal(take(&table, 5, now + EXPIRE, taken), 0); /* dead of age */
	free(table.buckets);
}

/* A record that was taken but could not be asked for is there again, unless a dirtying was faster. */
static void test_restore(void **state)
{
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_TARGETS], again[CGWB_TARGETS];
	struct cgwb_clock clock = at(1000);

	arm(&table, 5, 80, 900);
	assert_int_equal(take(&table, 5, 1000, taken), 1);
	cgwb_record_restore(&table, 5, &taken[0], &clock);
	assert_int_equal(take(&table, 5, 1000, again), 1);
	assert_int_equal(again[0].at, 900);

	arm(&table, 5, 80, 1000);
	cgwb_record_restore(&table, 5, &taken[0], &clock);
	assert_int_equal(take(&table, 5, 1000, again), 1);
	assert_int_equal(again[0].at, 1000);

	cgwb_record_restore(&table, 6, &taken[0], &clock); /* a row that is gone */
	assert_int_equal(take(&table, 6, 1000, again), 0);
	free(table.buckets);
}

/* A memcg has room for CGWB_TARGETS live devices; dead and disarmed ones make room. */
static void test_full_row(void **state)
{
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_TARGETS];

	for (u32 dev = 1; dev <= CGWB_TARGETS; dev++)
		assert_int_equal(arm(&table, 5, dev, 1000 + dev), 1);
	assert_int_equal(arm(&table, 5, 99, 1100), -ENOSPC);
	for (u32 dev = 1; dev <= CGWB_TARGETS; dev++)
		assert_true(known(&table, 5, dev, 1100));

	/* the first has died */
	assert_int_equal(arm(&table, 5, 99, 1001 + EXPIRE), 1);
	assert_false(known(&table, 5, 1, 1001));
	assert_int_equal(arm(&table, 5, 98, 1001 + EXPIRE), -ENOSPC);

	/* all are disarmed */
	assert_int_equal(take(&table, 5, 1001 + EXPIRE, taken), CGWB_TARGETS);
	for (u32 dev = 101; dev <= 100 + CGWB_TARGETS; dev++)
		assert_int_equal(arm(&table, 5, dev, 1001 + EXPIRE), 1);
	free(table.buckets);
}

/* A full bucket gives nothing away; when one memcg's records die its row is another's, and nothing is inherited. */
static void test_full_bucket(void **state)
{
	struct cgwb_table table = make_table(CGWB_ROWS);
	struct cgwb_record taken[CGWB_TARGETS];

	for (u64 serial = 1; serial <= CGWB_ROWS; serial++) {
		assert_int_equal(arm(&table, serial, 80, 1000 + serial), 1);
		assert_int_equal(arm(&table, serial, 81, 1000), 1);
	}
	assert_int_equal(arm(&table, 99, 80, 1100), -ENOSPC);
	assert_false(known(&table, 99, 80, 1100));

	assert_int_equal(arm(&table, 99, 82, 1001 + EXPIRE), 1);
	assert_false(known(&table, 1, 80, 1001));
	assert_false(known(&table, 99, 80, 1001));
	assert_int_equal(take(&table, 1, 1001 + EXPIRE, taken), 0);
	assert_int_equal(take(&table, 99, 1001 + EXPIRE, taken), 1);
	assert_int_equal(taken[0].dev, 82);
	for (u64 serial = 2; serial <= CGWB_ROWS; serial++)
		assert_int_equal(take(&table, serial, 1001 + EXPIRE, taken), 1);
	free(table.buckets);
}

/* When the interval is made longer, what was dead is live again, but not what was given away meanwhile. */
static void test_longer_expire(void **state)
{
	struct cgwb_table table = make_table(CGWB_ROWS);
	struct cgwb_clock clock = { .now = 1001 + EXPIRE, .expire = 10 * EXPIRE };
	struct cgwb_record taken[CGWB_TARGETS];

	for (u64 serial = 1; serial <= CGWB_ROWS; serial++) {
		arm(&table, serial, 80, 1000);
		arm(&table, serial, 81, 1000);
	}
	arm(&table, 99, 82, 1001 + EXPIRE);
	assert_int_equal(cgwb_record_take(&table, 99, &clock, taken), 1);
	assert_int_equal(taken[0].dev, 82);
	assert_int_equal(cgwb_record_take(&table, 2, &clock, taken), 2);
	free(table.buckets);
}

/* The stated capacity: to half of it no memcg is turned away, whatever the step of their serial numbers. */
static void test_capacity(void **state)
{
	static const u64 steps[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 64 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct cgwb_table table = make_table(4096);

		for (u64 n = 1; n <= 2048; n++)
			assert_int_equal(arm(&table, n * steps[i], 80, 1000), 1);
		free(table.buckets);
	}
}

/* Random operations against a model that has no table, only a list. */
#define MODEL_MEMCGS 12
#define MODEL_DEVS 6

static void test_model(void **state)
{
	struct cgwb_table table = make_table(CGWB_ROWS);
	u64 model[MODEL_MEMCGS][MODEL_DEVS] = { { 0 } };
	struct cgwb_record taken[CGWB_TARGETS];
	u64 now = 100000, random = 1;

	for (int step = 0; step < 200000; step++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int m = (random >> 33) % MODEL_MEMCGS, d = (random >> 45) % MODEL_DEVS;
		u64 *stamp = &model[m][d];
		unsigned int live = 0;

		now += (random >> 20) % 64;
		switch ((random >> 55) % 8) {
		case 0:
			for (unsigned int i = 0; i < MODEL_DEVS; i++) {
				live += model[m][i] && model[m][i] > now - EXPIRE;
				model[m][i] = 0;
			}
			assert_int_equal(take(&table, m + 1, now, taken), live);
			break;
		case 1:
			now += EXPIRE / 4;
			break;
		default:
			assert_int_equal(known(&table, m + 1, d + 1, now),
					 *stamp && *stamp >= now - REFRESH);
			assert_true(arm(&table, m + 1, d + 1, now) >= 0);
			*stamp = now;
		}
	}
	free(table.buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_size),  cmocka_unit_test(test_life),
		cmocka_unit_test(test_restore),	    cmocka_unit_test(test_full_row),
		cmocka_unit_test(test_full_bucket), cmocka_unit_test(test_longer_expire),
		cmocka_unit_test(test_capacity),    cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
