// SPDX-License-Identifier: GPL-2.0
/*
 * Placement against the published tables of mixed-size placement ids, against a count by brute
 * force, and over random histories.
 */
#include "vgpu_test.h"

#include "core/objects/placement.h"

/*
 * The published rows: region, size, ids. Where the source says "every n" or "all multiples" a row
 * has a step; lists are as they are printed (but for one typo there, 46 for 56 in region 64).
 */
struct row {
	u32 region;
	u32 size;
	u32 step;
	u32 ids[32];
	unsigned int nr;
};

#define IDS(...) .ids = { __VA_ARGS__ }, \
	.nr = sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32)

static const struct row rows[] = {
	{ 94, 94, 0, IDS(0) },
	{ 94, 47, 0, IDS(0, 47) },
	{ 94, 23, 0, IDS(0, 24, 47, 71) },
	{ 94, 15, 0, IDS(0, 32, 47, 79) },
	{ 94, 11, 0, IDS(0, 12, 23, 36, 47, 59, 70, 83) },
	{ 94, 6, 0, IDS(0, 17, 23, 41, 47, 64, 70, 88) },
	{ 94, 4, 0, IDS(0, 7, 11, 19, 23, 31, 35, 43, 47, 54, 58, 66, 70, 78, 82, 90) },
	{ 80, 80, 0, IDS(0) },
	{ 80, 40, 0, IDS(0, 40) },
	{ 80, 20, .step = 20 },
	{ 80, 16, 0, IDS(0, 24, 40, 64) },
	{ 80, 10, .step = 10 },
	{ 80, 8, 0, IDS(0, 12, 20, 32, 40, 52, 60, 72) },
	{ 80, 5, .step = 5 },
	{ 80, 4, 0, IDS(0, 6, 10, 16, 20, 26, 30, 36, 40, 46, 50, 56, 60, 66, 70, 76) },
	{ 64, 64, .step = 64 },
	{ 64, 32, .step = 32 },
	{ 64, 16, .step = 16 },
	{ 64, 8, .step = 8 },
	{ 64, 4, .step = 4 },
	{ 40, 40, 0, IDS(0) },
	{ 40, 20, .step = 20 },
	{ 40, 10, .step = 10 },
	{ 40, 8, 0, IDS(0, 12, 20, 32) },
	{ 40, 5, .step = 5 },
	{ 40, 4, 0, IDS(0, 6, 10, 16, 20, 26, 30, 36) },
	{ 32, 32, .step = 32 },
	{ 32, 16, .step = 16 },
	{ 32, 8, .step = 8 },
	{ 32, 4, .step = 4 },
	{ 32, 2, .step = 2 },
	{ 32, 1, .step = 1 },
	{ 24, 24, 0, IDS(0) },
	{ 24, 12, .step = 12 },
	{ 24, 8, 0, IDS(0, 16) },
	{ 24, 6, .step = 6 },
	{ 24, 4, 0, IDS(0, 8, 12, 20) },
	{ 24, 3, .step = 3 },
	{ 24, 2, 0, IDS(0, 4, 6, 10, 12, 16, 18, 22) },
	{ 24, 1, 0, IDS(0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 23) },
	{ 20, 20, 0, IDS(0) },
	{ 20, 10, .step = 10 },
	{ 20, 5, .step = 5 },
	{ 20, 4, 0, IDS(0, 6, 10, 16) },
	{ 20, 2, 0, IDS(0, 3, 5, 8, 10, 13, 15, 18) },
	{ 20, 1, 0, IDS(0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17, 19) },
	{ 16, 16, .step = 16 },
	{ 16, 8, .step = 8 },
	{ 16, 4, .step = 4 },
	{ 16, 2, .step = 2 },
	{ 16, 1, .step = 1 },
};

static void published_rows(void **state)
{
	struct vgpu_placement p;
	unsigned int i, k;

	assert_int_equal(ARRAY_SIZE(rows), 51);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		unsigned int nr = r->step ? r->region / r->step : r->nr;

		vgpu_placement_init(&p, r->region, false);
		assert_int_equal(vgpu_placement_count(&p, r->size), nr);
		for (k = 0; k < nr; k++)
			assert_int_equal(vgpu_placement_id(&p, r->size, k),
					 r->step ? k * r->step : r->ids[k]);
	}
}

static void homogeneous_places(void **state)
{
	struct vgpu_placement p;
	u32 region, size;
	unsigned int k, nr;

	for (region = 1; region <= 128; region++) {
		vgpu_placement_init(&p, region, true);
		assert_int_equal(vgpu_placement_count(&p, region + 1), 0);
		assert_int_equal(vgpu_placement_count(&p, 0), 0);
		for (size = 1; size <= region; size++) {
			nr = region / size < 32 ? region / size : 32;
			assert_int_equal(vgpu_placement_count(&p, size), nr);
			for (k = 0; k < nr; k++)
				assert_int_equal(vgpu_placement_id(&p, size, k), k * size);
		}
	}
}

/* The state of all random numbers here; main() sets it. */
static u64 rnd;

static u32 below(u32 n)
{
	return random_next(&rnd) % n;
}

static bool overlaps(const struct vgpu_placement *p, u32 start, u32 size)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		if (start < p->used[i].start_gb + p->used[i].size_gb &&
		    p->used[i].start_gb < start + size)
			return true;
	return false;
}

/* How many places are free: each is compared with all that are taken, one by one. */
static unsigned int oracle_available(const struct vgpu_placement *p, u32 size)
{
	unsigned int i, nr = 0;

	if (p->homogeneous && p->nr && p->used[0].size_gb != size)
		return 0;
	for (i = 0; i < vgpu_placement_count(p, size); i++)
		if (!overlaps(p, vgpu_placement_id(p, size, i), size))
			nr++;
	return nr < 32 - p->nr ? nr : 32 - p->nr;
}

static void check_history(bool homogeneous)
{
	struct vgpu_placement p, q;
	u32 region = 1 + below(128), size, start, first, nr, i;
	u32 channels = region + below(1024 - region + 1);
	enum vgpu_short what;
	unsigned int step, k, available;

	vgpu_placement_init(&p, region, homogeneous);
	for (step = 0; step < 60; step++) {
		size = 1 + below(below(2) ? region : 1 + region / 8);
		available = vgpu_placement_available(&p, size);
		assert_int_equal(available, oracle_available(&p, size));

		/* As many places as are said to be available can be taken, and no more. */
		q = p;
		for (k = 0; k < available; k++)
			assert_int_equal(vgpu_placement_take(&q, size, &start), VGPU_SHORT_NOTHING);
		assert_int_not_equal(vgpu_placement_take(&q, size, &start), VGPU_SHORT_NOTHING);

		if (p.nr && below(3) == 0) {
			u32 before = vgpu_placement_free_gb(&p);
			u32 gone = below(p.nr);

			size = p.used[gone].size_gb;
			vgpu_placement_put(&p, p.used[gone].start_gb);
			assert_int_equal(vgpu_placement_free_gb(&p), before + size);
			continue;
		}
		q = p;
		what = vgpu_placement_take(&p, size, &start);
		if (what != VGPU_SHORT_NOTHING) {
			assert_int_equal(available, 0);
			assert_memory_equal(&p, &q, sizeof(p));
			if (what == VGPU_SHORT_FRAMEBUFFER)
				assert_true(vgpu_placement_free_gb(&p) < size);
			if (what == VGPU_SHORT_PLACEMENT)
				assert_true(vgpu_placement_free_gb(&p) >= size);
			continue;
		}
		assert_true(start + size <= region);
		assert_false(overlaps(&q, start, size));
		vgpu_placement_channels(&p, channels, start, size, &first, &nr);
		assert_true(nr >= 1);
		assert_true(first + nr <= channels);
		/* Channels of different places are disjoint. */
		for (i = 0; i < q.nr; i++) {
			u32 f, n;

			vgpu_placement_channels(&p, channels,
						q.used[i].start_gb,
						q.used[i].size_gb, &f, &n);
			assert_true(first + nr <= f || f + n <= first);
		}
	}
}

static void random_histories(void **state)
{
	unsigned int i;

	for (i = 0; i < 2000; i++)
		check_history(i & 1);
}

static void short_pools(void **state)
{
	struct vgpu_placement p;
	u32 start;

	vgpu_placement_init(&p, 16, true);
	assert_int_equal(vgpu_placement_take(&p, 4, &start), VGPU_SHORT_NOTHING);
	assert_int_equal(vgpu_placement_take(&p, 2, &start), VGPU_SHORT_SIZE);
	vgpu_placement_put(&p, 0);
	assert_int_equal(vgpu_placement_take(&p, 2, &start), VGPU_SHORT_NOTHING);

	vgpu_placement_init(&p, 16, false);
	assert_int_equal(vgpu_placement_take(&p, 8, &start), VGPU_SHORT_NOTHING);
	assert_int_equal(vgpu_placement_take(&p, 16, &start), VGPU_SHORT_FRAMEBUFFER);

	/* Of 24 GB 18 are free, but in each of the two places of 12 GB lies a vGPU of 3. */
	vgpu_placement_init(&p, 24, false);
	p.nr = 2;
	p.used[0].start_gb = 0;
	p.used[0].size_gb = 3;
	p.used[1].start_gb = 12;
	p.used[1].size_gb = 3;
	assert_int_equal(vgpu_placement_take(&p, 12, &start), VGPU_SHORT_PLACEMENT);

	vgpu_placement_init(&p, 64, true);
	for (start = 0; start < 32; start++) {
		u32 at;

		assert_int_equal(vgpu_placement_take(&p, 1, &at), VGPU_SHORT_NOTHING);
	}
	assert_int_equal(vgpu_placement_take(&p, 1, &start), VGPU_SHORT_INSTANCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_rows),
		cmocka_unit_test(homogeneous_places),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(short_pools),
	};

	rnd = test_seed();
	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
