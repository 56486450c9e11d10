// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "programs.h"
#include "rv.h"

#define ARRAY_NR(array)	((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Instructions that no selftest has. Operations on floats are of doubles. */
#define RV_XORI(rd, rs1, imm)	RV_I(imm, rs1, 4, rd, 0x13)
#define RV_ANDI(rd, rs1, imm)	RV_I(imm, rs1, 7, rd, 0x13)
#define RV_SRLI(rd, rs1, n)	RV_I(n, rs1, 5, rd, 0x13)
#define RV_AND(rd, rs1, rs2)	RV_R(0, rs2, rs1, 7, rd, 0x33)
#define RV_BGE(rs1, rs2, off)	RV_B(off, rs2, rs1, 5)
#define RV_AMOOR_D(rd, rs2, rs1) RV_R(0x20, rs2, rs1, 3, rd, 0x2f)
#define RV_FLOAT(f7, rs2, rs1, rm, rd) RV_R(f7, rs2, rs1, rm, rd, 0x53)
#define RV_FMUL(rd, rs1, rs2, rm) RV_FLOAT(0x09, rs2, rs1, rm, rd)
#define RV_FDIV(rd, rs1, rs2, rm) RV_FLOAT(0x0d, rs2, rs1, rm, rd)
#define RV_FSQRT(rd, rs1, rm)	RV_FLOAT(0x2d, 0, rs1, rm, rd)
#define RV_FMADD(rd, rs1, rs2, rs3, rm) RV_R((rs3) << 2 | 1, rs2, rs1, rm, rd, 0x43)
#define RV_FCVT_D_L(rd, rs1)	RV_FLOAT(0x69, 2, rs1, RV_RNE, rd)
#define RV_FCVT_L_D(rd, rs1)	RV_FLOAT(0x61, 2, rs1, RV_RTZ, rd)

/* Rounding modes: that of RMM is one that CPUs have not got, so floats are made of integers. */
enum { RV_RNE = 0, RV_RTZ = 1, RV_RMM = 4 };
enum { RV_FT0, RV_FT1, RV_FT2 };

/* The arguments in a1 and up, the id in t0 and t1. */
#define BEGIN							\
	RV_LD(RV_A1, 0, RV_A0), RV_LD(RV_A2, 8, RV_A0),		\
	RV_LD(RV_A3, 16, RV_A0), RV_LD(RV_A4, 24, RV_A0),	\
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_MV(RV_T1, RV_T0)
/* Another round of @nr instructions, or the end, with t1 for the number. */
#define END(nr)							\
	RV_ADDI(RV_A1, RV_A1, -1),				\
	RV_BNE(RV_A1, RV_ZERO, -4 * ((nr) + 1)),		\
	RV_SLLI(RV_T0, RV_T0, 3), RV_ADD(RV_A2, RV_A2, RV_T0),	\
	RV_SD(RV_T1, 0, RV_A2), RV_RET

/* t1 = 9 * t1 + 77; three instructions */
#define STEP							\
	RV_SLLI(RV_T2, RV_T1, 3), RV_ADD(RV_T1, RV_T1, RV_T2),	\
	RV_ADDI(RV_T1, RV_T1, 77)

static uint64_t step(uint64_t x)
{
	return 9 * x + 77;
}

static const uint32_t loop_words[] = { BEGIN, STEP, END(3) };

static uint64_t loop_result(uint64_t id, uint64_t rounds)
{
	while (rounds--)
		id = step(id);
	return id;
}

const struct program program_loop = {
	"loop", "integers", loop_words, ARRAY_NR(loop_words), loop_result,
};

/* A branch by bit @k of t1, of which one way adds and the other one flips bits; five words. */
#define BRANCH(k)						\
	RV_ANDI(RV_T2, RV_T1, 1 << (k)),			\
	RV_BEQ(RV_T2, RV_ZERO, 12),				\
	RV_ADDI(RV_T1, RV_T1, 2 * (k) + 3), RV_J(8),		\
	RV_XORI(RV_T1, RV_T1, 64 + (k))
/* A loop of as many turns as the low bits of t1 say, and one; four instructions. */
#define TURNS							\
	RV_ANDI(RV_T2, RV_T1, 7), RV_ADDI(RV_T1, RV_T1, 3),	\
	RV_ADDI(RV_T2, RV_T2, -1), RV_BGE(RV_T2, RV_ZERO, -8)

static const uint32_t diverged_words[] = {
	BEGIN, BRANCH(0), BRANCH(1), BRANCH(2), BRANCH(3), BRANCH(4), TURNS, STEP, END(32),
};

static uint64_t diverged_result(uint64_t id, uint64_t rounds)
{
	unsigned int k;

	while (rounds--) {
		for (k = 0; k < 5; k++)
			id = id >> k & 1 ? id + 2 * k + 3 : id ^ (64 + k);
		id = step(id + 3 * ((id & 7) + 1));
	}
	return id;
}

const struct program program_diverged = {
	"diverged", "lanes part at branches and loops", diverged_words, ARRAY_NR(diverged_words),
	diverged_result,
};

/* All results are whole numbers, whatever the rounding. */
static const uint32_t slow_words[] = {
	BEGIN,
	RV_LI(RV_T2, 1), RV_FCVT_D_L(RV_FT1, RV_T2), RV_FCVT_D_L(RV_FT0, RV_T1),
	RV_FMUL(RV_FT2, RV_FT0, RV_FT0, RV_RMM),
	RV_FSQRT(RV_FT0, RV_FT2, RV_RMM),
	RV_FDIV(RV_FT0, RV_FT0, RV_FT1, RV_RMM),
	RV_FMADD(RV_FT0, RV_FT0, RV_FT1, RV_FT1, RV_RMM),
	RV_FCVT_L_D(RV_T1, RV_FT0),
	END(5),
};

static uint64_t slow_result(uint64_t id, uint64_t rounds)
{
	return id + rounds;
}

const struct program program_slow = {
	"slow", "square roots and quotients rounded as no CPU does", slow_words,
	ARRAY_NR(slow_words), slow_result,
};

#define ROOT	RV_FSQRT(RV_FT0, RV_FT2, RV_RMM)
#define ROOTS	ROOT, ROOT, ROOT, ROOT
/* Again, t2 times in all, what the last @nr instructions do. */
#define AGAIN(nr) RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -4 * ((nr) + 1))

/*
 * As long as instructions are fast, the clock is read less and less often. Then come as many of the
 * slowest as a piece may have at most, late in a section as often as early.
 */
static const uint32_t bursts_words[] = {
	BEGIN,
	RV_LI(RV_T2, 1), RV_FCVT_D_L(RV_FT1, RV_T2), RV_FCVT_D_L(RV_FT0, RV_T1),
	RV_FMUL(RV_FT2, RV_FT0, RV_FT0, RV_RMM),
	RV_LI(RV_T2, 1000), AGAIN(0), ROOTS, ROOTS, ROOTS, ROOTS,
	RV_FMADD(RV_FT0, RV_FT0, RV_FT1, RV_FT1, RV_RMM),
	RV_FCVT_L_D(RV_T1, RV_FT0),
	END(22),
};

const struct program program_bursts = {
	"bursts", "two thousand fast instructions, then 16 slow ones", bursts_words,
	ARRAY_NR(bursts_words), slow_result,
};

/* t1 is drawn anew, and t2 is an address in one of the pages; eight instructions. */
#define ANYWHERE						\
	RV_SLLI(RV_T2, RV_T1, 13), RV_XOR(RV_T1, RV_T1, RV_T2),	\
	RV_SRLI(RV_T2, RV_T1, 7), RV_XOR(RV_T1, RV_T1, RV_T2),	\
	RV_SLLI(RV_T2, RV_T1, 17), RV_XOR(RV_T1, RV_T1, RV_T2),	\
	RV_AND(RV_T2, RV_T1, RV_A4), RV_ADD(RV_T2, RV_T2, RV_A3)

static uint64_t anywhere_result(uint64_t id, uint64_t rounds)
{
	while (rounds--) {
		id ^= id << 13;
		id ^= id >> 7;
		id ^= id << 17;
		id += PROGRAM_PATTERN;
	}
	return id;
}

static const uint32_t loads_words[] = {
	BEGIN, ANYWHERE, RV_LD(RV_T2, 0, RV_T2), RV_ADD(RV_T1, RV_T1, RV_T2), END(10),
};

const struct program program_loads = {
	"loads", "each lane loads from another page", loads_words, ARRAY_NR(loads_words),
	anywhere_result,
};

/* a3 is four bytes before the end of the page. */
static const uint32_t misses_words[] = {
	BEGIN, RV_LI(RV_T2, 1023), RV_SLLI(RV_T2, RV_T2, 2), RV_ADD(RV_A3, RV_A3, RV_T2),
	ANYWHERE, RV_LD(RV_T2, 0, RV_T2), RV_ADD(RV_T1, RV_T1, RV_T2), END(10),
};

const struct program program_misses = {
	"misses", "each lane loads over the end of another page", misses_words,
	ARRAY_NR(misses_words), anywhere_result,
};

static const uint32_t atomics_words[] = {
	BEGIN, ANYWHERE, RV_AMOOR_D(RV_T2, RV_ZERO, RV_T2), RV_ADD(RV_T1, RV_T1, RV_T2), END(10),
};

const struct program program_atomics = {
	"atomics", "each lane an atomic in another page", atomics_words, ARRAY_NR(atomics_words),
	anywhere_result,
};

static const uint32_t empty_words[] = { RV_RET };

const struct program program_empty = {
	"empty", "groups of 1024 work-items that end at once", empty_words,
	ARRAY_NR(empty_words), NULL,
};

static const uint32_t count_words[] = {
	RV_LD(RV_A2, 8, RV_A0), RV_LD(RV_T0, 0, RV_A2), RV_ADDI(RV_T0, RV_T0, 1),
	RV_SD(RV_T0, 0, RV_A2), RV_RET,
};

const struct program program_count = {
	"count", "adds one to the first number", count_words, ARRAY_NR(count_words), NULL,
};
