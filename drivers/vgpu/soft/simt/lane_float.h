/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast operations on floats: they round to nearest even, raise no flags and return canonical NaNs.
 * Included by lane.h, once for each instruction set of the CPU. The compiler must not contract them
 * to fused operations.
 */
#ifndef _VGPU_SIMT_LANE_FLOAT_H
#define _VGPU_SIMT_LANE_FLOAT_H

#include "reg.h"

#ifdef __CHECKER__
/* Sparse does not know these builtins. */
float __builtin_sqrtf(float x);
double __builtin_sqrt(double x);
#endif

/* Bit patterns, accessed as the CPU's floats. */
typedef float __attribute__((__may_alias__)) simt_f32;
typedef double __attribute__((__may_alias__)) simt_f64;

#define SIMT_DEFINE_F2(name, t, k, expr, nan)						\
static SIMT_FN(simt_##name)								\
{											\
	const t *fa = (const t *)simt_##k(w, i->rs1, 0);				\
	const t *fb = (const t *)simt_##k(w, i->rs2, 1);				\
	t *to = (t *)simt_to_##k(w, i->rd);						\
											\
	simt_each(l) {									\
		const t a = fa[l], b = fb[l], r = expr;					\
											\
		to[l] = r == r ? r : nan;						\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

#define SIMT_NAN_S	__builtin_nanf("")
#define SIMT_NAN_D	__builtin_nan("")

/* Operations with one operand, also conversions from integers. */
#define SIMT_DEFINE_F1(name, t, k, from, kf, tmp, expr, nan)				\
static SIMT_FN(simt_##name)								\
{											\
	const from *fa = (const from *)simt_##kf(w, i->rs1, tmp);			\
	t *to = (t *)simt_to_##k(w, i->rd);						\
											\
	simt_each(l) {									\
		const from a = fa[l];							\
		const t r = expr;							\
											\
		to[l] = r == r ? r : nan;						\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

/* The result goes through tmp[3], because lanes of 64 bits would overwrite singles not yet read. */
static SIMT_FN(simt_FCVT_D_S)
{
	const simt_f32 *fa = (const simt_f32 *)simt_s(w, i->rs1, 0);
	simt_f64 *to = (simt_f64 *)w->tmp[3];

	simt_each(l) {
		const double r = fa[l];

		to[l] = r == r ? r : SIMT_NAN_D;
	}
	if (!w->partial)
		memcpy(w->f[i->rd].d, w->tmp[3], sizeof(w->tmp[3]));
	simt_done_d(w, i->rd);
	return i + 1;
}

static SIMT_FN(simt_FCVT_S_D)
{
	const simt_f64 *fa = (const simt_f64 *)simt_d(w, i->rs1, 0);
	simt_f32 *to = (simt_f32 *)w->tmp[3];

	simt_each(l) {
		const float r = fa[l];

		to[l] = r == r ? r : SIMT_NAN_S;
	}
	if (!w->partial)
		memcpy(w->f[i->rd].s, w->tmp[3], sizeof(w->f[i->rd].s));
	simt_done_s(w, i->rd);
	return i + 1;
}

#ifdef __FMA__
#define SIMT_FUSED	true
#define SIMT_DEFINE_F3(name, t, k, expr, nan)						\
static SIMT_FN(simt_##name)								\
{											\
	const t *fa = (const t *)simt_##k(w, i->rs1, 0);				\
	const t *fb = (const t *)simt_##k(w, i->rs2, 1);				\
	const t *fc = (const t *)simt_##k(w, i->rs3, 2);				\
	t *to = (t *)simt_to_##k(w, i->rd);						\
											\
	simt_each(l) {									\
		const t a = fa[l], b = fb[l], c = fc[l], r = expr;			\
											\
		to[l] = r == r ? r : nan;						\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

#else
/* The CPU has no fused operations. */
#define SIMT_FUSED	false
#define simt_FMADD_S	simt_exact
#define simt_FMSUB_S	simt_exact
#define simt_FNMSUB_S	simt_exact
#define simt_FNMADD_S	simt_exact
#define simt_FMADD_D	simt_exact
#define simt_FMSUB_D	simt_exact
#define simt_FNMSUB_D	simt_exact
#define simt_FNMADD_D	simt_exact
#endif

/* -0 is less than 0. If one operand is a NaN, the result is the other operand. */
#define SIMT_DEFINE_MINMAX(name, t, k, u, bits, cmp, first, nan)			\
static SIMT_FN(simt_##name)								\
{											\
	const u *fa = simt_##k(w, i->rs1, 0), *fb = simt_##k(w, i->rs2, 1);		\
	const t *na = (const t *)fa, *nb = (const t *)fb;				\
	t *to = (t *)simt_to_##k(w, i->rd);						\
											\
	simt_each(l) {									\
		const t a = na[l], b = nb[l];						\
		const bool sign_a = fa[l] >> (bits - 1);				\
		t r = a cmp b || (a == b && sign_a == first) ? a : b;			\
											\
		r = a == a ? r : b;							\
		r = b == b ? r : a;							\
		to[l] = r == r ? r : nan;						\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

#define SIMT_DEFINE_COMPARE(name, t, k, expr)						\
static SIMT_FN(simt_##name)								\
{											\
	const t *fa = (const t *)simt_##k(w, i->rs1, 0);				\
	const t *fb = (const t *)simt_##k(w, i->rs2, 1);				\
	s32 *to = simt_to_n(w, i->rd);							\
											\
	simt_each(l) {									\
		const t a = fa[l], b = fb[l];						\
											\
		to[l] = expr;								\
	}										\
	simt_done_n(w, i->rd);								\
	return i + 1;									\
}

#define SIMT_DEFINE_FX(name, t, k, ki, int, expr)					\
static SIMT_FN(simt_##name)								\
{											\
	const t *fa = (const t *)simt_##k(w, i->rs1, 0);				\
	int *to = simt_to_##ki(w, i->rd);						\
											\
	simt_each(l) {									\
		const t a = fa[l];							\
											\
		to[l] = expr;								\
	}										\
	simt_done_##ki(w, i->rd);							\
	return i + 1;									\
}

/* Conversions to integers round towards zero. A value too large, or a NaN, gives the maximum. */
static inline s32 simt_to_i32(double a)
{
	if (!(a < 0x1p31))	/* also a NaN */
		return S32_MAX;
	return a <= -0x1p31 ? S32_MIN : (s32)a;
}

static inline s32 simt_to_u32(double a)
{
	if (!(a < 0x1p32))
		return -1;
	return a <= 0 ? 0 : (s32)(u32)(s64)a;
}

static inline u64 simt_to_i64(double a)
{
	if (!(a < 0x1p63))
		return S64_MAX;
	return a <= -0x1p63 ? (u64)S64_MIN : (u64)(s64)a;
}

static inline u64 simt_to_u64(double a)
{
	if (!(a < 0x1p64))
		return U64_MAX;
	if (a <= 0)
		return 0;
	return a >= 0x1p63 ? (u64)(s64)(a - 0x1p63) ^ 1ULL << 63 : (u64)(s64)a;
}

#define SIMT_DEFINE_SIGN(name, k, u, expr)						\
static SIMT_FN(simt_##name)								\
{											\
	const u *fa = simt_##k(w, i->rs1, 0), *fb = simt_##k(w, i->rs2, 1);		\
	const u sign = (u)1 << (8 * sizeof(u) - 1);					\
	u *to = simt_to_##k(w, i->rd);							\
											\
	simt_each(l) {									\
		const u a = fa[l], b = fb[l];						\
											\
		to[l] = (a & ~sign) | (expr & sign);					\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

/* Moves the low 32 bits of the register, whether or not they are a NaN-boxed single. */
static SIMT_FN(simt_FMV_X_W)
{
	const u32 *fa = simt_single(w, i->rs1, 0);
	s32 *to = simt_to_n(w, i->rd);

	simt_each(l)
		to[l] = (s32)fa[l];
	simt_done_n(w, i->rd);
	return i + 1;
}

static SIMT_FN(simt_FMV_W_X)
{
	const s32 *na = simt_low(w, i->rs1, 0);
	u32 *to = simt_to_s(w, i->rd);

	simt_each(l)
		to[l] = (u32)na[l];
	simt_done_s(w, i->rd);
	return i + 1;
}

static SIMT_FN(simt_FMV_D_X)
{
	const u64 *ra = simt_x(w, i->rs1, 0);
	u64 *to = simt_to_d(w, i->rd);

	simt_each(l)
		to[l] = ra[l];
	simt_done_d(w, i->rd);
	return i + 1;
}

#endif /* _VGPU_SIMT_LANE_FLOAT_H */
