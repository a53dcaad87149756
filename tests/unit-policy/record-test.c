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

static struct cgwb_place whole(u64 id)
{
	return (struct cgwb_place){
		.id = id, .bdi_id = id + 1000, .owner_id = id + 2000, .last = CGWB_LAST_PAGE
	};
}

static int note(struct cgwb_table *table, u64 serial, u64 id, u64 now)
{
	struct cgwb_place place = whole(id);
	struct cgwb_clock clock = at(now);

	return cgwb_record_note(table, serial, &place, 1, &clock);
}

static unsigned int take_above(struct cgwb_table *table, u64 serial, unsigned long min_pages,
			       u64 now, struct cgwb_record *taken, unsigned int *ret_held)
{
	struct cgwb_clock clock = at(now);

	return cgwb_record_take(table, serial, min_pages, &clock, taken, ret_held);
}

static unsigned int take(struct cgwb_table *table, u64 serial, u64 now, struct cgwb_record *taken)
{
	unsigned int held, n = take_above(table, serial, 0, now, taken, &held);

	assert_int_equal(held, 0);
	return n;
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

#define KNOWN CGWB_NOTE_KNOWN
#define REFRESHED CGWB_NOTE_REFRESHED
#define RECORDED CGWB_NOTE_RECORDED

/* One record through its life: each step is a time and what a dirtying then is. */
static void test_life(void **state)
{
	struct cgwb_table table = make_table(4096);
	struct cgwb_record taken[CGWB_RECORDS];
	u64 now = 1000000;

	assert_int_equal(note(&table, 5, 80, now), RECORDED);
	assert_int_equal(note(&table, 5, 80, now), KNOWN);
	assert_int_equal(note(&table, 5, 80, now + REFRESH), KNOWN);
	assert_int_equal(note(&table, 6, 80, now), RECORDED); /* another memcg's */
	assert_int_equal(note(&table, 5, 81, now - EXPIRE), RECORDED); /* another device */

	now += REFRESH + 1;
	assert_int_equal(note(&table, 5, 80, now), REFRESHED);
	assert_int_equal(note(&table, 5, 80, now), KNOWN);

	assert_int_equal(take(&table, 7, now, taken), 0);
	assert_int_equal(take(&table, 5, now + EXPIRE - 1, taken), 1);
	assert_int_equal(taken[0].place.id, 80);
	assert_int_equal(taken[0].place.bdi_id, 1080);
	assert_int_equal(taken[0].place.owner_id, 2080);
	assert_int_equal(taken[0].at, now);

	/* taken: not taken again, and not known, so that the next dirtying arms it */
	assert_int_equal(take(&table, 5, now, taken), 0);
	assert_int_equal(note(&table, 5, 80, now), REFRESHED);
	assert_int_equal(take(&table, 5, now + EXPIRE, taken), 0); /* dead of age */
	free(table.buckets);
}

/* A stretch grows while it is armed; what is armed again begins anew. */
static void test_stretch(void **state)
{
	static const struct {
		bool is_taken_before;
		u64 now;
		pgoff_t first, last;
		enum cgwb_note want;
		pgoff_t want_first, want_last;
	} rows[] = {
		{ false, 1000, 100, 199, RECORDED, 100, 199 },
		{ false, 1001, 100, 199, KNOWN, 100, 199 },
		{ false, 1001, 150, 150, KNOWN, 100, 199 },
		{ false, 1001, 150, 200, REFRESHED, 100, 200 },
		{ false, 1001, 50, 60, REFRESHED, 50, 200 }, /* and all between */
		{ true, 1002, 300, 310, REFRESHED, 300, 310 },
		{ false, 1002, 100, 100, REFRESHED, 100, 310 },
		{ false, 1002 + EXPIRE, 500, 500, REFRESHED, 500, 500 }, /* it was dead */
	};
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_RECORDS];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_place place = { .id = 0xffff888000001000, .ino = 12, .generation = 3 };
		struct cgwb_clock clock = at(rows[i].now);
		struct cgwb_place *record = &table.buckets[0].rows[0].records[0].place;

		if (rows[i].is_taken_before)
			assert_int_equal(take(&table, 5, rows[i].now, taken), 1);
		place.first = rows[i].first;
		place.last = rows[i].last;
		assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), rows[i].want);
		assert_int_equal(record->first, rows[i].want_first);
		assert_int_equal(record->last, rows[i].want_last);
	}
	free(table.buckets);
}

/* Another inode at the same address begins anew; the same one with another owner goes on. */
static void test_identity(void **state)
{
	struct cgwb_place place = { .id = 0xffff888000001000,
				    .ino = 12,
				    .generation = 3,
				    .owner_id = 1,
				    .first = 100,
				    .last = 199 };
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_RECORDS];
	struct cgwb_clock clock = at(1000);

	assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), RECORDED);
	place.owner_id = 2;
	place.first = place.last = 300;
	assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), REFRESHED);
	assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), KNOWN);
	place.generation = 4;
	assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), RECORDED);
	assert_int_equal(take(&table, 5, 1000, taken), 1);
	assert_int_equal(taken[0].place.owner_id, 2);
	assert_int_equal(taken[0].place.generation, 4);
	assert_int_equal(taken[0].place.first, 300);
	place.ino = 13;
	assert_int_equal(cgwb_record_note(&table, 5, &place, 1, &clock), RECORDED);
	assert_int_equal(take(&table, 5, 1000, taken), 1);
	free(table.buckets);
}

static void count_on(struct cgwb_table *table)
{
	table->pages = calloc(NR_CPUS, sizeof(*table->pages));
	assert_non_null(table->pages);
	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		table->pages[cpu] = calloc(1, cgwb_table_pages_bytes(table->bits));
		assert_non_null(table->pages[cpu]);
		/* Wherever a counter stands, also just before it wraps. */
		memset(table->pages[cpu], 0xff, cgwb_table_pages_bytes(table->bits));
	}
}

static void table_done(struct cgwb_table *table)
{
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		free(table->pages[cpu]);
	free(table->pages);
	free(table->buckets);
	shim_cpu = 0;
}

/* Pages are counted on every CPU, known or not, from one take to the next; a record with too few is left armed. */
static void test_threshold(void **state)
{
	struct cgwb_table table = make_table(4096);
	struct cgwb_place place = whole(80);
	struct cgwb_record taken[CGWB_RECORDS];
	struct cgwb_clock clock = at(1000);
	unsigned int held;

	count_on(&table);
	for (shim_cpu = 0; shim_cpu < NR_CPUS; shim_cpu++)
		cgwb_record_note(&table, 5, &place, 16, &clock);
	assert_int_equal(take_above(&table, 5, 65, 1000, taken, &held), 0);
	assert_int_equal(held, 1);
	assert_int_equal(take_above(&table, 5, 64, 1000, taken, &held), 1);
	assert_int_equal(held, 0);

	shim_cpu = 2;
	cgwb_record_note(&table, 5, &place, 7, &clock);
	assert_int_equal(take_above(&table, 5, 8, 1000, taken, &held), 0);
	assert_int_equal(take_above(&table, 5, 7, 1000, taken, &held), 1);

	/* without a threshold nothing is held back */
	cgwb_record_note(&table, 5, &place, 1, &clock);
	assert_int_equal(take_above(&table, 5, 0, 1000, taken, &held), 1);
	table_done(&table);
}

/* What was dirtied longer ago than records live counts no more. */
static void test_counting_ages(void **state)
{
	static const struct {
		u64 now;
		unsigned long nr_pages, want;
	} rows[] = {
		{ 1000, 100, 100 },
		{ 1000 + EXPIRE / 2 - 1, 10, 110 },
		{ 1000 + EXPIRE / 2, 1, 111 }, /* a new period, and the one before */
		{ 1000 + EXPIRE, 2, 3 }, /* the first one is over */
		{ 1000 + 3 * EXPIRE, 5, 5 }, /* so is everything */
	};
	struct cgwb_table table = make_table(4096);
	struct cgwb_place place = whole(80);
	struct cgwb_record taken[CGWB_RECORDS];
	unsigned int held;

	count_on(&table);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgwb_clock clock = at(rows[i].now);

		cgwb_record_note(&table, 5, &place, rows[i].nr_pages, &clock);
		take_above(&table, 5, rows[i].want + 1, rows[i].now, taken, &held);
		assert_int_equal(held, 1);
	}
	assert_int_equal(take_above(&table, 5, 5, 1000 + 3 * EXPIRE, taken, &held), 1);
	table_done(&table);
}

/* A whole wb is counted and never taken. */
static void test_spend(void **state)
{
	struct cgwb_place place = { .id = cgwb_wb_id(7, 3), .bdi_id = 7, .owner_id = 3 };
	struct cgwb_place other = { .id = cgwb_wb_id(7, 4), .bdi_id = 7, .owner_id = 4 };
	struct cgwb_table table = make_table(4096);
	struct cgwb_record taken[CGWB_RECORDS];
	struct cgwb_clock clock = at(1000), later = at(1000 + EXPIRE);

	count_on(&table);
	assert_true(cgwb_record_spend(&table, 5, &place, 100, &clock)); /* nothing is known */
	cgwb_record_note(&table, 5, &place, 99, &clock);
	assert_int_equal(take(&table, 5, 1000, taken), 0);
	assert_false(cgwb_record_spend(&table, 5, &place, 100, &clock));
	assert_true(cgwb_record_spend(&table, 5, &other, 100, &clock));
	cgwb_record_note(&table, 5, &place, 1, &clock);
	assert_true(cgwb_record_spend(&table, 5, &place, 100, &clock));
	assert_false(cgwb_record_spend(&table, 5, &place, 1, &clock)); /* spent */
	assert_true(cgwb_record_spend(&table, 5, &place, 1, &later)); /* too old to say anything */
	table_done(&table);
}

/* A record that was taken but could not be asked for is there again, unless a dirtying was faster. */
static void test_restore(void **state)
{
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_RECORDS], again[CGWB_RECORDS];
	struct cgwb_clock clock = at(1000);

	note(&table, 5, 80, 900);
	assert_int_equal(take(&table, 5, 1000, taken), 1);
	cgwb_record_restore(&table, 5, &taken[0], &clock);
	assert_int_equal(take(&table, 5, 1000, again), 1);
	assert_int_equal(again[0].at, 900);

	note(&table, 5, 80, 1000);
	cgwb_record_restore(&table, 5, &taken[0], &clock);
	assert_int_equal(take(&table, 5, 1000, again), 1);
	assert_int_equal(again[0].at, 1000);

	cgwb_record_restore(&table, 6, &taken[0], &clock); /* a row that is gone */
	assert_int_equal(take(&table, 6, 1000, again), 0);

	/* with what was dirtied meanwhile, and what had been */
	struct cgwb_place place = { .id = 90, .first = 10, .last = 19 };

	cgwb_record_note(&table, 5, &place, 1, &clock);
	assert_int_equal(take(&table, 5, 1000, taken), 1);
	place.first = place.last = 30;
	cgwb_record_note(&table, 5, &place, 1, &clock);
	cgwb_record_restore(&table, 5, &taken[0], &clock);
	assert_int_equal(take(&table, 5, 1000, again), 1);
	assert_int_equal(again[0].place.first, 10);
	assert_int_equal(again[0].place.last, 30);
	free(table.buckets);
}

/* A memcg has room for CGWB_RECORDS live places; dead and disarmed ones make room. */
static void test_full_row(void **state)
{
	struct cgwb_table table = make_table(16);
	struct cgwb_record taken[CGWB_RECORDS];

	for (u64 id = 1; id <= CGWB_RECORDS; id++)
		assert_int_equal(note(&table, 5, id, 1000 + id), RECORDED);
	assert_int_equal(note(&table, 5, 99, 1100), -ENOSPC);
	for (u64 id = 1; id <= CGWB_RECORDS; id++)
		assert_int_equal(note(&table, 5, id, 1100), KNOWN);

	/* the first has died */
	assert_int_equal(note(&table, 5, 99, 1001 + EXPIRE), RECORDED);
	assert_int_equal(note(&table, 5, 98, 1001 + EXPIRE), -ENOSPC);

	/* all are disarmed */
	assert_int_equal(take(&table, 5, 1001 + EXPIRE, taken), CGWB_RECORDS);
	for (u64 id = 101; id <= 100 + CGWB_RECORDS; id++)
		assert_int_equal(note(&table, 5, id, 1001 + EXPIRE), RECORDED);
	free(table.buckets);
}

/* A full bucket gives nothing away; when one memcg's records die its row is another's, and nothing is inherited. */
static void test_full_bucket(void **state)
{
	struct cgwb_table table = make_table(CGWB_ROWS);
	struct cgwb_record taken[CGWB_RECORDS];

	for (u64 serial = 1; serial <= CGWB_ROWS; serial++) {
		assert_int_equal(note(&table, serial, 80, 1000 + serial), RECORDED);
		assert_int_equal(note(&table, serial, 81, 1000), RECORDED);
	}
	assert_int_equal(note(&table, 99, 80, 1100), -ENOSPC);

	assert_int_equal(note(&table, 99, 82, 1001 + EXPIRE), RECORDED);
	assert_int_equal(take(&table, 1, 1001 + EXPIRE, taken), 0);
	assert_int_equal(take(&table, 99, 1001 + EXPIRE, taken), 1);
	assert_int_equal(taken[0].place.id, 82);
	for (u64 serial = 2; serial <= CGWB_ROWS; serial++)
		assert_int_equal(take(&table, serial, 1001 + EXPIRE, taken), 1);
	free(table.buckets);
}

/* When the interval is made longer, what was dead is live again, but not what was given away meanwhile. */
static void test_longer_expire(void **state)
{
	struct cgwb_table table = make_table(CGWB_ROWS);
	struct cgwb_clock clock = { .now = 1001 + EXPIRE, .expire = 10 * EXPIRE };
	struct cgwb_record taken[CGWB_RECORDS];
	unsigned int held;

	for (u64 serial = 1; serial <= CGWB_ROWS; serial++) {
		note(&table, serial, 80, 1000);
		note(&table, serial, 81, 1000);
	}
	note(&table, 99, 82, 1001 + EXPIRE);
	assert_int_equal(cgwb_record_take(&table, 99, 0, &clock, taken, &held), 1);
	assert_int_equal(taken[0].place.id, 82);
	assert_int_equal(cgwb_record_take(&table, 2, 0, &clock, taken, &held), 2);
	free(table.buckets);
}

/* The stated capacity: to half of it no memcg is turned away, whatever the step of their serial numbers. */
static void test_capacity(void **state)
{
	static const u64 steps[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 64 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct cgwb_table table = make_table(4096);

		for (u64 n = 1; n <= 2048; n++)
			assert_int_equal(note(&table, n * steps[i], 80, 1000), RECORDED);
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
	struct cgwb_record taken[CGWB_RECORDS];
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
			if (*stamp && *stamp >= now - REFRESH) {
				assert_int_equal(note(&table, m + 1, d + 1, now), KNOWN);
				break;
			}
			assert_in_range(note(&table, m + 1, d + 1, now), REFRESHED, RECORDED);
			*stamp = now;
		}
	}
	free(table.buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_size),    cmocka_unit_test(test_life),
		cmocka_unit_test(test_stretch),	      cmocka_unit_test(test_identity),
		cmocka_unit_test(test_threshold),     cmocka_unit_test(test_counting_ages),
		cmocka_unit_test(test_spend),	      cmocka_unit_test(test_restore),
		cmocka_unit_test(test_full_row),      cmocka_unit_test(test_full_bucket),
		cmocka_unit_test(test_longer_expire), cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
