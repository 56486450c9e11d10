// SPDX-License-Identifier: GPL-2.0
#include "rv.h"

static unsigned int random_reg(struct rng *rng)
{
	static const uint8_t regs[] = { 0, 1, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15 };

	return regs[rng_below(rng, sizeof(regs))];
}

uint32_t rv_random(struct rng *rng)
{
	static const uint8_t f7[] = { 0, 0, 1, 1, 4, 5, 16, 32, 48 };
	static const uint8_t ff7[] = { 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 80, 81, 104, 105 };
	unsigned int rd = random_reg(rng), rs1 = random_reg(rng), rs2 = random_reg(rng);
	uint32_t f3 = (uint32_t)rng_below(rng, 8), imm = (uint32_t)rng_next(rng);

	switch (rng_below(rng, rng_below(rng, 8) ? 8 : 10)) {
	case 0:
		return RV_R(f7[rng_below(rng, 3 + rng_below(rng, 6))], rs2, rs1, f3, rd, 0x33);
	case 1:
		return RV_I(imm, rs1, f3 & 1 ? 0 : f3, rd, 0x13);
	case 2:
		return RV_R(ff7[rng_below(rng, sizeof(ff7))], rs2, rs1, f3 % 3, rd, 0x53);
	case 3:
		return RV_CSRR(rd, VGPU_HW_CSR_GLOBAL_ID + rng_below(rng, 18));
	case 4:
		return RV_I(imm % 512, RV_A0, f3 % 7, rd, 0x03);
	case 5:
		return RV_S(imm % 512, rs2, RV_A0, f3 % 4);
	case 6:
		return RV_B((int)(imm % 64) * 4 - 128, rs2, rs1, f3 == 2 || f3 == 3 ? 0 : f3);
	case 7:
		return RV_AMOADD_W(rd, rs2, RV_A0);
	case 8:
		return RV_BARRIER;
	default:
		return imm;
	}
}
