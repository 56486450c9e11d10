/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on integer registers. Included by lane.h, once for each instruction set of the CPU.
 *
 * Each operation is an expression in a and b. Operands that are not arrays of lanes have a faster
 * path: uniform operands give a uniform result, and for some operations affine operands give an
 * affine result.
 */
#ifndef _VGPU_SIMT_LANE_INT_H
#define _VGPU_SIMT_LANE_INT_H

#include "reg.h"

static inline u64 simt_w(u64 a)
{
	return (u64)(s64)(s32)a;
}

/* Sign-extends an affine value from 32 bits. Returns false if it is not affine any more. */
static inline bool simt_affine_w(u64 *base, u64 *stride)
{
	s64 b = (s32)*base, s = (s32)*stride, last = b + (SIMT_LANES - 1) * s;

	if (last != (s32)last)
		return false;
	*base = b;
	*stride = s;
	return true;
}

/* Likewise, zero-extends it. */
static inline bool simt_affine_uw(u64 *base, u64 *stride)
{
	s64 b = (u32)*base, s = (s32)*stride, last = b + (SIMT_LANES - 1) * s;

	if (last != (u32)last)
		return false;
	*base = b;
	*stride = s;
	return true;
}

/*
 * Whether the lanes' values differ only in the bits of @mask, which has ones from bit 0 on. This is
 * often true for the ids of a warp, which programs mask or shift.
 */
static inline bool simt_same_block(u64 base, u64 stride, u64 mask)
{
	u64 last = base + (SIMT_LANES - 1) * stride;

	return mask < 1ULL << 56 && stride + mask <= 2 * mask && !((base ^ last) & ~mask);
}

/* Fast paths of operations for affine operands, a + lane * sa and b + lane * sb. */
#define SIMT_NONE
#define SIMT_AFFINE(base, stride) do {			\
	simt_set_x(w, i->rd, base, stride);		\
	return i + 1;					\
} while (0)
#define SIMT_AFFINE_W(b_, s_) do {			\
	u64 base_ = b_;					\
	u64 stride_ = s_;				\
							\
	if (simt_affine_w(&base_, &stride_))		\
		SIMT_AFFINE(base_, stride_);		\
} while (0)
/* Zero-extends the operand a from 32 bits first. */
#define SIMT_AFFINE_UW(shift) do {			\
	u64 base_ = a;					\
	u64 stride_ = sa;				\
							\
	if (simt_affine_uw(&base_, &stride_))		\
		SIMT_AFFINE((base_ << (shift)) + b, (stride_ << (shift)) + sb);	\
} while (0)
#define SIMT_IF(cond, action) do {			\
	if (cond)					\
		action;					\
} while (0)
#define SIMT_AFFINE_MUL(KIND) do {			\
	if (!sa)					\
		KIND(a * b, a * sb);			\
	else if (!sb)					\
		KIND(a * b, sa * b);			\
} while (0)

#define SIMT_LOOP_AB(expr)						\
	simt_each(l) {							\
		const u64 a = ra[l], b = rb[l];				\
									\
		to[l] = expr;						\
	}

/* A fast path: the second operand is often the same in all lanes, such as the count of a shift. */
#define SIMT_UNIFORM(expr) do {						\
	const u64 b = w->base[i->rs2];					\
									\
	if (simt_is_vec(w, i->rs2) || w->stride[i->rs2])		\
		break;							\
	ra = simt_x(w, i->rs1, 0);					\
	to = simt_to_x(w, i->rd);					\
	simt_each(l) {							\
		const u64 a = ra[l];					\
									\
		to[l] = expr;						\
	}								\
	simt_done_x(w, i->rd);						\
	return i + 1;							\
} while (0)

/* A fast path for operations whose result fits 32 bits if both operands do. */
#define SIMT_NARROW(expr) do {						\
	const s32 *na;							\
	const s32 *nb;							\
	s32 *nto;							\
									\
	if (!simt_fits(w, i->rs1) || !simt_fits(w, i->rs2))		\
		break;							\
	na = simt_low(w, i->rs1, 0);					\
	nb = simt_low(w, i->rs2, 1);					\
	nto = simt_to_n(w, i->rd);					\
	simt_each(l) {							\
		const s32 a = na[l];					\
		const s32 b = nb[l];					\
									\
		nto[l] = expr;						\
	}								\
	simt_done_n(w, i->rd);						\
	return i + 1;							\
} while (0)

#define SIMT_DEFINE_BINARY(name, expr, affine, fast)					\
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
	fast;										\
	ra = simt_x(w, i->rs1, 0);							\
	rb = simt_x(w, i->rs2, 1);							\
	to = simt_to_x(w, i->rd);							\
	SIMT_LOOP_AB(expr)								\
	simt_done_x(w, i->rd);								\
	return i + 1;									\
}

#define SIMT_DEFINE_RR(name, expr, affine)	SIMT_DEFINE_BINARY(name, expr, affine, SIMT_NONE)
#define SIMT_DEFINE_RU(name, expr, affine)	\
	SIMT_DEFINE_BINARY(name, expr, affine, SIMT_UNIFORM(expr))
#define SIMT_DEFINE_RN(name, expr, narrow)	\
	SIMT_DEFINE_BINARY(name, expr, SIMT_NONE, SIMT_NARROW(narrow))

/* Operations on the low 32 bits: in the expression a, b and the result are u32. */
#define SIMT_DEFINE_W(name, expr, affine)						\
static SIMT_FN(simt_##name)								\
{											\
	const s32 *na, *nb;								\
	s32 *to;									\
											\
	if (!((w->vec >> i->rs1 | w->vec >> i->rs2) & 1)) {				\
		const u64 sa = w->stride[i->rs1], sb = w->stride[i->rs2];		\
											\
		if (!(sa | sb)) {							\
			const u32 a = w->base[i->rs1], b = w->base[i->rs2];		\
											\
			SIMT_AFFINE(simt_w(expr), 0);					\
		} else {								\
			const u64 a = w->base[i->rs1], b = w->base[i->rs2];		\
											\
			(void)a;							\
			(void)b;							\
			affine;								\
		}									\
	}										\
	to = simt_to_n(w, i->rd);							\
	na = simt_low(w, i->rs1, 0);							\
	if (!(simt_is_vec(w, i->rs2) || w->stride[i->rs2])) {				\
		const u32 b = w->base[i->rs2];						\
											\
		simt_each(l) {								\
			const u32 a = na[l];						\
											\
			to[l] = expr;							\
		}									\
	} else {									\
		nb = simt_low(w, i->rs2, 1);						\
		simt_each(l) {								\
			const u32 a = na[l], b = nb[l];					\
											\
			to[l] = expr;							\
		}									\
	}										\
	simt_done_n(w, i->rd);								\
	return i + 1;									\
}

#define SIMT_DEFINE_WI(name, expr, affine)						\
static SIMT_FN(simt_##name)								\
{											\
	const u32 b = i->imm;								\
	const s32 *na;									\
	s32 *to;									\
											\
	if (!simt_is_vec(w, i->rs1)) {							\
		if (!w->stride[i->rs1]) {						\
			const u32 a = w->base[i->rs1];					\
											\
			SIMT_AFFINE(simt_w(expr), 0);					\
		} else {								\
			const u64 a = w->base[i->rs1], sa = w->stride[i->rs1];		\
											\
			(void)a;							\
			(void)sa;							\
			affine;								\
		}									\
	}										\
	to = simt_to_n(w, i->rd);							\
	na = simt_low(w, i->rs1, 0);							\
	simt_each(l) {									\
		const u32 a = na[l];							\
											\
		to[l] = expr;								\
	}										\
	simt_done_n(w, i->rd);								\
	return i + 1;									\
}

/* Likewise, with an immediate value as the second operand. */
#define SIMT_NARROW_I(expr) do {					\
	const s32 *na;							\
	s32 *nto;							\
									\
	if (!simt_is_narrow(w, i->rs1))					\
		break;							\
	na = w->x[i->rs1].n;						\
	nto = simt_to_n(w, i->rd);					\
	simt_each(l) {							\
		const s32 a = na[l];					\
		const s32 b __maybe_unused = i->imm;			\
									\
		nto[l] = expr;						\
	}								\
	simt_done_n(w, i->rd);						\
	return i + 1;							\
} while (0)

#define SIMT_DEFINE_UNARY(name, expr, affine, fast)					\
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
	fast;										\
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

#define SIMT_DEFINE_RI(name, expr, affine)	SIMT_DEFINE_UNARY(name, expr, affine, SIMT_NONE)
#define SIMT_DEFINE_RIN(name, expr, narrow)	\
	SIMT_DEFINE_UNARY(name, expr, SIMT_NONE, SIMT_NARROW_I(narrow))

static inline u64 simt_mulhu(u64 a, u64 b)
{
	return (u128)a * b >> 64;
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

/* __builtin_popcountll() may call a function of libgcc, which the kernel does not have. */
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

static inline u32 simt_rorw(u32 a, u32 n)
{
	return a >> (n & 31) | a << (-n & 31);
}

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
