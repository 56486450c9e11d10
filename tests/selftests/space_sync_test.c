// SPDX-License-Identifier: GPL-2.0
/*
 * Page tables that change while engines use them: when an invalidation returns, what the tables
 * said before is in use nowhere.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "silent.h"
#include "soft.h"
#include "space.h"

#define CE		VGPU_HW_ENGINE_CE
#define VA		0x40000000ull
#define BYTES		(2 * FX_MIB)
#define ROUNDS		20u

static struct fx_vgpu other;

static void begin(void)
{
	fx_need("execution");
	fx_need_no_quarantine();
	space_make();
	chan = fx_chan_in(space, CE, 0, RING_VA, 6);
}

static void map(uint64_t va, struct vgpu_loc to, uint64_t bytes)
{
	space_map(va, to, bytes, RW);
}

/* By either register, in turns. */
static void invalidate(uint32_t root)
{
	static unsigned int turn;
	uint32_t reg = turn++ & 1 ? VGPU_HW_INVALIDATE_PAGES : VGPU_HW_INVALIDATE;

	FX_OK(v.dev, vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + reg, root));
}

/* Maps pages in reverse order, so that each needs a leaf of its own. */
static void map_pages(struct vgpu_loc to)
{
	uint64_t i;

	for (i = 0; i < BYTES; i += PAGE) {
		map(VA + BYTES - PAGE - i, to, PAGE);
		to.offset += PAGE;
	}
}

static void map_whole(struct vgpu_loc to)
{
	map(VA, to, BYTES);
}

/*
 * The channel fills @times what is at VA, which is @from; while it does, VA becomes @to. From the
 * invalidation on @from belongs to the test.
 */
static void move_away(unsigned int times, void (*how)(struct vgpu_loc to), struct vgpu_loc from,
		      struct vgpu_loc to, uint8_t *from_at, uint8_t *to_at)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;
	unsigned int round, i, live = 0;

	/* Until an invalidation came in time: the host may be busy with something else for long. */
	for (round = 1; round <= ROUNDS || (!live && clk_ms() < end); round++) {
		bool busy;

		how(from);
		FX_OK(v.dev, vgpu_space_invalidate(space));
		memset(to_at, 0, BYTES);
		for (i = 0; i < times; i++)
			FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(VA), round, BYTES));
		FX_SOON(vgpu_chan_get(chan) > chan->put - times, "does not begin");
		how(to);
		FX_OK(v.dev, vgpu_space_invalidate(space));
		busy = vgpu_chan_get(chan) + 1 < chan->put;
		memset(from_at, 0xee, BYTES);
		fx_finish(chan);
		fx_check_words(from_at, BYTES, 0xeeeeeeee);
		if (busy)
			fx_check_words(to_at, BYTES, round);
		live += busy;
	}
	ktap_note("%u of %u invalidations came while the engine was at it", live, round - 1);
	CHECK(live, "the fills are too short");
}

static void pages_move(void)
{
	uint64_t at;

	begin();
	at = fx_fb(&v, 2 * BYTES, BYTES);
	move_away(32, map_pages, VGPU_FB(at), VGPU_FB(at + BYTES), v.dev->fb + at,
		  v.dev->fb + at + BYTES);
}

static void superpages_move(void)
{
	uint64_t at;

	begin();
	at = fx_fb(&v, 2 * BYTES, BYTES);
	map_pages(VGPU_FB(at));
	/* The table goes, and a leaf is in its place. */
	*vgpu_space_entry(space, VA, 1) = 0;
	move_away(32, map_whole, VGPU_FB(at), VGPU_FB(at + BYTES), v.dev->fb + at,
		  v.dev->fb + at + BYTES);
}

/* Between two packets, of which the engine may or may not have slept. */
static void moves_between_packets(void)
{
	uint64_t at, to;
	uint32_t i;

	begin();
	at = fx_fb(&v, 2 * BYTES, BYTES);
	for (i = 1; i <= 3000; i++) {
		to = at + i % 2 * BYTES;
		map_whole(VGPU_FB(to));
		FX_OK(v.dev, vgpu_space_invalidate(space));
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(VA + PAGE), i, 64));
		FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
		fx_check_words(v.dev->fb + to + PAGE, 64, i);
		if (fx_random_below(100) == 0)
			clk_sleep_ms(1);
	}
}

/* Two vGPUs whose address spaces have the same number, by turns on the same engine. */
static void vgpus_are_apart(void)
{
	struct vgpu_space *theirs;
	struct vgpu_chan *second;
	uint64_t at, there, i;

	begin();
	at = fx_fb(&v, 2 * BYTES, BYTES);
	fx_create_open(&other, fx_default_type());
	FX_OK(other.dev, vgpu_space_create(other.dev, &theirs));
	CHECK_EQ(theirs->root, space->root);
	second = fx_chan_in(theirs, CE, 0, RING_VA, 6);
	there = fx_fb(&other, 2 * BYTES, BYTES);
	map_whole(VGPU_FB(at));
	FX_OK(other.dev, vgpu_space_map(theirs, VA, VGPU_FB(there + BYTES), BYTES, RW));
	for (i = 0; i < 200; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(VA), 0x11111111, BYTES));
		FX_OK(other.dev, vgpu_chan_fill(second, VGPU_VA(VA), 0x22222222, BYTES));
	}
	fx_finish(chan);
	fx_finish(second);
	fx_check_words(v.dev->fb + at, BYTES, 0x11111111);
	fx_check_words(other.dev->fb + there + BYTES, BYTES, 0x22222222);
	CHECK(fx_is_zero(v.dev->fb + at + BYTES, BYTES), "the other's address");
	CHECK(fx_is_zero(other.dev->fb + there, BYTES), "the other's address");
	vgpu_space_destroy(theirs);
}

static void guest_memory_moves(void)
{
	uint8_t *at;

	begin();
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 2 * BYTES, &buf));
	at = buf.ptr;
	move_away(4, map_pages, VGPU_SYS(&buf, 0), VGPU_SYS(&buf, BYTES), at, at + BYTES);
}

static void guest_memory_becomes_fb(void)
{
	uint64_t at;

	begin();
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, BYTES, &buf));
	at = fx_fb(&v, BYTES, BYTES);
	move_away(4, map_pages, VGPU_SYS(&buf, 0), VGPU_FB(at), buf.ptr, v.dev->fb + at);
}

static void answer(void *unused)
{
	(void)unused;
	silent_answer();
}

static void op_invalidate(void *root)
{
	invalidate((uint32_t)(uintptr_t)root);
}

/* An invalidation ends in time, whatever the channel waits for. */
static void invalidate_bounded(uint32_t root)
{
	silent_bounded("invalidation", op_invalidate, (void *)(uintptr_t)root, FX_TIMEOUT_MS,
		       answer, NULL);
}

/* A COPY of the page @from to the page @to of VA, one of which never answers. */
static void stall(uint64_t from, uint64_t to)
{
	struct vgpu_buf silent = { .dev = v.dev, .iova = SILENT_IOVA, .bytes = SILENT_BYTES };
	uint64_t at = fx_fb(&v, 4 * PAGE, PAGE);
	unsigned int i;

	silent_need();
	silent_map(&v);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 4 * PAGE, &buf));
	for (i = 0; i < 4; i++) {
		memset(v.dev->fb + at + i * PAGE, 0x10 + (int)i, PAGE);
		memset((uint8_t *)buf.ptr + i * PAGE, 0x20 + (int)i, PAGE);
	}
	/* Page 0 does not answer, 1 is framebuffer, 2 and 3 are guest memory. */
	map(VA, VGPU_SYS(&silent, 0), PAGE);
	map(VA + PAGE, VGPU_FB(at), PAGE);
	map(VA + 2 * PAGE, VGPU_SYS(&buf, 0), 2 * PAGE);
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_VA(VA + to * PAGE), VGPU_VA(VA + from * PAGE),
				    PAGE));
	silent_wait(&v, chan->engine);
	CHECK_EQ(vgpu_chan_get(chan), 0);
	/* Other address spaces, and the same without a change. */
	invalidate_bounded(0);
	invalidate_bounded(space->root + 1);
	invalidate_bounded(space->root);
	CHECK(vgpu_chan_state(chan) != VGPU_HW_STATE_FAULTED, "has faulted");
	CHECK_EQ(vgpu_chan_get(chan), 0);
}

static void stalled_read_goes_on(void)
{
	begin();
	stall(0, 1);
	map(VA, VGPU_SYS(&buf, 2 * PAGE), PAGE);
	map(VA + PAGE, VGPU_SYS(&buf, 3 * PAGE), PAGE);
	invalidate_bounded(space->root);
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	fx_check_words((uint8_t *)buf.ptr + 3 * PAGE, PAGE, 0x22222222);
	silent_unmap();
}

/* The first half of a copy from guest to guest memory is done, the second waits. */
static void stalled_write_goes_on(void)
{
	uint64_t at;

	begin();
	stall(2, 0);
	at = fx_fb(&v, PAGE, PAGE);
	map(VA, VGPU_FB(at), PAGE);
	invalidate_bounded(space->root);
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	fx_check_words(v.dev->fb + at, PAGE, 0x20202020);
	silent_unmap();
}

static void stalled_reads_nothing(void)
{
	struct vgpu_fault fault;

	begin();
	stall(0, 1);
	FX_OK(v.dev, vgpu_space_unmap(space, VA, PAGE));
	invalidate_bounded(space->root);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_PAGE);
	CHECK_EQ(fault.addr, VA);
	silent_unmap();
}

static void stalled_is_answered(void)
{
	begin();
	stall(0, 2);
	silent_answer();
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	CHECK(fx_is_zero(buf.ptr, PAGE), "zero pages");
	silent_unmap();
}

/* An engine that hangs is reset; who waits for it waits no longer than that. */
static void engine_hangs(void)
{
	struct vgpu_fault fault;

	begin();
	FX_OK(v.dev, soft_hang(fx_gpu(), "ce0", VGPU_HW_PKT_NOP));
	FX_OK(v.dev, vgpu_chan_nop(chan));
	invalidate(space->root);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(pages_move),
	KTAP_TEST(superpages_move),
	KTAP_TEST(moves_between_packets),
	KTAP_TEST(vgpus_are_apart),
	KTAP_TEST(guest_memory_moves),
	KTAP_TEST(guest_memory_becomes_fb),
	KTAP_TEST(stalled_read_goes_on),
	KTAP_TEST(stalled_write_goes_on),
	KTAP_TEST(stalled_reads_nothing),
	KTAP_TEST(stalled_is_answered),
	KTAP_TEST(engine_hangs),
};

/* A test that has failed leaves the memory silent. */
static void cleanup(void)
{
	silent_answer();
	space_cleanup();
}

KTAP_MAIN(tests, cleanup)
