// SPDX-License-Identifier: GPL-2.0
/*
 * A vGPU that moves over and over at random moments, under all kinds of work, and its twin, which
 * does the same and stays where it is: memory, faults and what is counted are the same.
 *
 * VGPU_TEST_HOPS: number of moves (100).
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"
#include "hop.h"
#include "space.h"

/* In the framebuffer, a MiB for each channel; and where the address space has that. */
#define DATA(i)		((16 + (i)) * FX_MIB)
#define DATA_VA		0x140000000ull
#define SLOT		65536u
#define SLOTS		16u
#define BUF_BYTES	(8 * SLOT)
#define SIGNALS		(7 * SLOT)	/* in the buffer: no COPY goes there */

#define ITEMS		100
#define NR_CHANS	5

enum { FILLS, BUFFERS, PROGRAMS, SPACE, FAULTS };

/**
 * struct side - one of the two
 * @v:     the vGPU
 * @space: an address space of it
 * @chan:  its channels
 * @buf:   guest memory
 */
struct side {
	struct fx_vgpu *v;
	struct vgpu_space *space;
	struct vgpu_chan *chan[NR_CHANS];
	struct vgpu_buf buf;
};

static struct fx_vgpu twin;
static struct side sides[2] = { { .v = &v }, { .v = &twin } };

/* What each work-item has becomes 9 times as much and some more, so many times as the slot says. */
static const uint32_t program[] = {
	RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID), RV_LW(RV_A4, 0, RV_A0), RV_SLLI(RV_T0, RV_A1, 3),
	RV_ADD(RV_A0, RV_A0, RV_T0), RV_LD(RV_T1, 8, RV_A0),
	RV_SLLI(RV_T2, RV_T1, 3), RV_ADD(RV_T1, RV_T1, RV_T2), RV_ADD(RV_T1, RV_T1, RV_A1),
	RV_ADDI(RV_T1, RV_T1, 1), RV_ADDI(RV_A4, RV_A4, -1), RV_BNE(RV_A4, RV_ZERO, -20),
	RV_SD(RV_T1, 8, RV_A0), RV_RET,
};

static void open_side(struct side *side)
{
	struct vgpu_dev *dev;

	fx_create_open(side->v, fx_default_type());
	dev = side->v->dev;
	FX_OK(dev, vgpu_irq_enable(dev, dev->vectors));
	COMPUTE_LOAD(side->v, program);
	/* The text is the same for both, and each has a head of its own. */
	compute_head(side->v, COMPUTE_HEAD + 64, COMPUTE_IMAGE_VA, sizeof(program) / 4, 4096);
	FX_OK(dev, vgpu_space_create(dev, &side->space));
	FX_OK(dev, vgpu_space_map(side->space, COMPUTE_HEAD_VA, VGPU_FB(COMPUTE_HEAD), PAGE,
				  VGPU_HW_PTE_R));
	FX_OK(dev, vgpu_space_map(side->space, COMPUTE_IMAGE_VA, VGPU_FB(COMPUTE_IMAGE), PAGE,
				  VGPU_HW_PTE_R | VGPU_HW_PTE_X));
	FX_OK(dev, vgpu_space_map(side->space, DATA_VA, VGPU_FB(DATA(SPACE)), FX_MIB, RW));
	side->chan[FILLS] = fx_chan(side->v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 6);
	side->chan[BUFFERS] = fx_chan(side->v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_SYS, 6);
	side->chan[PROGRAMS] = fx_chan(side->v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_SYS, 6);
	side->chan[SPACE] = fx_chan_in(side->space, VGPU_HW_ENGINE_GR, 0, RING_VA, 6);
	side->chan[FAULTS] = fx_chan(side->v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 6);
	FX_OK(dev, vgpu_buf_alloc(dev, BUF_BYTES, &side->buf));
	memset(side->buf.ptr, 0, BUF_BYTES);
}

/* The same for both; the numbers are drawn before. */
#define BOTH(side)	for ((side) = sides; (side) < sides + 2; (side)++)

static void submit(struct side *side, unsigned int chan, const struct vgpu_hw_packet *packet)
{
	FX_OK(side->v->dev, vgpu_chan_submit(side->chan[chan], packet, 1));
}

/* Any of the slots at @base, but not the first @but ones. */
static uint64_t slot(uint64_t base, unsigned int but)
{
	return base + SLOT * (but + fx_random_below(SLOTS - but));
}

static void fills(void)
{
	uint64_t dst = slot(DATA(FILLS), 0), src = slot(DATA(FILLS), 0), bytes;
	uint32_t value = (uint32_t)fx_random();
	struct side *side;

	bytes = 4 * (1 + fx_random_below(SLOT / 4));
	BOTH(side) {
		if (dst == src)
			FX_OK(side->v->dev, vgpu_chan_fill(side->chan[FILLS], VGPU_FB(dst), value,
							   bytes));
		else
			FX_OK(side->v->dev, vgpu_chan_copy(side->chan[FILLS], VGPU_FB(dst),
							   VGPU_FB(src), bytes));
	}
}

/* Returns whether it ends with an interrupt. */
static bool buffers(uint64_t number)
{
	struct vgpu_hw_packet signal = {
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS | VGPU_HW_PKT_IRQ,
		.signal_value = htole64(number),
	};
	uint64_t at = slot(DATA(BUFFERS), 0), in = SLOT * fx_random_below(7);
	uint64_t bytes = 4 * (1 + fx_random_below(SLOT / 4)), what = fx_random_below(4);
	uint64_t where = SIGNALS + 8 * fx_random_below(64);
	uint32_t value = (uint32_t)fx_random();
	struct vgpu_chan *chan;
	struct side *side;

	BOTH(side) {
		chan = side->chan[BUFFERS];
		if (what == 0) {
			FX_OK(side->v->dev, vgpu_chan_fill(chan, VGPU_SYS(&side->buf, in), value,
							   bytes));
		} else if (what == 1) {
			FX_OK(side->v->dev, vgpu_chan_copy(chan, VGPU_FB(at),
							   VGPU_SYS(&side->buf, in), bytes));
		} else if (what == 2) {
			FX_OK(side->v->dev, vgpu_chan_copy(chan, VGPU_SYS(&side->buf, in),
							   VGPU_FB(at), bytes));
		} else {
			signal.signal_addr = htole64(side->buf.iova + where);
			signal.vector = htole16((uint16_t)chan->vector);
			submit(side, BUFFERS, &signal);
		}
	}
	return what == 3;
}

/* A dispatch that reads how often it is to go round from what a FILL has written before. */
static void programs(unsigned int chan, uint64_t base, uint64_t head)
{
	uint64_t at = slot(base, 0);
	struct vgpu_hw_packet rounds = {
		.type = VGPU_HW_PKT_FILL, .dst = htole64(at),
		.value = htole32(1 + (uint32_t)fx_random_below(20000)),
		.width = htole64(4), .rows = htole32(1),
	};
	uint32_t items = 1 + (uint32_t)fx_random_below(ITEMS);
	struct side *side;

	BOTH(side) {
		submit(side, chan, &rounds);
		compute_dispatch_head(side->chan[chan], head, at, COMPUTE_SIZE(ITEMS, 1, 1),
				      COMPUTE_SIZE(items, 1, 1), 64);
	}
}

static void present(void)
{
	uint64_t at = slot(DATA(PROGRAMS), 0);
	struct side *side;

	BOTH(side)
		FX_OK(side->v->dev, vgpu_chan_present(side->chan[PROGRAMS], at, 64, 64, 256));
}

static void faults(void)
{
	uint64_t good = fx_random_below(3);
	uint32_t value = (uint32_t)fx_random();
	struct side *side;
	unsigned int i;

	BOTH(side) {
		for (i = 0; i < good; i++)
			FX_OK(side->v->dev, vgpu_chan_fill(side->chan[FAULTS],
							   VGPU_FB(DATA(FAULTS) + SLOT * i),
							   value + i, SLOT));
		FX_OK(side->v->dev, vgpu_chan_fill(side->chan[FAULTS],
						   VGPU_FB(side->v->dev->fb_bytes), 0, 4));
	}
}

static bool is_over(const struct vgpu_chan *chan)
{
	return vgpu_chan_get(chan) == le64toh(chan->page->put) ||
	       vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED;
}

static bool all_over(const struct side *side)
{
	unsigned int i;

	for (i = 0; i < NR_CHANS; i++)
		if (!is_over(side->chan[i]))
			return false;
	return true;
}

static void check_fault(void)
{
	struct vgpu_fault fault[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		FX_OK(sides[i].v->dev, vgpu_chan_wait_fault(sides[i].chan[FAULTS],
							    FX_TIMEOUT_MS, &fault[i]));
	CHECK_EQ(fault[0].code, VGPU_HW_FAULT_ADDRESS);
	CHECK_EQ(fault[0].code, fault[1].code);
	CHECK_EQ(fault[0].pos, fault[1].pos);
	CHECK_EQ(fault[0].addr, fault[1].addr);
	for (i = 0; i < 2; i++)
		fx_again(sides[i].chan[FAULTS]);
}

static void check_memory(void)
{
	unsigned int i;

	for (i = 0; i < NR_CHANS; i++) {
		CHECK_EQ(vgpu_chan_get(sides[0].chan[i]), vgpu_chan_get(sides[1].chan[i]), "%u",
			 i);
		CHECK(!memcmp(v.dev->fb + DATA(i), twin.dev->fb + DATA(i), FX_MIB), "channel %u",
		      i);
	}
	CHECK(!memcmp(sides[0].buf.ptr, sides[1].buf.ptr, BUF_BYTES), "guest memory");
}

/* The vGPU has done as much as its twin, and no packet more. */
static bool same_counts(struct hop_counts *counts)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		hop_count(sides[i].v, !i, &counts[i]);
	return !memcmp(&counts[0], &counts[1], sizeof(counts[0]));
}

static void check_counts(unsigned int round)
{
	struct hop_counts counts[2];
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;

	/* A packet is counted a moment after the guest has seen it. */
	while (!same_counts(counts) && clk_ms() < end)
		clk_sleep_ms(1);
	CHECK_EQ(counts[0].packets, counts[1].packets, "round %u", round);
	CHECK_EQ(counts[0].frames, counts[1].frames, "round %u", round);
	CHECK_EQ(counts[0].faults, counts[1].faults, "round %u", round);
}

static void as_its_twin(void)
{
	unsigned int hops = 0, moving = 0, round, i;
	uint64_t most = fx_env("VGPU_TEST_HOPS", 100), end;
	struct hop_counts counts[2];
	bool irq;

	fx_need("execute packets");
	for (i = 0; i < 2; i++)
		open_side(&sides[i]);
	hop_count_begin();
	/* A host on which a hop takes longer than the work needs more of them. */
	for (round = 1; hops < most || (moving <= most / 4 && hops < 8 * most); round++) {
		for (i = 0; i < 6; i++)
			fills();
		for (i = 0, irq = false; i < 6; i++)
			irq |= buffers(round * 8 + i);
		for (i = 0; i < 4; i++) {
			programs(PROGRAMS, DATA(PROGRAMS), COMPUTE_HEAD);
			programs(SPACE, DATA_VA, COMPUTE_HEAD_VA + 64);
		}
		if (!(round % 2))
			present();
		if (!(round % 3))
			faults();
		end = clk_ms() + FX_TIMEOUT_MS;
		while (!all_over(&sides[0])) {
			CHECK(clk_ms() < end, "round %u", round);
			hop(&v, (unsigned int)fx_random_below(3));
			hops++;
			moving += !all_over(&sides[0]);
			clk_sleep_ns(fx_random_below(3000000));
		}
		FX_SOON(all_over(&sides[1]));
		if (!(round % 3))
			check_fault();
		for (i = 0; irq && i < 2; i++)
			CHECK(vgpu_irq_wait(sides[i].v->dev, sides[i].chan[BUFFERS]->vector,
					    FX_TIMEOUT_MS) > 0, "round %u", round);
		check_memory();
		check_counts(round);
	}
	same_counts(counts);
	CHECK(moving > most / 4, "%u of %u hops before all was done", moving, hops);
	ktap_note("%u rounds, %u hops, %u before all was done; %llu packets", round - 1, hops,
		  moving, (unsigned long long)counts[0].packets);
	for (i = 0; i < 2; i++) {
		vgpu_space_destroy(sides[i].space);
		vgpu_buf_free(&sides[i].buf);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(as_its_twin),
};

KTAP_MAIN(tests, space_cleanup)
