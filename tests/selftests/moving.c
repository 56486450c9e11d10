// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include "compute.h"
#include "moving.h"
#include "space.h"

/* Where a program in an address space finds COMPUTE_OUT. */
#define OUT_VA			0x130000000ull

#define LR_W(rd, rs1)		RV_R(8, 0, rs1, 2, rd, 0x2f)
#define SC_W(rd, rs2, rs1)	RV_R(12, rs2, rs1, 2, rd, 0x2f)

/* Moves the vGPU, over and over, until all packets of the channels have completed. */
static unsigned int move_until(const struct moving *how, struct vgpu_chan *const *chans,
			       unsigned int nr)
{
	uint64_t start = clk_ms();
	unsigned int i, moved = 0;

	for (i = 0; i < nr; i++) {
		while (vgpu_chan_get(chans[i]) != le64toh(chans[i]->page->put)) {
			CHECK(clk_ms() - start < FX_TIMEOUT_MS, "packet %llu of channel %u",
			      (unsigned long long)vgpu_chan_get(chans[i]), chans[i]->id);
			CHECK(vgpu_chan_state(chans[i]) != VGPU_HW_STATE_FAULTED,
			      "channel %u: fault %u at %#llx", chans[i]->id,
			      le32toh(chans[i]->page->fault_code),
			      (unsigned long long)le64toh(chans[i]->page->fault_addr));
			moved += how->step();
		}
	}
	return moved;
}

/*
 * Each work-item adds 1 to a counter of the group, by a reservation, and waits until all have; then
 * each makes a number of what it reads there and on its stack. The counter is the group's, so a
 * work-item that was lost, or went on twice, gives another number; so does memory that changed.
 */
static const uint32_t count[] = {
	RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID),
	RV_CSRR(RV_A2, VGPU_HW_CSR_LOCAL_ID),
	RV_LUI(RV_A3, VGPU_HW_VA_LOCAL >> 12),
	RV_BNE(RV_A2, RV_ZERO, 8),
	RV_SW(RV_ZERO, 64, RV_A3),
	RV_ADDI(RV_A3, RV_A3, 64),
	RV_LW(RV_A4, 0, RV_A0),			/* rounds */
	RV_SD(RV_A1, -16, RV_SP),
	RV_BARRIER,				/* 8: */
	LR_W(RV_T0, RV_A3),			/* 9: */
	RV_ADDI(RV_T0, RV_T0, 1),
	SC_W(RV_T1, RV_T0, RV_A3),
	RV_BNE(RV_T1, RV_ZERO, -12),
	RV_BARRIER,
	RV_LW(RV_T2, 0, RV_A3),
	RV_LD(RV_T1, -16, RV_SP),
	RV_SLLI(RV_T0, RV_T1, 3),
	RV_ADD(RV_T1, RV_T1, RV_T0),
	RV_ADD(RV_T1, RV_T1, RV_T2),		/* stack = 9 * stack + counter */
	RV_SD(RV_T1, -16, RV_SP),
	RV_ADDI(RV_A4, RV_A4, -1),
	RV_BNE(RV_A4, RV_ZERO, -52),
	RV_SLLI(RV_T0, RV_A1, 3),
	RV_ADD(RV_A0, RV_A0, RV_T0),
	RV_SD(RV_T1, 8, RV_A0),
	RV_RET,
};

static uint64_t count_of(uint64_t id, uint64_t items, uint64_t rounds)
{
	uint64_t round, stack = id;

	for (round = 1; round <= rounds; round++)
		stack = 9 * stack + items * round;
	return stack;
}

void moving_barriers(const struct moving *how, unsigned int least)
{
	enum { ITEMS = 300, GROUP = 200, ROUNDS = 200 };
	unsigned int moved = 0, i, runs = 0;
	struct vgpu_chan *gr = compute_chan(&v);
	uint64_t *out;

	COMPUTE_LOAD(&v, count);
	out = (void *)(v.dev->fb + COMPUTE_OUT);
	while (moved < least) {
		memset(out, 0, (ITEMS + 1) * 8);
		*(uint32_t *)out = htole32(ROUNDS);
		compute_dispatch(gr, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(GROUP, 1, 1), 128);
		moved += move_until(how, &gr, 1);
		for (i = 0; i < ITEMS; i++)
			CHECK_EQ(le64toh(out[1 + i]),
				 count_of(i, i < GROUP ? GROUP : ITEMS - GROUP, ROUNDS), "%u", i);
		runs++;
	}
	ktap_note("%u dispatches were moved %u times", runs, moved);
}

/* Channels that share a program, one beside them that does not, and one in an address space. */
void moving_channels(const struct moving *how, unsigned int least)
{
	enum { NR = 4, ITEMS = 70, ROUNDS = 150 };
	struct vgpu_chan *chans[NR];
	unsigned int moved = 0, i, k;
	uint64_t *out;

	chans[3] = compute_load_in_space(count, sizeof(count) / sizeof(count[0]), 4096);
	for (i = 0; i < 3; i++)
		chans[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, i ? VGPU_RING_FB : VGPU_RING_SYS, 4);
	/* The head at COMPUTE_HEAD is that of the address space. */
	compute_head(&v, COMPUTE_HEAD + 64, COMPUTE_IMAGE, sizeof(count) / 4, 64);
	compute_head(&v, COMPUTE_HEAD + 128, COMPUTE_IMAGE, sizeof(count) / 4 + 1, 4096);
	space_map(OUT_VA, VGPU_FB(COMPUTE_OUT), FX_MIB, RW);
	while (moved < least) {
		for (i = 0; i < NR; i++) {
			out = (void *)(v.dev->fb + COMPUTE_OUT + i * 4096);
			memset(out, 0, 4096);
			*(uint32_t *)out = htole32(ROUNDS);
			compute_dispatch_head(chans[i], i == 3 ? COMPUTE_HEAD_VA :
					      COMPUTE_HEAD + (i == 2 ? 128 : 64),
					      (i == 3 ? OUT_VA : COMPUTE_OUT) + i * 4096,
					      COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1),
					      128);
		}
		moved += move_until(how, chans, NR);
		for (i = 0; i < NR; i++) {
			out = (void *)(v.dev->fb + COMPUTE_OUT + i * 4096);
			for (k = 0; k < ITEMS; k++)
				CHECK_EQ(le64toh(out[1 + k]), count_of(k, ITEMS, ROUNDS),
					 "channel %u, %u", i, k);
		}
	}
	ktap_note("moved %u times", moved);
}

/*
 * The guest has overwritten head and text since the dispatch began: that goes on with the text that
 * it began with, and the next one has the new text.
 */
void moving_text(const struct moving *how)
{
	enum { ITEMS = 100, ROUNDS = 800 };
	struct vgpu_chan *gr = compute_chan(&v);
	uint32_t *text = (void *)(v.dev->fb + COMPUTE_IMAGE);
	uint64_t *out = (void *)(v.dev->fb + COMPUTE_OUT), before;
	unsigned int moved, i, round, rounds = ROUNDS;

	for (round = 0; round < 4; round += moved > 0) {
		COMPUTE_LOAD(&v, count);
		memset(out, 0, (ITEMS + 1) * 8);
		*(uint32_t *)out = htole32(rounds);
		before = compute_counter(&v, "instructions ");
		compute_dispatch(gr, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 128);
		FX_SOON(compute_counter(&v, "instructions ") > before);
		memset(text, round & 1 ? 0xff : 0, sizeof(count));
		memset(v.dev->fb + COMPUTE_HEAD, 0xee, sizeof(struct vgpu_hw_program));
		if (round & 2)
			compute_invalidate(&v, 0);
		moved = move_until(how, &gr, 1);
		for (i = 0; i < ITEMS; i++)
			CHECK_EQ(le64toh(out[1 + i]), count_of(i, ITEMS, rounds), "%u", i);
		/* On a busy host the dispatch may have ended before the move: once more, longer. */
		if (!moved)
			CHECK((rounds *= 2) <= ROUNDS << 8, "the dispatch had ended before");

		compute_head(&v, COMPUTE_HEAD, COMPUTE_IMAGE, sizeof(count) / 4, 4096);
		compute_invalidate(&v, 0);
		compute_dispatch(gr, COMPUTE_ONE, COMPUTE_ONE, 128);
		compute_check_fault(gr, VGPU_HW_FAULT_ILLEGAL, 0, VGPU_HW_VA_IMAGE,
				    COMPUTE_SIZE(0, 0, 0), "new text");
		fx_again(gr);
		fx_close(&v);
		fx_open(&v);
		gr = compute_chan(&v);
		text = (void *)(v.dev->fb + COMPUTE_IMAGE);
		out = (void *)(v.dev->fb + COMPUTE_OUT);
	}
}

/*
 * A signal in guest memory is written once. The guest that has seen it uses its place for something
 * else, before the engine has noted that the signal was written.
 */
void moving_signals(const struct moving *how, unsigned int signals)
{
	struct vgpu_hw_packet packet = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS,
	};
	struct vgpu_chan *ce;
	struct vgpu_buf buf;
	volatile uint64_t *word;
	unsigned int i, seen = 0;
	uint64_t end, want;

	fx_need("execute packets");
	fx_create_open(&v, fx_default_type());
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 4096, &buf));
	word = buf.ptr;
	for (i = 1; i <= signals; i++) {
		packet.signal_addr = htole64(buf.iova);
		packet.signal_value = htole64(i);
		FX_OK(v.dev, vgpu_chan_submit(ce, &packet, 1));
		clk_sleep_ns(fx_random_below(200000));
		how->pause();
		/* It was written before the pause, or is after it. */
		want = i;
		if (*word == i && vgpu_chan_get(ce) < i) {
			seen++;
			want = ~0ull;
			*word = want;
		}
		how->step();
		how->resume();
		end = clk_ms() + FX_TIMEOUT_MS;
		while (vgpu_chan_get(ce) < i)
			CHECK(clk_ms() < end, "signal %u", i);
		CHECK_EQ(*word, want, "signal %u", i);
		*word = 0;
	}
	ktap_note("%u signals were written and not noted", seen);
	vgpu_buf_free(&buf);
}
