/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RISC-V instructions, as words: enough to write a test's program by hand; used by the selftests
 * and the fuzzer.
 */
#ifndef RV_H
#define RV_H

#include <stdint.h>

#include <linux/vgpu_hw.h>

#include "rng.h"

enum rv_reg {
	RV_ZERO = 0, RV_RA = 1, RV_SP = 2, RV_T0 = 5, RV_T1 = 6, RV_T2 = 7,
	RV_A0 = 10, RV_A1 = 11, RV_A2 = 12, RV_A3 = 13, RV_A4 = 14, RV_A5 = 15,
};

#define RV_R(f7, rs2, rs1, f3, rd, op) \
	((uint32_t)(f7) << 25 | (rs2) << 20 | (rs1) << 15 | (f3) << 12 | (rd) << 7 | (op))
#define RV_I(imm, rs1, f3, rd, op) \
	(((uint32_t)(imm) & 0xfff) << 20 | (rs1) << 15 | (f3) << 12 | (rd) << 7 | (op))
#define RV_S(imm, rs2, rs1, f3) \
	(((uint32_t)(imm) >> 5 & 0x7f) << 25 | (rs2) << 20 | (rs1) << 15 | (f3) << 12 | \
	 ((uint32_t)(imm) & 0x1f) << 7 | 0x23)
#define RV_B(off, rs2, rs1, f3) \
	(((uint32_t)(off) >> 12 & 1) << 31 | ((uint32_t)(off) >> 5 & 0x3f) << 25 | \
	 (rs2) << 20 | (rs1) << 15 | (f3) << 12 | ((uint32_t)(off) >> 1 & 0xf) << 8 | \
	 ((uint32_t)(off) >> 11 & 1) << 7 | 0x63)

/* Distances are in bytes. */
#define RV_LUI(rd, imm20)	((uint32_t)(imm20) << 12 | (rd) << 7 | 0x37)
#define RV_AUIPC(rd, imm20)	((uint32_t)(imm20) << 12 | (rd) << 7 | 0x17)
#define RV_J(off) \
	(((uint32_t)(off) >> 20 & 1) << 31 | ((uint32_t)(off) >> 1 & 0x3ff) << 21 | \
	 ((uint32_t)(off) >> 11 & 1) << 20 | ((uint32_t)(off) >> 12 & 0xff) << 12 | 0x6f)
#define RV_JR(rs1)		RV_I(0, rs1, 0, 0, 0x67)
#define RV_RET			RV_JR(RV_RA)
#define RV_BEQ(rs1, rs2, off)	RV_B(off, rs2, rs1, 0)
#define RV_BNE(rs1, rs2, off)	RV_B(off, rs2, rs1, 1)
#define RV_BLT(rs1, rs2, off)	RV_B(off, rs2, rs1, 4)

#define RV_LW(rd, imm, rs1)	RV_I(imm, rs1, 2, rd, 0x03)
#define RV_LD(rd, imm, rs1)	RV_I(imm, rs1, 3, rd, 0x03)
#define RV_SW(rs2, imm, rs1)	RV_S(imm, rs2, rs1, 2)
#define RV_SD(rs2, imm, rs1)	RV_S(imm, rs2, rs1, 3)

#define RV_ADDI(rd, rs1, imm)	RV_I(imm, rs1, 0, rd, 0x13)
#define RV_LI(rd, imm)		RV_ADDI(rd, RV_ZERO, imm)	/* 12 bits */
#define RV_MV(rd, rs1)		RV_ADDI(rd, rs1, 0)
#define RV_ANDI(rd, rs1, imm)	RV_I(imm, rs1, 7, rd, 0x13)
#define RV_SLLI(rd, rs1, n)	RV_I(n, rs1, 1, rd, 0x13)
#define RV_ADD(rd, rs1, rs2)	RV_R(0, rs2, rs1, 0, rd, 0x33)
#define RV_SUB(rd, rs1, rs2)	RV_R(0x20, rs2, rs1, 0, rd, 0x33)
#define RV_OR(rd, rs1, rs2)	RV_R(0, rs2, rs1, 6, rd, 0x33)
#define RV_XOR(rd, rs1, rs2)	RV_R(0, rs2, rs1, 4, rd, 0x33)
#define RV_MUL(rd, rs1, rs2)	RV_R(1, rs2, rs1, 0, rd, 0x33)
#define RV_AMOSWAP_W(rd, rs2, rs1) RV_R(4, rs2, rs1, 2, rd, 0x2f)
#define RV_AMOADD_W(rd, rs2, rs1) RV_R(0, rs2, rs1, 2, rd, 0x2f)
#define RV_AMOADD_D(rd, rs2, rs1) RV_R(0, rs2, rs1, 3, rd, 0x2f)
#define RV_CSRR(rd, csr)	RV_I(csr, 0, 2, rd, 0x73)
#define RV_FCSR			3
#define RV_ECALL		0x00000073u
#define RV_FENCE		0x0ff0000fu
#define RV_BARRIER		((uint32_t)VGPU_HW_INSN_BARRIER)

/* Mostly an instruction that does no harm by itself; a0 and sp keep their values. */
uint32_t rv_random(struct rng *rng);

#endif /* RV_H */
