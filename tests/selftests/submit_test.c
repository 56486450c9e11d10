// SPDX-License-Identifier: GPL-2.0
/*
 * Random fills and copies, 1D and 2D, in framebuffer and guest memory and between them: the result
 * is what the CPU has computed for the same packets.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define FB_BYTES	(1024 * 1024)
#define SYS_BYTES	(512 * 1024)
#define GR		VGPU_HW_ENGINE_GR
#define CE		VGPU_HW_ENGINE_CE

static struct fx_vgpu v;

/**
 * struct arena - memory of the device, and what it should contain
 * @fb_at:  offset of the part in framebuffer
 * @buf:    the part in guest memory
 * @shadow: what the CPU has computed for framebuffer and for guest memory
 */
static struct {
	uint64_t fb_at;
	struct vgpu_buf buf;
	uint8_t *shadow[2];
} arena;

static uint8_t *device_bytes(bool sys)
{
	return sys ? arena.buf.ptr : v.dev->fb + arena.fb_at;
}

static uint64_t arena_bytes(bool sys)
{
	return sys ? SYS_BYTES : FB_BYTES;
}

static void arena_init(void)
{
	uint64_t i;
	int sys;

	FX_OK(v.dev, vgpu_fb_alloc(v.dev, FB_BYTES, 4096, &arena.fb_at));
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, SYS_BYTES, &arena.buf));
	for (sys = 0; sys < 2; sys++) {
		free(arena.shadow[sys]);
		arena.shadow[sys] = malloc(arena_bytes(sys));
		CHECK(arena.shadow[sys], "out of memory");
		for (i = 0; i < arena_bytes(sys); i++)
			arena.shadow[sys][i] = (uint8_t)(i * 7 + i / 4096 + sys);
		memcpy(device_bytes(sys), arena.shadow[sys], arena_bytes(sys));
	}
}

static void arena_compare(const char *what)
{
	uint64_t i;
	int sys;

	for (sys = 0; sys < 2; sys++) {
		const uint8_t *has = device_bytes(sys);

		if (!memcmp(has, arena.shadow[sys], arena_bytes(sys)))
			continue;
		for (i = 0; has[i] == arena.shadow[sys][i]; i++)
			;
		FAIL("%s: %s differs at %#llx: %#x, not %#x", what, sys ? "guest memory" :
		     "framebuffer", (unsigned long long)i, has[i], arena.shadow[sys][i]);
	}
}

/**
 * struct area - a random rectangle
 * @sys:   it is in guest memory, else in framebuffer
 * @at:    offset of its first byte in the arena
 * @width: bytes per row
 * @rows:  at least 1
 * @pitch: bytes from row to row; 0 if there is one row
 * @span:  bytes from the first to the last byte, both included
 */
struct area {
	bool sys;
	uint64_t at;
	uint64_t width;
	uint32_t rows;
	uint32_t pitch;
	uint64_t span;
};

static void area_place(struct area *area, unsigned int align, uint64_t low, uint64_t high)
{
	area->at = low + fx_random_below((high - low - area->span) / align + 1) *
		align;
}

static void area_pitch(struct area *area, unsigned int align)
{
	area->pitch = 0;
	if (area->rows > 1)
		area->pitch = (uint32_t)(area->width + fx_random_below(64 / align) * align);
	area->span = (area->rows - 1) * (uint64_t)area->pitch + area->width;
}

/* A shape that is small, about a page, or large; its width is a multiple of @align. */
static void area_shape(struct area *area, unsigned int align, uint64_t limit)
{
	static const uint64_t sizes[] = { 16, 300, 5000, 70000, 200000 };
	uint64_t most = sizes[fx_random_below(5)];

	area->rows = fx_random_below(2) ? 1 :
		(uint32_t)(2 + fx_random_below(20));
	if (most > limit)
		most = limit;
	area->width = (1 + fx_random_below(most / area->rows / align + 1)) *
		align;
}

static void random_fill(struct vgpu_chan *chan)
{
	struct area dst = { .sys = fx_random_below(2) };
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_FILL };
	uint32_t value = (uint32_t)fx_random(), row, raw = htole32(value);
	uint64_t i;

	area_shape(&dst, 4, arena_bytes(dst.sys) / 4);
	area_pitch(&dst, 4);
	area_place(&dst, 4, 0, arena_bytes(dst.sys));
	p.op_flags = htole32(dst.sys ? VGPU_HW_OP_DST_SYS : 0);
	p.dst = htole64(dst.sys ? arena.buf.iova + dst.at : arena.fb_at + dst.at);
	p.value = raw;
	p.width = htole64(dst.width);
	p.rows = htole32(dst.rows);
	p.dst_pitch = htole32(dst.pitch);
	for (row = 0; row < dst.rows; row++)
		for (i = 0; i < dst.width; i += 4)
			memcpy(arena.shadow[dst.sys] + dst.at +
			       row * (uint64_t)dst.pitch + i, &raw, 4);
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
}

/* In the same memory source and destination have a half each, so that they do not overlap. */
static void random_copy(struct vgpu_chan *chan)
{
	struct area dst = { .sys = fx_random_below(2) }, src;
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_COPY };
	uint64_t middle;
	uint32_t row;

	area_shape(&dst, 1, SYS_BYTES / 4);
	src = dst;
	src.sys = fx_random_below(2);
	area_pitch(&dst, 1);
	area_pitch(&src, 1);
	middle = arena_bytes(dst.sys) / 2;
	if (dst.sys != src.sys) {
		area_place(&dst, 1, 0, arena_bytes(dst.sys));
		area_place(&src, 1, 0, arena_bytes(src.sys));
	} else if (fx_random_below(2)) {
		area_place(&dst, 1, 0, middle);
		area_place(&src, 1, middle, 2 * middle);
	} else {
		area_place(&src, 1, 0, middle);
		area_place(&dst, 1, middle, 2 * middle);
	}
	p.op_flags = htole32((dst.sys ? VGPU_HW_OP_DST_SYS : 0) |
			     (src.sys ? VGPU_HW_OP_SRC_SYS : 0));
	p.dst = htole64(dst.sys ? arena.buf.iova + dst.at : arena.fb_at + dst.at);
	p.src = htole64(src.sys ? arena.buf.iova + src.at : arena.fb_at + src.at);
	p.width = htole64(dst.width);
	p.rows = htole32(dst.rows);
	p.dst_pitch = htole32(dst.pitch);
	p.src_pitch = htole32(src.pitch);
	for (row = 0; row < dst.rows; row++)
		memcpy(arena.shadow[dst.sys] + dst.at + row * (uint64_t)dst.pitch,
		       arena.shadow[src.sys] + src.at + row * (uint64_t)src.pitch, dst.width);
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
}

static void random_work(uint32_t engine_class, uint32_t instance, enum vgpu_ring where)
{
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 40), round, i;
	struct vgpu_chan *chan;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, engine_class, instance, where, 6);
	arena_init();
	for (round = 0; round < rounds; round++) {
		uint64_t nr = 1 + fx_random_below(20);

		for (i = 0; i < nr; i++) {
			if (fx_random_below(3))
				random_copy(chan);
			else
				random_fill(chan);
		}
		fx_finish(chan);
		arena_compare("after a round");
	}
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&arena.buf);
}

static void gr_ring_in_fb(void)
{
	random_work(GR, 0, VGPU_RING_FB);
}

static void gr_ring_in_sys(void)
{
	random_work(GR, 0, VGPU_RING_SYS);
}

static void ce0_ring_in_fb(void)
{
	random_work(CE, 0, VGPU_RING_FB);
}

static void ce0_ring_in_sys(void)
{
	random_work(CE, 0, VGPU_RING_SYS);
}

static void ce1_ring_in_fb(void)
{
	random_work(CE, 1, VGPU_RING_FB);
}

/* The functions of libvgpu that make packets. */
static void helpers(void)
{
	struct vgpu_chan *chan;
	uint64_t fence, i;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 4));
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 5);
	arena_init();
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(arena.fb_at), 0xa5a5a5a5, 4096));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_SYS(&arena.buf, 100), VGPU_FB(arena.fb_at), 3000));
	FX_OK(v.dev, vgpu_chan_copy2d(chan, VGPU_FB(arena.fb_at + 8192), 128,
				      VGPU_SYS(&arena.buf, 0), 256, 100, 10));
	FX_OK(v.dev, vgpu_chan_nop(chan));
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	FX_OK(v.dev, vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS));
	memset(arena.shadow[0], 0xa5, 4096);
	memcpy(arena.shadow[1] + 100, arena.shadow[0], 3000);
	for (i = 0; i < 10; i++)
		memcpy(arena.shadow[0] + 8192 + i * 128, arena.shadow[1] + i * 256, 100);
	arena_compare("helpers");
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&arena.buf);
}

/* Rings of the smallest and of the largest order, filled many times. */
static void rings_wrap(void)
{
	static const uint32_t orders[] = { VGPU_HW_RING_ORDER_MIN,
					   VGPU_HW_RING_ORDER_MAX };
	struct vgpu_hw_packet *batch;
	struct vgpu_chan *chan;
	unsigned int i, k, where;

	fx_need("rings in guest memory");
	batch = calloc(100, sizeof(*batch));
	CHECK(batch, "out of memory");
	for (i = 0; i < 100; i++)
		batch[i].type = VGPU_HW_PKT_NOP;
	fx_create_open(&v, fx_default_type());
	for (where = 0; where < 2; where++) {
		for (i = 0; i < 2; i++) {
			chan = fx_chan(&v, CE, 1, (enum vgpu_ring)where, orders[i]);
			for (k = 0; k < (2u << orders[i]) / 100 + 3; k++)
				FX_OK(v.dev, vgpu_chan_submit(chan, batch, 100));
			fx_finish(chan);
			CHECK_EQ(vgpu_chan_get(chan), k * 100 + 1);
			vgpu_chan_destroy(chan);
		}
	}
	free(batch);
}

/* Signals in framebuffer and in guest memory are written in order. */
static void signals(void)
{
	uint64_t *fb_word, *sys_word, at, i;
	struct vgpu_hw_packet p[2];
	struct vgpu_chan *chan;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, GR, 0, VGPU_RING_SYS, 8);
	arena_init();
	at = arena.fb_at + 64;
	fb_word = (void *)(v.dev->fb + at);
	sys_word = (void *)((uint8_t *)arena.buf.ptr + 128);
	for (i = 1; i <= 200; i++) {
		memset(p, 0, sizeof(p));
		p[0].type = VGPU_HW_PKT_FENCE;
		p[0].flags = VGPU_HW_PKT_SIGNAL;
		p[0].signal_addr = htole64(at);
		p[0].signal_value = htole64(i << 32 | i);
		p[1].type = VGPU_HW_PKT_NOP;
		p[1].flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS |
			VGPU_HW_PKT_BARRIER;
		p[1].signal_addr = htole64(arena.buf.iova + 128);
		p[1].signal_value = htole64(~i);
		FX_OK(v.dev, vgpu_chan_submit(chan, p, 2));
		FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
		CHECK_EQ(le64toh(*fb_word), i << 32 | i);
		CHECK_EQ(le64toh(*sys_word), ~i);
	}
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&arena.buf);
}

static void present_counts_frames(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *chan;
	unsigned int i;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, GR, 0, VGPU_RING_FB, 4);
	fx_instance(&v, &before);
	for (i = 0; i < 5; i++)
		FX_OK(v.dev, vgpu_chan_present(chan, 0, 640, 480, 2560));
	fx_finish(chan);
	fx_instance(&v, &after);
	CHECK_EQ(after.frames - before.frames, 5);
	vgpu_chan_destroy(chan);
}

/* All channels of a vGPU work at once, on all engines. */
static void all_channels(void)
{
	struct vgpu_chan *chan[VGPU_HW_MAX_CHANNELS];
	uint64_t at[VGPU_HW_MAX_CHANNELS], fence[VGPU_HW_MAX_CHANNELS];
	uint32_t i, nr;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	nr = v.dev->channels;
	for (i = 0; i < nr; i++) {
		FX_OK(v.dev, vgpu_chan_create(v.dev, i % v.dev->engines, i % 2 ? VGPU_RING_SYS :
					      VGPU_RING_FB, 4, &chan[i]));
		FX_OK(v.dev, vgpu_fb_alloc(v.dev, 65536, 4096, &at[i]));
	}
	for (i = 0; i < nr; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan[i], VGPU_FB(at[i]), i * 0x01010101u, 65536));
		FX_OK(v.dev, vgpu_chan_fence(chan[i], &fence[i]));
	}
	for (i = 0; i < nr; i++)
		FX_OK(v.dev, vgpu_chan_wait(chan[i], fence[i], FX_TIMEOUT_MS));
	for (i = 0; i < nr; i++) {
		uint8_t *bytes = v.dev->fb + at[i];

		CHECK_EQ(bytes[0], i & 0xff);
		CHECK(!memcmp(bytes, bytes + 1, 65535), "channel %u", i);
		vgpu_chan_destroy(chan[i]);
	}
	CHECK_EQ(vgpu_chan_create(v.dev, v.dev->engines, VGPU_RING_FB, 4, &chan[0]), -EINVAL);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(gr_ring_in_fb),
	KTAP_TEST(gr_ring_in_sys),
	KTAP_TEST(ce0_ring_in_fb),
	KTAP_TEST(ce0_ring_in_sys),
	KTAP_TEST(ce1_ring_in_fb),
	KTAP_TEST(helpers),
	KTAP_TEST(rings_wrap),
	KTAP_TEST(signals),
	KTAP_TEST(present_counts_frames),
	KTAP_TEST(all_channels),
};

KTAP_MAIN(tests, fx_cleanup)
