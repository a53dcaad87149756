// SPDX-License-Identifier: GPL-2.0-or-later
/* The sweep's arithmetic: who asked is passed, once, by slices that began after. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sweep.h"

#define EXPIRE 7500
#define END CGWB_LAST_PAGE

static const struct cgwb_clock clock = { .now = 100000, .expire = EXPIRE, .refresh = 250 };

/* A script: what is done, with which pages, and what must follow. */
enum action {
	ASK, /* for the whole mapping */
	ASK_FOR,
	GIVE_UP,
	BEGIN,
	REST,
	MISSED,
	LATER,
	PASSED,
	SATISFIED
};

struct step {
	enum action action;
	pgoff_t first, last;
};

static void play(const struct step *steps, size_t n)
{
	struct cgwb_clock now = clock;
	struct cgwb_sweep sweep;
	pgoff_t first, last;

	cgwb_sweep_init(&sweep);
	for (size_t i = 0; i < n; i++) {
		const struct step *step = &steps[i];

		switch (step->action) {
		case ASK:
			cgwb_sweep_ask(&sweep, 0, END, now.now);
			assert_true(cgwb_sweep_is_owed(&sweep, &now));
			break;
		case ASK_FOR:
			cgwb_sweep_ask(&sweep, step->first, step->last, now.now);
			assert_true(cgwb_sweep_is_owed(&sweep, &now));
			break;
		case GIVE_UP:
			cgwb_sweep_give_up(&sweep);
			break;
		case BEGIN:
			assert_true(cgwb_sweep_is_owed(&sweep, &now));
			assert_true(cgwb_sweep_begin(&sweep, &now, &first, &last));
			assert_int_equal(first, step->first);
			assert_int_equal(last, step->last);
			break;
		case REST:
			assert_false(cgwb_sweep_is_owed(&sweep, &now));
			assert_false(cgwb_sweep_begin(&sweep, &now, &first, &last));
			break;
		case MISSED:
			cgwb_sweep_missed(&sweep, step->first, step->last);
			break;
		case LATER:
			now.now += EXPIRE;
			break;
		case PASSED:
			assert_false(cgwb_sweep_end(&sweep, step->last));
			break;
		case SATISFIED:
			assert_true(cgwb_sweep_end(&sweep, step->last));
			break;
		}
	}
}

#define PLAY(...)                                                                                  \
	do {                                                                                       \
		static const struct step steps[] = { __VA_ARGS__ };                                \
		play(steps, sizeof(steps) / sizeof(steps[0]));                                     \
	} while (0)

static void test_scripts(void **state)
{
	/* nobody asked */
	PLAY({ REST });
	/* a small mapping is one slice; then it rests */
	PLAY({ ASK }, { BEGIN, 0, END }, { SATISFIED, 0, END }, { REST });
	/* two asks before it begins are one sweep */
	PLAY({ ASK }, { ASK }, { BEGIN, 0, END }, { SATISFIED, 0, END }, { REST });
	/* several slices, each where the last ended */
	PLAY({ ASK }, { BEGIN, 0, END }, { PASSED, 0, 99 }, { BEGIN, 100, END }, { PASSED, 0, 499 },
	     { BEGIN, 500, END }, { SATISFIED, 0, END }, { REST });
	/* an ask during a slice is taken at the next, and goes once around from there */
	PLAY({ ASK }, { BEGIN, 0, END }, { ASK }, { PASSED, 0, 99 }, { BEGIN, 100, END },
	     { PASSED, 0, END }, { BEGIN, 0, 99 }, { SATISFIED, 0, 99 }, { REST });
	/* an ask during the last slice begins a sweep of its own */
	PLAY({ ASK }, { BEGIN, 0, END }, { ASK }, { SATISFIED, 0, END }, { BEGIN, 0, END },
	     { SATISFIED, 0, END }, { REST });
	/* an ask while it goes around for another moves the end again */
	PLAY({ ASK }, { BEGIN, 0, END }, { ASK }, { PASSED, 0, 99 }, { BEGIN, 100, END },
	     { PASSED, 0, END }, { ASK }, { BEGIN, 0, END }, { PASSED, 0, 49 }, { BEGIN, 50, END },
	     { SATISFIED, 0, END }, { REST });
	/* the wrapped part may take several slices, too */
	PLAY({ ASK }, { BEGIN, 0, END }, { PASSED, 0, 99 }, { ASK }, { BEGIN, 100, END },
	     { PASSED, 0, END }, { BEGIN, 0, 99 }, { PASSED, 0, 49 }, { BEGIN, 50, 99 },
	     { SATISFIED, 0, 99 }, { REST });
	/* asks long after: each sweep is on its own, from the start */
	PLAY({ ASK }, { BEGIN, 0, END }, { SATISFIED, 0, END }, { LATER }, { REST }, { ASK },
	     { BEGIN, 0, END }, { SATISFIED, 0, END }, { REST });
	/* a sweep that takes longer than records live goes on to its end */
	PLAY({ ASK }, { BEGIN, 0, END }, { PASSED, 0, 99 }, { LATER }, { BEGIN, 100, END },
	     { SATISFIED, 0, END }, { REST });
}

static void test_missed(void **state)
{
	/* what was missed is passed once more: the stretch of it, no more */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { PASSED, 0, 99 }, { BEGIN, 100, END },
	     { MISSED, 300, 300 }, { SATISFIED, 0, END }, { BEGIN, 10, 300 }, { SATISFIED, 0, 300 },
	     { REST });
	/* as often as it is missed */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { SATISFIED, 0, END },
	     { BEGIN, 10, 20 }, { MISSED, 15, 15 }, { SATISFIED, 0, 20 }, { BEGIN, 15, 15 },
	     { SATISFIED, 0, 15 }, { REST });
	/* the stretch may take several slices */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { SATISFIED, 0, END },
	     { BEGIN, 10, 20 }, { PASSED, 0, 12 }, { BEGIN, 13, 20 }, { SATISFIED, 0, 20 },
	     { REST });
	/* but not longer than the ask lives */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { SATISFIED, 0, END }, { LATER },
	     { REST });
	/* a new ask passes everything anyway */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { SATISFIED, 0, END }, { ASK },
	     { BEGIN, 0, END }, { SATISFIED, 0, END }, { REST });
	/* an ask while the stretch is passed goes once around */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, 10, 20 }, { SATISFIED, 0, END },
	     { BEGIN, 10, 20 }, { ASK }, { PASSED, 0, 12 }, { BEGIN, 13, END }, { PASSED, 0, END },
	     { BEGIN, 0, 12 }, { SATISFIED, 0, 12 }, { REST });
	/* the very last page */
	PLAY({ ASK }, { BEGIN, 0, END }, { MISSED, END, END }, { SATISFIED, 0, END },
	     { BEGIN, END, END }, { SATISFIED, 0, END }, { REST });
}

static void test_stretches(void **state)
{
	/* a stretch is swept, and nothing else */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { SATISFIED, 0, 199 }, { REST });
	/* in several slices */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { PASSED, 0, 149 }, { BEGIN, 150, 199 },
	     { SATISFIED, 0, 199 }, { REST });
	/* asks that wait together are one stretch */
	PLAY({ ASK_FOR, 100, 199 }, { ASK_FOR, 150, 299 }, { BEGIN, 100, 299 },
	     { SATISFIED, 0, 299 }, { REST });
	/* one that comes meanwhile makes it longer, at both ends, and goes once around from there */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { PASSED, 0, 149 }, { ASK_FOR, 50, 299 },
	     { BEGIN, 150, 299 }, { PASSED, 0, 299 }, { BEGIN, 50, 149 }, { SATISFIED, 0, 149 },
	     { REST });
	/* the next sweep has its own stretch */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { SATISFIED, 0, 199 }, { ASK_FOR, 10, 19 },
	     { BEGIN, 10, 19 }, { SATISFIED, 0, 19 }, { REST });
	/* the last page of a stretch was missed */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { MISSED, 199, 199 },
	     { SATISFIED, 0, 199 }, { BEGIN, 199, 199 }, { SATISFIED, 0, 199 }, { REST });
	/* a slice that could not be written is begun again */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { BEGIN, 100, 199 }, { SATISFIED, 0, 199 },
	     { REST });
	/* given up: but not what was asked meanwhile */
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { GIVE_UP }, { REST });
	PLAY({ ASK_FOR, 100, 199 }, { BEGIN, 100, 199 }, { ASK_FOR, 0, 9 }, { GIVE_UP },
	     { BEGIN, 0, 9 }, { SATISFIED, 0, 9 }, { REST });
}

static void test_slice_pages(void **state)
{
	static const struct {
		unsigned long bandwidth_pages, want;
		unsigned int slice_ms;
	} rows[] = {
		{ 0, 256, 200 }, /* 1 MiB */
		{ 1280, 256, 200 }, /* 5 MiB/s are 1 MiB in 200 ms */
		{ 51000, 10200, 200 },	   { 51000, 510, 10 },
		{ 81920, 16200, 200 }, /* whole thousands of pages only */
		{ 1000000, 16384, 200 }, /* 64 MiB */
		{ ULONG_MAX, 16384, 200 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cgwb_slice_pages(rows[i].bandwidth_pages, rows[i].slice_ms),
				 rows[i].want);
}

/*
 * The need, at random: pages are dirtied, memcgs ask, slices run in between. When the sweep rests, every page that was
 * dirty at an ask has been passed by a slice that began after it.
 */
#define PAGES 64

static void test_need(void **state)
{
	u64 dirtied[PAGES] = { 0 }, owed[PAGES] = { 0 }, random = 1, now = 1;
	bool is_in_slice = false;
	struct cgwb_sweep sweep;
	pgoff_t first = 0, last = 0, first_asked, last_asked;
	u64 began = 0;
	int rests = 0;

	cgwb_sweep_init(&sweep);
	for (int step = 0; step < 300000; step++) {
		struct cgwb_clock clock_now = { .now = ++now, .expire = EXPIRE, .refresh = 250 };

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int page = (random >> 33) % PAGES;

		switch ((random >> 55) % 8) {
		case 0:
			dirtied[page] = now;
			break;
		case 1:
			if (random >> 40 & 3)
				break;
			first_asked = page;
			last_asked = page + (random >> 20) % (PAGES - page);
			cgwb_sweep_ask(&sweep, first_asked, last_asked, now);
			for (pgoff_t i = first_asked; i <= last_asked; i++)
				if (dirtied[i])
					owed[i] = now; /* a pass is owed that begins after now */
			break;
		default:
			if (!is_in_slice) {
				is_in_slice = cgwb_sweep_begin(&sweep, &clock_now, &first, &last);
				began = now;
				if (is_in_slice)
					break;
				rests++;
				for (int i = 0; i < PAGES; i++)
					assert_int_equal(owed[i], 0);
				break;
			}
			/* up to the page of the draw, or to the end if there is none behind it */
			if (page > first && page < last)
				last = page;
			assert_true(first <= last);
			for (pgoff_t i = first; i <= last && i < PAGES; i++) {
				if (dirtied[i] < began)
					dirtied[i] = 0;
				if (owed[i] < began)
					owed[i] = 0;
			}
			cgwb_sweep_end(&sweep, last);
			is_in_slice = false;
		}
	}
	assert_true(rests > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),	  cmocka_unit_test(test_missed),
		cmocka_unit_test(test_stretches), cmocka_unit_test(test_slice_pages),
		cmocka_unit_test(test_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
