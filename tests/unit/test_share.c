// SPDX-License-Identifier: GPL-2.0
/* Shares: defaults, changes, admission. */
#include "vgpu_test.h"

#include "core/placement.h"
#include "core/share.h"

#define ROUNDS	20000

static char why[VGPU_TEXT_LEN];

static void test_defaults(void **state)
{
	struct vgpu_share s;

	vgpu_share_default(&s, 4, 4, 16);
	assert_int_equal(s.guarantee, 250);
	assert_int_equal(s.cap, 1000);
	assert_int_equal(s.weight, 250);
	assert_int_equal(s.first_slot, 4);
	assert_int_equal(s.nr_slots, 4);
	vgpu_share_default(&s, 0, 16, 16);
	assert_int_equal(s.guarantee, 1000);
	vgpu_share_default(&s, 15, 1, 16);
	assert_int_equal(s.guarantee, 62);
	/* A weight is never 0. */
	vgpu_share_default(&s, 1023, 1, 1024);
	assert_int_equal(s.guarantee, 0);
	assert_int_equal(s.weight, 1);
	assert_int_equal(s.cap, 1000);
}

static void test_room(void **state)
{
	assert_int_equal(vgpu_share_room(0, 4, 16, 4), 4);
	assert_int_equal(vgpu_share_room(500, 4, 16, 4), 2);
	assert_int_equal(vgpu_share_room(501, 4, 16, 4), 1);
	assert_int_equal(vgpu_share_room(750, 4, 16, 4), 1);
	assert_int_equal(vgpu_share_room(751, 4, 16, 4), 0);
	assert_int_equal(vgpu_share_room(1000, 4, 16, 4), 0);
	assert_int_equal(vgpu_share_room(0, 4, 16, 1), 1);
	/* The default guarantee is 0, so there is room for any number. */
	assert_int_equal(vgpu_share_room(1000, 1, 1024, 32), 32);
}

/*
 * On a GPU of any size, filled with random vGPUs as long as they fit, all default shares are
 * admitted; and vgpu_share_room() says how many are.
 */
static void fill_one(u64 *rnd)
{
	struct vgpu_placement p;
	u32 sum = 0, start_gb;
	struct vgpu_share s;
	unsigned int i;

	vgpu_placement_init(&p, random_one_in(rnd, 2) ? 1U << random_range(rnd, 0, 10) :
			    random_range(rnd, 1, 1024), random_one_in(rnd, 3));
	for (i = 0; i < 200; i++) {
		u32 size_gb = random_one_in(rnd, 2) ?
			      1U << random_range(rnd, 0, 10) :
			      random_range(rnd, 1, p.region_gb);
		unsigned int fits = vgpu_placement_available(&p, size_gb);

		if (size_gb > p.region_gb)
			continue;
		check_that(vgpu_share_room(sum, size_gb, p.region_gb, fits) ==
			   fits, "%u of %u, sum %u", size_gb, p.region_gb, sum);
		if (vgpu_placement_take(&p, size_gb, &start_gb) !=
		    VGPU_SHORT_NOTHING)
			continue;
		vgpu_share_default(&s, start_gb, size_gb, p.region_gb);
		check_that(!vgpu_share_admit(sum, s.guarantee, why,
					     sizeof(why)),
			   "%u of %u: %s", size_gb, p.region_gb, why);
		check_that(s.guarantee <= s.cap && s.cap <= 1000 &&
			   s.weight >= 1 && s.weight <= 1000, "%u/%u/%u",
			   s.guarantee, s.cap, s.weight);
		check_that(s.nr_slots && s.first_slot + s.nr_slots <=
			   p.region_gb, "%u + %u", s.first_slot, s.nr_slots);
		sum += s.guarantee;
	}
	check_that(sum <= 1000, "%u", sum);
}

static void test_defaults_always_fit(void **state)
{
	u64 rnd = test_seed();
	unsigned int i;

	for (i = 0; i < 500; i++)
		fill_one(&rnd);
}

static void test_admit(void **state)
{
	assert_int_equal(vgpu_share_admit(0, 1000, why, sizeof(why)), 0);
	assert_int_equal(vgpu_share_admit(1000, 0, why, sizeof(why)), 0);
	assert_int_equal(vgpu_share_admit(600, 400, why, sizeof(why)), 0);
	assert_int_equal(vgpu_share_admit(600, 700, why, sizeof(why)), -ENOSPC);
	assert_string_equal(why, "guarantee 700 per mille does not fit: 600 of 1000 are given to others, 400 are left; lower theirs by 300");
	/* The others may want too much, too, as one call can set the shares of many. */
	assert_int_equal(vgpu_share_admit(1800, 900, why, sizeof(why)),
			 -ENOSPC);
	assert_string_equal(why, "guarantee 900 per mille does not fit: 1800 of 1000 are given to others, 0 are left; lower theirs by 1700");
}

/* If the others have less by what the text says, the guarantee fits; if by 1 less, it does not. */
static void test_admit_says_by_how_much(void **state)
{
	u64 rnd = test_seed();
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		u32 others = random_range(&rnd, 0, 3000);
		u32 guarantee = random_range(&rnd, 0, 1000);
		u32 g, given, left, by;
		int ret = vgpu_share_admit(others, guarantee, why, sizeof(why));

		check_that(ret == (others + guarantee > 1000 ? -ENOSPC : 0),
			   "%u + %u: %d", others, guarantee, ret);
		if (!ret)
			continue;
		/* The numbers are taken out of the text, as its reader would do. */
		ret = sscanf(why, "guarantee %u per mille does not fit: %u of 1000 are given to others, %u are left; lower theirs by %u",
			     &g, &given, &left, &by);
		assert_int_equal(ret, 4);
		assert_int_equal(g, guarantee);
		assert_int_equal(given, others);
		assert_int_equal(left, others < 1000 ? 1000 - others : 0);
		assert_true(by <= others);
		assert_int_equal(vgpu_share_admit(others - by, guarantee, why,
						  sizeof(why)), 0);
		assert_int_equal(vgpu_share_admit(others - by + 1, guarantee,
						  why, sizeof(why)), -ENOSPC);
	}
}

static int change(struct vgpu_share *s, u32 *frl, u32 valid, u32 value)
{
	struct vgpu_ctl_share c = {
		.valid = valid,
		.guarantee = value,
		.cap = value,
		.weight = value,
		.frl = value,
	};

	memset(why, 0, sizeof(why));
	return vgpu_share_change(s, frl, &c, why, sizeof(why));
}

static void test_change(void **state)
{
	struct vgpu_share s;
	u32 frl = VGPU_FRL_DEFAULT;

	vgpu_share_default(&s, 0, 4, 16);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_GUARANTEE, 700), 0);
	assert_int_equal(s.guarantee, 700);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_GUARANTEE, 1001), -EINVAL);
	assert_string_equal(why, "guarantee 1001 per mille: must be 0..1000");
	assert_int_equal(change(&s, &frl, VGPU_SHARE_CAP, 600), -EINVAL);
	assert_string_equal(why, "guarantee 700 per mille is above the cap, 600: lower the guarantee or raise the cap by 100");
	assert_int_equal(change(&s, &frl, VGPU_SHARE_CAP, 700), 0);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_GUARANTEE, 701), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_GUARANTEE |
				VGPU_SHARE_CAP, 10), 0);
	assert_int_equal(s.guarantee, 10);
	assert_int_equal(s.cap, 10);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_CAP, 0), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_CAP, 1001), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_WEIGHT, 0), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_WEIGHT, 1001), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_WEIGHT, 1), 0);
	assert_int_equal(s.weight, 1);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_FRL, 1001), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_FRL, 0), 0);
	assert_int_equal(frl, 0);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_FRL, VGPU_FRL_DEFAULT), 0);
	assert_int_equal(frl, VGPU_FRL_DEFAULT);
	/* No field, and fields that do not exist. */
	assert_int_equal(change(&s, &frl, 0, 1), -EINVAL);
	assert_int_equal(change(&s, &frl, 0x10, 1), -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_CAP | 1U << 31, 10),
			 -EINVAL);
	/* A huge value does not come out small. */
	assert_int_equal(change(&s, &frl, VGPU_SHARE_GUARANTEE, 0x10000),
			 -EINVAL);
	assert_int_equal(change(&s, &frl, VGPU_SHARE_WEIGHT, 0x10001),
			 -EINVAL);
}

static u32 rnd_value(u64 *rnd)
{
	static const u32 edges[] = { 0, 1, 999, 1000, 1001, 0xffff, 0x10000,
				     0x100ff, ~0U };

	if (random_one_in(rnd, 4))
		return edges[random_range(rnd, 0, ARRAY_SIZE(edges) - 1)];
	return random_range(rnd, 0, 1100);
}

/* Random changes: after one that is taken the share is as asked for, else it has not changed. */
static void test_change_random(void **state)
{
	u64 rnd = test_seed(), taken = 0;
	u32 frl = VGPU_FRL_DEFAULT;
	struct vgpu_share s;
	unsigned int i;

	vgpu_share_default(&s, 0, 4, 16);
	for (i = 0; i < ROUNDS; i++) {
		struct vgpu_ctl_share c = {
			.valid = random_range(&rnd, 0, 0x1f),
			.guarantee = rnd_value(&rnd),
			.cap = rnd_value(&rnd),
			.weight = rnd_value(&rnd),
			.frl = rnd_value(&rnd),
			.pad = random_one_in(&rnd, 50),
		};
		struct vgpu_share was = s;
		u32 frl_was = frl;
		u32 g = c.valid & VGPU_SHARE_GUARANTEE ? c.guarantee : s.guarantee;
		u32 cap = c.valid & VGPU_SHARE_CAP ? c.cap : s.cap;
		u32 w = c.valid & VGPU_SHARE_WEIGHT ? c.weight : s.weight;
		u32 f = c.valid & VGPU_SHARE_FRL ? c.frl : frl;
		bool good = c.valid && c.valid < 0x10 && !c.pad && g <= cap &&
			    cap >= 1 && cap <= 1000 && w >= 1 && w <= 1000 &&
			    (f <= 1000 || f == VGPU_FRL_DEFAULT);
		int ret;

		memset(why, 0, sizeof(why));
		ret = vgpu_share_change(&s, &frl, &c, why, sizeof(why));
		check_that(ret == (good ? 0 : -EINVAL), "%d, %#x %u %u %u %u",
			   ret, c.valid, g, cap, w, f);
		if (ret) {
			check_that(why[0], "refused without a word");
			check_that(!memcmp(&s, &was, sizeof(s)) &&
				   frl == frl_was, "changed");
			continue;
		}
		taken++;
		check_that(s.guarantee == g && s.cap == cap && s.weight == w &&
			   frl == f, "%u %u %u %u", s.guarantee, s.cap,
			   s.weight, frl);
		check_that(s.first_slot == was.first_slot &&
			   s.nr_slots == was.nr_slots, "slots changed");
	}
	check_that(taken > ROUNDS / 100, "only %llu taken", taken);
}

/* A text is cut off where its buffer ends. */
static void test_short_text(void **state)
{
	struct vgpu_share s;
	u32 frl = 0;
	struct vgpu_ctl_share c = { .valid = VGPU_SHARE_CAP };
	char small[8];

	vgpu_share_default(&s, 0, 4, 16);
	memset(small, 'x', sizeof(small));
	assert_int_equal(vgpu_share_change(&s, &frl, &c, small, 4), -EINVAL);
	assert_int_equal(small[3], 0);
	assert_int_equal(small[4], 'x');
	memset(small, 'x', sizeof(small));
	assert_int_equal(vgpu_share_admit(1000, 1, small, 4), -ENOSPC);
	assert_int_equal(small[3], 0);
	assert_int_equal(small[4], 'x');
}

static void test_frl(void **state)
{
	const u32 none = VGPU_FRL_DEFAULT;

	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_OFF, none, 60), 0);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_OFF, 30, 60), 0);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_SET, none, 60), 0);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_SET, 30, 60), 30);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_SET, 0, 60), 0);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_DEFAULT, none, 45), 45);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_DEFAULT, 30, 45), 30);
	assert_int_equal(vgpu_share_frl(VGPU_FRL_MODE_DEFAULT, 0, 45), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_defaults_always_fit),
		cmocka_unit_test(test_admit),
		cmocka_unit_test(test_admit_says_by_how_much),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_change_random),
		cmocka_unit_test(test_short_text),
		cmocka_unit_test(test_frl),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
