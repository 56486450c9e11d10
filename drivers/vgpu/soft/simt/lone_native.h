/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes that run alone by code of this CPU (bpf.c), as far as a program has it, and functions for
 * that code. Included by lane.h, once for each instruction set of the CPU, after lone.h.
 */
#ifndef _VGPU_SIMT_LONE_NATIVE_H
#define _VGPU_SIMT_LONE_NATIVE_H

#include <linux/minmax.h>

#include "reg.h"

/* Operands by their kind, as numbers of 64 bits. */
#define simt_value_x(v)		(v)
#define simt_value_low(v)	((s32)(v))
#define simt_value_s(v)		(likely((v) >> 32 == U32_MAX) ? (u32)(v) : SIMT_F32_NAN)
#define simt_value_d(v)		(v)

/* Results, likewise. */
#define simt_result_x(v)	((u64)(v))
#define simt_result_n(v)	((u64)(s64)(s32)(v))
#define simt_result_s(v)	simt_box(v)
#define simt_result_d(v)	(v)

#define SIMT_VALUE(name)	static u64 simt_value_##name(u64 va, u64 vb, u64 vc)

#define SIMT_DEFINE_RR(name, expr, affine)					\
SIMT_VALUE(name)								\
{										\
	const u64 a = va, b __maybe_unused = vb;				\
										\
	return expr;								\
}

#define SIMT_DEFINE_RU		SIMT_DEFINE_RR
#define SIMT_DEFINE_RN		SIMT_DEFINE_RR
#define SIMT_DEFINE_RI		SIMT_DEFINE_RR
#define SIMT_DEFINE_RIN		SIMT_DEFINE_RR
#define SIMT_DEFINE_UNARY(name, expr, affine, fast)	SIMT_DEFINE_RR(name, expr, affine)

#define SIMT_DEFINE_W(name, expr, affine)					\
SIMT_VALUE(name)								\
{										\
	const u32 a = va, b __maybe_unused = vb;				\
										\
	return simt_result_n(expr);						\
}

#define SIMT_DEFINE_WI		SIMT_DEFINE_W

#define SIMT_DEFINE_F1(name, t, k, from, kf, tmp, expr, nan)			\
SIMT_VALUE(name)								\
{										\
	const from a = simt_as_##from(simt_value_##kf(va));			\
	const t r = expr;							\
										\
	return simt_result_##k(simt_bits_##t(r == r ? r : nan));		\
}

#define SIMT_DEFINE_F2(name, t, k, expr, nan)					\
SIMT_VALUE(name)								\
{										\
	const t a = simt_as_##t(simt_value_##k(va));				\
	const t b = simt_as_##t(simt_value_##k(vb)), r = expr;			\
										\
	return simt_result_##k(simt_bits_##t(r == r ? r : nan));		\
}

#define SIMT_DEFINE_F3(name, t, k, expr, nan)					\
SIMT_VALUE(name)								\
{										\
	const t a = simt_as_##t(simt_value_##k(va));				\
	const t b = simt_as_##t(simt_value_##k(vb));				\
	const t c = simt_as_##t(simt_value_##k(vc)), r = expr;			\
										\
	return simt_result_##k(simt_bits_##t(r == r ? r : nan));		\
}

#define SIMT_DEFINE_MINMAX(name, t, k, u, bits, cmp, first, nan)		\
SIMT_VALUE(name)								\
{										\
	const u fa = simt_value_##k(va);					\
	const t a = simt_as_##t(fa), b = simt_as_##t(simt_value_##k(vb));	\
	const bool sign_a = fa >> (bits - 1);					\
	t r = a cmp b || (a == b && sign_a == first) ? a : b;			\
										\
	r = a == a ? r : b;							\
	r = b == b ? r : a;							\
	return simt_result_##k(simt_bits_##t(r == r ? r : nan));		\
}

#define SIMT_DEFINE_COMPARE(name, t, k, expr)					\
SIMT_VALUE(name)								\
{										\
	const t a = simt_as_##t(simt_value_##k(va));				\
	const t b = simt_as_##t(simt_value_##k(vb));				\
										\
	return expr;								\
}

#define SIMT_DEFINE_FX(name, t, k, ki, int, expr)				\
SIMT_VALUE(name)								\
{										\
	const t a = simt_as_##t(simt_value_##k(va));				\
										\
	return simt_result_##ki(expr);						\
}

#define SIMT_DEFINE_SIGN(name, k, u, expr)					\
SIMT_VALUE(name)								\
{										\
	const u a = simt_value_##k(va), b = simt_value_##k(vb);			\
	const u sign = (u)1 << (8 * sizeof(u) - 1);				\
										\
	return simt_result_##k((a & ~sign) | (expr & sign));			\
}

/* These have no result, or are accesses to memory. */
#define SIMT_DEFINE_BRANCH(name, expr, narrow, alike)
#define SIMT_DEFINE_LOAD(name, t, k, ext, set)
#define SIMT_DEFINE_STORE(name, t, from_t, from)

#include "expr.h"

SIMT_VALUE(FCVT_D_S)
{
	const double r = simt_as_simt_f32(simt_unbox(va));

	return simt_bits_simt_f64(r == r ? r : SIMT_NAN_D);
}

SIMT_VALUE(FCVT_S_D)
{
	const float r = simt_as_simt_f64(va);

	return simt_box(simt_bits_simt_f32(r == r ? r : SIMT_NAN_S));
}

#undef SIMT_VALUE

/* The table: the same lists once more, as its entries. */
#define SIMT_KIND_x	SIMT_VALUE_X
#define SIMT_KIND_n	SIMT_VALUE_X
#define SIMT_KIND_low	SIMT_VALUE_X
#define SIMT_KIND_s	SIMT_VALUE_F
#define SIMT_KIND_d	SIMT_VALUE_F

#define SIMT_ENTRY(name, a, b, c, result)	\
	[SIMT_##name] = { simt_value_##name, { a, b, c }, result },
#define SIMT_DEFINE_RR(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_X, SIMT_VALUE_X, 0, SIMT_VALUE_X)
#define SIMT_DEFINE_RU		SIMT_DEFINE_RR
#define SIMT_DEFINE_RN		SIMT_DEFINE_RR
#define SIMT_DEFINE_W		SIMT_DEFINE_RR
#define SIMT_DEFINE_BRANCH(name, ...)
#define SIMT_DEFINE_LOAD(name, ...)
#define SIMT_DEFINE_STORE(name, ...)
#define SIMT_DEFINE_RI(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_X, SIMT_VALUE_IMM, 0, SIMT_VALUE_X)
#define SIMT_DEFINE_RIN		SIMT_DEFINE_RI
#define SIMT_DEFINE_WI		SIMT_DEFINE_RI
#define SIMT_DEFINE_UNARY	SIMT_DEFINE_RI
#define SIMT_DEFINE_F1(name, t, k, from, kf, ...)	\
	SIMT_ENTRY(name, SIMT_KIND_##kf, 0, 0, SIMT_VALUE_F)
#define SIMT_DEFINE_F2(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_F)
#define SIMT_DEFINE_F3(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, SIMT_VALUE_F, SIMT_VALUE_F)
#define SIMT_DEFINE_MINMAX	SIMT_DEFINE_F2
#define SIMT_DEFINE_SIGN	SIMT_DEFINE_F2
#define SIMT_DEFINE_COMPARE(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_X)
#define SIMT_DEFINE_FX(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, 0, 0, SIMT_VALUE_X)

static const struct simt_value simt_values[SIMT_NR_OPS] = {
#include "expr.h"
	SIMT_ENTRY(FCVT_D_S, SIMT_VALUE_F, 0, 0, SIMT_VALUE_F)
	SIMT_ENTRY(FCVT_S_D, SIMT_VALUE_F, 0, 0, SIMT_VALUE_F)
};

/* struct simt_isa.step */
static u64 simt_lone_step(u64 lone, u64 at, u64 unused)
{
	struct simt_lone *s = (struct simt_lone *)lone;
	const struct simt_insn *meet = s->meet;
	s32 left = s->left;

	s->ip = s->w->text + at;
	s->meet = NULL;
	s->left = 1;
	simt_lone_go(s);
	s->left += left - 1;
	s->meet = meet;
	return s->stop != SIMT_LONE_LEFT || s->ip != s->w->text + at + 1;
}

/* What the interpreter executes before the code is tried again, in units. */
#define SIMT_NATIVE_BETWEEN	16

/* Likewise simt_lone_go(). */
static noinline void simt_lone_native(struct simt_lone *s, const struct simt_native *native)
{
	const struct simt_insn *const text = s->w->text;
	s32 rest;

	s->tlb = s->w->group->tlb;
	s->meet_at = s->meet ? s->meet - text : U64_MAX;
	do {
		s->at = s->ip - text;
		if (native->marks[s->at] & SIMT_MARK_BLOCK) {
			switch (native->run(s, NULL)) {
			case SIMT_NATIVE_STEP:
				if (s->stop != SIMT_LONE_LEFT)
					return;
				break;
			case SIMT_NATIVE_MET:
				s->ip = text + array_index_nospec(s->at, s->w->nr + 1);
				s->stop = SIMT_LONE_MET;
				return;
			default:
				s->ip = text + array_index_nospec(s->at, s->w->nr + 1);
				s->stop = SIMT_LONE_LEFT;
			}
			if (s->left <= 0)
				return;
		}
		rest = s->left - min(s->left, SIMT_NATIVE_BETWEEN);
		s->left -= rest;
		simt_lone_go(s);
		s->left += rest;
	} while (s->stop == SIMT_LONE_LEFT && s->left > 0);
}

/* Whether the code can be used: it ignores what a lap changes, and stops at blocks only. */
static inline bool simt_lone_has_native(const struct simt_lone *s,
					const struct simt_native *native)
{
	return native && !s->w->alone.lap &&
	       (!s->meet || native->marks[s->meet - s->w->text] & SIMT_MARK_BLOCK);
}

/*
 * Executes lanes of a warp one after the other, if that is due. Returns what is left of @left
 * instructions; sets @end to SIMT_DONE if the next group must be picked, as lanes have met or have
 * not been apart.
 */
static noinline u32 simt_lone_run(struct simt_warp *w, u32 left, enum simt_end *end)
{
	const struct simt_native *native = w->group->dispatch->native;
	struct simt_lone s;

	*end = SIMT_DONE;
	if (simt_lone_due(w))
		left -= simt_lone_start(w, left);
	if (!w->alone.on)
		return left;
	simt_lone_begin(&s, w, left);
	while (simt_lone_take(&s)) {
		do {
			if (simt_lone_has_native(&s, native))
				simt_lone_native(&s, native);
			else
				simt_lone_go(&s);
		} while (simt_lone_more(&s));
		simt_lone_put(&s);
	}
	*end = simt_lone_end(&s, &left);
	return left;
}

#endif /* _VGPU_SIMT_LONE_NATIVE_H */
