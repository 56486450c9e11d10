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
#define simt_value_s(v)		(likely((v) >= simt_box(0)) ? (u32)(v) : SIMT_F32_NAN)
#define simt_value_d(v)		(v)

/* Likewise, one of two: one comparison finds that both are boxed. */
#define simt_value_of_s(v, other)	\
	(likely(((v) & (other)) >= simt_box(0)) ? (u32)(v) : simt_value_s(v))
#define simt_value_of_d(v, other)	(v)

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

/* What functions of floats return on x86-64, in two registers: see simt_value_fn. */
#ifdef __x86_64__
#define SIMT_LAST	true
struct simt_last_s {
	u64 bits;
	simt_f32 last;
};

struct simt_last_d {
	u64 bits;
	simt_f64 last;
};

#define simt_give_s(value, l)	((struct simt_last_s){ value, l })
#define simt_give_d(value, l)	((struct simt_last_d){ value, l })
#define SIMT_FLOAT_VALUE(name, k, t)						\
	static struct simt_last_##k simt_value_##name(u64 va, u64 vb, u64 vc, t last)
#else
#define SIMT_LAST	false
#define simt_give_s(value, l)	((void)(l), (value))
#define simt_give_d(value, l)	((void)(l), (value))
#define SIMT_FLOAT_VALUE(name, k, t)						\
	static u64 simt_value_##name(u64 va, u64 vb, u64 vc, t last)
#endif

#define simt_give_value_s(r, nan) do {						\
	if (likely((r) == (r)))							\
		return simt_give_s(simt_box(simt_bits_simt_f32(r)), r);		\
	return simt_give_s(simt_box(simt_bits_simt_f32(nan)), nan);		\
} while (0)
#define simt_give_value_d(r, nan) do {						\
	if (likely((r) == (r)))							\
		return simt_give_d(simt_bits_simt_f64(r), r);			\
	return simt_give_d(simt_bits_simt_f64(nan), nan);			\
} while (0)

#define SIMT_DEFINE_F1_AS(name, t, k, operand, from, expr, nan)		\
SIMT_FLOAT_VALUE(name, k, t)							\
{										\
	const from a = operand;							\
	const t r = expr;							\
										\
	simt_give_value_##k(r, nan);						\
}

#define SIMT_DEFINE_F1(name, t, k, from, kf, tmp, expr, nan)			\
SIMT_DEFINE_F1_AS(name, t, k, simt_as_##from(simt_value_##kf(va)), from, expr, nan)	\
SIMT_DEFINE_F1_AS(name##_1, t, k, (from)last, from, expr, nan)

#define SIMT_DEFINE_F2_AS(name, t, k, first, second, expr, nan)		\
SIMT_FLOAT_VALUE(name, k, t)							\
{										\
	const t a = first, b = second, r = expr;				\
										\
	simt_give_value_##k(r, nan);						\
}

#define SIMT_DEFINE_F2(name, t, k, expr, nan)					\
SIMT_DEFINE_F2_AS(name, t, k, simt_as_##t(simt_value_of_##k(va, vb)),		\
		  simt_as_##t(simt_value_of_##k(vb, va)), expr, nan)		\
SIMT_DEFINE_F2_AS(name##_1, t, k, last, simt_as_##t(simt_value_##k(vb)), expr, nan)	\
SIMT_DEFINE_F2_AS(name##_2, t, k, simt_as_##t(simt_value_##k(va)), last, expr, nan)	\
SIMT_DEFINE_F2_AS(name##_3, t, k, last, last, expr, nan)

#define SIMT_DEFINE_F3_AS(name, t, k, first, second, third, expr, nan)		\
SIMT_FLOAT_VALUE(name, k, t)							\
{										\
	const t a = first, b = second, c = third, r = expr;			\
										\
	simt_give_value_##k(r, nan);						\
}

#define SIMT_DEFINE_F3(name, t, k, expr, nan)					\
SIMT_DEFINE_F3_AS(name, t, k, simt_as_##t(simt_value_##k(va)),			\
		  simt_as_##t(simt_value_##k(vb)),				\
		  simt_as_##t(simt_value_##k(vc)), expr, nan)			\
SIMT_DEFINE_F3_AS(name##_1, t, k, last, simt_as_##t(simt_value_##k(vb)),	\
		  simt_as_##t(simt_value_##k(vc)), expr, nan)			\
SIMT_DEFINE_F3_AS(name##_2, t, k, simt_as_##t(simt_value_##k(va)), last,	\
		  simt_as_##t(simt_value_##k(vc)), expr, nan)			\
SIMT_DEFINE_F3_AS(name##_3, t, k, simt_as_##t(simt_value_##k(va)),		\
		  simt_as_##t(simt_value_##k(vb)), last, expr, nan)

#define SIMT_DEFINE_MINMAX(name, t, k, u, bits, cmp, first, nan)		\
SIMT_FLOAT_VALUE(name, k, t)							\
{										\
	const u fa = simt_value_##k(va);					\
	const t a = simt_as_##t(fa), b = simt_as_##t(simt_value_##k(vb));	\
	const bool sign_a = fa >> (bits - 1);					\
	t r = a cmp b || (a == b && sign_a == first) ? a : b;			\
										\
	r = a == a ? r : b;							\
	r = b == b ? r : a;							\
	simt_give_value_##k(r, nan);						\
}

#define SIMT_DEFINE_COMPARE_AS(name, t, k, first, second, expr)		\
SIMT_FLOAT_VALUE(name, k, t)							\
{										\
	const t a = first, b = second;						\
										\
	return simt_give_##k(expr, last);					\
}

#define SIMT_DEFINE_COMPARE(name, t, k, expr)					\
SIMT_DEFINE_COMPARE_AS(name, t, k, simt_as_##t(simt_value_of_##k(va, vb)),	\
		       simt_as_##t(simt_value_of_##k(vb, va)), expr)		\
SIMT_DEFINE_COMPARE_AS(name##_1, t, k, last, simt_as_##t(simt_value_##k(vb)), expr)	\
SIMT_DEFINE_COMPARE_AS(name##_2, t, k, simt_as_##t(simt_value_##k(va)), last, expr)	\
SIMT_DEFINE_COMPARE_AS(name##_3, t, k, last, last, expr)

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

SIMT_VALUE(CSR_ID)
{
	const struct simt_lone *s = (const struct simt_lone *)va;

	return simt_slow_id(s->w, vb, s->lane);
}

SIMT_FLOAT_VALUE(FCVT_D_S, d, simt_f64)
{
	const simt_f64 r = simt_as_simt_f32(simt_value_s(va));

	simt_give_value_d(r, SIMT_NAN_D);
}

SIMT_FLOAT_VALUE(FCVT_S_D, s, simt_f32)
{
	const simt_f32 r = simt_as_simt_f64(va);

	simt_give_value_s(r, SIMT_NAN_S);
}

/* struct simt_isa.last: a single has the low half of the register. */
SIMT_FLOAT_VALUE(last, d, simt_f64)
{
	return simt_give_d(va, simt_as_simt_f64(va));
}

#undef SIMT_VALUE
#undef SIMT_FLOAT_VALUE

/* The table: the same lists once more, as its entries. */
#define SIMT_KIND_x	SIMT_VALUE_X
#define SIMT_KIND_n	SIMT_VALUE_X
#define SIMT_KIND_low	SIMT_VALUE_X
#define SIMT_KIND_s	SIMT_VALUE_F
#define SIMT_KIND_d	SIMT_VALUE_F

#define SIMT_TYPE_x	SIMT_LAST_NONE
#define SIMT_TYPE_low	SIMT_LAST_NONE
#define SIMT_TYPE_s	SIMT_LAST_S
#define SIMT_TYPE_d	SIMT_LAST_D

#define SIMT_ENTRY(name, a, b, c, result)	\
	[SIMT_##name] = { .fn = simt_value_##name, .from = { a, b, c }, .to = result },

/* Functions that have a type of their own. */
#define SIMT_CAST(name)		((simt_value_fn)(void *)simt_value_##name)
#define SIMT_BY_LAST(name)	(SIMT_LAST ? SIMT_CAST(name) : NULL)

#define SIMT_FLOAT_ENTRY(name, a, b, c, result, type, after, ...)	\
	[SIMT_##name] = {						\
		.fn = SIMT_CAST(name), .by_last = { __VA_ARGS__ },	\
		.from = { a, b, c }, .to = result, .takes = type,	\
		.gives = SIMT_LAST ? after : SIMT_LAST_NONE,		\
	},
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
	SIMT_FLOAT_ENTRY(name, SIMT_KIND_##kf, 0, 0, SIMT_VALUE_F, SIMT_TYPE_##kf,	\
			 SIMT_TYPE_##k, SIMT_BY_LAST(name##_1))
#define SIMT_DEFINE_F2(name, t, k, ...)	\
	SIMT_FLOAT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_F,	\
			 SIMT_TYPE_##k, SIMT_TYPE_##k, SIMT_BY_LAST(name##_1),	\
			 SIMT_BY_LAST(name##_2), SIMT_BY_LAST(name##_3))
#define SIMT_DEFINE_F3(name, t, k, ...)	\
	SIMT_FLOAT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, SIMT_VALUE_F, SIMT_VALUE_F,	\
			 SIMT_TYPE_##k, SIMT_TYPE_##k, SIMT_BY_LAST(name##_1),	\
			 SIMT_BY_LAST(name##_2), SIMT_BY_LAST(name##_3))
#define SIMT_DEFINE_MINMAX(name, t, k, ...)	\
	SIMT_FLOAT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_F,	\
			 SIMT_TYPE_##k, SIMT_TYPE_##k)
#define SIMT_DEFINE_SIGN(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_F)
#define SIMT_DEFINE_COMPARE(name, t, k, ...)	\
	SIMT_FLOAT_ENTRY(name, SIMT_VALUE_F, SIMT_VALUE_F, 0, SIMT_VALUE_X,	\
			 SIMT_TYPE_##k, SIMT_LAST_KEEP, SIMT_BY_LAST(name##_1),	\
			 SIMT_BY_LAST(name##_2), SIMT_BY_LAST(name##_3))
#define SIMT_DEFINE_FX(name, ...)	\
	SIMT_ENTRY(name, SIMT_VALUE_F, 0, 0, SIMT_VALUE_X)

static const struct simt_value simt_values[SIMT_NR_OPS] = {
#include "expr.h"
	SIMT_ENTRY(CSR_ID, SIMT_VALUE_LONE, SIMT_VALUE_IMM, 0, SIMT_VALUE_X)
	SIMT_FLOAT_ENTRY(FCVT_D_S, SIMT_VALUE_F, 0, 0, SIMT_VALUE_F, SIMT_LAST_NONE, SIMT_LAST_D)
	SIMT_FLOAT_ENTRY(FCVT_S_D, SIMT_VALUE_F, 0, 0, SIMT_VALUE_F, SIMT_LAST_NONE, SIMT_LAST_S)
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

/* Likewise simt_lone_go(). */
static noinline void simt_lone_native(struct simt_lone *s, const struct simt_native *native)
{
	const struct simt_insn *const text = s->w->text;
	unsigned int end;
	s32 rest;

	s->tlb = s->w->group->tlb;
	s->meet_at = s->meet ? s->meet - text : U64_MAX;
	do {
		s->at = s->ip - text;
		if (native->marks[s->at] & SIMT_MARK_BLOCK) {
			end = native->run(s, NULL);
			s->regs = end == SIMT_NATIVE_MET ? s->home : NULL;
			switch (end) {
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
				s->stop = s->at == s->w->nr && s->left > 0 ? SIMT_LONE_END :
									     SIMT_LONE_LEFT;
			}
			if (s->left <= 0 || s->stop == SIMT_LONE_END)
				return;
		}
		simt_lone_get_regs(s);
		/* Not by several at a time: the lane would pass by the begin of a block. */
		do {
			rest = s->left - 1;
			s->left = 1;
			simt_lone_go(s);
			s->left += rest;
		} while (s->stop == SIMT_LONE_LEFT && s->left > 0 &&
			 !(native->marks[s->ip - text] & SIMT_MARK_BLOCK));
	} while (s->stop == SIMT_LONE_LEFT && s->left > 0);
}

/* Whether others may see what the lane's next instruction does. */
static bool simt_lone_shows(const struct simt_lone *s)
{
	const struct simt_insn *i = s->ip;

	return simt_op_atomic(i->op) || (simt_op_stores(i->op) &&
	       s->x[i->rs1] + (u64)(s64)i->imm - VGPU_HW_VA_PRIVATE >= s->private_bytes);
}

/* Likewise simt_lone_go(), until the lane's turn ends by struct simt_alone.shown. */
static noinline void simt_lone_show_go(struct simt_lone *s)
{
	struct simt_alone *alone = &s->w->alone;
	bool shows;
	s32 rest;

	do {
		shows = simt_lone_shows(s);
		rest = s->left - 1;
		s->left = 1;
		simt_lone_go(s);
		s->left += rest;
		if (shows && s->stop == SIMT_LONE_LEFT && !--alone->shown) {
			alone->turn = 0;
			return;
		}
	} while (s->stop == SIMT_LONE_LEFT && s->left > 0);
}

/*
 * Whether the code can be used: it ignores what a lap changes, which does not matter once the lane
 * has left the function where its lap began; and it stops at blocks only.
 */
static inline bool simt_lone_has_native(const struct simt_lone *s,
					const struct simt_native *native)
{
	return native && (!s->meet || (!s->w->alone.lap &&
				       native->marks[s->meet - s->w->text] & SIMT_MARK_BLOCK));
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
			if (!w->alone.shown && simt_lone_has_native(&s, native)) {
				simt_lone_native(&s, native);
				continue;
			}
			simt_lone_get_regs(&s);
			if (w->alone.shown)
				simt_lone_show_go(&s);
			else
				simt_lone_go(&s);
		} while (simt_lone_more(&s));
		simt_lone_put(&s);
	}
	*end = simt_lone_end(&s, &left);
	return left;
}

#endif /* _VGPU_SIMT_LONE_NATIVE_H */
