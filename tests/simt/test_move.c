// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a dispatch (state.h). Random programs that are moved at every stop, to a random
 * interpreter and into memory full of garbage, do at every stop what they do where they began, bit
 * for bit. A state with a wrong field is refused, or runs within its memory and its budget.
 */
#include "vgpu_test.h"

#include "rv.h"
#include "simt_host.h"
#include "state_image.h"
#include "state_world.h"

#define PROGRAMS	250
#define STOPS		60
#define FLIPPED		120	/* programs whose states are flipped */
#define FLIPS		60	/* states made of one of theirs */
#define WORDS		8	/* programs whose states have other words */

static u64 seed;

static const struct simt_isa *random_isa(void)
{
	const struct simt_isa *isa;

	do {
		isa = simt_host_isa(random_range(&seed, 0, 2));
	} while (!isa);
	return isa;
}

/* What can be seen of a run. */
struct seen {
	struct state_image images[STOPS];
	int nr;
	enum simt_end end;
	struct simt_fault fault;
	u64 executed;
	u8 fb[WORLD_PAGES][VGPU_HW_PAGE_SIZE];
};

/* Local and private memory have no defined content, so both runs get the same one. */
static void begin(struct state_world *world, struct simt_dispatch *dispatch,
		  struct simt_group *group)
{
	u64 garbage = random_next(&seed);

	state_world_dispatch(world, dispatch, group);
	/* When lanes begin to run alone is not part of the state. */
	dispatch->alone = U32_MAX;
	state_memory(group, &garbage);
	memset(group->local, 0x11, dispatch->local_bytes);
	memset(group->private, 0x22,
	       simt_private_bytes(dispatch->group, dispatch->private_bytes));
	state_begin(dispatch, group);
}

static bool goes_on(enum simt_end end)
{
	return end == SIMT_MORE || end == SIMT_WAIT;
}

/* Runs a program with the budgets of @budgets, and moves it if there are @moves. */
static void run(struct state_world *world, u64 budgets, struct state_moves *moves,
		struct seen *seen)
{
	const struct simt_isa *isa = random_isa();
	u64 most = random_range(&budgets, 1, 40);
	struct simt_dispatch dispatch;
	struct simt_group group;
	int i;

	begin(world, &dispatch, &group);
	seen->nr = 0;
	do {
		state_image_save(&seen->images[seen->nr], &group);
		/* The next group finds there what its warps have left, or 0: no defined content. */
		seen->images[seen->nr++].private_bytes = 0;
		if (moves) {
			state_move(&group, moves);
			isa = random_isa();
		}
		group.isa = isa;
		simt_tlb_flush(&world->tlb);
		seen->end = simt_group_run(&group, random_range(&budgets, 1, most));
	} while (goes_on(seen->end) && seen->nr < STOPS);
	seen->fault = group.fault;
	seen->executed = state_executed(&group);
	for (i = 0; i < WORLD_PAGES; i++)
		memcpy(seen->fb[i], world->fb[i], VGPU_HW_PAGE_SIZE);
	state_memory_free(&group);
}

static void forget(struct seen *seen)
{
	while (seen->nr)
		state_image_free(&seen->images[--seen->nr]);
}

static void test_moved(void **state)
{
	struct state_moves moves = { .seed = seed };
	static struct seen want, got;
	int ends[4] = {}, n, i;

	for (n = 0; n < PROGRAMS; n++) {
		u64 program = random_next(&seed), budgets = random_next(&seed);
		struct state_world world;

		state_world_init(&world, program);
		run(&world, budgets, NULL, &want);
		run(&world, budgets, &moves, &got);
		for (i = 0; i < want.nr && i < got.nr; i++) {
			if (state_image_same(&want.images[i], &got.images[i]))
				continue;
			state_image_print(&want.images[i], &got.images[i]);
			check_that(false, "program %#llx: another state at stop %d",
				   (unsigned long long)program, i);
		}
		check_that(want.nr == got.nr && want.end == got.end &&
			   want.executed == got.executed,
			   "program %#llx: %d stops, end %d, %llu instructions, not %d, %d, %llu",
			   (unsigned long long)program, got.nr, got.end,
			   (unsigned long long)got.executed, want.nr, want.end,
			   (unsigned long long)want.executed);
		check_that(!memcmp(want.fb, got.fb, sizeof(want.fb)),
			   "program %#llx: other memory", (unsigned long long)program);
		if (want.end == SIMT_FAULT)
			assert_memory_equal(&want.fault, &got.fault, sizeof(want.fault));
		ends[want.end]++;
		forget(&want);
		forget(&got);
		state_world_exit(&world);
	}
	state_moves_print(&moves, "random programs");
	printf("# %d programs ended, %d went on, %d faulted, %d waited\n", ends[SIMT_DONE],
	       ends[SIMT_MORE], ends[SIMT_FAULT], ends[SIMT_WAIT]);
	/* The programs are worth something. */
	assert_true(ends[SIMT_DONE] > PROGRAMS / 10 && moves.warps > 20 * PROGRAMS);
}

/* What was loaded into the group is what would be saved. */
static void check_kept(const struct state_world *world, const struct state_image *image,
		       const struct simt_group *group)
{
	struct state_image was, is;

	state_image_copy(&was, image);
	/* A bit that was flipped may have ended a lane that has private memory. */
	state_image_forget_ended(&was, group);
	state_image_save(&is, group);
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
	struct simt_dispatch dispatch;
	struct simt_group group;
	u64 executed;
	const char *wrong;
	int i;

	state_world_dispatch(world, &dispatch, &group);
	state_memory(&group, &seed);
	wrong = state_image_load(image, &group);
	if (!wrong) {
		check_kept(world, image, &group);
		executed = group.executed;
		group.isa = random_isa();
		for (i = 0; i < 8 && goes_on(simt_group_run(&group, 40)); i++)
			simt_tlb_flush(&world->tlb);
		check_that(group.executed - executed <= 8 * 40,
			   "program %#llx: %llu instructions", (unsigned long long)world->seed,
			   (unsigned long long)(group.executed - executed));
	}
	state_memory_free(&group);
	return wrong;
}

/* Stops a program somewhere. Returns false if it had ended by then. */
static bool stop(struct state_world *world, struct state_image *image, int stops, u32 budget)
{
	struct simt_dispatch dispatch;
	struct simt_group group;
	enum simt_end end = SIMT_MORE;

	begin(world, &dispatch, &group);
	for (; stops && goes_on(end); stops--) {
		end = simt_group_run(&group, budget);
		simt_tlb_flush(&world->tlb);
	}
	if (goes_on(end))
		state_image_save(image, &group);
	state_memory_free(&group);
	return goes_on(end);
}

/* The record with the byte at @at of all, private and local memory left out. */
static u8 *byte_of(struct state_image *image, size_t at)
{
	u32 i;

	if (at < sizeof(image->dispatch))
		return (u8 *)&image->dispatch + at;
	at -= sizeof(image->dispatch);
	if (at < sizeof(image->group))
		return (u8 *)&image->group + at;
	at -= sizeof(image->group);
	for (i = 0; at >= image->bytes[i]; i++)
		at -= image->bytes[i];
	return image->warp[i] + at;
}

static size_t all_bytes(const struct state_image *image)
{
	size_t n = sizeof(image->dispatch) + sizeof(image->group);
	u32 i;

	for (i = 0; i < image->nr; i++)
		n += image->bytes[i];
	return n;
}

/* Half of the flips are in what is before the registers. */
static size_t random_byte(const struct state_image *image)
{
	size_t head = sizeof(image->dispatch) + sizeof(image->group) +
		      sizeof(struct simt_state_warp);

	return random_range(&seed, 0, (random_next(&seed) & 1 ? head : all_bytes(image)) - 1);
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
		end = sizeof(image.dispatch) + sizeof(image.group) + sizeof(struct simt_state_warp);
		for (at = 0; at < end; at += 4) {
			const u32 words[] = {
				0, 1, ~0U, ~0U - 1, S32_MAX, 1U << 31, 0x40000000, 0x40000001,
				world.nr - 1, world.nr, world.nr + 1, image.nr, 1U << image.nr,
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
	{ "zero", GROUP(zero), 1 },
	{ "next", WHOLE(next[0]), 0 },
	{ "next", WHOLE(next[0]), 2 },
	{ "next", WHOLE(next[1]), 1 },
	{ "next", WHOLE(next[2]), 2 },
	{ "next", WHOLE(next[2]), 1 },
	{ "groups", WHOLE(groups), 0 },
	{ "groups", WHOLE(groups), 2 },
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
	struct simt_group group;
	struct state_image bad;
	const char *field;
	u8 *at;

	state_image_copy(&bad, image);
	at = wrong->at & 0x2000 ? (u8 *)&bad.dispatch : wrong->at & 0x1000 ? (u8 *)&bad.group :
							bad.warp[0];
	memcpy(at + (wrong->at & 0xfff), &wrong->value, wrong->bytes ?: 4);
	bad.bytes[0] = bytes;
	parted_world(world, &dispatch, &group);
	field = state_image_load(&bad, &group);
	check_that(field && !strcmp(field, wrong->field), "byte %#x is %#x: %s, not %s", wrong->at,
		   wrong->value, field ?: "accepted", wrong->field);
	bad.bytes[0] = image->bytes[0];
	state_image_free(&bad);
	state_memory_free(&group);
}

/* Each field is refused for what is wrong with it. */
static void test_fields(void **state)
{
	const struct wrong length = { "length", HEAD(live), ODD | EVEN };
	struct state_world world;
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct state_image image;
	size_t bytes;
	u32 k;

	state_world_init(&world, 1);
	memcpy(world.image, parted, sizeof(parted));
	world.nr = ARRAY_SIZE(parted);
	world.waits = 0;
	world.mem.over = NULL;
	simt_program_init(world.program, world.nr);
	simt_program_decode(world.program, 0, (const __le32 *)world.image, world.nr);
	simt_program_finish(world.program);
	parted_world(&world, &dispatch, &group);
	state_begin(&dispatch, &group);
	while (group.executed < 8)	/* the first of those that the branch left behind */
		assert_int_equal(simt_group_run(&group, 1), SIMT_MORE);
	state_image_save(&image, &group);
	state_memory_free(&group);

	parted_world(&world, &dispatch, &group);
	assert_null(state_image_load(&image, &group));
	state_memory_free(&group);
	check_that(image.bytes[0] == RESERVED + 20 * 16, "%zu bytes", image.bytes[0]);
	for (k = 0; k < ARRAY_SIZE(wrongs); k++)
		check_wrong(&world, &image, &wrongs[k], image.bytes[0]);
	for (bytes = 0; bytes < image.bytes[0]; bytes++)
		check_wrong(&world, &image, &length, bytes);
	state_image_free(&image);
	state_world_exit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_fields),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
