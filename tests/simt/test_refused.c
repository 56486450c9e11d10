// SPDX-License-Identifier: GPL-2.0
/*
 * States of a dispatch (state.h) with a wrong field: each is refused, by the name of the field, or
 * runs within its memory and its budget.
 */
#include "vgpu_test.h"

#include "flights.h"
#include "rv.h"

#define FLIPPED		60	/* programs whose states are flipped */
#define FLIPS		60	/* states made of one of theirs */
#define WORDS		8	/* programs whose states have other words */

static u64 seed;

static u64 executed(const struct state_flights *in)
{
	u64 sum = in->group[0]->dispatch->executed;
	u32 i;

	for (i = 0; i < in->nr; i++)
		sum += in->group[i]->executed;
	return sum;
}

/* Runs what was accepted, within its budget. */
static void try_run(struct state_world *world, const struct state_flights *in)
{
	u64 before = executed(in);
	u32 i, k;

	for (k = 0; k < in->nr; k++) {
		in->group[k]->isa = flights_isa(&seed);
		for (i = 0; i < 8 && flights_go_on(simt_group_run(in->group[k], 40)); i++)
			simt_tlb_flush(&world->tlb);
	}
	check_that(executed(in) - before <= in->nr * 8 * 40, "program %#llx: %llu instructions",
		   (unsigned long long)world->seed, (unsigned long long)(executed(in) - before));
}

/* What was loaded is what would be saved. */
static void check_kept(const struct state_world *world, const struct state_image *image,
		       const struct state_flights *loaded)
{
	struct state_image was, is;

	state_image_copy(&was, image);
	/* A bit that was flipped may have ended a lane that has private memory. */
	state_image_forget_ended(&was, loaded);
	state_image_save(&is, loaded);
	if (!state_image_same(&was, &is))
		state_image_print(&was, &is);
	check_that(state_image_same(&was, &is), "program %#llx: accepted, but not kept",
		   (unsigned long long)world->seed);
	state_image_free(&was);
	state_image_free(&is);
}

/* Loads what may be wrong. If it is accepted, it is a state, and runs as one. */
static const char *try_image(struct state_world *world, const struct state_image *image)
{
	struct state_flights in = { .nr = image->nr };
	struct flights flights;
	const char *wrong;
	u32 i;

	flights_begin(&flights, world, image->nr, &seed);
	for (i = 0; i < in.nr; i++)
		in.group[i] = &flights.group[i];
	wrong = state_image_load(image, &in);
	if (!wrong) {
		in.executed = executed(&in);
		check_kept(world, image, &in);
		try_run(world, &in);
	}
	flights_end(&flights);
	return wrong;
}

/* Stops a program somewhere. Returns false if it had ended by then. */
static bool stop(struct state_world *world, struct state_image *image, int stops, u32 budget)
{
	u32 nr = random_range(&seed, 1, STATE_GROUPS);
	enum simt_end end = SIMT_MORE;
	struct simt_group *group;
	struct flights flights;

	flights_begin(&flights, world, nr, &seed);
	do {
		group = flights_some(&flights, &seed);
		if (group && stops)
			end = flights_run(&flights, group, budget);
	} while (group && stops-- && flights_go_on(end));
	if (group && flights.begun && flights_go_on(end)) {
		struct state_flights in = flights_begun(&flights);

		state_image_save(image, &in);
	} else {
		group = NULL;
	}
	flights_end(&flights);
	return group;
}

static size_t group_bytes(const struct state_image_group *group)
{
	size_t n = sizeof(group->group);
	u32 i;

	for (i = 0; i < group->nr; i++)
		n += group->bytes[i];
	return n;
}

/* The record with the byte at @at of all, private and local memory left out. */
static u8 *byte_of(struct state_image *image, size_t at)
{
	struct state_image_group *group = image->group;
	u32 i;

	if (at < sizeof(image->dispatch))
		return (u8 *)&image->dispatch + at;
	for (at -= sizeof(image->dispatch); at >= group_bytes(group); group++)
		at -= group_bytes(group);
	if (at < sizeof(group->group))
		return (u8 *)&group->group + at;
	at -= sizeof(group->group);
	for (i = 0; at >= group->bytes[i]; i++)
		at -= group->bytes[i];
	return group->warp[i] + at;
}

static size_t all_bytes(const struct state_image *image)
{
	size_t n = sizeof(image->dispatch);
	u32 i;

	for (i = 0; i < image->nr; i++)
		n += group_bytes(&image->group[i]);
	return n;
}

/* Half of the flips are in what is before the registers, half of these in some group. */
static size_t random_byte(const struct state_image *image)
{
	size_t head = sizeof(struct simt_state_group) + sizeof(struct simt_state_warp);
	size_t from = 0;
	u32 i;

	if (random_next(&seed) & 1)
		return random_range(&seed, 0, all_bytes(image) - 1);
	if (random_next(&seed) & 1)
		return random_range(&seed, 0, sizeof(image->dispatch) + head - 1);
	for (i = random_range(&seed, 0, image->nr - 1); i; i--)
		from += group_bytes(&image->group[i - 1]);
	return sizeof(image->dispatch) + from + random_range(&seed, 0, head - 1);
}

static void test_flips(void **state)
{
	u32 refused = 0, accepted = 0;
	int n, k, i;

	for (n = 0; n < FLIPPED; n++) {
		struct state_image image, wrong;
		struct state_world world;

		state_world_init(&world, random_next(&seed));
		if (!stop(&world, &image, random_range(&seed, 0, 30), random_range(&seed, 1, 30))) {
			state_world_exit(&world);
			continue;
		}
		assert_null(try_image(&world, &image));
		for (k = 0; k < FLIPS; k++) {
			state_image_copy(&wrong, &image);
			for (i = random_range(&seed, 1, 4); i; i--)
				*byte_of(&wrong, random_byte(&wrong)) ^=
					1 << random_range(&seed, 0, 7);
			if (try_image(&world, &wrong))
				refused++;
			else
				accepted++;
			state_image_free(&wrong);
		}
		state_image_free(&image);
		state_world_exit(&world);
	}
	printf("# %u refused, %u accepted\n", refused, accepted);
	assert_true(refused > FLIPPED && accepted > FLIPPED);
}

/* Each word of each head in turn is something else: what is an edge to some field. */
static void test_words(void **state)
{
	u32 refused = 0, accepted = 0;
	int n = 0, tries = 0;

	while (n < WORDS) {
		struct state_image image, wrong;
		struct state_world world;
		size_t at, end;
		u32 k;

		/* One program of three has ended by then. */
		check_that(tries++ < 50 * WORDS, "only %d programs have not ended", n);
		state_world_init(&world, random_next(&seed));
		if (!stop(&world, &image, 6, random_range(&seed, 1, 30))) {
			state_world_exit(&world);
			continue;
		}
		n++;
		end = sizeof(image.dispatch) + sizeof(struct simt_state_group) +
		      sizeof(struct simt_state_warp);
		for (at = 0; at < end; at += 4) {
			const u32 words[] = {
				0, 1, ~0U, ~0U - 1, S32_MAX, 1U << 31, 0x40000000, 0x40000001,
				world.nr - 1, world.nr, world.nr + 1, image.nr, image.group[0].nr,
				1U << image.group[0].nr,
			};

			for (k = 0; k < ARRAY_SIZE(words); k++) {
				state_image_copy(&wrong, &image);
				memcpy(byte_of(&wrong, at), &words[k], 4);
				if (try_image(&world, &wrong))
					refused++;
				else
					accepted++;
				state_image_free(&wrong);
			}
		}
		state_image_free(&image);
		state_world_exit(&world);
	}
	printf("# %u refused, %u accepted\n", refused, accepted);
	assert_true(refused > 100 && accepted > 100);
}

/* Lanes part in this one: two groups, 20 lanes, an lr.w, a float and a frm. */
static const u32 parted[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_ANDI(RV_T1, RV_T0, 1),
	RV_R(2 << 2, 0, RV_A0, 2, RV_T2, 0x2f),		/* lr.w t2, (a0) */
	RV_R(0x78, 0, RV_T0, 0, 3, 0x53),		/* fmv.w.x f3, t0 */
	RV_I(2, 1, 5, 0, 0x73),				/* csrwi frm, 1 */
	RV_I(1, 1, 6, 0, 0x73),				/* csrsi fflags, 1 */
	RV_BNE(RV_T1, RV_ZERO, 12),
	RV_ADDI(RV_T2, RV_T0, 1),
	RV_ADDI(RV_T2, RV_T2, 1),
	RV_BARRIER,
	RV_RET,
};

#define ODD		0xaaaaaU	/* lanes for which the branch was taken */
#define EVEN		0x55555U
#define HEAD(f)		offsetof(struct simt_state_warp, f)
#define GROUP(f)	(offsetof(struct simt_state_group, f) | 0x1000)
#define WHOLE(f)	(offsetof(struct simt_state_dispatch, f) | 0x2000)
/* What follows the head: x3, which is 0, and t0 are affine, t1 and t2 arrays, f3 one of singles. */
#define REST		sizeof(struct simt_state_warp)
#define PCS(k)		(REST + 32 + 20 * (8 + 8 + 4) + 4 * (k))
#define FRM		PCS(20)
#define FFLAGS		(FRM + 20)
#define RESERVED	(FFLAGS + 20)

/* @at: of a word or, with @bytes 1, of a byte. */
static const struct wrong {
	const char *field;
	u32 at;
	u32 value;
	u32 bytes;
} wrongs[] = {
	{ "live", HEAD(live), 1U << 20 | ODD | EVEN },
	{ "live", HEAD(live), 0 },
	{ "active", HEAD(active), 0 },
	{ "active", HEAD(active), EVEN | 1U << 20 },
	{ "active", HEAD(barrier), 1 },
	{ "barrier", HEAD(barrier), 1U << 31 },
	{ "reserved", HEAD(reserved), ~0U },
	{ "ip", HEAD(ip), ARRAY_SIZE(parted) + 1 },
	{ "ip", HEAD(ip), ~0U - 1 },
	{ "active", HEAD(ip), ~0U },
	{ "met", HEAD(met), 3 },
	{ "met", HEAD(met), ARRAY_SIZE(parted) },
	{ "depth", HEAD(depth), SIMT_STATE_DEPTH_MAX + 1 },
	{ "depth", HEAD(depth), -SIMT_STATE_DEPTH_MAX - 1 },
	{ "depth", HEAD(depth), 1U << 31 },
	{ "vec", HEAD(vec), 1 },
	{ "vec", HEAD(vec), 1U << 1 },
	{ "vec", HEAD(vec), 1U << 31 },
	{ "narrow", HEAD(narrow), 1U << 5 },
	{ "narrow", HEAD(narrow), 1 },
	{ "wide", HEAD(wide), 1U << 4 },
	{ "length", HEAD(known), 0 },
	{ "known", HEAD(known), 1U << 4 },	/* the program does not write it */
	{ "length", HEAD(vec), 0xe0 },
	{ "length", HEAD(narrow), 1U << 6 },
	{ "length", HEAD(wide), 1U << 3 },
	{ "length", HEAD(reserved), 1 },
	{ "length", HEAD(active), 1 },
	{ "fair", HEAD(fair), 2, 1 },
	{ "turns", HEAD(turns), 4, 1 },
	{ "last", HEAD(last), SIMT_LANES, 1 },
	{ "zero", HEAD(zero), 1, 1 },
	{ "pc", PCS(0), ARRAY_SIZE(parted) + 1 },
	{ "pc", PCS(18), ~0U },
	{ "depths", PCS(1), SIMT_STATE_DEPTH_MAX + 1 },
	{ "depths", PCS(19), 1U << 31 },
	{ "frm", FRM, 8, 1 },
	{ "frm", FRM + 19, 0xff, 1 },
	{ "fflags", FFLAGS, 0x20, 1 },
	{ "fflags", FFLAGS + 19, 0x80, 1 },
	{ "reservation", RESERVED, 2 },
	{ "reservation", RESERVED, 5 },
	{ "reservation", RESERVED + 19 * 16 + 12, 1 },
	{ "group_id", GROUP(group_id[0]), 1 },
	{ "group_id", GROUP(group_id[2]), ~0U },
	{ "warp", GROUP(warp), 1 },
	{ "warp", GROUP(warp), ~0U },
	{ "waiting", GROUP(waiting), 1 },
	{ "waiting", GROUP(waiting), 2 },
	{ "waiting", GROUP(waiting), 1U << 31 },
	{ "next", WHOLE(next[0]), 0 },
	{ "next", WHOLE(next[0]), 2 },
	{ "next", WHOLE(next[1]), 1 },
	{ "next", WHOLE(next[2]), 2 },
	{ "next", WHOLE(next[2]), 1 },
	{ "groups", WHOLE(groups), 0 },
	{ "groups", WHOLE(groups), SIMT_FLIGHTS + 1 },
	{ "groups", WHOLE(groups), ~0U },
};

static void parted_world(struct state_world *world, struct simt_dispatch *dispatch,
			 struct simt_group *group)
{
	const u32 grid[3] = { 40, 1, 1 }, size[3] = { 20, 1, 1 };

	state_world_dispatch(world, dispatch, group);
	memcpy(dispatch->grid, grid, sizeof(grid));
	memcpy(dispatch->group, size, sizeof(size));
	state_memory(group, &seed);
}

static void check_wrong(struct state_world *world, const struct state_image *image,
			const struct wrong *wrong, size_t bytes)
{
	struct simt_dispatch dispatch;
	struct state_flights flight;
	struct simt_group group;
	struct state_image bad;
	const char *field;
	u8 *at;

	state_image_copy(&bad, image);
	at = wrong->at & 0x2000 ? (u8 *)&bad.dispatch :
	     wrong->at & 0x1000 ? (u8 *)&bad.group[0].group : bad.group[0].warp[0];
	memcpy(at + (wrong->at & 0xfff), &wrong->value, wrong->bytes ?: 4);
	bad.group[0].bytes[0] = bytes;
	parted_world(world, &dispatch, &group);
	dispatch.executed = 0;
	flight = state_flight(&group);
	field = state_image_load(&bad, &flight);
	check_that(field && !strcmp(field, wrong->field), "byte %#x is %#x: %s, not %s", wrong->at,
		   wrong->value, field ?: "accepted", wrong->field);
	state_image_free(&bad);
	state_memory_free(&group);
}

static void parted_init(struct state_world *world)
{
	state_world_init(world, 1);
	memcpy(world->image, parted, sizeof(parted));
	world->nr = ARRAY_SIZE(parted);
	world->waits = 0;
	world->mem.over = NULL;
	simt_program_init(world->program, world->nr);
	simt_program_decode(world->program, 0, (const __le32 *)world->image, world->nr);
	simt_program_finish(world->program);
}

/* Each field is refused for what is wrong with it. */
static void test_fields(void **state)
{
	const struct wrong length = { "length", HEAD(live), ODD | EVEN };
	struct state_world world;
	struct simt_dispatch dispatch;
	struct state_flights flight;
	struct simt_group group;
	struct state_image image;
	size_t bytes, whole;
	u32 k;

	parted_init(&world);
	parted_world(&world, &dispatch, &group);
	state_begin(&dispatch, &group);
	while (group.executed < 8)	/* the first of those that the branch left behind */
		assert_int_equal(simt_group_run(&group, 1), SIMT_MORE);
	flight = state_flight(&group);
	state_image_save(&image, &flight);
	state_memory_free(&group);

	parted_world(&world, &dispatch, &group);
	assert_null(state_image_load(&image, &flight));
	state_memory_free(&group);
	whole = image.group[0].bytes[0];
	check_that(whole == RESERVED + 20 * 16, "%zu bytes", whole);
	for (k = 0; k < ARRAY_SIZE(wrongs); k++)
		check_wrong(&world, &image, &wrongs[k], whole);
	for (bytes = 0; bytes < whole; bytes++)
		check_wrong(&world, &image, &length, bytes);
	state_image_free(&image);
	state_world_exit(&world);
}

/* Ids of groups in flight, of a dispatch of 2 x 3 x 4 groups, and what is next. */
static const struct {
	const char *field;
	u32 next[3];
	u32 groups;
	u32 id[3][3];
} ids[] = {
	{ NULL, { 1, 1, 1 }, 1, { { 0, 1, 1 } } },
	{ NULL, { 1, 1, 1 }, 1, { { 0, 0, 0 } } },
	{ NULL, { 1, 1, 1 }, 3, { { 0, 0, 0 }, { 1, 2, 0 }, { 0, 1, 1 } } },
	{ NULL, { 0, 0, 4 }, 3, { { 1, 0, 0 }, { 0, 2, 3 }, { 1, 2, 3 } } },
	{ NULL, { 1, 0, 0 }, 1, { { 0, 0, 0 } } },
	{ "group_id", { 1, 1, 1 }, 1, { { 1, 1, 1 } } },
	{ "group_id", { 1, 1, 1 }, 1, { { 0, 2, 1 } } },
	{ "group_id", { 1, 1, 1 }, 1, { { 0, 0, 2 } } },
	{ "group_id", { 1, 1, 1 }, 1, { { 2, 0, 0 } } },
	{ "group_id", { 1, 1, 1 }, 1, { { 0, 3, 0 } } },
	{ "group_id", { 0, 0, 4 }, 1, { { 0, 0, 4 } } },
	{ "group_id", { 1, 1, 1 }, 2, { { 0, 0, 0 }, { 0, 0, 0 } } },
	{ "group_id", { 1, 1, 1 }, 2, { { 1, 0, 0 }, { 0, 0, 0 } } },
	{ "group_id", { 1, 1, 1 }, 3, { { 1, 0, 0 }, { 0, 1, 0 }, { 1, 0, 0 } } },
	{ "group_id", { 1, 0, 0 }, 2, { { 0, 0, 0 }, { 1, 0, 0 } } },
	{ "groups", { 1, 1, 1 }, 0 },
	{ "groups", { 1, 1, 1 }, SIMT_FLIGHTS + 1 },
	{ "next", { 0, 0, 0 }, 1 },
	{ "next", { 0, 1, 4 }, 1 },
	{ "next", { 0, 0, 5 }, 1 },
};

static const char *load_ids(struct simt_dispatch *dispatch, struct simt_group *group, u32 k)
{
	struct simt_state_dispatch whole = { .groups = htole32(ids[k].groups) };
	struct simt_state_group record = {};
	const char *wrong;
	u32 i, nr = 0;

	for (i = 0; i < 3; i++)
		whole.next[i] = htole32(ids[k].next[i]);
	wrong = simt_state_load_dispatch(dispatch, &whole, &nr);
	for (i = 0; !wrong && i < nr; i++) {
		memcpy(record.group_id, ids[k].id[i], sizeof(record.group_id));
		simt_group_init(&group[i], dispatch);
		wrong = simt_state_load_group(&group[i], i ? &group[i - 1] : NULL, &record);
	}
	return wrong;
}

/* Groups in flight are of those that have begun, each of them once; the next one is handed out. */
static void test_ids(void **state)
{
	const u32 grid[3] = { 40, 3, 4 }, size[3] = { 20, 1, 1 };
	struct state_world world;
	u32 k, i;

	parted_init(&world);
	for (k = 0; k < ARRAY_SIZE(ids); k++) {
		const u32 last = ids[k].next[2] == 4;
		struct simt_dispatch dispatch;
		struct simt_group group[3];
		const char *wrong;

		for (i = 0; i < 3; i++) {
			state_world_dispatch(&world, &dispatch, &group[i]);
			memcpy(dispatch.grid, grid, sizeof(grid));
			memcpy(dispatch.group, size, sizeof(size));
			state_memory(&group[i], &seed);
		}
		wrong = load_ids(&dispatch, group, k);
		check_that(ids[k].field ? wrong && !strcmp(wrong, ids[k].field) : !wrong,
			   "case %u: %s", k, wrong ?: "accepted");
		if (!wrong) {
			assert_int_equal(simt_dispatch_next(&dispatch, &group[0]), !last);
			if (!last)
				assert_memory_equal(group[0].group_id, ids[k].next, 12);
		}
		for (i = 0; i < 3; i++)
			state_memory_free(&group[i]);
	}
	state_world_exit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_ids),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
