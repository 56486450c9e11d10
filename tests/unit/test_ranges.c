// SPDX-License-Identifier: GPL-2.0
/* What vgpuctl shows of a GPU's framebuffer: used and free ranges, and the picture. */
#include "vgpu_test.h"

#include "vgpuctl/ranges.h"

#define REGION	48
#define OWNERS	8

static void test_nothing(void **state)
{
	struct range one[1];

	assert_int_equal(ranges_fill(one, 0, REGION), 1);
	assert_int_equal(one[0].start_gb, 0);
	assert_int_equal(one[0].size_gb, REGION);
	assert_int_equal(one[0].owner, RANGE_FREE);
}

static void test_all(void **state)
{
	struct range ranges[5] = { { 16, 32, 0 }, { 0, 16, 1 } };

	assert_int_equal(ranges_fill(ranges, 2, REGION), 2);
	assert_int_equal(ranges[0].owner, 1);
	assert_int_equal(ranges[1].owner, 0);
}

/* Owners of random parts, in random order: each GiB is in one range, and that has its owner. */
static void test_random(void **state)
{
	u64 rnd = test_seed();
	unsigned int round;

	for (round = 0; round < 20000; round++) {
		struct range ranges[2 * OWNERS + 1];
		int owner[REGION], seen = RANGE_FREE;
		u32 gb, at = 0, size;
		size_t nr = 0, all, i;
		char line[REGION + 1];

		for (gb = 0; gb < REGION; gb++)
			owner[gb] = RANGE_FREE;
		while (nr < OWNERS) {
			at += random_range(&rnd, 0, 6);
			size = random_range(&rnd, 1, 6);
			if (at + size > REGION)
				break;
			for (gb = at; gb < at + size; gb++)
				owner[gb] = (int)nr;
			ranges[nr] = (struct range){ at, size, (int)nr };
			at += size;
			nr++;
		}
		if (nr > 1) {
			i = random_range(&rnd, 0, nr - 1);
			ranges[2 * OWNERS] = ranges[i];
			ranges[i] = ranges[0];
			ranges[0] = ranges[2 * OWNERS];
		}
		all = ranges_fill(ranges, nr, REGION);
		assert_true(all <= 2 * nr + 1);
		ranges_draw(ranges, all, REGION, line, REGION);
		for (i = 0, gb = 0; i < all; i++) {
			assert_int_equal(ranges[i].start_gb, gb);
			assert_true(ranges[i].size_gb);
			assert_false(i && ranges[i].owner == RANGE_FREE && seen == RANGE_FREE);
			seen = ranges[i].owner;
			for (; gb < ranges[i].start_gb + ranges[i].size_gb; gb++) {
				assert_int_equal(owner[gb], seen);
				assert_int_equal(line[gb], ranges_mark(seen));
			}
		}
		assert_int_equal(gb, REGION);
	}
}

static void test_draw(void **state)
{
	struct range ranges[5] = { { 4, 4, 0 }, { 12, 2, 1 } };
	size_t nr = ranges_fill(ranges, 2, 16);
	char line[64];

	ranges_draw(ranges, nr, 16, line, 16);
	assert_string_equal(line, "....AAAA....BB..");
	ranges_draw(ranges, nr, 16, line, 32);
	assert_string_equal(line, "........AAAAAAAA........BBBB....");
	ranges_draw(ranges, nr, 16, line, 4);
	assert_string_equal(line, ".A..");
	ranges_draw(ranges, nr, 16, line, 0);
	assert_string_equal(line, "");
	assert_int_equal(ranges_mark(25), 'Z');
	assert_int_equal(ranges_mark(26), 'a');
	assert_int_equal(ranges_mark(52), '#');
}

/* Each border of a partition cuts what is free, and nothing that has an owner. */
static void test_cut(void **state)
{
	struct range ranges[9] = { { 4, 4, 0 } };
	size_t nr = ranges_fill(ranges, 1, 16);
	u32 at, gb = 0;

	assert_int_equal(nr, 3);
	nr = ranges_cut(ranges, nr, 10);
	nr = ranges_cut(ranges, nr, 2);
	assert_int_equal(nr, 5);
	/* At a border that is there, and where the owner is. */
	for (at = 4; at <= 8; at++)
		assert_int_equal(ranges_cut(ranges, nr, at), nr);
	assert_int_equal(ranges_cut(ranges, nr, 10), nr);
	assert_int_equal(ranges_cut(ranges, nr, 16), nr);
	for (at = 0; at < nr; at++) {
		assert_int_equal(ranges[at].start_gb, gb);
		gb += ranges[at].size_gb;
	}
	assert_int_equal(gb, 16);
	assert_int_equal(ranges[2].owner, 0);
	assert_int_equal(ranges[1].start_gb, 2);
	assert_int_equal(ranges[4].start_gb, 10);
}

static void test_bracket(void **state)
{
	char line[64];

	sprintf(line, "%16s", "");
	ranges_bracket(4, 8, 16, "3:3g", line, 16);
	assert_string_equal(line, "    [3:3g--]    ");
	ranges_bracket(12, 4, 16, "12:2g", line, 16);
	assert_string_equal(line, "    [3:3g--][12]");
	ranges_bracket(0, 1, 16, "4:1g", line, 16);
	assert_string_equal(line, "    [3:3g--][12]");
	ranges_bracket(0, 2, 16, "4:1g", line, 16);
	assert_string_equal(line, "[]  [3:3g--][12]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bracket),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
