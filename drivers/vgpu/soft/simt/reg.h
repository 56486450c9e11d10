/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of a warp as operands and results of an instruction. Compiled once for each instruction
 * set of the CPU, with the operations that use it.
 *
 * An operation gets its operands as arrays of lanes from simt_x(), simt_s() or simt_d(). It writes
 * the result to the array that simt_to_x(), simt_to_s() or simt_to_d() returns, and then calls
 * simt_done_x(), simt_done_s() or simt_done_d(), which makes that array the register. Narrow
 * integers use simt_low(), simt_to_n() and simt_done_n(). An operand and a result of equal width
 * may be the same array, because operations go lane by lane.
 */
#ifndef _VGPU_SIMT_REG_H
#define _VGPU_SIMT_REG_H

#include "float.h"
#include "warp.h"

/* No lane depends on another, so the compiler may assume that arrays do not overlap. */
#ifdef __clang__
#define simt_each(l) \
	_Pragma("clang loop vectorize(assume_safety)") \
	for (unsigned int l = 0; l < SIMT_LANES; l++)
#else
#define simt_each(l) _Pragma("GCC ivdep") for (unsigned int l = 0; l < SIMT_LANES; l++)
#endif

/* Integers at any address. */
#define SIMT_DEFINE_ANY(t)	\
	struct simt_any_##t { t v; } __packed __attribute__((__may_alias__));
SIMT_DEFINE_ANY(s8)
SIMT_DEFINE_ANY(u8)
SIMT_DEFINE_ANY(s16)
SIMT_DEFINE_ANY(u16)
SIMT_DEFINE_ANY(s32)
SIMT_DEFINE_ANY(u32)
SIMT_DEFINE_ANY(u64)

/* READ_ONCE() and WRITE_ONCE() would require aligned addresses. */
#define simt_any(t, p)		(((const volatile struct simt_any_##t *)(p))->v)
#define simt_any_set(t, p, x)	(((volatile struct simt_any_##t *)(p))->v = (x))

#define simt_active(w, l)	((w)->active >> (l) & 1)

static __maybe_unused void simt_expand(u64 *to, u64 base, u64 stride)
{
	u64 value = base;

	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		to[l] = value;
		value += stride;
	}
}

static inline bool simt_is_vec(const struct simt_warp *w, unsigned int r)
{
	return w->vec >> r & 1;
}

static inline bool simt_is_narrow(const struct simt_warp *w, unsigned int r)
{
	return w->narrow >> r & 1;
}

/* simt_x() of a register that is not an array of 64-bit lanes. */
static __maybe_unused noinline const u64 *simt_widened(struct simt_warp *w, unsigned int r,
						       unsigned int tmp)
{
	u64 *to = w->tmp[tmp];
	const s32 *from = w->x[r].n;

	if (!simt_is_vec(w, r)) {
		simt_expand(to, w->base[r], w->stride[r]);
		return to;
	}
	simt_each(l)
		to[l] = (u64)(s64)from[l];
	return to;
}

static inline const u64 *simt_x(struct simt_warp *w, unsigned int r, unsigned int tmp)
{
	return (w->vec & ~w->narrow) >> r & 1 ? w->x[r].d : simt_widened(w, r, tmp);
}

static inline u64 simt_lane_x(const struct simt_warp *w, unsigned int r, unsigned int lane)
{
	if (simt_is_narrow(w, r))
		return (u64)(s64)w->x[r].n[lane];
	return simt_is_vec(w, r) ? w->x[r].d[lane] : w->base[r] + w->stride[r] * lane;
}

static __maybe_unused noinline const s32 *simt_cut(struct simt_warp *w, unsigned int r,
						   unsigned int tmp)
{
	s32 *to = (s32 *)w->tmp[tmp];
	u32 value = w->base[r], stride = w->stride[r];
	const u64 *from = w->x[r].d;

	if (!simt_is_vec(w, r)) {
		for (unsigned int l = 0; l < SIMT_LANES; l++) {
			to[l] = value;
			value += stride;
		}
		return to;
	}
	simt_each(l)
		to[l] = (s32)from[l];
	return to;
}

/* The low 32 bits of the operand. */
static inline const s32 *simt_low(struct simt_warp *w, unsigned int r, unsigned int tmp)
{
	return simt_is_narrow(w, r) ? w->x[r].n : simt_cut(w, r, tmp);
}

/* Whether each lane is known to equal its low 32 bits, sign-extended. */
static inline bool simt_fits(const struct simt_warp *w, unsigned int r)
{
	s64 base = w->base[r], stride = w->stride[r];

	if (simt_is_vec(w, r))
		return simt_is_narrow(w, r);
	return base == (s32)base && stride == (s32)stride &&
	       base + (SIMT_LANES - 1) * stride == (s32)(base + (SIMT_LANES - 1) * stride);
}

static inline u64 *simt_to_x(struct simt_warp *w, unsigned int rd)
{
	return w->partial ? w->tmp[3] : w->x[rd].d;
}

static __maybe_unused noinline void simt_merge_x(struct simt_warp *w, unsigned int rd)
{
	const u64 *from = w->tmp[3], *old = simt_x(w, rd, 2);
	u64 *to = w->x[rd].d;

	simt_each(l)
		to[l] = (from[l] & w->mask64[l]) | (old[l] & ~w->mask64[l]);
}

static inline void simt_done_x(struct simt_warp *w, unsigned int rd)
{
	if (w->partial)
		simt_merge_x(w, rd);
	w->vec |= 1ULL << rd;
	w->narrow &= ~(1ULL << rd);
}

static inline s32 *simt_to_n(struct simt_warp *w, unsigned int rd)
{
	return w->partial ? (s32 *)w->tmp[3] : w->x[rd].n;
}

/* If lanes that are not active need more than 32 bits, the register does not become narrow. */
static __maybe_unused noinline void simt_merge_n(struct simt_warp *w, unsigned int rd)
{
	const s32 *from = (const s32 *)w->tmp[3];
	bool fits = simt_fits(w, rd);

	if (fits) {
		const s32 *old = simt_low(w, rd, 2);
		s32 *to = w->x[rd].n;

		simt_each(l)
			to[l] = (from[l] & w->mask32[l]) | (old[l] & ~w->mask32[l]);
		w->narrow |= 1ULL << rd;
	} else {
		const u64 *old = simt_x(w, rd, 2);
		u64 *to = w->x[rd].d;

		simt_each(l)
			to[l] = ((u64)(s64)from[l] & w->mask64[l]) | (old[l] & ~w->mask64[l]);
	}
	w->vec |= 1ULL << rd;
}

static inline void simt_done_n(struct simt_warp *w, unsigned int rd)
{
	if (w->partial) {
		simt_merge_n(w, rd);
		return;
	}
	w->vec |= 1ULL << rd;
	w->narrow |= 1ULL << rd;
}

static __maybe_unused noinline void simt_merge_affine(struct simt_warp *w, unsigned int rd,
						      u64 base, u64 stride)
{
	simt_expand(w->tmp[3], base, stride);
	simt_done_x(w, rd);
}

/* Makes @base + lane * @stride the result. */
static inline void simt_set_x(struct simt_warp *w, unsigned int rd, u64 base, u64 stride)
{
	if (w->partial) {
		simt_merge_affine(w, rd, base, stride);
		return;
	}
	w->base[rd] = base;
	w->stride[rd] = stride;
	w->vec &= ~(1ULL << rd);
	w->narrow &= ~(1ULL << rd);
}

static inline u64 simt_box(u32 single)
{
	return 0xffffffff00000000ULL | single;
}

static inline u32 simt_unbox(u64 pattern)
{
	return pattern >> 32 == U32_MAX ? (u32)pattern : SIMT_F32_NAN;
}

/* A register that was never written is 0. */
static __maybe_unused noinline void simt_know(struct simt_warp *w, unsigned int r)
{
	simt_each(l)
		w->f[r].d[l] = 0;
	w->known |= 1U << r;
	w->wide |= 1U << r;
}

static __maybe_unused noinline const u32 *simt_unboxed(struct simt_warp *w, unsigned int r,
						       unsigned int tmp)
{
	u32 *to = (u32 *)w->tmp[tmp];

	if (!(w->known >> r & 1))
		simt_know(w, r);
	simt_each(l)
		to[l] = simt_unbox(w->f[r].d[l]);
	return to;
}

static __maybe_unused noinline const u64 *simt_boxed(struct simt_warp *w, unsigned int r,
						     unsigned int tmp)
{
	u64 *to = w->tmp[tmp];

	if (!(w->known >> r & 1)) {
		simt_know(w, r);
		return w->f[r].d;
	}
	simt_each(l)
		to[l] = simt_box(w->f[r].s[l]);
	return to;
}

/* An operand of an operation on singles. */
static inline const u32 *simt_s(struct simt_warp *w, unsigned int r, unsigned int tmp)
{
	return w->known & ~w->wide & 1U << r ? w->f[r].s : simt_unboxed(w, r, tmp);
}

/* An operand of an operation on doubles or on 64-bit patterns. */
static inline const u64 *simt_d(struct simt_warp *w, unsigned int r, unsigned int tmp)
{
	return w->known & w->wide & 1U << r ? w->f[r].d : simt_boxed(w, r, tmp);
}

static inline u32 *simt_to_s(struct simt_warp *w, unsigned int rd)
{
	return w->partial ? (u32 *)w->tmp[3] : w->f[rd].s;
}

static inline u64 *simt_to_d(struct simt_warp *w, unsigned int rd)
{
	return w->partial ? w->tmp[3] : w->f[rd].d;
}

static __maybe_unused noinline void simt_merge_d(struct simt_warp *w, unsigned int rd)
{
	const u64 *from = w->tmp[3], *old = simt_d(w, rd, 0);
	u64 *to = w->f[rd].d;

	/* @old is the register itself or a copy; so a register of singles may be overwritten. */
	simt_each(l)
		to[l] = (from[l] & w->mask64[l]) | (old[l] & ~w->mask64[l]);
}

static inline void simt_done_d(struct simt_warp *w, unsigned int rd)
{
	if (w->partial)
		simt_merge_d(w, rd);
	w->known |= 1U << rd;
	w->wide |= 1U << rd;
}

static __maybe_unused noinline void simt_merge_boxed(struct simt_warp *w, unsigned int rd)
{
	const u32 *from = (const u32 *)w->tmp[3];
	u64 *to = w->f[rd].d;

	if (!(w->known >> rd & 1))
		simt_know(w, rd);
	simt_each(l)
		to[l] = (simt_box(from[l]) & w->mask64[l]) | (to[l] & ~w->mask64[l]);
}

static inline void simt_done_s(struct simt_warp *w, unsigned int rd)
{
	u32 *to = w->f[rd].s;
	const u32 *from = (const u32 *)w->tmp[3];

	if (!w->partial) {
		w->known |= 1U << rd;
		w->wide &= ~(1U << rd);
	} else if (w->known & ~w->wide & 1U << rd) {
		simt_each(l)
			to[l] = (from[l] & w->mask32[l]) | (to[l] & ~w->mask32[l]);
	} else {
		simt_merge_boxed(w, rd);
	}
}

#endif /* _VGPU_SIMT_REG_H */
