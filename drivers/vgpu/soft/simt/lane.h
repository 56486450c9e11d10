/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter's loop and its operations. Each file isa_*.c defines SIMT_ISA, the name of an
 * instruction set of the CPU, and includes this once. Kbuild compiles the file for that instruction
 * set, so that loops over lanes become vector instructions.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/stringify.h>

#include "lane_int.h"
#include "lane_flow.h"
#include "lane_mem.h"
#include "lane_float.h"
#include "expr.h"

#define simt_ILLEGAL	simt_slow_illegal
#define simt_FENCE	simt_slow_fence
#define simt_BARRIER	simt_slow_barrier
#define simt_CSR_ID	simt_slow_csr_id
#define simt_JALR	simt_slow_jalr

#define SIMT_SLOT(name)	\
	[SIMT_##name] = simt_##name,
#define SIMT_SLOT_ATOMIC(name)	\
	[SIMT_##name] = simt_slow_atomic,
#define SIMT_SLOT_EXACT(name)	\
	[SIMT_##name##_X] = simt_exact,

static const simt_fn simt_ops[SIMT_NR_OPS] = {
	SIMT_SLOT(ILLEGAL) SIMT_SLOT(FENCE) SIMT_SLOT(BARRIER) SIMT_SLOT(CSR_ID)
	[SIMT_FCSR_RW] = simt_slow_fcsr, [SIMT_FCSR_RS] = simt_slow_fcsr,
	[SIMT_FCSR_RC] = simt_slow_fcsr, [SIMT_FCSR_RWI] = simt_slow_fcsr,
	[SIMT_FCSR_RSI] = simt_slow_fcsr, [SIMT_FCSR_RCI] = simt_slow_fcsr,
	SIMT_OPS_FLOW(SIMT_SLOT) SIMT_OPS_RR(SIMT_SLOT) SIMT_OPS_RI(SIMT_SLOT)
	SIMT_OPS_R(SIMT_SLOT) SIMT_OPS_LOAD(SIMT_SLOT) SIMT_OPS_STORE(SIMT_SLOT)
	SIMT_OPS_ATOMIC(SIMT_SLOT_ATOMIC) SIMT_OPS_FLOAT(SIMT_SLOT)
	SIMT_OPS_FLAG(SIMT_SLOT) SIMT_OPS_ROUND(SIMT_SLOT) SIMT_OPS_EXACT(SIMT_SLOT_EXACT)
};

#include "lone.h"
#include "lone_native.h"

static enum simt_end simt_run(struct simt_warp *w, u32 *budget)
{
	const struct simt_insn *i = w->ip;
	u32 left = *budget, mark = left;
	enum simt_end end;

	/* It was left within a group that should part now. */
	if (unlikely(w->watch & SIMT_WATCH_DUE) && i != SIMT_LEAVE && simt_lone_due(w))
		w->join = w->text;
	while (left) {
		if (i >= w->join) {
			if (unlikely(w->partial | w->watch))
				simt_lone_note(w, mark - left);
			left -= simt_warp_extra(w, left - 1);
			if (i != SIMT_LEAVE)
				simt_warp_arrive(w, i);
			else if (w->event != SIMT_EVENT_PICK)
				break;
			if (unlikely(w->group->apart_sites))
				simt_lone_parted(w, mark - left);
			if (unlikely(w->watch & SIMT_WATCH_DUE)) {
				left = simt_lone_run(w, left, &end);
				if (end != SIMT_DONE) {
					*budget = left;
					return end;
				}
				/* They have met just now, and have not all ended. */
				if (!left && w->live & ~w->barrier) {
					i = SIMT_LEAVE;
					mark = 0;
					break;
				}
			}
			if (!simt_warp_pick(w)) {
				*budget = left;
				return SIMT_DONE;
			}
			i = w->ip;
			mark = left;
			if (unlikely(w->watch & SIMT_WATCH_RAGGED)) {
				left -= simt_lone_pack(w, left);
				mark = left;
				if (!left)
					break;
			}
		}
		do {
			i = simt_ops[i->op](w, i);
		} while (--left && i < w->join);
	}
	if (w->partial | w->watch)
		simt_lone_note(w, mark - left);
	*budget = left;
	if (i == SIMT_LEAVE && w->event != SIMT_EVENT_PICK)
		return w->event == SIMT_EVENT_FAULT ? SIMT_FAULT : SIMT_WAIT;
	simt_warp_suspend(w, i);
	return SIMT_MORE;
}

#define SIMT_ISA_SYMBOL__(name)	simt_isa_##name
#define SIMT_ISA_SYMBOL_(name)	SIMT_ISA_SYMBOL__(name)

const struct simt_isa SIMT_ISA_SYMBOL_(SIMT_ISA) = {
	.name = __stringify(SIMT_ISA),
	.fused = SIMT_FUSED,
	.run = simt_run,
	.values = simt_values,
	.last = SIMT_CAST(last),
	.step = simt_lone_step,
};
