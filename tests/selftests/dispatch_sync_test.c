// SPDX-License-Identifier: GPL-2.0
/*
 * Code, heads and page tables that change beside dispatches: those that begin after an invalidation
 * find nothing of what was before, wherever they have waited. Nor do pictures that are presented.
 */
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "compute.h"
#include "display.h"
#include "group.h"
#include "silent.h"
#include "space.h"
#include "tune.h"

#define GR		VGPU_HW_ENGINE_GR
#define IMAGE_VA	0x20000000ull
#define HEAD_VA		0x21000000ull
#define OUT_VA		0x140000000ull
#define MOVING_VA	0x180000000ull
#define BYTES		(2 * FX_MIB)

/* In the framebuffer, far from where silent_copy() copies to. */
#define IMAGE		(8 * FX_MIB)
#define SECOND_IMAGE	(IMAGE + PAGE)
#define HEAD		(IMAGE + 2 * PAGE)
#define SECOND_HEAD	(IMAGE + 3 * PAGE)
#define OUT		(IMAGE + 4 * PAGE)
#define UNTOUCHED	(16 * FX_MIB)	/* and the MiB from there */
#define FILLED		(32 * FX_MIB)

static struct vgpu_chan *first, *second;

static void begin(bool rooted)
{
	fx_need("DISPATCH");
	silent_need();
	if (!rooted) {
		first = compute_chan(&v);
		second = compute_chan(&v);
		return;
	}
	space_make();
	first = fx_chan_in(space, GR, 0, RING_VA, 6);
	second = fx_chan_in(space, GR, 0, RING_VA + 16 * PAGE, 6);
}

static void map_program(uint64_t head)
{
	space_map_page(HEAD_VA, head, VGPU_HW_PTE_R);
	space_map(IMAGE_VA, VGPU_FB(IMAGE), 2 * PAGE, VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	space_map_page(OUT_VA, OUT, RW);
}

static void invalidate(void)
{
	compute_invalidate(&v, space ? space->root : 0);
}

/* Code at @image that stores @value. */
static void put_code(uint64_t image, uint32_t value)
{
	const uint32_t words[] = { RV_LI(RV_T0, value), RV_SW(RV_T0, 0, RV_A0), RV_RET };
	uint32_t *text = (void *)(v.dev->fb + image), i;

	for (i = 0; i < 3; i++)
		text[i] = htole32(words[i]);
}

static void dispatch(struct vgpu_chan *chan)
{
	compute_dispatch_head(chan, space ? HEAD_VA : HEAD, space ? OUT_VA : OUT,
			      COMPUTE_ONE, COMPUTE_ONE, 0);
}

static void check_stored(struct vgpu_chan *chan, uint32_t value)
{
	volatile uint32_t *out = (void *)(v.dev->fb + OUT);

	fx_finish(chan);
	CHECK_EQ(le32toh(*out), value);
}

/* How often gr was left as all that it had to do for the vGPU waited. */
static uint64_t gr_stalls(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.engine[second->engine].stalls;
}

/* The second channel has its program; what it waits for is memory, from a worker that is busy. */
static void waits_with_a_program(bool rooted)
{
	uint64_t stalls;

	begin(rooted);
	put_code(IMAGE, 1);
	compute_head(&v, HEAD, rooted ? IMAGE_VA : IMAGE, 3, 0);
	if (rooted)
		map_program(HEAD);
	dispatch(first);
	check_stored(first, 1);
	silent_stall(&v, 0);
	stalls = gr_stalls();
	dispatch(second);
	FX_SOON(gr_stalls() > stalls, "the dispatch does not wait");
	put_code(IMAGE, 2);
	invalidate();
	silent_answer();
	check_stored(second, 2);
	dispatch(first);
	check_stored(first, 2);
	silent_unmap();
	/* The first dispatch, and the one that has waited; not what it waited with. */
	CHECK_EQ(compute_counter(&v, "program_misses "), 2);
	CHECK_EQ(compute_counter(&v, "program_hits "), 1);
}

static void code_changes_under_a_waiting_dispatch(void)
{
	waits_with_a_program(false);
}

static void and_in_an_address_space(void)
{
	waits_with_a_program(true);
}

/* Code whose first instruction is a store, too. */
static void put_late_code(uint32_t value)
{
	const uint32_t words[] = {
		RV_SW(RV_ZERO, 0, RV_A0), RV_LI(RV_T0, value), RV_SW(RV_T0, 0, RV_A0), RV_RET,
	};

	memcpy(v.dev->fb + IMAGE, words, sizeof(words));
}

/*
 * A dispatch has its program and its context, but not the page that its first instruction stores
 * to: a FILL has taken all that the group may have. So it has not begun.
 */
static void code_changes_under_the_first_instruction(void)
{
	uint64_t at = UNTOUCHED - PAGE, stalls, fence;
	struct vgpu_chan *fill;
	bool ended;

	fx_need("DISPATCH");
	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, "1Q");
	group_open(&v, GROUP_A);
	fill = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	second = fx_chan(&v, GR, 0, VGPU_RING_FB, 8);
	put_late_code(1);
	compute_head(&v, HEAD, IMAGE, 4, 0);
	dispatch(second);
	check_stored(second, 1);
	FX_OK(v.dev, vgpu_chan_fill(fill, VGPU_FB(FILLED), 1, 2 * GROUP_LIMIT));
	FX_OK(v.dev, vgpu_chan_fence(fill, &fence));
	FX_SOON(group_value(GROUP_A, "memory.events", "max "), "the limit is not reached");
	/* A page may be left over. */
	do {
		at += PAGE;
		CHECK(at < UNTOUCHED + FX_MIB, "there is memory all the same");
		stalls = gr_stalls();
		compute_dispatch_head(second, HEAD, at, COMPUTE_ONE, COMPUTE_ONE, 0);
		FX_SOON((ended = !vgpu_chan_wait_idle(second, 0)) || gr_stalls() > stalls,
			"the dispatch neither ends nor waits");
	} while (ended);
	put_late_code(2);
	compute_invalidate(&v, 0);
	CHECK(!group_write(GROUP_A, "memory.max", "max"), "memory.max");
	fx_finish(second);
	CHECK_EQ(le32toh(*(uint32_t *)(v.dev->fb + at)), 2);
	CHECK(fx_wait_fence(fill, fence, FX_TIMEOUT_MS), "the FILL does not go on");
	CHECK_EQ(fx_faults(&v), 0);
}

/* The program of the head that was read when the channel began to wait is not the one any more. */
static void head_changes_under_a_waiting_dispatch(void)
{
	begin(true);
	put_code(IMAGE, 1);
	put_code(SECOND_IMAGE, 2);
	compute_head(&v, HEAD, IMAGE_VA, 3, 0);
	compute_head(&v, SECOND_HEAD, IMAGE_VA + PAGE, 3, 0);
	map_program(HEAD);
	silent_stall(&v, 0);
	dispatch(second);
	silent_wait(&v, second->engine);
	space_map_page(HEAD_VA, SECOND_HEAD, VGPU_HW_PTE_R);
	invalidate();
	silent_answer();
	check_stored(second, 2);
	silent_unmap();
}

/* There is no head any more when the worker has made what the dispatch needs. */
static void head_goes_under_a_waiting_dispatch(void)
{
	begin(true);
	map_program(HEAD);
	put_code(IMAGE, 1);
	compute_head(&v, HEAD, IMAGE_VA, 3, 0);
	silent_stall(&v, 0);
	dispatch(second);
	silent_wait(&v, second->engine);
	memset(v.dev->fb + HEAD, 0, sizeof(struct vgpu_hw_program));
	silent_answer();
	FX_SOON(vgpu_chan_state(second) == VGPU_HW_STATE_FAULTED, "it does not fault");
	fx_again(second);
	compute_head(&v, HEAD, IMAGE_VA, 3, 0);
	dispatch(second);
	check_stored(second, 1);
	silent_unmap();
}

/* A channel is disabled while its text is decoded: what another one keeps stays. */
static void cancelled_dispatch_costs_nobody_else(void)
{
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 300) / 10, kept, i;

	begin(false);
	put_code(IMAGE, 1);
	compute_head(&v, HEAD, IMAGE, 3, 0);
	dispatch(first);
	check_stored(first, 1);
	kept = compute_counter(&v, "context_bytes ");
	CHECK(kept > 0, "no context is kept");
	compute_head(&v, HEAD, IMAGE, FX_MIB / 4, 0);
	for (i = 0; i < rounds; i++) {
		invalidate();
		dispatch(second);
		clk_sleep_ns(fx_random_below(3000000));
		fx_again(second);
		CHECK(compute_counter(&v, "context_bytes ") >= kept, "round %llu",
		      (unsigned long long)i);
	}
	dispatch(second);
	check_stored(second, 1);
}

/*
 * A program stores a number that grows, for ever, while its address leads to the one and the other
 * of two places. From an invalidation on the one before belongs to the test.
 */
static void stores_move(void)
{
	static const uint32_t words[] = {
		RV_ADDI(RV_T0, RV_T0, 1), RV_SD(RV_T0, 0, RV_A0), RV_J(-8),
	};
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 300), least = clk_ms() + 4000, end, at, i;
	volatile uint64_t *place[2], *from, *to;

	begin(true);
	at = fx_fb(&v, 2 * BYTES, BYTES);
	place[0] = (void *)(v.dev->fb + at);
	place[1] = (void *)(v.dev->fb + at + BYTES);
	memcpy(v.dev->fb + IMAGE, words, sizeof(words));
	compute_head(&v, HEAD, IMAGE_VA, 3, 0);
	map_program(HEAD);
	space_map(MOVING_VA, VGPU_FB(at), BYTES, RW);
	compute_dispatch_head(first, HEAD_VA, MOVING_VA, COMPUTE_ONE, COMPUTE_ONE, 0);
	for (i = 1; i <= rounds || clk_ms() < least; i++) {
		from = place[(i + 1) % 2];
		to = place[i % 2];
		*to = 0;
		space_map(MOVING_VA, VGPU_FB(at + i % 2 * BYTES), BYTES, RW);
		invalidate();
		*from = ~0ull;
		for (end = clk_ms() + FX_TIMEOUT_MS; !*to && *from == ~0ull; sched_yield())
			CHECK(clk_ms() < end, "the program does not go on");
		CHECK_EQ(*from, ~0ull, "after invalidation %llu", (unsigned long long)i);
	}
	FX_OK(v.dev, vgpu_chan_disable(first));
}

/**
 * struct author - a thread that changes the code all the time
 * @told: all that is older was invalidated
 * @stop: the thread is to end
 */
static struct author {
	volatile uint32_t told;
	volatile bool stop;
} author;

/* The first word of the code is the number that it stores, shifted by 12 bits. */
static void *author_run(void *unused)
{
	volatile uint32_t *text = (void *)(v.dev->fb + IMAGE);
	uint32_t i;

	(void)unused;
	for (i = 2; !author.stop; i++) {
		*text = htole32(RV_LUI(RV_T0, i));
		if (vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE, space->root))
			break;
		author.told = i;
		if (i % 64 == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

/* A dispatch begins after it was submitted, so it knows all that was invalidated before. */
static void code_changes_all_the_time(void)
{
	static const uint32_t words[] = { RV_LUI(RV_T0, 1), RV_SW(RV_T0, 0, RV_A0), RV_RET };
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 300), i;
	volatile uint32_t *out;
	uint32_t told = 0, before;
	pthread_t thread;

	begin(true);
	out = (void *)(v.dev->fb + OUT);
	memcpy(v.dev->fb + IMAGE, words, sizeof(words));
	compute_head(&v, HEAD, IMAGE_VA, 3, 0);
	map_program(HEAD);
	memset(&author, 0, sizeof(author));
	CHECK(!pthread_create(&thread, NULL, author_run, NULL), "thread");
	for (i = 0; i < rounds; i++) {
		chan = i % 2 ? first : second;
		/* Without a context the dispatch waits for the worker. */
		if (fx_random_below(4) == 0)
			fx_again(chan);
		told = author.told;
		dispatch(chan);
		if (vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS) || le32toh(*out) >> 12 < told)
			break;
	}
	before = author.told;
	author.stop = true;
	pthread_join(thread, NULL);
	CHECK_EQ(i, rounds, "stored %u, after %u", le32toh(*out) >> 12, told);
	ktap_note("%u changes", before);
	fx_finish(first);
	fx_finish(second);
}

/**
 * struct viewer - a thread that looks at the display all the time
 * @thread:  the thread
 * @running: there is one, to be joined
 * @stop:    it is to end
 * @wrong:   the error of a query
 * @plane:   the display's mapping
 */
static struct viewer {
	pthread_t thread;
	bool running;
	volatile bool stop;
	volatile int wrong;
	const uint8_t *plane;
} viewer;

static void *viewer_run(void *unused)
{
	struct vfio_device_gfx_plane_info info;

	(void)unused;
	while (!viewer.stop && !viewer.wrong) {
		viewer.wrong = display_try_query(&v, VFIO_GFX_PLANE_TYPE_REGION, &info);
		(void)*(const volatile uint32_t *)viewer.plane;
	}
	return NULL;
}

static void viewer_end(void)
{
	viewer.stop = true;
	if (viewer.running)
		pthread_join(viewer.thread, NULL);
	viewer.running = false;
	display_forget(&v, &viewer.plane);
}

#define PICTURE	FX_MIB		/* from the start of what moves */

/* The colour of the place that is shown now. */
static uint32_t shown(void)
{
	struct vfio_device_gfx_plane_info info;

	display_query(&v, &info);
	return info.drm_format ? *(const volatile uint32_t *)viewer.plane : 0;
}

/*
 * Dispatches that count, pictures that are presented and a user who looks at them, all through
 * translations that change. What the invalidation has left behind is not written, nor shown anew.
 */
static void pictures_move(void)
{
	static const uint32_t words[] = {
		RV_LD(RV_T0, 0, RV_A0), RV_ADDI(RV_T0, RV_T0, 1), RV_SD(RV_T0, 0, RV_A0), RV_RET,
	};
	enum { DISPATCHES = 6, PRESENTS = 60, WIDTH = 64, HEIGHT = 64 };
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 150), at, get, i, end;
	struct vgpu_hw_packet packets[PRESENTS];
	volatile uint64_t *from, *to;
	uint32_t now, live = 0, k;
	struct picture p;
	bool seen;

	fx_create(&v, fx_default_type());
	tune_frl(&v, 0);
	display_open(&v);
	begin(true);
	memset(&viewer, 0, sizeof(viewer));
	viewer.plane = display_map(&v);
	at = fx_fb(&v, 2 * BYTES, BYTES);
	memcpy(v.dev->fb + IMAGE, words, sizeof(words));
	compute_head(&v, HEAD, IMAGE_VA, 4, 0);
	map_program(HEAD);
	space_map(MOVING_VA, VGPU_FB(at), BYTES, RW);
	CHECK(!pthread_create(&viewer.thread, NULL, viewer_run, NULL), "thread");
	viewer.running = true;
	end = clk_ms() + FX_TIMEOUT_MS;
	/* It depends on who gets the processor whether there are pictures left to be presented. */
	for (i = 1; (i <= rounds || (!live && clk_ms() < end)) && !viewer.wrong; i++) {
		from = (void *)(v.dev->fb + at + (i + 1) % 2 * BYTES);
		to = (void *)(v.dev->fb + at + i % 2 * BYTES);
		*to = 0;
		/* With a gap between its rows the picture is copied by each query. */
		p = picture_at(MOVING_VA + PICTURE, WIDTH, HEIGHT, i % 4 < 2 ? 0 : 8 * WIDTH);
		memset((uint8_t *)to + PICTURE, 0x10 + (int)(i % 64), 8 * WIDTH * HEIGHT);
		for (k = 0; k < DISPATCHES; k++)
			compute_dispatch_head(first, HEAD_VA, MOVING_VA, COMPUTE_ONE, COMPUTE_ONE,
					      0);
		for (k = 0; k < PRESENTS; k++)
			packets[k] = picture_packet(&p, 0);
		FX_OK(v.dev, vgpu_chan_submit(second, packets, PRESENTS));
		space_map(MOVING_VA, VGPU_FB(at + i % 2 * BYTES), BYTES, RW);
		invalidate();
		/* Whichever is being executed now, and the next one, may have been looked up. */
		get = vgpu_chan_get(second);
		live += get + 2 < second->put;
		*from = ~0ull;
		memset((uint8_t *)from + PICTURE, 0xee, 8 * WIDTH * HEIGHT);
		do {
			seen = vgpu_chan_get(second) >= get + 2;
			now = shown();
			CHECK(!seen || (now & 0xff) == 0x10 + i % 64, "%#x is shown", now);
		} while (vgpu_chan_get(second) < second->put);
		FX_OK(v.dev, vgpu_chan_submit(second, packets, 1));
		fx_finish(first);
		fx_finish(second);
		CHECK_EQ(shown() & 0xff, 0x10 + i % 64, "after invalidation %llu",
			 (unsigned long long)i);
		CHECK_EQ(*from, ~0ull, "after invalidation %llu", (unsigned long long)i);
	}
	viewer_end();
	CHECK(!viewer.wrong, "a query: %s", strerror(-viewer.wrong));
	ktap_note("%u of %llu invalidations came while pictures were presented", live,
		  (unsigned long long)i - 1);
	CHECK(live, "the channel has too little to do");
}

static void cleanup(void)
{
	viewer_end();
	group_leave();
	space_cleanup();
	group_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(code_changes_under_a_waiting_dispatch),
	KTAP_TEST(and_in_an_address_space),
	KTAP_TEST(code_changes_under_the_first_instruction),
	KTAP_TEST(head_changes_under_a_waiting_dispatch),
	KTAP_TEST(head_goes_under_a_waiting_dispatch),
	KTAP_TEST(cancelled_dispatch_costs_nobody_else),
	KTAP_TEST(code_changes_all_the_time),
	KTAP_TEST(stores_move),
	KTAP_TEST(pictures_move),
};

KTAP_MAIN(tests, cleanup)
