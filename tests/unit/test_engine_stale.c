// SPDX-License-Identifier: GPL-2.0
/*
 * No translation is used after the engine has seen an invalidation, wherever in a packet it sees
 * one. Each packet is executed again and again, and at one place more of it each time the page
 * tables change: what was mapped is spoilt, and must neither be read nor written from then on.
 */
#include "vgpu_test.h"

#include <endian.h>

#include "engine_world.h"

#define MIB		(1ull << 20)
#define PAGES		3

/* What the guest maps; what is there before and after the change, also guest physical. */
#define DST_VA		(VGPU_HW_VA_GLOBAL + 8 * MIB)
#define SRC_VA		(16 * MIB)
#define RING_VA		(24 * MIB)
#define OLD		(256 * MIB)
#define NEW		(512 * MIB)
#define DST		(0 * MIB)
#define SRC		(1 * MIB)
#define RING		(2 * MIB)

#define GOOD		0x5a
#define SPOILT		0xee
#define EVENTS		1000

static struct {
	u64 base;
	u64 src_flags;
	u64 dst_flags;
	bool src_new;
	bool dst_new;
	bool changed;
	u8 *tlb[PAGES];
	u32 flushes;
	u32 next;
} guest;

static void map(u64 base)
{
	u64 at;

	guest.base = base;
	world_unmap();
	for (at = 0; at < PAGES * PAGE; at += PAGE) {
		world_map(DST_VA + at, base + DST + at, guest.dst_flags);
		world_map(SRC_VA + at, base + SRC + at, guest.src_flags);
	}
	world_map(RING_VA, base + RING, 0);
}

static void fill_ring(u64 base)
{
	struct vgpu_hw_packet *ring = world_page(base + RING);
	u32 i;

	for (i = 0; i < PAGES; i++)
		ring[i] = (struct vgpu_hw_packet) {
			.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL,
			.signal_addr = htole64(DST_VA + i * PAGE),
			.signal_value = htole64(GOOD),
		};
}

static void spoil(u64 at)
{
	memset(world_page(at), SPOILT, PAGE);
}

/* The guest has mapped other pages, and uses the old ones for something else. */
static void change(void)
{
	u64 at;

	guest.changed = true;
	map(NEW);
	for (at = 0; at < PAGES * PAGE; at += PAGE) {
		spoil(OLD + DST + at);
		spoil(OLD + SRC + at);
	}
	spoil(OLD + RING);
}

static void transfer(struct vgpu_dma *dma)
{
	u64 from = guest.base + (dma->write ? DST : SRC);
	u32 i, k;

	check_that(dma->addr >= from && dma->addr + dma->len <= from + PAGES * PAGE,
		   "a request to %#llx", (unsigned long long)dma->addr);
	for (i = 0; i < dma->nr_vec; i++) {
		u8 *bytes = page_address(dma->vec[i].bv_page);

		bytes += dma->vec[i].bv_offset;
		for (k = 0; dma->write && k < dma->vec[i].bv_len; k++)
			assert_int_not_equal(bytes[k], SPOILT);
		if (!dma->write)
			memset(bytes, GOOD, dma->vec[i].bv_len);
	}
}

static bool all_spoilt(u64 at)
{
	const u8 *bytes = world_page(at);
	u32 i;

	for (i = 0; i < PAGE; i++)
		if (bytes[i] != SPOILT)
			return false;
	return true;
}

static void begin(u64 events)
{
	u64 at;

	world_open();
	memset(&guest.tlb, 0, sizeof(guest.tlb));
	guest.next = 0;
	guest.flushes = 0;
	guest.changed = false;
	world.ch->space = ROOT;
	world.transfer = transfer;
	map(OLD);
	for (at = 0; at < PAGES * PAGE; at += PAGE) {
		if (!guest.src_new) {
			memset(world_page(OLD + SRC + at), GOOD, PAGE);
			memset(world_page(NEW + SRC + at), GOOD, PAGE);
		}
		if (!guest.dst_new) {
			world_page(OLD + DST + at);
			world_page(NEW + DST + at);
		}
	}
	fill_ring(OLD);
	fill_ring(NEW);
	world.event = change;
	world.events = events;
}

/* Returns false if the change came when all was done: there is no place left to try. */
static bool end(enum soft_end end)
{
	bool changed = guest.changed;
	u64 at;

	check_that(end == SOFT_END_PACKET, "end %u, fault %u at %#llx", end, world.fault.code,
		   (unsigned long long)world.fault.addr);
	for (at = 0; changed && at < PAGES * PAGE; at += PAGE) {
		const u8 *bytes = world_page(NEW + DST + at);
		u32 i;

		assert_true(all_spoilt(OLD + DST + at));
		for (i = 0; i < PAGE; i++)
			assert_true(bytes[i] == GOOD || !bytes[i]);
	}
	world_close();
	return changed;
}

/* Executes the packet with the change at each place of it. */
static void try_packet(const struct soft_move_operands *op, void *execute)
{
	u64 events = 0;

	do {
		begin(++events);
	} while (end(world_execute(op, execute)) && events < EVENTS);
	printf("# %llu places\n", (unsigned long long)events - 1);
	assert_true(events > 2 && events < EVENTS);
}

/* Rows that begin and end in the middle of pages. */
static const struct soft_move_operands rows = {
	.dst = DST_VA + 64, .src = SRC_VA + 128, .width = 2 * PAGE, .rows = 2,
	.dst_pitch = PAGE / 2, .src_pitch = PAGE / 2, .value = GOOD * 0x01010101u,
};

/* What is in guest memory, and what has no pages yet. */
static void set_guest(bool dst_sys, bool src_sys, bool dst_new, bool src_new)
{
	guest.dst_flags = dst_sys ? VGPU_HW_PTE_SYS : 0;
	guest.src_flags = src_sys ? VGPU_HW_PTE_SYS : 0;
	guest.dst_new = dst_new;
	guest.src_new = src_new;
}

static void copies(void **state)
{
	set_guest(false, false, false, false);
	try_packet(&rows, soft_move_copy);
}

static void copies_of_new_pages(void **state)
{
	set_guest(false, false, true, false);
	try_packet(&rows, soft_move_copy);
	set_guest(false, false, false, true);
	try_packet(&rows, soft_move_copy);
}

static void copies_from_guest_memory(void **state)
{
	set_guest(false, true, false, false);
	try_packet(&rows, soft_move_copy);
	set_guest(false, true, true, false);
	try_packet(&rows, soft_move_copy);
}

static void copies_to_guest_memory(void **state)
{
	set_guest(true, false, false, false);
	try_packet(&rows, soft_move_copy);
}

static void copies_in_guest_memory(void **state)
{
	set_guest(true, true, false, false);
	try_packet(&rows, soft_move_copy);
}

static void fills(void **state)
{
	struct soft_move_operands zero = rows;

	zero.value = 0;
	set_guest(false, false, false, false);
	try_packet(&rows, soft_move_fill);
	try_packet(&zero, soft_move_fill);
	set_guest(false, false, true, false);
	try_packet(&rows, soft_move_fill);
}

static void fills_of_guest_memory(void **state)
{
	set_guest(true, false, false, false);
	try_packet(&rows, soft_move_fill);
}

static void rings_and_signals(void **state)
{
	u64 events, new;

	for (new = 0; new < 2; new++) {
		set_guest(false, false, new, false);
		events = 0;
		do {
			begin(++events);
			world.ch->ring_addr = RING_VA;
			world.ch->ring_mask = 63;
			world.hw.put = htole64(PAGES);
		} while (end(world_run(PAGES)) && events < EVENTS);
		assert_true(events > 2 && events < EVENTS);
	}
}

static void presents(void **state)
{
	const struct soft_present_operands op = {
		.va = DST_VA, .surface = { .width = 512, .height = PAGES * 2, .pitch = 2048 },
	};
	bool changed;
	u64 events = 0;

	set_guest(false, false, false, false);
	do {
		begin(++events);
		assert_int_equal(world_execute(&op, soft_present), SOFT_END_PACKET);
		assert_int_equal(world.inst->work.screen.surface.offset, guest.base + DST);
		changed = guest.changed;
		world_close();
	} while (changed && events < EVENTS);
	assert_true(events > 2 && events < EVENTS);
}

/* Stores to all pages, and to those that it has in its TLB again and again. */
static enum simt_end store_all(struct simt_group *group)
{
	enum vgpu_hw_fault code;
	enum simt_end end;
	void *page;
	bool keep;
	u32 i;

	if (guest.flushes != world.flushes)
		memset(&guest.tlb, 0, sizeof(guest.tlb));
	guest.flushes = world.flushes;
	for (; guest.next < 2 * PAGES; guest.next++) {
		i = guest.next % PAGES;
		if (!guest.tlb[i]) {
			end = group->mem->map(group->mem, DST_VA + i * PAGE, true, &page, &keep,
					      &code);
			if (end != SIMT_DONE)
				return end;
			guest.tlb[i] = page;
		}
		for (i = 0; i < PAGES; i++)
			if (guest.tlb[i])
				memset(guest.tlb[i], GOOD, PAGE);
	}
	return SIMT_DONE;
}

static void programs(void **state)
{
	const struct soft_dispatch_operands op = {};
	static struct soft_program program;
	static struct soft_context context;
	u64 events, new;

	for (new = 0; new < 2; new++) {
		set_guest(false, false, new, false);
		events = 0;
		do {
			begin(++events);
			world.program = store_all;
			world_dispatch(&context, &program);
		} while (end(world_execute(&op, soft_dispatch)) && events < EVENTS);
		assert_true(events > 2 && events < EVENTS);
	}
}

/* How often the TLB of programs was flushed for a section of the dispatch with that number. */
static u32 flushes_of(struct soft_context *context, struct soft_program *program, u64 serial)
{
	const struct soft_dispatch_operands op = {};
	u32 before = world.flushes;

	world_dispatch(context, program);
	context->serial = serial;
	assert_int_equal(world_execute(&op, soft_dispatch), SOFT_END_FAULT);
	return world.flushes - before;
}

/* In one place, with the same address space: another dispatch has another image. */
static void other_dispatches(void **state)
{
	static struct soft_program program;
	static struct soft_context context;

	world_open();
	assert_int_equal(flushes_of(&context, &program, 1), 1);
	assert_int_equal(flushes_of(&context, &program, 1), 0);
	assert_int_equal(flushes_of(&context, &program, 2), 1);
	assert_int_equal(flushes_of(&context, &program, 1), 1);
	/* Other vGPUs have the same numbers. */
	world.engine->runs++;
	assert_int_equal(flushes_of(&context, &program, 1), 1);
	assert_int_equal(flushes_of(&context, &program, 1), 0);
	world_close();
}

static unsigned int sleeps;

static void engine_looks(void)
{
	sleeps++;
	soft_stop_wanted(world.unit, NULL, 0);
}

static void engine_leaves(void)
{
	sleeps++;
	world.inst->queues.queue[0].in_run = false;
}

static void invalidate_after(unsigned int want)
{
	sleeps = 0;
	assert_int_equal(soft_invalidate(&world.inst->queues, 0), 0);
	assert_int_equal(sleeps, want);
}

/* Who invalidates waits for the engine that is in a run of the vGPU: until it looks or leaves. */
static void waits_for_runs(void **state)
{
	struct soft_queues *queues;

	world_open();
	queues = &world.inst->queues;
	/* What a unit has noted of another vGPU does not matter, be it the same number. */
	world.unit->space_gen = queues->space_gen + 2;
	invalidate_after(0);
	invalidate_after(0);

	queues->queue[0].in_run = true;
	world.unit->space_gen = queues->space_gen;
	soft_invalidate_begin_run(world.unit);
	world.sleep = engine_looks;
	invalidate_after(1);
	assert_int_equal(world.unit->view.gen, queues->space_gen);
	invalidate_after(1);
	world.sleep = engine_leaves;
	invalidate_after(1);
	world.sleep = NULL;
	invalidate_after(0);
	world_close();
}

/* A request that is under way has no other step, and no packet is complete by a step unknown. */
static void unexpected_steps(void **state)
{
	static const u32 steps[] = { SOFT_STEP_FETCH, SOFT_STEP_SIGNAL + 1 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		world_open();
		world.ch->exec.step = steps[i];
		assert_int_equal(world_run(1), SOFT_END_FAULT);
		assert_int_equal(world.fault.code, VGPU_HW_FAULT_RESET);
		assert_int_equal(world.ch->get, 0);
		assert_int_equal(engine_warnings, 1);
		engine_warnings = 0;
		world_close();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(copies_of_new_pages),
		cmocka_unit_test(copies_from_guest_memory),
		cmocka_unit_test(copies_to_guest_memory),
		cmocka_unit_test(copies_in_guest_memory),
		cmocka_unit_test(fills),
		cmocka_unit_test(fills_of_guest_memory),
		cmocka_unit_test(rings_and_signals),
		cmocka_unit_test(presents),
		cmocka_unit_test(programs),
		cmocka_unit_test(other_dispatches),
		cmocka_unit_test(waits_for_runs),
		cmocka_unit_test(unexpected_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
