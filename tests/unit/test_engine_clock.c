// SPDX-License-Identifier: GPL-2.0
/*
 * How long an engine works without a look at the clock, where all that it touches is in no cache:
 * not much longer than 50 us, whatever its packets are, as its neighbours wait for so long.
 */
#include "vgpu_test.h"

#include <endian.h>

#include "engine_world.h"
#include "soft/memory/walk.h"

#define STOP_NS		(50 * US)
#define MIB		(1ull << 20)
#define GIB		(1ull << 30)

/* Rows at this distance are in regions that share one place in the engine's TLB. */
#define PITCH		(SOFT_TLB << SOFT_WALK_REGION_SHIFT)
#define ROWS		512u

/* Virtual addresses; and offsets in the framebuffer, behind all tables. */
#define DST_VA		(32 * GIB)
#define SRC_VA		(64 * GIB)
#define RING_VA		(96 * GIB + 2 * MIB)
#define DST		(256 * MIB)
#define SRC		(257 * MIB)
#define RING		(258 * MIB)
#define FRESH		(512 * MIB)

static int setup(void **state)
{
	world_open();
	return 0;
}

static int teardown(void **state)
{
	world_close();
	return 0;
}

/* @step_ns: how long the longest step of a packet takes, at whose end the engine looks. */
static void check_gap(const char *what, u64 step_ns)
{
	printf("# %s: %llu looks, %llu ns at most without one\n", what,
	       (unsigned long long)world.looks, (unsigned long long)world.gap_ns);
	check_that(world.looks && world.gap_ns <= STOP_NS + step_ns, "%llu ns",
		   (unsigned long long)world.gap_ns);
}

/* Two surfaces with a row in each table of the last level. */
static struct soft_move_operands far_rows(void)
{
	u32 row;

	world.ch->space = ROOT;
	world_page(DST);
	world_page(SRC);
	for (row = 0; row < ROWS; row++) {
		world_map(DST_VA + (u64)row * PITCH, DST, 0);
		world_map(SRC_VA + (u64)row * PITCH, SRC, 0);
	}
	return (struct soft_move_operands) {
		.dst = DST_VA, .dst_pitch = PITCH, .src = SRC_VA, .src_pitch = PITCH,
		.width = 4, .rows = ROWS, .value = 0x12345678,
	};
}

static void copies_of_short_rows(void **state)
{
	struct soft_move_operands op = far_rows();

	assert_int_equal(world_execute(&op, soft_move_copy), SOFT_END_PACKET);
	check_gap("rows that are copied", 3 * US);
}

static void fills_of_short_rows(void **state)
{
	struct soft_move_operands op = far_rows();

	assert_int_equal(world_execute(&op, soft_move_fill), SOFT_END_PACKET);
	check_gap("rows that are filled", 3 * US);
}

/* Likewise where there is no page table, but no row is in a cache. */
static void copies_without_a_root(void **state)
{
	struct soft_move_operands op = far_rows();
	u32 row;

	world.ch->space = 0;
	op.dst = DST;
	op.src = FRESH;
	op.dst_pitch = PAGE;
	op.src_pitch = PAGE;
	for (row = 0; row < ROWS; row++) {
		world_page(DST + row * PAGE);
		world_page(FRESH + row * PAGE);
	}
	assert_int_equal(world_execute(&op, soft_move_copy), SOFT_END_PACKET);
	check_gap("rows without a root", 3 * US);
}

/* Requests to guest memory are made of new pages, one after the other. */
static void new_pages_of_requests(void **state)
{
	struct soft_move_operands op = {
		.dst = FRESH, .src_sys = true, .width = 8 * MIB, .rows = 1,
	};

	assert_int_equal(world_execute(&op, soft_move_copy), SOFT_END_PACKET);
	check_gap("requests", FRESH_NS + 3 * US);
}

/* A FILL of guest memory makes its pattern first, up to 64 KiB of it, at first in new pages. */
static void patterns_of_requests(void **state)
{
	struct soft_move_operands op = {
		.dst_sys = true, .width = 64 * 1024, .rows = 1, .value = 1,
	};
	u32 i;

	for (i = 0; i < 100; i++)
		assert_int_equal(world_execute(&op, soft_move_fill), SOFT_END_PACKET);
	check_gap("patterns", 25 * US);
}

static void signals_in_new_pages(void **state)
{
	struct vgpu_hw_packet *ring = world_page(RING);
	u32 i;

	world_map(RING_VA, RING, 0);
	for (i = 0; i < 64; i++) {
		world_map(DST_VA + (u64)i * PITCH, FRESH + i * PAGE, 0);
		ring[i] = (struct vgpu_hw_packet) {
			.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL,
			.signal_addr = htole64(DST_VA + (u64)i * PITCH),
			.signal_value = htole64(i + 1),
		};
	}
	world.ch->space = ROOT;
	world.ch->ring_addr = RING_VA;
	world.ch->ring_mask = 63;
	world.hw.put = htole64(64);
	assert_int_equal(world_run(64), SOFT_END_PACKET);
	for (i = 0; i < 64; i++)
		assert_int_equal(*(u64 *)world_page(FRESH + i * PAGE), htole64(i + 1));
	check_gap("signals", 5 * US);
}

static void presents(void **state)
{
	struct soft_present_operands op = {
		.va = DST_VA,
		.surface = { .width = 2048, .height = 2048, .pitch = 8192 },
	};
	u64 at;

	world.ch->space = ROOT;
	for (at = 0; at < 16 * MIB; at += PAGE)
		world_map(DST_VA + at, DST + at, 0);
	assert_int_equal(world_execute(&op, soft_present), SOFT_END_PACKET);
	assert_int_equal(world.inst->work.screen.surface.offset, DST);
	check_gap("a surface", 1 * US);
}

/* Programs of many channels that fault one after the other: each has run until then. */
static void programs_that_fault(void **state)
{
	struct soft_dispatch_operands op = {};
	static struct soft_program program;
	static struct soft_context context;
	u32 i;

	for (i = 0; i < 100; i++) {
		world_dispatch(&context, &program);
		assert_int_equal(world_execute(&op, soft_dispatch), SOFT_END_FAULT);
	}
	check_gap("programs", SECTION_NS);
}

static enum simt_end section_of_20_ms(struct simt_group *group)
{
	world.now_ns += 20 * MS;
	return SIMT_DONE;
}

/*
 * Of the time between two looks at the clock 1 ms is engine time. A section takes less; one that
 * was longer was interrupted by the host.
 */
static void engine_time(void **state)
{
	struct soft_dispatch_operands op = {};
	static struct soft_program program;
	static struct soft_context context;
	u64 ran_ns;

	world_dispatch(&context, &program);
	world.program = section_of_20_ms;
	soft_stop_clock(world.unit);
	ran_ns = world.unit->ran_ns;
	assert_int_equal(world_execute(&op, soft_dispatch), SOFT_END_PACKET);
	soft_stop_clock(world.unit);
	ran_ns = world.unit->ran_ns - ran_ns;
	check_that(ran_ns >= MS && ran_ns <= MS + 10 * US, "%llu ns", (unsigned long long)ran_ns);

	ran_ns = world.unit->ran_ns;
	world.now_ns += 20 * MS;
	soft_stop_clock(world.unit);
	assert_int_equal(world.unit->ran_ns - ran_ns, MS);
}

/* What is moved page by page costs the engine no more looks than one in 32 KiB. */
static void few_looks_for_whole_pages(void **state)
{
	struct soft_move_operands op = {
		.dst = DST_VA, .src = SRC_VA + 2 * MIB, .width = 16 * MIB, .rows = 1,
	};
	u64 at;

	world.ch->space = ROOT;
	world_page(DST);
	world_page(SRC);
	for (at = 0; at < op.width; at += PAGE) {
		world_map(op.dst + at, DST, 0);
		world_map(op.src + at, SRC, 0);
	}
	assert_int_equal(world_execute(&op, soft_move_copy), SOFT_END_PACKET);
	check_gap("whole pages", 3 * US);
	check_that(world.looks <= op.width / 32768, "%llu looks",
		   (unsigned long long)world.looks);
}

/* An engine leaves a packet when its slot is over, and has stopped before another's slot begins. */
static void leaves_with_the_slot(void **state)
{
	struct soft_move_operands op = {
		.dst = DST, .src = FRESH, .width = 16 * MIB, .rows = 1,
	};
	u64 at, real_ns;
	u32 slot;

	for (at = 0; at < op.width; at += PAGE) {
		world_page(op.dst + at);
		world_page(op.src + at);
	}
	for (slot = 0; slot < VGPU_SLOTS; slot++) {
		vgpu_clock_slots(&world.engine->clock, slot, 1);
		world.now_ns = 100 * (u64)VGPU_SLOTS_PERIOD_NS + slot * (u64)VGPU_SLOT_NS + MS;
		soft_stop_resume(world.unit);
		assert_false(world.unit->rests);
		assert_int_equal(world_execute(&op, soft_move_copy), SOFT_END_STOPPED);
		assert_true(world.unit->rests && !world.unit->expired);
		real_ns = world.now_ns % VGPU_SLOTS_PERIOD_NS;
		check_that(real_ns >= (slot + 1) * VGPU_SLOT_NS - VGPU_SLOT_STOP_NS &&
			   real_ns <= (slot + 1) * VGPU_SLOT_NS, "%u: %llu", slot, real_ns);
		/* No time passes for the run until its next slot. */
		assert_int_equal(world.unit->now_ns, 101 * world.engine->clock.length_ns);
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(copies_of_short_rows),
		TEST(fills_of_short_rows),
		TEST(copies_without_a_root),
		TEST(new_pages_of_requests),
		TEST(patterns_of_requests),
		TEST(signals_in_new_pages),
		TEST(presents),
		TEST(programs_that_fault),
		TEST(engine_time),
		TEST(few_looks_for_whole_pages),
		TEST(leaves_with_the_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
