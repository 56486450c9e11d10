// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a dispatch (state.h). Random programs, with up to four groups in flight, that are
 * moved at every stop, to a random interpreter and into memory full of garbage, do at every stop
 * what they do where they began, bit for bit.
 */
#include "vgpu_test.h"

#include "flights.h"

#define PROGRAMS	250
#define STOPS		60

static u64 seed;

/* What can be seen of a run; @most: of groups in flight. */
struct seen {
	struct state_image images[STOPS];
	int nr;
	u32 most;
	enum simt_end end;
	struct simt_fault fault;
	u64 executed;
	u8 fb[WORLD_PAGES][VGPU_HW_PAGE_SIZE];
};

static void move(struct flights *flights, struct state_moves *moves)
{
	struct state_flights in = flights_begun(flights);
	u32 i;

	state_move(&in, moves);
	for (i = 0; i < flights->nr; i++)
		if (!(flights->begun >> i & 1))
			simt_group_init(&flights->group[i], &flights->dispatch);
}

static void look(struct flights *flights, struct state_image *image)
{
	struct state_flights in = flights_begun(flights);
	u32 i;

	state_image_save(image, &in);
	/* The next group finds there what its warps have left, or 0: no defined content. */
	for (i = 0; i < image->nr; i++)
		image->group[i].private_bytes = 0;
}

/* Runs a program with @nr groups in flight and the budgets of @random; moves it if @moves. */
static void run(struct state_world *world, u32 nr, u64 random, struct state_moves *moves,
		struct seen *seen)
{
	const struct simt_isa *isa = flights_isa(&seed);
	u64 most = random_range(&random, 1, 40);
	struct simt_group *group = NULL;
	struct flights flights;
	int i;

	flights_begin(&flights, world, nr, &seed);
	seen->nr = 0;
	seen->end = SIMT_MORE;
	seen->most = 0;
	while (flights_go_on(seen->end) && seen->nr < STOPS) {
		group = flights_some(&flights, &random);
		if (!group) {
			seen->end = SIMT_DONE;
			break;
		}
		look(&flights, &seen->images[seen->nr]);
		seen->most = max(seen->most, seen->images[seen->nr++].nr);
		if (moves) {
			move(&flights, moves);
			isa = flights_isa(&seed);
		}
		group->isa = isa;
		seen->end = flights_run(&flights, group, random_range(&random, 1, most));
	}
	if (group)
		seen->fault = group->fault;
	seen->executed = flights_begun(&flights).executed;
	for (i = 0; i < WORLD_PAGES; i++)
		memcpy(seen->fb[i], world->fb[i], VGPU_HW_PAGE_SIZE);
	flights_end(&flights);
}

static void forget(struct seen *seen)
{
	while (seen->nr)
		state_image_free(&seen->images[--seen->nr]);
}

static void test_moved(void **state)
{
	struct state_moves moves = { .seed = seed };
	int ends[4] = {}, in_flight[STATE_GROUPS + 1] = {}, n, i;
	static struct seen want, got;

	for (n = 0; n < PROGRAMS; n++) {
		u64 program = random_next(&seed), budgets = random_next(&seed);
		u32 nr = 1 + n % STATE_GROUPS;
		struct state_world world;

		state_world_init(&world, program);
		run(&world, nr, budgets, NULL, &want);
		run(&world, nr, budgets, &moves, &got);
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
		in_flight[want.most]++;
		forget(&want);
		forget(&got);
		state_world_exit(&world);
	}
	state_moves_print(&moves, "random programs");
	printf("# %d programs ended, %d went on, %d faulted, %d waited\n", ends[SIMT_DONE],
	       ends[SIMT_MORE], ends[SIMT_FAULT], ends[SIMT_WAIT]);
	printf("# at most 1 to %d groups were in flight in %d, %d, %d, %d\n", STATE_GROUPS,
	       in_flight[1], in_flight[2], in_flight[3], in_flight[4]);
	/* The programs are worth something. */
	assert_true(ends[SIMT_DONE] > PROGRAMS / 10 && moves.warps > 20 * PROGRAMS);
	assert_true(in_flight[2] > 10 && in_flight[3] > 10 && in_flight[4] > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
