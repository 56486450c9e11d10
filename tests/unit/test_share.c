// SPDX-License-Identifier: GPL-2.0
/* Settings of a vGPU: the table, defaults, changes, admission. */
#include "vgpu_test.h"

#include "core/objects/placement.h"
#include "core/settings/share_rules.h"

#define ROUNDS	20000

static char why[VGPU_TEXT_LEN];

static u32 all_valid(void)
{
	const struct vgpu_setting *s;
	u32 all = 0;

	for (s = vgpu_share_settings; s->name; s++)
		all |= s->valid;
	return all;
}

/* Each row has its own bit, its own field and its own field that reports it. */
static void test_table(void **state)
{
	u8 set[sizeof(struct vgpu_ctl_share)] = {};
	u8 reported[sizeof(struct vgpu_ctl_instance)] = {};
	const struct vgpu_setting *s;
	u32 seen = 0, size, i;

	for (s = vgpu_share_settings; s->name; s++) {
		check_that(s->valid && !(s->valid & (s->valid - 1)) && !(s->valid & seen),
			   "%s: bit %#x", s->name, s->valid);
		seen |= s->valid;
		size = vgpu_setting_size(s);
		check_that(s->offset >= offsetofend(struct vgpu_ctl_share, valid) &&
			   s->offset + size <= sizeof(set), "%s: at %u", s->name, s->offset);
		check_that(s->reported && s->reported + size <= sizeof(reported),
			   "%s: reported at %u", s->name, s->reported);
		for (i = 0; i < size; i++) {
			check_that(!set[s->offset + i]++, "%s: field of another", s->name);
			check_that(!reported[s->reported + i]++, "%s: reported of another",
				   s->name);
		}
	}
}

static void test_report(void **state)
{
	struct vgpu_ctl_share s = { .guarantee = 1, .cap = 2, .weight = 3, .frl = 4, .vga = 1 };
	struct vgpu_ctl_instance out = { .faults = 7 };

	vgpu_share_report(&s, &out);
	assert_int_equal(out.guarantee, 1);
	assert_int_equal(out.cap, 2);
	assert_int_equal(out.weight, 3);
	assert_int_equal(out.frl_config, 4);
	assert_int_equal(out.frl_fps, 0);
	assert_int_equal(out.vga, 1);
	assert_int_equal(out.faults, 7);
}

struct words {
	u8 name[VGPU_ADDR_LEN];
	u32 number;
	u32 pad;
	u64 wide;
};

static int not_seven(const void *settings, char *text, size_t size)
{
	const struct words *w = settings;

	if (w->number != 7)
		return 0;
	snprintf(text, size, "number: not 7");
	return -EBUSY;
}

#define WORD(field) .name = #field, .offset = offsetof(struct words, field)

static const struct vgpu_setting words_table[] = {
	{ WORD(name), .valid = 1, .type = VGPU_SETTING_TEXT },
	{ WORD(number), .valid = 2, .what = "number", .min = 5, .max = 8, .check = not_seven },
	{ WORD(wide), .valid = 8, .type = VGPU_SETTING_U64, .what = "wide of", .unit = "!",
	  .zero = " (none)", .max = 1ULL << 40, .other = 1ULL << 50, .other_name = "huge" },
	{}
};

static void check_words(u32 valid, struct words w, int ret, const char *text)
{
	memset(why, 0, sizeof(why));
	assert_int_equal(vgpu_settings_check(words_table, valid, &w, why, sizeof(why)), ret);
	assert_string_equal(why, text);
}

/* All that a row can say, by rows that no table of the driver has. */
static void test_rows(void **state)
{
	struct words w = { "abc", 5, 0, 1ULL << 40 }, to = { "x", 1, 0, 2 }, kept;

	check_words(~0U, w, 0, "");
	check_words(1, (struct words){ "a\nc" }, -EINVAL,
		    "name: must have at most 31 bytes, and no control characters");
	check_words(1, (struct words){ "ab\x7f" }, -EINVAL,
		    "name: must have at most 31 bytes, and no control characters");
	check_words(1, (struct words){ "0123456789abcdef0123456789abcdef" }, -EINVAL,
		    "name: must have at most 31 bytes, and no control characters");
	check_words(1, (struct words){ "0123456789abcdef0123456789abcde" }, 0, "");
	check_words(1, (struct words){ "\xc3\xa4" }, 0, "");
	check_words(1, (struct words){ "ab", 100, 0, ~0ULL }, 0, "");
	check_words(2, (struct words){ "ab", 4 }, -ERANGE, "number 4: must be 5..8");
	check_words(2, (struct words){ "ab", 9 }, -ERANGE, "number 9: must be 5..8");
	check_words(2, (struct words){ "ab", 7 }, -EBUSY, "number: not 7");
	check_words(8, (struct words){ .wide = 1ULL << 50 }, 0, "");
	check_words(8, (struct words){ .wide = (1ULL << 40) + 1 }, -ERANGE,
		    "wide of 1099511627777!: must be 0 (none)..1099511627776");

	vgpu_settings_copy(words_table, 8, &to, &w);
	assert_true(!strcmp((char *)to.name, "x") && to.number == 1 && to.wide == w.wide);
	vgpu_settings_copy(words_table, 7, &to, &w);
	assert_int_equal(memcmp(&to, &w, sizeof(w)), 0);

	/* Bytes behind the end of a text stay with the caller who has them there. */
	memset(&kept, 0xff, sizeof(kept));
	memcpy(w.name, "qos\0secret", sizeof("qos\0secret"));
	vgpu_settings_copy(words_table, 1, &kept, &w);
	memset(w.name + 3, 0, sizeof(w.name) - 3);
	assert_int_equal(memcmp(kept.name, w.name, sizeof(w.name)), 0);
	/* A text without an end arrives as one, so that it is refused. */
	memset(w.name, 'a', sizeof(w.name));
	vgpu_settings_copy(words_table, 1, &kept, &w);
	check_words(1, kept, -EINVAL, "name: must have at most 31 bytes, and no control characters");

	assert_false(vgpu_setting_set_number(&words_table[1], &to, 1ULL << 32));
	assert_int_equal(vgpu_setting_number(&words_table[1], &to), 5);
	assert_true(vgpu_setting_set_number(&words_table[1], &to, U32_MAX));
	assert_int_equal(vgpu_setting_number(&words_table[1], &to), U32_MAX);
	assert_true(vgpu_setting_set_number(&words_table[2], &to, U64_MAX));
	assert_true(vgpu_setting_number(&words_table[2], &to) == U64_MAX);

	assert_int_equal(vgpu_settings_check_form(words_table, 0xb, 0, why, sizeof(why)), 0);
	assert_int_equal(vgpu_settings_check_form(words_table, 0xf, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "valid is 0xf: must be some of the bits 0xb, and reserved fields must be 0");
	assert_int_equal(vgpu_settings_check_form(words_table, 0, 0, why, sizeof(why)), -EINVAL);
	assert_int_equal(vgpu_settings_check_form(words_table, 1, 1, why, sizeof(why)), -EINVAL);
}

static void test_defaults(void **state)
{
	struct vgpu_ctl_share s;
	struct vgpu_share share;

	vgpu_share_default(&s, 4, 16);
	assert_int_equal(s.guarantee, 250);
	assert_int_equal(s.cap, 1000);
	assert_int_equal(s.weight, 250);
	assert_int_equal(s.frl, VGPU_FRL_DEFAULT);
	assert_int_equal(s.vga, 0);
	vgpu_share_of(&s, 8, 4, &share);
	assert_int_equal(share.guarantee, 250);
	assert_int_equal(share.cap, 1000);
	assert_int_equal(share.weight, 250);
	assert_int_equal(share.first_slot, 8);
	assert_int_equal(share.nr_slots, 4);
	vgpu_share_default(&s, 16, 16);
	assert_int_equal(s.guarantee, 1000);
	vgpu_share_default(&s, 1, 16);
	assert_int_equal(s.guarantee, 62);
	/* A weight is never 0. */
	vgpu_share_default(&s, 1, 1024);
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
	assert_int_equal(vgpu_share_room(1001, 4, 16, 4), 0);
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
	struct vgpu_ctl_share s;
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
		vgpu_share_default(&s, size_gb, p.region_gb);
		check_that(!vgpu_share_admit(sum, s.guarantee, why,
					     sizeof(why)),
			   "%u of %u: %s", size_gb, p.region_gb, why);
		check_that(s.guarantee <= s.cap && s.cap <= 1000 &&
			   s.weight >= 1 && s.weight <= 1000, "%u/%u/%u",
			   s.guarantee, s.cap, s.weight);
		check_that(!vgpu_settings_check(vgpu_share_settings, ~0U, &s, why, sizeof(why)),
			   "%s", why);
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

static int change(struct vgpu_ctl_share *s, u32 valid, u32 value)
{
	struct vgpu_ctl_share c = {
		.valid = valid,
		.guarantee = value,
		.cap = value,
		.weight = value,
		.frl = value,
		.vga = value,
	};

	memset(why, 0, sizeof(why));
	return vgpu_share_change(s, &c, why, sizeof(why));
}

static void test_change(void **state)
{
	const u32 unknown = ~all_valid();
	struct vgpu_ctl_share s;

	vgpu_share_default(&s, 4, 16);
	assert_int_equal(change(&s, VGPU_SHARE_GUARANTEE, 700), 0);
	assert_int_equal(s.guarantee, 700);
	assert_int_equal(change(&s, VGPU_SHARE_GUARANTEE, 1001), -EINVAL);
	assert_string_equal(why, "guarantee 1001 per mille: must be 0..1000");
	assert_int_equal(change(&s, VGPU_SHARE_CAP, 600), -EINVAL);
	assert_string_equal(why, "guarantee 700 per mille is above the cap, 600: lower the guarantee or raise the cap by 100");
	assert_int_equal(change(&s, VGPU_SHARE_CAP, 700), 0);
	assert_int_equal(change(&s, VGPU_SHARE_GUARANTEE, 701), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_GUARANTEE |
				VGPU_SHARE_CAP, 10), 0);
	assert_int_equal(s.guarantee, 10);
	assert_int_equal(s.cap, 10);
	assert_int_equal(change(&s, VGPU_SHARE_CAP, 0), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_CAP, 1001), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_WEIGHT, 0), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_WEIGHT, 1001), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_WEIGHT, 1), 0);
	assert_int_equal(s.weight, 1);
	assert_int_equal(change(&s, VGPU_SHARE_FRL, 1001), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_FRL, 0), 0);
	assert_int_equal(s.frl, 0);
	assert_int_equal(change(&s, VGPU_SHARE_FRL, VGPU_FRL_DEFAULT), 0);
	assert_int_equal(s.frl, VGPU_FRL_DEFAULT);
	assert_int_equal(change(&s, VGPU_SHARE_VGA, 1), 0);
	assert_int_equal(s.vga, 1);
	assert_int_equal(change(&s, VGPU_SHARE_VGA, 2), -EINVAL);
	assert_string_equal(why, "vga 2: must be 0 (off)..1");
	assert_int_equal(change(&s, VGPU_SHARE_VGA, 0x10001), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_VGA, 0), 0);
	assert_int_equal(s.vga, 0);
	/* No setting, and settings that do not exist. */
	assert_int_equal(change(&s, 0, 1), -EINVAL);
	assert_int_equal(change(&s, unknown & -unknown, 1), -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_CAP | 1U << 31, 10),
			 -EINVAL);
	/* A huge value does not come out small. */
	assert_int_equal(change(&s, VGPU_SHARE_GUARANTEE, 0x10000),
			 -EINVAL);
	assert_int_equal(change(&s, VGPU_SHARE_WEIGHT, 0x10001),
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

/* After a random change that is taken the settings are as asked for, else they are as before. */
static void test_change_random(void **state)
{
	const u32 known = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP | VGPU_SHARE_WEIGHT |
			  VGPU_SHARE_FRL | VGPU_SHARE_VGA;
	const u32 unknown = ~all_valid();
	u64 rnd = test_seed(), taken = 0;
	struct vgpu_ctl_share s;
	unsigned int i;

	vgpu_share_default(&s, 4, 16);
	for (i = 0; i < ROUNDS; i++) {
		struct vgpu_ctl_share c = {
			.valid = random_next(&rnd) & (random_one_in(&rnd, 2) ? known :
						   known | (unknown & -unknown)),
			.guarantee = rnd_value(&rnd),
			.cap = rnd_value(&rnd),
			.weight = rnd_value(&rnd),
			.frl = rnd_value(&rnd),
			.vga = random_one_in(&rnd, 10) ? rnd_value(&rnd) :
				random_range(&rnd, 0, 1),
		};
		struct vgpu_ctl_share was = s;
		u32 g = c.valid & VGPU_SHARE_GUARANTEE ? c.guarantee : s.guarantee;
		u32 cap = c.valid & VGPU_SHARE_CAP ? c.cap : s.cap;
		u32 w = c.valid & VGPU_SHARE_WEIGHT ? c.weight : s.weight;
		u32 f = c.valid & VGPU_SHARE_FRL ? c.frl : s.frl;
		u32 v = c.valid & VGPU_SHARE_VGA ? c.vga : s.vga;
		bool good = c.valid && !(c.valid & unknown) && g <= cap && v <= 1 &&
			    cap >= 1 && cap <= 1000 && w >= 1 && w <= 1000 &&
			    (f <= 1000 || f == VGPU_FRL_DEFAULT);
		int ret;

		memset(why, 0, sizeof(why));
		ret = vgpu_share_change(&s, &c, why, sizeof(why));
		check_that(ret == (good ? 0 : -EINVAL), "%d, %#x %u %u %u %u",
			   ret, c.valid, g, cap, w, f);
		if (ret) {
			check_that(why[0], "refused without a word");
			check_that(!memcmp(&s, &was, sizeof(s)), "changed");
			continue;
		}
		taken++;
		check_that(s.guarantee == g && s.cap == cap && s.weight == w &&
			   s.frl == f && s.vga == v, "%u %u %u %u %u", s.guarantee, s.cap,
			   s.weight, s.frl, s.vga);
		/* Nothing else of the call is kept. */
		was.guarantee = g;
		was.cap = cap;
		was.weight = w;
		was.frl = f;
		was.vga = v;
		check_that(!memcmp(&s, &was, sizeof(s)), "more has changed");
	}
	check_that(taken > ROUNDS / 100, "only %llu taken", taken);
}

/* A text is cut off where its buffer ends. */
static void test_short_text(void **state)
{
	struct vgpu_ctl_share s, c = { .valid = VGPU_SHARE_CAP };
	char small[8];

	vgpu_share_default(&s, 4, 16);
	memset(small, 'x', sizeof(small));
	assert_int_equal(vgpu_share_change(&s, &c, small, 4), -EINVAL);
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
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_rows),
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
