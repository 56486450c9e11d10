/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes one lane, alone, on registers of its own: see lone.c. Included by lane.h, once for each
 * instruction set of the CPU, after the operations of warps.
 *
 * An operation is a label of simt_lone_go(), and goes from there to the next one: so the CPU learns
 * what follows which operation.
 */
#ifndef _VGPU_SIMT_LONE_H
#define _VGPU_SIMT_LONE_H

#include "access.h"
#include "reg.h"

#ifdef __annotate_jump_table
#define SIMT_JUMP_TABLE	__annotate_jump_table
#else
#define SIMT_JUMP_TABLE
#endif

/* Operands, named as the functions of reg.h that return arrays of them. */
#define simt_lone_x(r)		(s->x[r])
#define simt_lone_low(r)	((s32)s->x[r])
#define simt_lone_s(r)		simt_unbox(s->f[r])
#define simt_lone_d(r)		(s->f[r])
#define simt_lone_simt_low(r)		simt_lone_low(r)
#define simt_lone_simt_x(r)		simt_lone_x(r)
#define simt_lone_simt_single(r)	((u32)s->f[r])
#define simt_lone_simt_d(r)		simt_lone_d(r)

/* Results, likewise. */
#define simt_lone_to_x(value)	(s->x[i->rd] = (value))
#define simt_lone_to_n(value)	(s->x[i->rd] = (u64)(s64)(s32)(value))
#define simt_lone_to_s(value)	(s->f[i->rd] = simt_box(value))
#define simt_lone_to_d(value)	(s->f[i->rd] = (value))

/* An operand's bits as another type. */
#define simt_as_u32(bits)	((u32)(bits))
#define simt_as_u64(bits)	((u64)(bits))
#define simt_as_s32(bits)	((s32)(bits))

static inline float simt_as_simt_f32(u32 bits)
{
	return *(const simt_f32 *)&bits;
}

static inline double simt_as_simt_f64(u64 bits)
{
	return *(const simt_f64 *)&bits;
}

static inline u32 simt_bits_simt_f32(simt_f32 value)
{
	return *(const u32 *)&value;
}

static inline u64 simt_bits_simt_f64(simt_f64 value)
{
	return *(const u64 *)&value;
}

/* Begins an operation. */
#define SIMT_LONE(name)	\
	lone_##name :

/* Goes to the next instruction. */
#define SIMT_GO(to, cost) do {							\
	i = (to);								\
	left -= (cost);								\
	if (unlikely(left <= 0 || i == meet))					\
		goto stop;							\
	goto *ops[i->op];							\
} while (0)
#define SIMT_NEXT	SIMT_GO(i + 1, 1)

#define SIMT_DEFINE_RR(name, expr, affine)					\
SIMT_LONE(name) {									\
	const u64 a = simt_lone_x(i->rs1), b = simt_lone_x(i->rs2);		\
										\
	simt_lone_to_x(expr);							\
	SIMT_NEXT;								\
}

#define SIMT_DEFINE_RU	SIMT_DEFINE_RR
#define SIMT_DEFINE_RN	SIMT_DEFINE_RR

#define SIMT_DEFINE_W(name, expr, affine)					\
SIMT_LONE(name) {									\
	const u32 a = simt_lone_x(i->rs1), b = simt_lone_x(i->rs2);		\
										\
	simt_lone_to_n(expr);							\
	SIMT_NEXT;								\
}

#define SIMT_DEFINE_RI(name, expr, affine)					\
SIMT_LONE(name) {									\
	const u64 a = simt_lone_x(i->rs1);					\
	const u64 b __maybe_unused = (u64)(s64)i->imm;				\
										\
	simt_lone_to_x(expr);							\
	SIMT_NEXT;								\
}

#define SIMT_DEFINE_RIN	SIMT_DEFINE_RI
#define SIMT_DEFINE_UNARY(name, expr, affine, fast)	SIMT_DEFINE_RI(name, expr, affine)

#define SIMT_DEFINE_WI(name, expr, affine)					\
SIMT_LONE(name) {									\
	const u32 a = simt_lone_x(i->rs1), b = i->imm;				\
										\
	simt_lone_to_n(expr);							\
	SIMT_NEXT;								\
}

#define SIMT_DEFINE_BRANCH(name, expr, narrow, alike)				\
SIMT_LONE(name) {									\
	const u64 a = simt_lone_x(i->rs1), b = simt_lone_x(i->rs2);		\
										\
	if (expr)								\
		goto jump;							\
	SIMT_NEXT;								\
}

#define SIMT_DEFINE_LOAD(name, t, k, ext, set)					\
SIMT_LONE(name) {									\
	const u64 va = simt_lone_x(i->rs1) + (u64)(s64)i->imm;			\
	const u8 *host = simt_lone_find(s, va, sizeof(t), false);		\
	u64 far;								\
										\
	if (likely(host)) {							\
		simt_lone_to_##k((ext)simt_any(t, host));			\
		SIMT_GO(i + 1, SIMT_LONE_APART);				\
	}									\
	if (!simt_lone_load(s, i, va, sizeof(t), &far))				\
		goto event;							\
	simt_lone_to_##k((ext)(t)far);						\
	SIMT_GO(i + 1, s->cost);						\
}

#define SIMT_DEFINE_STORE(name, t, from_t, from)				\
SIMT_LONE(name) {									\
	const u64 va = simt_lone_x(i->rs1) + (u64)(s64)i->imm;			\
	const t value = (t)(from_t)simt_lone_##from(i->rs2);			\
	u8 *host = simt_lone_find(s, va, sizeof(t), true);			\
										\
	if (likely(host)) {							\
		s->changed |= simt_any(t, host) ^ value;			\
		simt_any_set(t, host, value);					\
		SIMT_GO(i + 1, SIMT_LONE_APART);				\
	}									\
	if (!simt_lone_store(s, i, va, sizeof(t), value))			\
		goto event;							\
	SIMT_GO(i + 1, s->cost);						\
}

#define SIMT_DEFINE_F1(name, t, k, from, kf, tmp, expr, nan)			\
SIMT_LONE(name) {									\
	const from a = simt_as_##from(simt_lone_##kf(i->rs1));			\
	const t r = expr;							\
										\
	simt_lone_to_##k(simt_bits_##t(r == r ? r : nan));			\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_F2(name, t, k, expr, nan)					\
SIMT_LONE(name) {									\
	const t a = simt_as_##t(simt_lone_##k(i->rs1));				\
	const t b = simt_as_##t(simt_lone_##k(i->rs2)), r = expr;		\
										\
	simt_lone_to_##k(simt_bits_##t(r == r ? r : nan));			\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_F3(name, t, k, expr, nan)					\
SIMT_LONE(name) {									\
	const t a = simt_as_##t(simt_lone_##k(i->rs1));				\
	const t b = simt_as_##t(simt_lone_##k(i->rs2));				\
	const t c = simt_as_##t(simt_lone_##k(i->rs3)), r = expr;		\
										\
	simt_lone_to_##k(simt_bits_##t(r == r ? r : nan));			\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_MINMAX(name, t, k, u, bits, cmp, first, nan)		\
SIMT_LONE(name) {									\
	const u fa = simt_lone_##k(i->rs1);					\
	const t a = simt_as_##t(fa), b = simt_as_##t(simt_lone_##k(i->rs2));	\
	const bool sign_a = fa >> (bits - 1);					\
	t r = a cmp b || (a == b && sign_a == first) ? a : b;			\
										\
	r = a == a ? r : b;							\
	r = b == b ? r : a;							\
	simt_lone_to_##k(simt_bits_##t(r == r ? r : nan));			\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_COMPARE(name, t, k, expr)					\
SIMT_LONE(name) {									\
	const t a = simt_as_##t(simt_lone_##k(i->rs1));				\
	const t b = simt_as_##t(simt_lone_##k(i->rs2));				\
										\
	simt_lone_to_x(expr);							\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_FX(name, t, k, ki, int, expr)				\
SIMT_LONE(name) {									\
	const t a = simt_as_##t(simt_lone_##k(i->rs1));				\
										\
	simt_lone_to_##ki(expr);						\
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);					\
}

#define SIMT_DEFINE_SIGN(name, k, u, expr)					\
SIMT_LONE(name) {									\
	const u a = simt_lone_##k(i->rs1), b = simt_lone_##k(i->rs2);		\
	const u sign = (u)1 << (8 * sizeof(u) - 1);				\
										\
	simt_lone_to_##k((a & ~sign) | (expr & sign));				\
	SIMT_NEXT;								\
}

#define SIMT_AT(name)	\
	[SIMT_##name] = &&lone_##name,
#define SIMT_AT_ATOMIC(name)	\
	[SIMT_##name] = &&lone_atomic,
#define SIMT_AT_EXACT(name)	\
	[SIMT_##name##_X] = &&lone_exact,

/* Executes the lane until it stops: see struct simt_lone.left and enum simt_lone_stop. */
static noinline void simt_lone_go(struct simt_lone *s)
{
	static const void * const ops[SIMT_NR_OPS] SIMT_JUMP_TABLE = {
		SIMT_AT(ILLEGAL) SIMT_AT(FENCE) SIMT_AT(BARRIER) SIMT_AT(CSR_ID)
		[SIMT_FCSR_RW] = &&lone_fcsr, [SIMT_FCSR_RS] = &&lone_fcsr,
		[SIMT_FCSR_RC] = &&lone_fcsr, [SIMT_FCSR_RWI] = &&lone_fcsr,
		[SIMT_FCSR_RSI] = &&lone_fcsr, [SIMT_FCSR_RCI] = &&lone_fcsr,
		SIMT_OPS_FLOW(SIMT_AT) SIMT_OPS_RR(SIMT_AT) SIMT_OPS_RI(SIMT_AT)
		SIMT_OPS_R(SIMT_AT) SIMT_OPS_LOAD(SIMT_AT) SIMT_OPS_STORE(SIMT_AT)
		SIMT_OPS_ATOMIC(SIMT_AT_ATOMIC) SIMT_OPS_FLOAT(SIMT_AT)
		SIMT_OPS_FLAG(SIMT_AT) SIMT_OPS_ROUND(SIMT_AT) SIMT_OPS_EXACT(SIMT_AT_EXACT)
	};
	const struct simt_insn *const text = s->w->text, *const meet = s->meet;
	const unsigned long end = s->w->nr * sizeof(*text);
	const struct simt_insn *i = s->ip;
	unsigned long to;
	s32 left = s->left;

	goto *ops[i->op];
#include "expr.h"

lone_SLLI_UW:
	simt_lone_to_x((u64)(u32)simt_lone_x(i->rs1) << i->imm);
	SIMT_NEXT;
lone_LUI:
	simt_lone_to_x((u64)(s64)i->imm);
	SIMT_NEXT;
lone_AUIPC:
	simt_lone_to_x(simt_warp_va(s->w, i) + (u64)(s64)i->imm);
	SIMT_NEXT;
lone_JAL:
	if (i->rd == SIMT_X_SINK)
		goto jump;
	if (unlikely((unsigned long)(i + i->imm) - (unsigned long)text > end))
		goto bad_jump;
	s->x[i->rd] = simt_warp_va(s->w, i) + 4;
	s->depth += i->rd == 1 || i->rd == 5;
jump:
	/* In bytes, as the distance is a multiple of the instructions' size. */
	to = (unsigned long)(i + i->imm) - (unsigned long)text;
	if (unlikely(to > end))
		goto bad_jump;
	SIMT_GO((const void *)((const u8 *)text + array_index_nospec(to, end + 1)), 1);
bad_jump:
	simt_jump_fault(s->w, i, s->lane);
	goto event;
lone_JALR: {
	const bool call = i->rd == 1 || i->rd == 5;
	const bool ret = i->rd == SIMT_X_SINK && (i->rs1 == 1 || i->rs1 == 5);
	const u64 va = (simt_lone_x(i->rs1) + (s64)i->imm) & ~1ULL;
	const u64 index = (va - VGPU_HW_VA_IMAGE) / 4;

	if (unlikely(va % 4 || index > s->w->nr)) {
		simt_warp_fault(s->w, i, VGPU_HW_FAULT_ILLEGAL, va, s->lane);
		goto event;
	}
	s->x[i->rd] = simt_warp_va(s->w, i) + 4;
	s->depth += call - ret;
	if (unlikely(s->depth < s->meet_depth)) {
		i = text + array_index_nospec(index, (u64)s->w->nr + 1);
		left--;
		s->stop = SIMT_LONE_MET;
		goto out;
	}
	SIMT_GO(text + array_index_nospec(index, (u64)s->w->nr + 1), 1);
}

lone_FMV_X_W:
	simt_lone_to_n((u32)s->f[i->rs1]);
	SIMT_NEXT;
lone_FMV_W_X:
	simt_lone_to_s((u32)s->x[i->rs1]);
	SIMT_NEXT;
lone_FMV_D_X:
	simt_lone_to_d(s->x[i->rs1]);
	SIMT_NEXT;
lone_FCVT_D_S: {
	const double r = simt_as_simt_f32(simt_lone_s(i->rs1));

	simt_lone_to_d(simt_bits_simt_f64(r == r ? r : SIMT_NAN_D));
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);
}

lone_FCVT_S_D: {
	const float r = simt_as_simt_f64(simt_lone_d(i->rs1));

	simt_lone_to_s(simt_bits_simt_f32(r == r ? r : SIMT_NAN_S));
	SIMT_GO(i + 1, SIMT_LONE_FLOAT);
}

#ifndef __FMA__
lone_FMADD_S:
lone_FMSUB_S:
lone_FNMSUB_S:
lone_FNMADD_S:
lone_FMADD_D:
lone_FMSUB_D:
lone_FNMSUB_D:
lone_FNMADD_D:
#endif
lone_exact:
	if (!simt_exact_lone(s, i))
		goto event;
	SIMT_GO(i + 1, SIMT_LONE_UNITS);
lone_atomic:
	if (!simt_slow_lone_atomic(s, i))
		goto event;
	/* No try was left: it begins anew. */
	SIMT_GO(s->again ? i : i + 1, s->cost);
lone_fcsr:
	simt_slow_lone_fcsr(s, i);
	SIMT_NEXT;
lone_CSR_ID:
	simt_lone_to_x(simt_slow_id(s->w, i->imm, s->lane));
	SIMT_NEXT;
lone_FENCE:
	simt_fence(i);
	SIMT_GO(i + 1, SIMT_LONE_APART);
lone_BARRIER:
	i++;
	left--;
	s->stop = SIMT_LONE_BARRIER;
	goto out;
lone_ILLEGAL:
	if (i == text + s->w->nr) {
		s->stop = SIMT_LONE_END;
		goto out;
	}
	simt_warp_fault(s->w, i, VGPU_HW_FAULT_ILLEGAL, 0, s->lane);
event:
	left--;
	s->stop = SIMT_LONE_EVENT;
	goto out;
stop:
	if (i == meet && s->depth == s->meet_depth)
		s->stop = SIMT_LONE_MET;
	else if (left > 0)
		goto *ops[i->op];
	else
		s->stop = SIMT_LONE_LEFT;
out:
	s->ip = i;
	s->left = left;
}

#endif /* _VGPU_SIMT_LONE_H */
