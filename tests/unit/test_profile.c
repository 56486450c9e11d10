// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles of partitions against the field's table of places: all orders in which partitions can be
 * created, what fits after each, where the next one goes, and what a refusal says.
 */
#include "vgpu_test.h"

#include "core/objects/profile.h"

#define PLACES	14
#define TEXT	192
#define UNITS	64

/* The field's places, by profile and start; each '#' is an eighth of the framebuffer. */
static const struct place {
	const char *profile;
	char eighths[9];
} places[PLACES] = {
	{ "1g", "#......." }, { "1g", ".#......" }, { "1g", "..#....." }, { "1g", "...#...." },
	{ "1g", "....#..." }, { "1g", ".....#.." }, { "1g", "......#." },
	{ "2g", "##......" }, { "2g", "..##...." }, { "2g", "....##.." },
	{ "3g", "####...." }, { "3g", "....####" },
	{ "4g", "####...." },
	{ "7g", "########" },
};

static unsigned int start_of(unsigned int place)
{
	return strchr(places[place].eighths, '#') - places[place].eighths;
}

static unsigned int slices_of(unsigned int place)
{
	return places[place].profile[0] - '0';
}

static const struct vgpu_profile *profile_of(unsigned int place)
{
	unsigned int i;

	for (i = 0; i < VGPU_PROFILES; i++)
		if (!strcmp(vgpu_profiles[i].name, places[place].profile))
			return &vgpu_profiles[i];
	fail();
	return NULL;
}

static bool same_profile(unsigned int a, unsigned int b)
{
	return !strcmp(places[a].profile, places[b].profile);
}

/**
 * struct model - partitions, as the test sees them
 * @region_gb: framebuffer in GiB
 * @nr:        number of partitions
 * @at:        their places, in the order of creation; partition i has the number i + 1
 */
struct model {
	u32 region_gb;
	unsigned int nr;
	unsigned int at[VGPU_PROFILE_SLICES];
};

static bool model_has(const struct model *m, unsigned int place)
{
	const char *c = places[place].eighths;
	unsigned int mib = 0;

	for (; *c; c++)
		mib += *c == '#' ? m->region_gb * 128 : 0;
	return mib % 1024 == 0;
}

/* The partition that has an eighth of the place: the lowest such eighth; -1: none. */
static int model_owner(const struct model *m, unsigned int place, unsigned int *eighth)
{
	unsigned int i, k;

	for (k = 0; k < 8; k++) {
		for (i = 0; i < m->nr; i++) {
			if (places[m->at[i]].eighths[k] == '#' &&
			    places[place].eighths[k] == '#') {
				*eighth = k;
				return i;
			}
		}
	}
	return -1;
}

static bool model_fits(const struct model *m, unsigned int place)
{
	unsigned int i, eighth, slices = slices_of(place);

	for (i = 0; i < m->nr; i++)
		slices += slices_of(m->at[i]);
	return model_has(m, place) && slices <= 7 && model_owner(m, place, &eighth) < 0;
}

static unsigned int model_count(const struct model *m)
{
	unsigned int place, nr = 0;

	for (place = 0; place < PLACES; place++)
		nr += model_fits(m, place);
	return nr;
}

static struct model model_with(const struct model *m, unsigned int place)
{
	struct model next = *m;

	next.at[next.nr++] = place;
	return next;
}

/* What a refusal says of what fits. */
static void model_text(const struct model *m, char *text)
{
	unsigned int place, last = PLACES;

	for (place = 0; place < PLACES; place++) {
		if (!model_fits(m, place))
			continue;
		if (last < PLACES && same_profile(last, place))
			sprintf(text + strlen(text), ", %u", start_of(place));
		else
			sprintf(text + strlen(text), "%s%s at %u",
				last < PLACES ? "; " : "what fits: ", places[place].profile,
				start_of(place));
		last = place;
	}
	if (last == PLACES)
		strcat(text, "nothing fits");
}

/* The place of the profile that leaves most places; PLACES: none is free. */
static unsigned int model_choice(const struct model *m, const char *profile)
{
	unsigned int place, choice = PLACES, most = 0;
	struct model next;

	for (place = 0; place < PLACES; place++) {
		if (strcmp(places[place].profile, profile) || !model_fits(m, place))
			continue;
		next = model_with(m, place);
		if (choice == PLACES || model_count(&next) > most) {
			choice = place;
			most = model_count(&next);
		}
	}
	return choice;
}

static void check_map(const struct vgpu_profile_map *map, const struct model *m)
{
	unsigned int i, place, mask[VGPU_PROFILES] = {};

	for (place = 0; place < PLACES; place++)
		if (model_fits(m, place))
			mask[profile_of(place) - vgpu_profiles] |= 1U << start_of(place);
	for (i = 0; i < VGPU_PROFILES; i++)
		assert_int_equal(vgpu_profile_fits(map, &vgpu_profiles[i]), mask[i]);
}

/* Tries to create a partition that does not fit. */
static void refuse(const struct vgpu_profile_map *map, const struct vgpu_profile *profile,
		   unsigned int start, int error, const char *text)
{
	struct vgpu_profile_map after = *map;
	char why[TEXT] = "";

	assert_int_equal(vgpu_profile_take(&after, profile, start, 99, why, sizeof(why)), error);
	assert_memory_equal(&after, map, sizeof(after));
	assert_string_equal(why, text);
}

/* Creates a partition at a place, and checks what is left after it and after its removal. */
static struct vgpu_profile_map take(const struct vgpu_profile_map *map, const struct model *m,
				    unsigned int place, unsigned int start)
{
	struct vgpu_profile_map after = *map, back;
	struct model next = model_with(m, place);
	char why[TEXT] = "";

	assert_int_equal(vgpu_profile_take(&after, profile_of(place), start, next.nr, why,
					   sizeof(why)), start_of(place));
	assert_string_equal(why, "");
	check_map(&after, &next);
	back = after;
	vgpu_profile_put(&back, next.nr);
	assert_memory_equal(&back, map, sizeof(back));
	return after;
}

static void check_anywhere(const struct vgpu_profile_map *map, const struct model *m)
{
	unsigned int i, choice;
	char text[TEXT];

	for (i = 0; i < VGPU_PROFILES; i++) {
		choice = model_choice(m, vgpu_profiles[i].name);
		if (choice < PLACES) {
			take(map, m, choice, VGPU_PROFILE_ANYWHERE);
		} else if (vgpu_profile_size_gb(&vgpu_profiles[i], m->region_gb)) {
			sprintf(text, "%s: no place is free; ", vgpu_profiles[i].name);
			model_text(m, text);
			refuse(map, &vgpu_profiles[i], VGPU_PROFILE_ANYWHERE, -ENOSPC, text);
		}
	}
}

static void check_taken(const struct vgpu_profile_map *map, const struct model *m,
			unsigned int place)
{
	unsigned int eighth;
	char text[TEXT];
	int owner;

	owner = model_owner(m, place, &eighth);
	/* Slices are never short where framebuffer is not. */
	assert_true(owner >= 0);
	sprintf(text, "%s at %u: eighth %u is in partition %u; ", places[place].profile,
		start_of(place), eighth, owner + 1);
	model_text(m, text);
	refuse(map, profile_of(place), start_of(place), -ENOSPC, text);
}

static void check_units(const struct model *m)
{
	unsigned int i, units, sum;

	for (units = VGPU_PROFILE_SLICES; units <= 16; units++) {
		for (i = sum = 0; i < m->nr; i++)
			sum += vgpu_profile_units(profile_of(m->at[i]), units);
		assert_true(sum <= units);
	}
}

/* What the walk has seen: sets of partitions to which none can be added, and orders of creation. */
static unsigned int full_sets, orders;

static bool ascending(const struct model *m)
{
	unsigned int i;

	for (i = 1; i < m->nr; i++)
		if (m->at[i - 1] > m->at[i])
			return false;
	return true;
}

/* Goes on with each partition that fits, in any order. */
static void walk(const struct vgpu_profile_map *map, const struct model *m)
{
	struct vgpu_profile_map after;
	struct model next;
	unsigned int place;

	orders++;
	check_units(m);
	check_anywhere(map, m);
	if (!model_count(m) && ascending(m))
		full_sets++;
	for (place = 0; place < PLACES; place++) {
		if (!model_has(m, place))
			continue;
		if (!model_fits(m, place)) {
			check_taken(map, m, place);
			continue;
		}
		after = take(map, m, place, start_of(place));
		next = model_with(m, place);
		walk(&after, &next);
	}
}

static void walk_gpu(u32 region_gb, unsigned int expect)
{
	struct vgpu_profile_map map = { .region_gb = region_gb };
	struct model m = { .region_gb = region_gb };

	full_sets = 0;
	orders = 0;
	check_map(&map, &m);
	walk(&map, &m);
	printf("# %u GiB: %u orders of creation, %u full sets\n", region_gb, orders, full_sets);
	assert_int_equal(full_sets, expect);
}

/* The field documents 19 combinations for a GPU that has all of the profiles. */
static void all_orders(void **state)
{
	walk_gpu(16, 19);
}

static void all_orders_without_small_ones(void **state)
{
	walk_gpu(12, 7);	/* 4g, 3g or 2g twice, and 3g or 2g; or 7g */
	walk_gpu(2, 3);		/* 3g or 4g, and 3g; or 7g */
	walk_gpu(1, 1);
}

/* Removals in any order, in between. */
static void histories(void **state)
{
	u64 rnd = test_seed();
	struct vgpu_profile_map map;
	unsigned int step, place;
	struct model m;
	u32 ids[7];

	for (step = 0; step < 200000; step++) {
		if (step % 1000 == 0) {
			map = (struct vgpu_profile_map){ .region_gb = 16 };
			m = (struct model){ .region_gb = 16 };
		}
		place = random_next(&rnd) % PLACES;
		if (m.nr && random_one_in(&rnd, 3)) {
			place = random_next(&rnd) % m.nr;
			vgpu_profile_put(&map, ids[place]);
			m.nr--;
			memmove(&m.at[place], &m.at[place + 1], (m.nr - place) * sizeof(*m.at));
			memmove(&ids[place], &ids[place + 1], (m.nr - place) * sizeof(*ids));
		} else if (model_fits(&m, place)) {
			char why[TEXT];

			ids[m.nr] = step + 1;
			assert_int_equal(vgpu_profile_take(&map, profile_of(place), start_of(place),
							   ids[m.nr], why, sizeof(why)),
					 start_of(place));
			m = model_with(&m, place);
		}
		check_map(&map, &m);
	}
}

static void sizes(void **state)
{
	static const u32 sg16[VGPU_PROFILES] = { 2, 4, 8, 8, 16 };
	static const u32 a100[VGPU_PROFILES] = { 5, 10, 20, 20, 40 };
	unsigned int i, place;
	u32 region, size;

	for (i = 0; i < VGPU_PROFILES; i++) {
		assert_int_equal(vgpu_profile_size_gb(&vgpu_profiles[i], 16), sg16[i]);
		assert_int_equal(vgpu_profile_size_gb(&vgpu_profiles[i], 40), a100[i]);
	}
	for (region = 1; region <= 1024; region++) {
		for (place = 0; place < PLACES; place++) {
			const struct model m = { .region_gb = region };

			size = vgpu_profile_size_gb(profile_of(place), region);
			assert_int_equal(size > 0, model_has(&m, place));
			if (!size)
				continue;
			assert_int_equal(size * 8, profile_of(place)->eighths * region);
			assert_int_equal(start_of(place) * region % 8, 0);
		}
	}
}

static void units(void **state)
{
	unsigned int i, u, n;

	for (i = 0; i < VGPU_PROFILES; i++) {
		for (u = 1; u <= UNITS; u++) {
			/* The most units that do not exceed the profile's sevenths. */
			for (n = 1; 7 * (n + 1) <= u * vgpu_profiles[i].slices; n++)
				;
			assert_int_equal(vgpu_profile_units(&vgpu_profiles[i], u), n);
		}
	}
}

static void refusals(void **state)
{
	struct vgpu_profile_map map = { .region_gb = 16 };
	const struct vgpu_profile *p = vgpu_profiles;
	char why[TEXT];
	size_t size;

	refuse(&map, &p[0], 7, -EINVAL, "1g at 7: can be at 0, 1, 2, 3, 4, 5, 6");
	refuse(&map, &p[1], 1, -EINVAL, "2g at 1: can be at 0, 2, 4");
	refuse(&map, &p[2], 8, -EINVAL, "3g at 8: can be at 0, 4");
	refuse(&map, &p[4], 64, -EINVAL, "7g at 64: can be at 0");
	assert_int_equal(vgpu_profile_take(&map, &p[2], VGPU_PROFILE_ANYWHERE, 3, why, TEXT), 4);
	assert_int_equal(vgpu_profile_take(&map, &p[0], VGPU_PROFILE_ANYWHERE, 5, why, TEXT), 0);
	refuse(&map, &p[3], 0, -ENOSPC,
	       "4g at 0: eighth 0 is in partition 5; what fits: 1g at 1, 2, 3; 2g at 2");
	refuse(&map, &p[4], VGPU_PROFILE_ANYWHERE, -ENOSPC,
	       "7g: no place is free; what fits: 1g at 1, 2, 3; 2g at 2");
	refuse(&map, &p[1], 1, -EINVAL, "2g at 1: can be at 0, 2, 4; free: 2");
	refuse(&map, &p[2], 1, -EINVAL, "3g at 1: can be at 0, 4; free: none");

	map = (struct vgpu_profile_map){ .region_gb = 4 };
	refuse(&map, &p[0], 0, -EINVAL, "1g: 1/8 of 4 GiB are not whole GiB; there are 2g 3g 4g 7g");
	refuse(&map, &p[0], VGPU_PROFILE_ANYWHERE, -EINVAL,
	       "1g: 1/8 of 4 GiB are not whole GiB; there are 2g 3g 4g 7g");

	/* A text that is too long is cut. */
	map = (struct vgpu_profile_map){ .region_gb = 16, .owner = { [7] = 1 } };
	for (size = 0; size < sizeof(why); size++) {
		memset(why, 'x', sizeof(why));
		assert_int_equal(vgpu_profile_take(&map, &p[4], 0, 2, why, size), -ENOSPC);
		assert_true(!size || memchr(why, 0, size));
		for (size_t i = size; i < sizeof(why); i++)
			assert_int_equal(why[i], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(units),
		cmocka_unit_test(refusals),
		cmocka_unit_test(all_orders),
		cmocka_unit_test(all_orders_without_small_ones),
		cmocka_unit_test(histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
