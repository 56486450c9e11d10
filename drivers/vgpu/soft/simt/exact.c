// SPDX-License-Identifier: GPL-2.0
/* Operations on floats with rounding modes and flags, lane by lane: see float.h. */
#include <linux/bitops.h>
#include <linux/string.h>

#include "reg.h"

/* The kind of register of an operand or a result: integer, single or double. */
enum simt_kind {
	SIMT_KIND_X,
	SIMT_KIND_S,
	SIMT_KIND_D,
};

struct simt_kinds {
	u8 from;
	u8 to;
};

#define SIMT_KINDS(name, f, t)							\
	[SIMT_##name] = { SIMT_KIND_##f, SIMT_KIND_##t },			\
	[SIMT_##name##_X] = { SIMT_KIND_##f, SIMT_KIND_##t },

#define SIMT_KINDS_OF(k)							\
	SIMT_KINDS(FADD_##k, k, k) SIMT_KINDS(FSUB_##k, k, k)			\
	SIMT_KINDS(FMUL_##k, k, k) SIMT_KINDS(FDIV_##k, k, k)			\
	SIMT_KINDS(FSQRT_##k, k, k) SIMT_KINDS(FMADD_##k, k, k)			\
	SIMT_KINDS(FMSUB_##k, k, k) SIMT_KINDS(FNMSUB_##k, k, k)		\
	SIMT_KINDS(FNMADD_##k, k, k)						\
	SIMT_KINDS(FMIN_##k, k, k) SIMT_KINDS(FMAX_##k, k, k)			\
	SIMT_KINDS(FEQ_##k, k, X) SIMT_KINDS(FLT_##k, k, X)			\
	SIMT_KINDS(FLE_##k, k, X)						\
	SIMT_KINDS(FCVT_W_##k, k, X) SIMT_KINDS(FCVT_WU_##k, k, X)		\
	SIMT_KINDS(FCVT_L_##k, k, X) SIMT_KINDS(FCVT_LU_##k, k, X)		\
	SIMT_KINDS(FCVT_##k##_W, X, k) SIMT_KINDS(FCVT_##k##_WU, X, k)		\
	SIMT_KINDS(FCVT_##k##_L, X, k) SIMT_KINDS(FCVT_##k##_LU, X, k)

static const struct simt_kinds simt_kinds[SIMT_NR_OPS] = {
	SIMT_KINDS_OF(S)
	SIMT_KINDS_OF(D)
	SIMT_KINDS(FCVT_S_D, D, S)
	SIMT_KINDS(FCVT_D_S, S, D)
};

#define SIMT_CASE(name)		case SIMT_##name: case SIMT_##name##_X:

#define SIMT_DEFINE_EXACT(k, f, t, sign)						\
static u64 simt_exact_##k(unsigned int op, t a, t b, t c, unsigned int rm, u8 *flags)	\
{											\
	switch (op) {									\
	SIMT_CASE(FADD_##k)								\
		return simt_##f##_add(a, b, rm, flags);					\
	SIMT_CASE(FSUB_##k)								\
		return simt_##f##_sub(a, b, rm, flags);					\
	SIMT_CASE(FMUL_##k)								\
		return simt_##f##_mul(a, b, rm, flags);					\
	SIMT_CASE(FDIV_##k)								\
		return simt_##f##_div(a, b, rm, flags);					\
	SIMT_CASE(FSQRT_##k)								\
		return simt_##f##_sqrt(a, rm, flags);					\
	SIMT_CASE(FMADD_##k)								\
		return simt_##f##_fma(a, b, c, rm, flags);				\
	SIMT_CASE(FMSUB_##k)								\
		return simt_##f##_fma(a, b, c ^ sign, rm, flags);			\
	SIMT_CASE(FNMSUB_##k)								\
		return simt_##f##_fma(a ^ sign, b, c, rm, flags);			\
	SIMT_CASE(FNMADD_##k)								\
		return simt_##f##_fma(a ^ sign, b, c ^ sign, rm, flags);		\
	SIMT_CASE(FMIN_##k)								\
		return simt_##f##_min(a, b, flags);					\
	SIMT_CASE(FMAX_##k)								\
		return simt_##f##_max(a, b, flags);					\
	SIMT_CASE(FEQ_##k)								\
		return simt_##f##_eq(a, b, flags);					\
	SIMT_CASE(FLT_##k)								\
		return simt_##f##_lt(a, b, flags);					\
	SIMT_CASE(FLE_##k)								\
		return simt_##f##_le(a, b, flags);					\
	SIMT_CASE(FCVT_W_##k)								\
		return simt_##f##_to_i32(a, rm, flags);					\
	SIMT_CASE(FCVT_WU_##k)								\
		return simt_##f##_to_u32(a, rm, flags);					\
	SIMT_CASE(FCVT_L_##k)								\
		return simt_##f##_to_i64(a, rm, flags);					\
	default:									\
		return simt_##f##_to_u64(a, rm, flags);					\
	}										\
}

SIMT_DEFINE_EXACT(S, f32, u32, 1U << 31)
SIMT_DEFINE_EXACT(D, f64, u64, 1ULL << 63)

static u64 simt_exact_x(unsigned int op, u64 a, unsigned int rm, u8 *flags)
{
	switch (op) {
	SIMT_CASE(FCVT_S_W)
		return simt_f32_from_i64((s32)a, rm, flags);
	SIMT_CASE(FCVT_S_WU)
		return simt_f32_from_u64((u32)a, rm, flags);
	SIMT_CASE(FCVT_S_L)
		return simt_f32_from_i64(a, rm, flags);
	SIMT_CASE(FCVT_S_LU)
		return simt_f32_from_u64(a, rm, flags);
	SIMT_CASE(FCVT_D_W)
		return simt_f64_from_i64((s32)a, rm, flags);
	SIMT_CASE(FCVT_D_WU)
		return simt_f64_from_u64((u32)a, rm, flags);
	SIMT_CASE(FCVT_D_L)
		return simt_f64_from_i64(a, rm, flags);
	default:
		return simt_f64_from_u64(a, rm, flags);
	}
}

static u64 simt_exact_lane(unsigned int op, const u64 in[3], unsigned int rm, u8 *flags)
{
	switch (op) {
	SIMT_CASE(FCVT_S_D)
		return simt_f64_to_f32(in[0], rm, flags);
	SIMT_CASE(FCVT_D_S)
		return simt_f32_to_f64(in[0], flags);
	default:
		break;
	}
	if (simt_kinds[op].from == SIMT_KIND_X)
		return simt_exact_x(op, in[0], rm, flags);
	if (simt_kinds[op].from == SIMT_KIND_S)
		return simt_exact_S(op, in[0], in[1], in[2], rm, flags);
	return simt_exact_D(op, in[0], in[1], in[2], rm, flags);
}

/* Sets @in to the operands of a lane, 64 bits each. */
static void simt_exact_gather(struct simt_warp *w, const struct simt_insn *i, unsigned int lane,
			      u64 in[3])
{
	const u8 rs[3] = { i->rs1, i->rs2, i->rs3 };
	unsigned int k;

	if (simt_kinds[i->op].from == SIMT_KIND_X) {
		in[0] = simt_lane_x(w, i->rs1, lane);
		return;
	}
	for (k = 0; k < 3; k++) {
		bool single = w->known & ~w->wide & 1U << rs[k];

		if (simt_kinds[i->op].from == SIMT_KIND_S)
			in[k] = single ? w->f[rs[k]].s[lane] : simt_unbox(w->f[rs[k]].d[lane]);
		else
			in[k] = single ? simt_box(w->f[rs[k]].s[lane]) : w->f[rs[k]].d[lane];
	}
}

static void simt_exact_done(struct simt_warp *w, const struct simt_insn *i, u64 *out)
{
	unsigned int l;

	switch (simt_kinds[i->op].to) {
	case SIMT_KIND_X:
		if (!w->partial)
			memcpy(w->x[i->rd].d, out, sizeof(w->tmp[3]));
		simt_done_x(w, i->rd);
		return;
	case SIMT_KIND_D:
		if (!w->partial)
			memcpy(w->f[i->rd].d, out, sizeof(w->tmp[3]));
		simt_done_d(w, i->rd);
		return;
	default:
		for (l = 0; l < SIMT_LANES; l++)
			((u32 *)out)[l] = (u32)out[l];
		if (!w->partial)
			memcpy(w->f[i->rd].s, out, sizeof(w->f[i->rd].s));
		simt_done_s(w, i->rd);
	}
}

/*
 * Returns the rounding mode. A fast fused operation comes here if the CPU has none; it rounds to
 * nearest even.
 */
static unsigned int simt_exact_rm(const struct simt_warp *w, const struct simt_insn *i,
				  unsigned int lane)
{
	if (simt_op_fused(i->op))
		return SIMT_RNE;
	return i->rm == SIMT_RM_DYN ? w->frm[lane] : i->rm;
}

SIMT_FN(simt_exact)
{
	const u8 rs[3] = { i->rs1, i->rs2, i->rs3 };
	u64 in[3] = {}, *out = w->tmp[3];
	unsigned int k, l;

	if (simt_kinds[i->op].from != SIMT_KIND_X)
		for (k = 0; k < 3; k++)
			if (!(w->known >> rs[k] & 1))
				simt_know(w, rs[k]);
	for (l = 0; l < SIMT_LANES; l++)
		if (simt_active(w, l) && simt_exact_rm(w, i, l) > SIMT_RMM)
			return simt_warp_fault(w, i, VGPU_HW_FAULT_ILLEGAL, 0, l);
	for (l = 0; l < SIMT_LANES; l++) {
		if (!simt_active(w, l))
			continue;
		simt_exact_gather(w, i, l, in);
		out[l] = simt_exact_lane(i->op, in, simt_exact_rm(w, i, l), &w->fflags[l]);
	}
	simt_exact_done(w, i, out);
	return i + 1;
}

/* Executes it for a lane that runs alone. Returns false if there was an event. */
bool simt_exact_lone(struct simt_lone *s, const struct simt_insn *i)
{
	unsigned int rm = simt_exact_rm(s->w, i, s->lane), from = simt_kinds[i->op].from;
	u64 in[3] = { s->f[i->rs1], s->f[i->rs2], s->f[i->rs3] }, out;
	unsigned int k;

	if (rm > SIMT_RMM) {
		simt_warp_fault(s->w, i, VGPU_HW_FAULT_ILLEGAL, 0, s->lane);
		return false;
	}
	for (k = 0; k < 3 && from == SIMT_KIND_S; k++)
		in[k] = simt_unbox(in[k]);
	if (from == SIMT_KIND_X)
		in[0] = s->x[i->rs1];
	out = simt_exact_lane(i->op, in, rm, &s->w->fflags[s->lane]);
	if (simt_kinds[i->op].to == SIMT_KIND_X)
		s->x[i->rd] = out;
	else
		s->f[i->rd] = simt_kinds[i->op].to == SIMT_KIND_S ? simt_box((u32)out) : out;
	return true;
}
