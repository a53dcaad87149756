// SPDX-License-Identifier: GPL-2.0-or-later
/* Extents: sorted, joined, and how much of a range is in them. */
#include "unit.h"

#include "extent.h"

static void test_sort(void **unused)
{
	struct extent items[] = { { 80, 96 },  { 0, 8 },   { 8, 16 },
				  { 90, 100 }, { 40, 48 }, { 41, 42 } };
	const struct extent want[] = { { 0, 16 }, { 40, 48 }, { 80, 100 } };
	struct extents extents = { items, ARRAY_SIZE(items) };
	struct extents none = { NULL, 0 };

	extents_sort(&extents);
	assert_int_equal(extents.n, ARRAY_SIZE(want));
	assert_memory_equal(items, want, sizeof(want));
	assert_int_equal(extents_sectors(&extents), 16 + 8 + 20);
	extents_sort(&none);
	assert_int_equal(none.n, 0);
}

static void test_overlap(void **unused)
{
	struct extent items[] = { { 8, 16 }, { 32, 40 }, { 48, 56 } };
	const struct extents extents = { items, ARRAY_SIZE(items) };
	const struct extents none = { NULL, 0 };
	static const struct {
		uint64_t first, n, want;
	} cases[] = {
		{ 0, 8, 0 },  { 0, 9, 1 },    { 8, 8, 8 },    { 15, 1, 1 },  { 16, 16, 0 },
		{ 10, 4, 4 }, { 0, 100, 24 }, { 12, 24, 8 },  { 36, 16, 8 }, { 56, 8, 0 },
		{ 55, 9, 1 }, { 33, 0, 0 },   { 1000, 8, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(extents_overlap(&extents, cases[i].first, cases[i].n),
				 cases[i].want);
		assert_int_equal(extents_overlap(&none, cases[i].first, cases[i].n), 0);
	}
}

/* Against the plain way, sector by sector. */
static void test_overlap_exhaustive(void **unused)
{
	struct extent items[] = { { 1, 2 }, { 3, 7 }, { 9, 10 }, { 14, 20 } };
	const struct extents extents = { items, ARRAY_SIZE(items) };
	uint64_t first, n, sector, want;
	size_t i;

	for (first = 0; first < 24; first++) {
		for (n = 0; n < 24; n++) {
			want = 0;
			for (sector = first; sector < first + n; sector++) {
				for (i = 0; i < extents.n; i++)
					want += sector >= items[i].first && sector < items[i].end;
			}
			assert_int_equal(extents_overlap(&extents, first, n), want);
		}
	}
}

static void test_equal(void **unused)
{
	struct extent a[] = { { 1, 2 }, { 3, 7 } }, b[] = { { 1, 2 }, { 3, 8 } };

	assert_true(extents_equal(&(struct extents){ a, 2 }, &(struct extents){ a, 2 }));
	assert_false(extents_equal(&(struct extents){ a, 2 }, &(struct extents){ b, 2 }));
	assert_false(extents_equal(&(struct extents){ a, 2 }, &(struct extents){ a, 1 }));
	assert_true(extents_equal(&(struct extents){ NULL, 0 }, &(struct extents){ NULL, 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_exhaustive),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests_name("extent", tests, NULL, NULL);
}
