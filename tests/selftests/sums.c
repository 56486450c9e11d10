// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include "compute.h"
#include "sums.h"

/*
 * Each work-item adds up the numbers from those of the rounds down, on its stack, and waits until
 * it may end before it tells the sum.
 */
static const uint32_t words[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 3),
	RV_LW(RV_A4, 0, RV_A0), RV_SD(RV_ZERO, -16, RV_SP),
	RV_LD(RV_T1, -16, RV_SP), RV_ADD(RV_T1, RV_T1, RV_A4), RV_SD(RV_T1, -16, RV_SP),
	RV_ADDI(RV_A4, RV_A4, -1), RV_BNE(RV_A4, RV_ZERO, -16),
	RV_LW(RV_A4, 4, RV_A0), RV_BEQ(RV_A4, RV_ZERO, -4),
	RV_ADD(RV_A0, RV_A0, RV_T0), RV_SD(RV_T1, 8, RV_A0), RV_RET,
};

struct vgpu_chan *sums_begin(struct fx_vgpu *v, uint32_t items, uint32_t stack, uint32_t rounds)
{
	struct vgpu_chan *chan = compute_chan(v);
	uint64_t *out, before;

	compute_load(v, words, sizeof(words) / sizeof(words[0]), stack);
	out = (uint64_t *)(v->dev->fb + COMPUTE_OUT);
	memset(out, 0, (items + 1) * 8);
	*(uint32_t *)out = htole32(rounds);
	before = compute_counter(v, "instructions ");
	compute_dispatch(chan, COMPUTE_SIZE(items, 1, 1), COMPUTE_SIZE(items, 1, 1), 64);
	FX_SOON(compute_counter(v, "instructions ") > before);
	return chan;
}

bool sums_over(const struct vgpu_chan *chan)
{
	return vgpu_chan_get(chan) == le64toh(chan->page->put);
}

void sums_let_end(struct vgpu_chan *chan)
{
	((volatile uint32_t *)(chan->dev->fb + COMPUTE_OUT))[1] = htole32(1);
}

void sums_check(struct vgpu_chan *chan, uint32_t items, uint32_t rounds)
{
	const uint64_t *out = (const void *)(chan->dev->fb + COMPUTE_OUT);
	uint32_t i;

	sums_let_end(chan);
	fx_finish(chan);
	for (i = 0; i < items; i++)
		CHECK_EQ(le64toh(out[1 + i]), rounds * (rounds + 1ull) / 2, "%u", i);
}
