// SPDX-License-Identifier: GPL-2.0
/* Writes instructions of eBPF, and registers of a lane to and from their homes: see bpf.c. */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/limits.h>

#include "bpf.h"

/* Appends an instruction. */
void simt_bpf_put(struct simt_bpf *b, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	if (b->insn && b->nr < b->most)
		b->insn[b->nr] = (struct bpf_insn) {
			.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
		};
	b->nr++;
}

/* @dst = @dst @op @src. @op: with BPF_ALU or BPF_ALU64. */
void simt_bpf_rr(struct simt_bpf *b, u8 op, u8 dst, u8 src)
{
	simt_bpf_put(b, op | BPF_X, dst, src, 0, 0);
}

void simt_bpf_ri(struct simt_bpf *b, u8 op, u8 dst, s32 imm)
{
	simt_bpf_put(b, op | BPF_K, dst, 0, 0, imm);
}

void simt_bpf_mov(struct simt_bpf *b, u8 dst, u8 src)
{
	if (dst != src)
		simt_bpf_rr(b, BPF_ALU64 | BPF_MOV, dst, src);
}

void simt_bpf_set(struct simt_bpf *b, u8 dst, u64 value)
{
	if (value == (u64)(s64)(s32)value) {
		simt_bpf_ri(b, BPF_ALU64 | BPF_MOV, dst, (s32)value);
		return;
	}
	simt_bpf_put(b, BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (s32)value);
	simt_bpf_put(b, 0, 0, 0, 0, (s32)(value >> 32));
}

/* Sign-extends from @bits. */
void simt_bpf_sext(struct simt_bpf *b, u8 reg, unsigned int bits)
{
	simt_bpf_put(b, BPF_ALU64 | BPF_MOV | BPF_X, reg, reg, bits, 0);
}

/* @size: with BPF_MEM or BPF_MEMSX. */
void simt_bpf_load(struct simt_bpf *b, u8 size, u8 dst, u8 from, s16 off)
{
	simt_bpf_put(b, BPF_LDX | size, dst, from, off, 0);
}

void simt_bpf_store(struct simt_bpf *b, u8 size, u8 to, s16 off, u8 src)
{
	simt_bpf_put(b, BPF_STX | BPF_MEM | size, to, src, off, 0);
}

void simt_bpf_jump(struct simt_bpf *b, u32 to)
{
	simt_bpf_put(b, BPF_JMP32 | BPF_JA, 0, 0, 0, (s32)(to - b->nr - 1));
}

/* Lets the jump at @from, which was written, go to @to. */
void simt_bpf_aim(struct simt_bpf *b, u32 from, u32 to)
{
	if (b->insn && from < b->most)
		b->insn[from].imm = (s32)(to - from - 1);
}

/* A jump over a farther one if the condition does not hold. */
static void simt_bpf_jump_if(struct simt_bpf *b, u8 code, u8 dst, u8 src, s32 imm, u32 to)
{
	s32 distance = (s32)(to - b->nr - 1);

	if (b->far) {
		simt_bpf_put(b, code, dst, src, 1, imm);
		simt_bpf_put(b, BPF_JMP | BPF_JA, 0, 0, 1, 0);
		simt_bpf_jump(b, to);
		return;
	}
	b->too_far |= distance != (s16)distance;
	simt_bpf_put(b, code, dst, src, (s16)distance, imm);
}

void simt_bpf_jump_rr(struct simt_bpf *b, u8 op, u8 dst, u8 src, u32 to)
{
	simt_bpf_jump_if(b, BPF_JMP | op | BPF_X, dst, src, 0, to);
}

void simt_bpf_jump_ri(struct simt_bpf *b, u8 op, u8 dst, s32 imm, u32 to)
{
	simt_bpf_jump_if(b, BPF_JMP | op | BPF_K, dst, 0, imm, to);
}

void simt_bpf_call(struct simt_bpf *b, u64 (*fn)(u64, u64, u64))
{
	const s64 distance = BPF_CALL_IMM(fn);

	b->unreached |= distance != (s32)distance;
	b->calls++;
	b->last_type = SIMT_LAST_NONE;
	simt_bpf_put(b, BPF_JMP | BPF_CALL, 0, 0, 0, (s32)distance);
}

/* Returns where the integer register is: its home, or @spare, to which it is loaded. */
u8 simt_bpf_x(struct simt_bpf *b, u8 r, u8 spare)
{
	if (b->home[r])
		return b->home[r];
	simt_bpf_x_to(b, r, spare);
	return spare;
}

void simt_bpf_x_to(struct simt_bpf *b, u8 r, u8 to)
{
	if (!r)
		simt_bpf_set(b, to, 0);
	else if (b->home[r])
		simt_bpf_mov(b, to, b->home[r]);
	else
		simt_bpf_load(b, BPF_MEM | BPF_DW, to, SIMT_BPF_LONE, SIMT_BPF_X(r));
}

void simt_bpf_x_set(struct simt_bpf *b, u8 r, u8 from)
{
	if (r == SIMT_X_SINK)
		return;
	if (b->home[r])
		simt_bpf_mov(b, b->home[r], from);
	else
		simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_X(r), from);
}

/* Sets a float register. */
void simt_bpf_f_set(struct simt_bpf *b, u8 r, u8 from)
{
	if (b->last == r)
		b->last_type = SIMT_LAST_NONE;
	simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_F(r), from);
}

/* Stores what has its home in @nr registers from @first on to the lane's memory. */
void simt_bpf_leave_homes(struct simt_bpf *b, u8 first, u8 nr)
{
	u8 reg;

	for (reg = first; reg < first + nr; reg++)
		if (b->guest[reg - SIMT_BPF_LOST])
			simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE,
				       SIMT_BPF_X(b->guest[reg - SIMT_BPF_LOST]), reg);
}

void simt_bpf_enter_homes(struct simt_bpf *b, u8 first, u8 nr)
{
	u8 reg;

	for (reg = first; reg < first + nr; reg++)
		if (b->guest[reg - SIMT_BPF_LOST])
			simt_bpf_load(b, BPF_MEM | BPF_DW, reg, SIMT_BPF_LONE,
				      SIMT_BPF_X(b->guest[reg - SIMT_BPF_LOST]));
}

/* Where the warp has a register of the lane, from struct simt_lone.home on. */
#define SIMT_BPF_WARP_X(r)	((r) * sizeof(union simt_int))
#define SIMT_BPF_WARP_F(r)	(offsetof(struct simt_warp, f) - offsetof(struct simt_warp, x) + \
				 (r) * sizeof(union simt_float))

static_assert(SIMT_BPF_WARP_F(SIMT_F_REGS) <= S16_MAX);

static void simt_bpf_get_reg(struct simt_bpf *b, u8 r)
{
	u8 to = b->home[r] ?: SIMT_BPF_A;

	simt_bpf_load(b, BPF_MEM | BPF_DW, to, SIMT_BPF_B, SIMT_BPF_WARP_X(r));
	if (!b->home[r])
		simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_X(r), to);
}

/* As simt_lone_get_regs(), and enters homes. A and B are lost. */
void simt_bpf_get_regs(struct simt_bpf *b)
{
	u64 written = simt_lone_written(b->program), rest;
	u32 none, end;
	u8 k;

	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(regs));
	simt_bpf_put(b, BPF_JMP | BPF_JNE | BPF_K, SIMT_BPF_B, 0, 1, 0);
	none = b->nr;
	simt_bpf_jump(b, none);
	/* The same, but good memory also for a CPU that is here ahead of the check. */
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(home));
	for (rest = b->program->floats; rest; rest &= rest - 1) {
		simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_B,
			      SIMT_BPF_WARP_F(__ffs64(rest)));
		simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_F(__ffs64(rest)), SIMT_BPF_A);
	}
	for (rest = written; rest; rest &= rest - 1)
		simt_bpf_get_reg(b, __ffs64(rest));
	for (k = 0; k < SIMT_BPF_HOMES; k++)
		if (!(written >> b->guest[k] & 1))
			simt_bpf_enter_homes(b, SIMT_BPF_LOST + k, 1);
	end = b->nr;
	simt_bpf_jump(b, end);
	simt_bpf_aim(b, none, b->nr);
	simt_bpf_enter_homes(b, SIMT_BPF_LOST, SIMT_BPF_HOMES);
	simt_bpf_aim(b, end, b->nr);
}

/* As simt_lone_put_regs(). A and B are lost. */
void simt_bpf_put_regs(struct simt_bpf *b)
{
	u64 rest;
	u8 r;

	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(home));
	for (rest = simt_lone_written(b->program); rest; rest &= rest - 1) {
		r = __ffs64(rest);
		simt_bpf_store(b, BPF_DW, SIMT_BPF_B, SIMT_BPF_WARP_X(r),
			       simt_bpf_x(b, r, SIMT_BPF_A));
	}
	for (rest = b->program->floats; rest; rest &= rest - 1) {
		r = __ffs64(rest);
		simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_F(r));
		simt_bpf_store(b, BPF_DW, SIMT_BPF_B, SIMT_BPF_WARP_F(r), SIMT_BPF_A);
	}
}

/* Makes the last float what it was where the access's code goes on. */
void simt_bpf_last_again(struct simt_bpf *b, const struct simt_bpf_label *label)
{
	if (!label->has_last)
		return;
	simt_bpf_leave_homes(b, SIMT_BPF_LOST, 3);
	simt_bpf_load(b, BPF_MEM | BPF_DW, BPF_REG_1, SIMT_BPF_LONE, SIMT_BPF_F(label->last));
	simt_bpf_call(b, b->isa->last);
	simt_bpf_enter_homes(b, SIMT_BPF_LOST, 3);
}

/**
 * simt_bpf_step() - have the interpreter execute an instruction
 * @b: the translation
 * @i: the instruction
 * Context: any.
 */
void simt_bpf_step(struct simt_bpf *b, const struct simt_insn *i)
{
	u8 r, regs[] = { i->rs1, i->rs2, i->rd };	/* or floats of these numbers */

	simt_bpf_leave_homes(b, SIMT_BPF_LOST, 3);
	for (r = 0; r < ARRAY_SIZE(regs); r++)
		if (b->home[regs[r]] >= SIMT_BPF_KEPT)
			simt_bpf_leave_homes(b, b->home[regs[r]], 1);
	simt_bpf_store(b, BPF_W, SIMT_BPF_LONE, SIMT_BPF_FIELD(left), SIMT_BPF_LEFT);
	simt_bpf_mov(b, BPF_REG_1, SIMT_BPF_LONE);
	simt_bpf_set(b, BPF_REG_2, i - b->program->insn);
	simt_bpf_call(b, b->isa->step);
	/* One of a warp is executed for each lane as well, and takes as long. */
	b->steps += !simt_op_atomic(i->op);
	simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_LEFT, SIMT_BPF_LONE, SIMT_BPF_FIELD(left));
	simt_bpf_enter_homes(b, SIMT_BPF_LOST, 3);
	if (b->home[i->rd] >= SIMT_BPF_KEPT)
		simt_bpf_enter_homes(b, b->home[i->rd], 1);
	simt_bpf_jump_ri(b, BPF_JNE, SIMT_BPF_A, 0, b->ways.stopped);
}
