/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on integer registers. Included by lane.h, once for each instruction set of the CPU.
 *
 * Each operation is an expression in a and b. Operands without an array of lanes take a short way:
 * uniform ones give a uniform result, and where the operation keeps lanes affine the affine ones
 * give an affine result.
 */
#ifndef _VGPU_SIMT_LANE_INT_H
#define _VGPU_SIMT_LANE_INT_H

#include "reg.h"

static inline u64 simt_w(u64 a)
{
	return (u64)(s64)(s32)a;
}

/* The value is sign-extended from 32 bits: is it still affine? */
static inline bool simt_affine_w(u64 *base, u64 *stride)
{
	s64 b = (s32)*base, s = (s32)*stride, last = b + (SIMT_LANES - 1) * s;

	if (last != (s32)last)
		return false;
	*base = b;
	*stride = s;
	return true;
}

/* Likewise, zero-extended. */
static inline bool simt_affine_uw(u64 *base, u64 *stride)
{
	s64 b = (u32)*base, s = (s32)*stride, last = b + (SIMT_LANES - 1) * s;

	if (last != (u32)last)
		return false;
	*base = b;
	*stride = s;
	return true;
}

/* What an operation does with affine operands a + lane * sa and b + lane * sb. */
#define SIMT_NONE
#define SIMT_AFFINE(base, stride) do {			\
	simt_set_x(w, i->rd, base, stride);		\
	return i + 1;					\
} while (0)
#define SIMT_AFFINE_W(b_, s_) do {			\
	u64 base_ = b_, stride_ = s_;			\
							\
	if (simt_affine_w(&base_, &stride_))		\
		SIMT_AFFINE(base_, stride_);		\
} while (0)
/* The operand a is zero-extended from 32 bits first. */
#define SIMT_AFFINE_UW(shift) do {			\
	u64 base_ = a, stride_ = sa;			\
							\
	if (simt_affine_uw(&base_, &stride_))		\
		SIMT_AFFINE((base_ << (shift)) + b, (stride_ << (shift)) + sb);	\
} while (0)
#define SIMT_AFFINE_MUL(KIND) do {			\
	if (!sa)					\
		KIND(a * b, a * sb);			\
	else if (!sb)					\
		KIND(a * b, sa * b);			\
} while (0)

#define SIMT_DEFINE_RR(name, expr, affine)						\
static SIMT_FN(simt_##name)								\
{											\
	const u64 *ra, *rb;								\
	u64 *to;									\
											\
	if (!((w->vec >> i->rs1 | w->vec >> i->rs2) & 1)) {				\
		const u64 a = w->base[i->rs1], b = w->base[i->rs2];			\
		const u64 sa = w->stride[i->rs1], sb = w->stride[i->rs2];		\
											\
		affine;									\
		if (!(sa | sb))								\
			SIMT_AFFINE(expr, 0);						\
	}										\
	ra = simt_x(w, i->rs1, 0);							\
	rb = simt_x(w, i->rs2, 1);							\
	to = simt_to_x(w, i->rd);							\
	simt_each(l) {									\
		const u64 a = ra[l], b = rb[l];						\
											\
		to[l] = expr;								\
	}										\
	simt_done_x(w, i->rd);								\
	return i + 1;									\
}

#define SIMT_DEFINE_RI(name, expr, affine)						\
static SIMT_FN(simt_##name)								\
{											\
	const u64 b = (u64)(s64)i->imm, sb = 0;						\
	const u64 *ra;									\
	u64 *to;									\
											\
	(void)b;									\
	(void)sb;									\
	if (!simt_is_vec(w, i->rs1)) {							\
		const u64 a = w->base[i->rs1], sa = w->stride[i->rs1];			\
											\
		affine;									\
		if (!sa)								\
			SIMT_AFFINE(expr, 0);						\
	}										\
	ra = simt_x(w, i->rs1, 0);							\
	to = simt_to_x(w, i->rd);							\
	simt_each(l) {									\
		const u64 a = ra[l];							\
											\
		to[l] = expr;								\
	}										\
	simt_done_x(w, i->rd);								\
	return i + 1;									\
}

static inline u64 simt_mulhu(u64 a, u64 b)
{
	return (unsigned __int128)a * b >> 64;
}

static inline u64 simt_mulh(u64 a, u64 b)
{
	return (__int128)(s64)a * (s64)b >> 64;
}

static inline u64 simt_div(u64 a, u64 b)
{
	if (!b)
		return U64_MAX;
	return (s64)b == -1 ? -a : (u64)((s64)a / (s64)b);
}

static inline u64 simt_rem(u64 a, u64 b)
{
	if (!b)
		return a;
	return (s64)b == -1 ? 0 : (u64)((s64)a % (s64)b);
}

static inline u64 simt_divw(u64 a, u64 b)
{
	if (!(u32)b)
		return U64_MAX;
	return simt_w((s32)b == -1 ? -a : (u64)((s32)a / (s32)b));
}

static inline u64 simt_remw(u64 a, u64 b)
{
	if (!(u32)b)
		return simt_w(a);
	return (s32)b == -1 ? 0 : (u64)(s64)((s32)a % (s32)b);
}

/* Not by __builtin_popcountll(): without an instruction that is a function of libgcc. */
static inline u64 simt_cpop(u64 a)
{
	a -= a >> 1 & 0x5555555555555555ULL;
	a = (a & 0x3333333333333333ULL) + (a >> 2 & 0x3333333333333333ULL);
	a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	a += a >> 8;
	a += a >> 16;
	a += a >> 32;
	return a & 0x7f;
}

static inline u64 simt_clz(u64 a)
{
	return a ? __builtin_clzll(a) : 64;
}

static inline u64 simt_ctz(u64 a)
{
	return a ? __builtin_ctzll(a) : 64;
}

static inline u64 simt_orc_b(u64 a)
{
	a |= (a & 0x0f0f0f0f0f0f0f0fULL) << 4 | (a & 0xf0f0f0f0f0f0f0f0ULL) >> 4;
	a |= (a & 0x3333333333333333ULL) << 2 | (a & 0xccccccccccccccccULL) >> 2;
	return a | (a & 0x5555555555555555ULL) << 1 | (a & 0xaaaaaaaaaaaaaaaaULL) >> 1;
}

static inline u64 simt_rol(u64 a, u64 n)
{
	return a << (n & 63) | a >> (-n & 63);
}

static inline u64 simt_rorw(u64 a, u64 n)
{
	return simt_w((u32)a >> (n & 31) | (u32)a << (-n & 31));
}

SIMT_DEFINE_RR(ADD, a + b, SIMT_AFFINE(a + b, sa + sb))
SIMT_DEFINE_RR(SUB, a - b, SIMT_AFFINE(a - b, sa - sb))
SIMT_DEFINE_RR(SLL, a << (b & 63), if (!sb) SIMT_AFFINE(a << (b & 63), sa << (b & 63)))
SIMT_DEFINE_RR(SLT, (s64)a < (s64)b, SIMT_NONE)
SIMT_DEFINE_RR(SLTU, a < b, SIMT_NONE)
SIMT_DEFINE_RR(XOR, a ^ b, SIMT_NONE)
SIMT_DEFINE_RR(SRL, a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RR(SRA, (s64)a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RR(OR, a | b, SIMT_NONE)
SIMT_DEFINE_RR(AND, a & b, SIMT_NONE)
SIMT_DEFINE_RR(ADDW, simt_w(a + b), SIMT_AFFINE_W(a + b, sa + sb))
SIMT_DEFINE_RR(SUBW, simt_w(a - b), SIMT_AFFINE_W(a - b, sa - sb))
SIMT_DEFINE_RR(SLLW, simt_w((u32)a << (b & 31)),
	       if (!sb) SIMT_AFFINE_W(a << (b & 31), sa << (b & 31)))
SIMT_DEFINE_RR(SRLW, simt_w((u32)a >> (b & 31)), SIMT_NONE)
SIMT_DEFINE_RR(SRAW, (s64)((s32)a >> (b & 31)), SIMT_NONE)
SIMT_DEFINE_RR(MUL, a * b, SIMT_AFFINE_MUL(SIMT_AFFINE))
SIMT_DEFINE_RR(MULH, simt_mulh(a, b), SIMT_NONE)
SIMT_DEFINE_RR(MULHSU, simt_mulhu(a, b) - ((s64)a < 0 ? b : 0), SIMT_NONE)
SIMT_DEFINE_RR(MULHU, simt_mulhu(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIV, simt_div(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIVU, b ? a / b : U64_MAX, SIMT_NONE)
SIMT_DEFINE_RR(REM, simt_rem(a, b), SIMT_NONE)
SIMT_DEFINE_RR(REMU, b ? a % b : a, SIMT_NONE)
SIMT_DEFINE_RR(MULW, simt_w(a * b), SIMT_AFFINE_MUL(SIMT_AFFINE_W))
SIMT_DEFINE_RR(DIVW, simt_divw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIVUW, (u32)b ? simt_w((u32)a / (u32)b) : U64_MAX, SIMT_NONE)
SIMT_DEFINE_RR(REMW, simt_remw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(REMUW, simt_w((u32)b ? (u32)a % (u32)b : (u32)a), SIMT_NONE)
SIMT_DEFINE_RR(ADD_UW, (u32)a + b, SIMT_AFFINE_UW(0))
SIMT_DEFINE_RR(SH1ADD, (a << 1) + b, SIMT_AFFINE((a << 1) + b, (sa << 1) + sb))
SIMT_DEFINE_RR(SH2ADD, (a << 2) + b, SIMT_AFFINE((a << 2) + b, (sa << 2) + sb))
SIMT_DEFINE_RR(SH3ADD, (a << 3) + b, SIMT_AFFINE((a << 3) + b, (sa << 3) + sb))
SIMT_DEFINE_RR(SH1ADD_UW, ((u64)(u32)a << 1) + b, SIMT_AFFINE_UW(1))
SIMT_DEFINE_RR(SH2ADD_UW, ((u64)(u32)a << 2) + b, SIMT_AFFINE_UW(2))
SIMT_DEFINE_RR(SH3ADD_UW, ((u64)(u32)a << 3) + b, SIMT_AFFINE_UW(3))
SIMT_DEFINE_RR(ANDN, a & ~b, SIMT_NONE)
SIMT_DEFINE_RR(ORN, a | ~b, SIMT_NONE)
SIMT_DEFINE_RR(XNOR, ~(a ^ b), SIMT_NONE)
SIMT_DEFINE_RR(MAX, (s64)a > (s64)b ? a : b, SIMT_NONE)
SIMT_DEFINE_RR(MAXU, a > b ? a : b, SIMT_NONE)
SIMT_DEFINE_RR(MIN, (s64)a < (s64)b ? a : b, SIMT_NONE)
SIMT_DEFINE_RR(MINU, a < b ? a : b, SIMT_NONE)
SIMT_DEFINE_RR(ROL, simt_rol(a, b), SIMT_NONE)
SIMT_DEFINE_RR(ROLW, simt_rorw(a, -b), SIMT_NONE)
SIMT_DEFINE_RR(ROR, simt_rol(a, -b), SIMT_NONE)
SIMT_DEFINE_RR(RORW, simt_rorw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(BCLR, a & ~(1ULL << (b & 63)), SIMT_NONE)
SIMT_DEFINE_RR(BEXT, a >> (b & 63) & 1, SIMT_NONE)
SIMT_DEFINE_RR(BINV, a ^ 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RR(BSET, a | 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RR(CZERO_EQZ, b ? a : 0, SIMT_NONE)
SIMT_DEFINE_RR(CZERO_NEZ, b ? 0 : a, SIMT_NONE)

SIMT_DEFINE_RI(ADDI, a + b, SIMT_AFFINE(a + b, sa))
SIMT_DEFINE_RI(SLTI, (s64)a < (s64)b, SIMT_NONE)
SIMT_DEFINE_RI(SLTIU, a < b, SIMT_NONE)
SIMT_DEFINE_RI(XORI, a ^ b, SIMT_NONE)
SIMT_DEFINE_RI(ORI, a | b, SIMT_NONE)
SIMT_DEFINE_RI(ANDI, a & b, SIMT_NONE)
SIMT_DEFINE_RI(SLLI, a << (b & 63), SIMT_AFFINE(a << (b & 63), sa << (b & 63)))
SIMT_DEFINE_RI(SRLI, a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RI(SRAI, (s64)a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RI(ADDIW, simt_w(a + b), SIMT_AFFINE_W(a + b, sa))
SIMT_DEFINE_RI(SLLIW, simt_w((u32)a << (b & 31)), SIMT_AFFINE_W(a << (b & 31), sa << (b & 31)))
SIMT_DEFINE_RI(SRLIW, simt_w((u32)a >> (b & 31)), SIMT_NONE)
SIMT_DEFINE_RI(SRAIW, (s64)((s32)a >> (b & 31)), SIMT_NONE)
SIMT_DEFINE_RI(RORI, simt_rol(a, -b), SIMT_NONE)
SIMT_DEFINE_RI(RORIW, simt_rorw(a, b), SIMT_NONE)
SIMT_DEFINE_RI(BCLRI, a & ~(1ULL << (b & 63)), SIMT_NONE)
SIMT_DEFINE_RI(BEXTI, a >> (b & 63) & 1, SIMT_NONE)
SIMT_DEFINE_RI(BINVI, a ^ 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RI(BSETI, a | 1ULL << (b & 63), SIMT_NONE)

SIMT_DEFINE_RI(CLZ, simt_clz(a), SIMT_NONE)
SIMT_DEFINE_RI(CLZW, simt_clz((u32)a) - 32, SIMT_NONE)
SIMT_DEFINE_RI(CTZ, simt_ctz(a), SIMT_NONE)
SIMT_DEFINE_RI(CTZW, simt_ctz(a | 1ULL << 32), SIMT_NONE)
SIMT_DEFINE_RI(CPOP, simt_cpop(a), SIMT_NONE)
SIMT_DEFINE_RI(CPOPW, simt_cpop((u32)a), SIMT_NONE)
SIMT_DEFINE_RI(SEXT_B, (s64)(s8)a, SIMT_NONE)
SIMT_DEFINE_RI(SEXT_H, (s64)(s16)a, SIMT_NONE)
SIMT_DEFINE_RI(ZEXT_H, (u16)a, SIMT_NONE)
SIMT_DEFINE_RI(ORC_B, simt_orc_b(a), SIMT_NONE)
SIMT_DEFINE_RI(REV8, __builtin_bswap64(a), SIMT_NONE)

static SIMT_FN(simt_SLLI_UW)
{
	const u64 *ra;
	u64 *to;

	if (!simt_is_vec(w, i->rs1)) {
		u64 base = w->base[i->rs1], stride = w->stride[i->rs1];

		if (simt_affine_uw(&base, &stride)) {
			simt_set_x(w, i->rd, base << i->imm, stride << i->imm);
			return i + 1;
		}
	}
	ra = simt_x(w, i->rs1, 0);
	to = simt_to_x(w, i->rd);
	simt_each(l)
		to[l] = (u64)(u32)ra[l] << i->imm;
	simt_done_x(w, i->rd);
	return i + 1;
}

#endif /* _VGPU_SIMT_LANE_INT_H */
