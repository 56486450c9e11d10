/* SPDX-License-Identifier: GPL-2.0 */
/* Jumps and branches. Included by lane.h, once for each instruction set of the CPU. */
#ifndef _VGPU_SIMT_LANE_FLOW_H
#define _VGPU_SIMT_LANE_FLOW_H

#include "reg.h"

static SIMT_FN(simt_LUI)
{
	simt_set_x(w, i->rd, (u64)(s64)i->imm, 0);
	return i + 1;
}

static SIMT_FN(simt_AUIPC)
{
	simt_set_x(w, i->rd, simt_warp_va(w, i) + (u64)(s64)i->imm, 0);
	return i + 1;
}

/* The target of @lane's jump @i is not an instruction. */
static noinline const struct simt_insn *simt_jump_fault(struct simt_warp *w,
							const struct simt_insn *i,
							unsigned int lane)
{
	s64 bytes = 4 * (s64)i->imm;

	if (i->imm >= SIMT_NO_DISTANCE / 2)
		bytes = i->imm - SIMT_NO_DISTANCE;
	return simt_warp_fault(w, i, VGPU_HW_FAULT_ILLEGAL, simt_warp_va(w, i) + bytes, lane);
}

/* All lanes of the running group jump. */
static inline const struct simt_insn *simt_jump(struct simt_warp *w, const struct simt_insn *i)
{
	u32 target = (u32)(i - w->text) + (u32)i->imm;

	/* The end of the text is a valid target: a work-item that jumps there ends. */
	if (unlikely(target > w->nr))
		return simt_jump_fault(w, i, __ffs(w->active));
	return w->text + array_index_nospec(target, w->nr + 1);
}

/* A call changes the depth, so if there are several groups, another one may have to run. */
static SIMT_FN(simt_JAL)
{
	const struct simt_insn *to = simt_jump(w, i);

	if (to == SIMT_LEAVE)
		return to;
	simt_set_x(w, i->rd, simt_warp_va(w, i) + 4, 0);
	if (i->rd != 1 && i->rd != 5)
		return to;
	w->depth++;
	if (!w->partial)
		return to;
	simt_warp_park(w, to);
	return SIMT_LEAVE;
}

static const u32 simt_bit[SIMT_LANES] = {
	1U << 0, 1U << 1, 1U << 2, 1U << 3, 1U << 4, 1U << 5, 1U << 6, 1U << 7,
	1U << 8, 1U << 9, 1U << 10, 1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15,
	1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21, 1U << 22, 1U << 23,
	1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31,
};

static const struct simt_insn *simt_branch(struct simt_warp *w, const struct simt_insn *i,
					   u32 taken)
{
	u32 target = (u32)(i - w->text) + (u32)i->imm;

	taken &= w->active;
	if (!taken)
		return i + 1;
	if (taken == w->active)
		return simt_jump(w, i);
	if (unlikely(target > w->nr))
		return simt_jump_fault(w, i, __ffs(taken));
	return simt_warp_split(w, i, taken, array_index_nospec(target, w->nr + 1));
}

/* @alike: if the operands have the same difference in all lanes, the outcome is the same in all. */
#define SIMT_DEFINE_BRANCH(name, expr, narrow, alike)					\
static SIMT_FN(simt_##name)								\
{											\
	const u64 *ra, *rb;								\
	u32 taken = 0;									\
											\
	if (!((w->vec >> i->rs1 | w->vec >> i->rs2) & 1) &&				\
	    w->stride[i->rs1] == w->stride[i->rs2] && (alike || !w->stride[i->rs1])) {	\
		const u64 a = w->base[i->rs1], b = w->base[i->rs2];			\
											\
		return expr ? simt_jump(w, i) : i + 1;					\
	}										\
	if (simt_fits(w, i->rs1) && simt_fits(w, i->rs2)) {				\
		const s32 *na = simt_low(w, i->rs1, 0), *nb = simt_low(w, i->rs2, 1);	\
											\
		simt_each(l) {								\
			const s32 a = na[l], b = nb[l];					\
											\
			taken |= narrow ? simt_bit[l] : 0;				\
		}									\
		return simt_branch(w, i, taken);					\
	}										\
	ra = simt_x(w, i->rs1, 0);							\
	rb = simt_x(w, i->rs2, 1);							\
	simt_each(l) {									\
		const u64 a = ra[l], b = rb[l];						\
											\
		taken |= expr ? simt_bit[l] : 0;					\
	}										\
	return simt_branch(w, i, taken);						\
}

#endif /* _VGPU_SIMT_LANE_FLOW_H */
