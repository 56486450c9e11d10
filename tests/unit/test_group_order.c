// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of a dispatch that wait for each other, as isa.rst allows it, come to an end and leave
 * what they should: where several units execute them, where one does, where one is left, and where
 * they move from one to the other in their midst.
 */
#include "vgpu_test.h"

#include <endian.h>
#include <string.h>

#include "groups.h"
#include "soft/work/flight.h"
#include "soft/work/work.h"
#include "vgpu_world.h"
#include "vgpu_world_guest.h"

#define GROUPS	24u
#define ITEMS	(GROUPS * GROUPS_ITEMS)
#define TURNS	4000	/* the lock takes some hundreds */

/* In the framebuffer, where guest_fill_memory() has nothing. */
#define HEAD	0x300000
#define RING	0x301000
#define IMAGE	0x302000
#define DATA	0x303000	/* on several pages */
#define PAGES	8

/*
 * Who executes them: LEFT: the unit that leads, when others have begun some, too, and do not come
 * any more; DOWN: likewise, after a move; MOVES: one unit or several, from one move to the next.
 */
enum how { SEVERAL, ONE, LEFT, DOWN, MOVES };

/**
 * struct program - a program of groups.h
 * @name:  its name
 * @text:  its instructions
 * @nr:    their number
 * @begin: makes its memory
 * @check: looks at that when the dispatch is over
 */
struct program {
	const char *name;
	const u32 *text;
	u32 nr;
	void (*begin)(void);
	void (*check)(void);
};

static u32 turns, several, moved, waited;

static u64 *word(u32 i)
{
	return world_at(DATA + 8ull * i);
}

static void chain_begin(void)
{
	u32 i;

	for (i = 0; i < GROUPS_ITEMS; i++)
		*word(i) = htole64(1);
}

static void chain_check(void)
{
	u32 i;

	for (i = 0; i < ITEMS + GROUPS_ITEMS; i++)
		assert_int_equal(le64toh(*word(i)), 1 + i / GROUPS_ITEMS);
}

static void lock_begin(void)
{
}

static void lock_check(void)
{
	assert_int_equal(le64toh(*word(0)), 0);
	assert_int_equal(le64toh(*word(1)), ITEMS * GROUPS_ROUNDS);
}

static void seen_check(void)
{
	u32 i;

	for (i = 0; i < ITEMS; i++) {
		assert_int_equal(le64toh(*word(2 * i)), 1);
		assert_in_range(le64toh(*word(2 * i + 1)), 1, 2);
		waited += le64toh(*word(2 * i + 1)) == 2;
	}
}

static const struct program programs[] = {
	{ "chain", groups_chain, ARRAY_SIZE(groups_chain), chain_begin, chain_check },
	{ "lock", groups_lock, ARRAY_SIZE(groups_lock), lock_begin, lock_check },
	{ "seen", groups_seen, ARRAY_SIZE(groups_seen), lock_begin, seen_check },
};

static struct soft_channel *channel(void)
{
	return &world_queues()->channel[0];
}

static void submit(const struct program *program)
{
	struct soft_channel *ch = channel();
	struct vgpu_hw_program *head = world_at(HEAD);
	struct vgpu_hw_packet *packet = world_at(RING);
	u32 i;

	for (i = 0; i < PAGES; i++)
		memset(world_at(DATA + i * PAGE_SIZE), 0, PAGE_SIZE);
	program->begin();
	memcpy(world_at(IMAGE), program->text, program->nr * 4);
	*head = (struct vgpu_hw_program) {
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC), .image = htole64(IMAGE),
		.image_bytes = htole32(program->nr * 4), .text_bytes = htole32(program->nr * 4),
	};
	*packet = (struct vgpu_hw_packet) {
		.type = VGPU_HW_PKT_DISPATCH, .dst = htole64(HEAD), .src = htole64(DATA),
		.grid = { htole32(ITEMS), htole32(1), htole32(1) },
		.group = { htole16(GROUPS_ITEMS), htole16(1), htole16(1) },
	};
	mutex_lock(&ch->queues->config_lock);
	ch->root = 0;
	ch->ring = RING;
	soft_channel_write_ctrl(ch, VGPU_HW_CTRL_ENABLE | 4 << VGPU_HW_CTRL_ORDER_SHIFT);
	mutex_unlock(&ch->queues->config_lock);
	ch->hw->put = htole64(1);
	soft_channel_doorbell(ch);
}

static u32 in_flight(void)
{
	const struct soft_context *context = soft_context(channel());
	const struct soft_flight *flight;
	u32 nr = 0;

	if (!context || !context->program)
		return 0;
	list_for_each_entry(flight, &context->flights.all, all)
		nr += flight->begun;
	return nr;
}

/* Beside the one that leads. */
static unsigned int *units(void)
{
	return &world_queues()->engine[0].team.nr;
}

/* To a GPU with so many units beside the one that leads. What is in memory moves, too. */
static void move(u32 helpers)
{
	struct vgpu_records records = {};
	struct vgpu_record_reader from;
	u32 nr = in_flight();

	vgpu_world_save(&records);
	assert_int_equal(vgpu_world_load(records.data, records.bytes, &from), 0);
	vgpu_records_free(&records);
	assert_int_equal(in_flight(), nr);
	moved += nr > 1 && !helpers;
	*units() = helpers;
}

/* Between two turns. @all: units beside the one that leads */
static void change(enum how how, u32 all, u64 *seed)
{
	several += in_flight() > 1;
	if (how == LEFT && in_flight() > 1)
		*units() = 0;
	else if (how == DOWN && in_flight() > 1 && *units())
		move(0);
	else if (how == MOVES && random_one_in(seed, 3))
		move(random_one_in(seed, 2) ? all : 0);
}

static void check_program(const struct program *program, enum how how, u64 seed)
{
	struct soft_channel *ch;
	u32 all, turn;

	vgpu_world_open(seed);
	ch = channel();
	all = *units();
	if (how == ONE)
		*units() = 0;
	submit(program);
	for (turn = 0; turn < TURNS && ch->get != 1; turn++) {
		vgpu_world_run(1 + random_next(&seed) % 3);
		check_that(ch->state != VGPU_HW_STATE_FAULTED, "%s has faulted", program->name);
		check_that(how != ONE || in_flight() <= 1, "%u in flight", in_flight());
		change(how, all, &seed);
	}
	check_that(ch->get == 1, "%s, how %u: %u groups are in flight for ever", program->name, how,
		   in_flight());
	turns = max(turns, turn);
	program->check();
	vgpu_world_close();
}

static void check_all(enum how how)
{
	u64 seed = test_seed();
	u32 i, k;

	turns = 0;
	several = 0;
	moved = 0;
	waited = 0;
	for (i = 0; i < ARRAY_SIZE(programs); i++)
		for (k = 0; k < 4; k++)
			check_program(&programs[i], how, random_next(&seed));
	printf("# %u turns at most, %u with several in flight\n", turns, several);
	printf("# %u moves of several to one unit, %u have waited\n", moved, waited);
}

static void test_several(void **state)
{
	check_all(SEVERAL);
	check_that(several > 20 && waited > 20, "%u, %u", several, waited);
}

static void test_one(void **state)
{
	check_all(ONE);
}

static void test_left(void **state)
{
	check_all(LEFT);
	check_that(several > 20, "%u", several);
}

static void test_down(void **state)
{
	check_all(DOWN);
	check_that(several > 20 && moved > 5, "%u, %u", several, moved);
}

static void test_moves(void **state)
{
	check_all(MOVES);
	check_that(several > 20 && moved > 5 && waited > 5, "%u, %u, %u", several, moved, waited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
