// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and stores of programs in eBPF: see bpf.c. The code finds what the TLB has, and aligned
 * words of private memory. The rest, and faults, the interpreter does.
 *
 * The CPU may execute an access before it knows whether the address is good. So the place does not
 * depend on that check: an offset in a page is cut to one, one in private memory is 0 if it is
 * beyond its end, and an entry that the TLB has lost has no place.
 */
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "bpf.h"

/* Accesses of a run are at most so far apart: an offset in eBPF has 16 bits. */
#define SIMT_RUN_BYTES	(S16_MAX / SIMT_LANES / 8 * 8)

/**
 * struct simt_bpf_width - how an operation accesses memory
 * @size: BPF_B, BPF_H, BPF_W or BPF_DW
 * @mode: of a load: BPF_MEM or BPF_MEMSX; of a store: 0
 * @bytes: as in @size; 0: the operation is no access
 * @is_float: the register is a float
 */
struct simt_bpf_width {
	u8 size;
	u8 mode;
	u8 bytes;
	bool is_float;
};

static struct simt_bpf_width simt_bpf_width(unsigned int op)
{
	static const struct simt_bpf_width widths[SIMT_NR_OPS] = {
		[SIMT_LB] = { BPF_B, BPF_MEMSX, 1 }, [SIMT_LBU] = { BPF_B, BPF_MEM, 1 },
		[SIMT_LH] = { BPF_H, BPF_MEMSX, 2 }, [SIMT_LHU] = { BPF_H, BPF_MEM, 2 },
		[SIMT_LW] = { BPF_W, BPF_MEMSX, 4 }, [SIMT_LWU] = { BPF_W, BPF_MEM, 4 },
		[SIMT_LD] = { BPF_DW, BPF_MEM, 8 },
		[SIMT_FLW] = { BPF_W, BPF_MEM, 4, true }, [SIMT_FLD] = { BPF_DW, BPF_MEM, 8, true },
		[SIMT_SB] = { BPF_B, 0, 1 }, [SIMT_SH] = { BPF_H, 0, 2 },
		[SIMT_SW] = { BPF_W, 0, 4 }, [SIMT_SD] = { BPF_DW, 0, 8 },
		[SIMT_FSW] = { BPF_W, 0, 4, true }, [SIMT_FSD] = { BPF_DW, 0, 8, true },
	};

	return widths[op];
}

bool simt_bpf_is_access(unsigned int op)
{
	return simt_bpf_width(op).bytes;
}

/* Whether it loads or stores a float. */
bool simt_bpf_is_float(unsigned int op)
{
	return simt_bpf_width(op).is_float;
}

/* B: the place that the TLB has for it. */
static void simt_bpf_find_page(struct simt_bpf *b, const struct simt_insn *i, unsigned int bytes,
			       bool write, u32 slow)
{
	s16 tag = write ? offsetof(struct simt_tlb, write) : offsetof(struct simt_tlb, read);
	s16 host = write ? offsetof(struct simt_tlb, write_host) :
			   offsetof(struct simt_tlb, read_host);

	BUILD_BUG_ON(VGPU_HW_PAGE_SIZE != 8 << 9);
	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	if (i->imm)
		simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_A, i->imm);
	simt_bpf_mov(b, SIMT_BPF_B, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_B, 9);
	simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_B, (SIMT_TLB - 1) * 8);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_C, SIMT_BPF_LONE, SIMT_BPF_FIELD(tlb));
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_C);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_C, SIMT_BPF_B, tag);
	simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_C, SIMT_BPF_A);
	simt_bpf_jump_ri(b, BPF_JGT, SIMT_BPF_C, VGPU_HW_PAGE_SIZE - bytes, slow);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_B, host);
	simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, VGPU_HW_PAGE_SIZE - 1);
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_A);
}

/* B: the place in private memory, a word of which is followed by those of the other lanes. */
static void simt_bpf_find_private(struct simt_bpf *b, const struct simt_insn *i,
				  unsigned int bytes, u32 slow)
{
	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_A, i->imm - (s32)VGPU_HW_VA_PRIVATE);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE,
		      SIMT_BPF_FIELD(private_bytes));
	simt_bpf_jump_rr(b, BPF_JGE, SIMT_BPF_A, SIMT_BPF_B, slow);
	if (bytes > 1)
		simt_bpf_jump_ri(b, BPF_JSET, SIMT_BPF_A, bytes - 1, slow);
	/*
	 * Here the offset has 32 bits, and if it is too large, the difference is positive. What the
	 * CPU executes ahead of the jumps stays in the words that there are, see below.
	 */
	simt_bpf_rr(b, BPF_ALU | BPF_MOV, SIMT_BPF_A, SIMT_BPF_A);
	simt_bpf_mov(b, SIMT_BPF_C, SIMT_BPF_A);
	simt_bpf_rr(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_C, SIMT_BPF_B);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ARSH, SIMT_BPF_C, 63);
	simt_bpf_rr(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, SIMT_BPF_C);
	BUILD_BUG_ON(SIMT_LANES != 1 << 5);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(private));
	if (bytes < 8) {
		simt_bpf_mov(b, SIMT_BPF_C, SIMT_BPF_A);
		simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_C, 7);
		simt_bpf_rr(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_A, SIMT_BPF_C);
		simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_C);
	} else {
		simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, -8);
	}
	simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, 5);
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_A);
}

/* Whether an instruction can be in a run without being an access: it needs neither B nor C. */
static bool simt_bpf_between(const struct simt_insn *i)
{
	return i->op == SIMT_ADDI && i->rd != SIMT_X_SP;
}

/* Whether it is an access by the stack pointer which does not change that. */
static bool simt_bpf_by_sp(const struct simt_insn *i)
{
	const struct simt_bpf_width width = simt_bpf_width(i->op);

	return width.bytes && i->rs1 == SIMT_X_SP && i->imm % width.bytes == 0 &&
	       !(width.mode && !width.is_float && i->rd == SIMT_X_SP);
}

/* The end of what accesses of the run touch, from its place on. */
static s32 simt_bpf_run_bytes(const struct simt_bpf *b, const struct simt_insn *first)
{
	const struct simt_bpf_label *label = &b->label[first - b->program->insn];
	s32 end = 0;
	u32 k;

	for (k = 0; k < label->run; k++)
		if (simt_bpf_by_sp(&first[k]))
			end = max(end, first[k].imm - label->base +
				       simt_bpf_width(first[k].op).bytes);
	return end;
}

/* Notes the run that begins at @at, if one does. Returns its length, or 1. */
static u32 simt_bpf_run_at(struct simt_bpf *b, u32 at)
{
	const struct simt_insn *first = &b->program->insn[at];
	struct simt_bpf_label *label = &b->label[at];
	s32 low = S32_MAX, high = S32_MIN, base, end;
	u32 k, length = 0, accesses = 0;

	for (k = 0; at + k < b->program->nr && k < U8_MAX; k++) {
		if (k && b->marks[at + k] & SIMT_MARK_BLOCK)
			break;
		if (!simt_bpf_by_sp(&first[k])) {
			if (k && simt_bpf_between(&first[k]))
				continue;
			break;
		}
		base = min(low, first[k].imm & ~7);
		end = max(high, first[k].imm + 8);
		if (end - base > SIMT_RUN_BYTES)
			break;
		low = base;
		high = end;
		length = k + 1;
		accesses++;
	}
	if (accesses < 2)
		return 1;
	label->run = length;
	for (k = 0; k < length; k++) {
		label[k].base = low;
		label[k].behind = k;
	}
	return length;
}

/**
 * simt_bpf_runs() - find accesses by the stack pointer that follow each other
 * @b: the translation, whose blocks are known
 *
 * Functions begin and end with some. Their place is found, and checked, once.
 *
 * Context: any.
 */
void simt_bpf_runs(struct simt_bpf *b)
{
	u32 at = 0;

	while (at < b->program->nr)
		at += simt_bpf_run_at(b, at);
}

/* B: the place of a run in private memory; none, if the CPU executes this ahead of the checks. */
static void simt_bpf_find_run(struct simt_bpf *b, const struct simt_insn *first, u32 slow)
{
	const struct simt_bpf_label *label = &b->label[first - b->program->insn];

	simt_bpf_x_to(b, SIMT_X_SP, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_A, label->base - (s32)VGPU_HW_VA_PRIVATE);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE,
		      SIMT_BPF_FIELD(private_bytes));
	simt_bpf_jump_rr(b, BPF_JGE, SIMT_BPF_A, SIMT_BPF_B, slow);
	simt_bpf_jump_ri(b, BPF_JSET, SIMT_BPF_A, 7, slow);
	simt_bpf_rr(b, BPF_ALU | BPF_MOV, SIMT_BPF_A, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, -8);
	simt_bpf_mov(b, SIMT_BPF_C, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_C, simt_bpf_run_bytes(b, first) - 1);
	simt_bpf_jump_rr(b, BPF_JGE, SIMT_BPF_C, SIMT_BPF_B, slow);
	simt_bpf_rr(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_C, SIMT_BPF_B);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ARSH, SIMT_BPF_C, 63);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(private));
	simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, 5);
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_A);
	simt_bpf_rr(b, BPF_ALU64 | BPF_AND, SIMT_BPF_B, SIMT_BPF_C);
}

static void simt_bpf_load_from(struct simt_bpf *b, const struct simt_insn *i,
			       const struct simt_bpf_width *width, s16 off)
{
	u8 to = width->is_float ? SIMT_BPF_A : b->home[i->rd] ?: SIMT_BPF_A;

	simt_bpf_load(b, width->mode | width->size, to, SIMT_BPF_B, off);
	if (!width->is_float) {
		simt_bpf_x_set(b, i->rd, to);
		return;
	}
	if (width->bytes == 4) {
		simt_bpf_set(b, SIMT_BPF_C, U64_MAX << 32);
		simt_bpf_rr(b, BPF_ALU64 | BPF_OR, SIMT_BPF_A, SIMT_BPF_C);
	}
	simt_bpf_f_set(b, i->rd, SIMT_BPF_A);
}

static void simt_bpf_store_to(struct simt_bpf *b, const struct simt_insn *i,
			      const struct simt_bpf_width *width, s16 off)
{
	u8 value = SIMT_BPF_C;

	if (width->is_float)
		simt_bpf_load(b, BPF_MEM | BPF_DW, value, SIMT_BPF_LONE, SIMT_BPF_F(i->rs2));
	else
		value = simt_bpf_x(b, i->rs2, value);
	simt_bpf_store(b, width->size, SIMT_BPF_B, off, value);
}

/* B is the place, without @off. */
static void simt_bpf_transfer(struct simt_bpf *b, const struct simt_insn *i, s16 off)
{
	const struct simt_bpf_width width = simt_bpf_width(i->op);

	if (width.mode)
		simt_bpf_load_from(b, i, &width, off);
	else
		simt_bpf_store_to(b, i, &width, off);
}

/*
 * Where an access looks first, or then: in private memory or in the TLB. By the stack pointer it is
 * in private memory, or the interpreter executes it.
 */
static void simt_bpf_find(struct simt_bpf *b, const struct simt_insn *i, bool private, u32 slow)
{
	const struct simt_bpf_width width = simt_bpf_width(i->op);

	if (private)
		simt_bpf_find_private(b, i, width.bytes, slow);
	else
		simt_bpf_find_page(b, i, width.bytes, !width.mode, slow);
	simt_bpf_transfer(b, i, 0);
}

/* The code goes on here after an access, or run of them, was done elsewhere. */
static void simt_bpf_back(struct simt_bpf *b, struct simt_bpf_label *label)
{
	label->back = b->nr;
	label->last = b->last;
	label->has_last = b->last_type != SIMT_LAST_NONE;
}

/* An access of a run, whose first one finds the place. */
static void simt_bpf_run(struct simt_bpf *b, const struct simt_insn *i)
{
	struct simt_bpf_label *label = &b->label[i - b->program->insn], *first;
	u32 offset = i->imm - label->base;

	first = label - label->behind;
	if (label == first)
		simt_bpf_find_run(b, i, label->slow);
	simt_bpf_transfer(b, i, offset / 8 * (8 * SIMT_LANES) + offset % 8);
	simt_bpf_back(b, first);
}

/**
 * simt_bpf_access() - translate a load or store
 * @b: the translation
 * @i: the instruction
 *
 * What does not find its memory here goes to what simt_bpf_access_slow() makes.
 *
 * Context: any.
 */
void simt_bpf_access(struct simt_bpf *b, const struct simt_insn *i)
{
	struct simt_bpf_label *label = &b->label[i - b->program->insn];

	if (label->run || label->behind) {
		simt_bpf_run(b, i);
		return;
	}
	simt_bpf_find(b, i, label->is_private, i->rs1 == SIMT_X_SP ? label->step : label->slow);
	simt_bpf_back(b, label);
}

/* What a run does if it is not, or not all, in private memory, or not where words begin. */
static void simt_bpf_run_slow(struct simt_bpf *b, const struct simt_insn *first)
{
	struct simt_bpf_label *label = &b->label[first - b->program->insn];
	u32 k;

	label->slow = b->nr;
	for (k = 0; k < label->run; k++) {
		if (simt_bpf_by_sp(&first[k]))
			simt_bpf_step(b, &first[k]);
		else
			simt_bpf_op(b, &first[k]);
	}
	simt_bpf_last_again(b, label);
	simt_bpf_jump(b, label->back);
}

/**
 * simt_bpf_access_slow() - translate what is left of a load or store
 * @b: the translation
 * @i: the instruction
 * Context: any.
 */
void simt_bpf_access_slow(struct simt_bpf *b, const struct simt_insn *i)
{
	struct simt_bpf_label *label = &b->label[i - b->program->insn];

	if (label->run)
		simt_bpf_run_slow(b, i);
	if (label->run || label->behind)
		return;
	label->slow = b->nr;
	if (i->rs1 != SIMT_X_SP) {
		simt_bpf_find(b, i, !label->is_private, label->step);
		simt_bpf_jump(b, label->back);
	}
	label->step = b->nr;
	simt_bpf_step(b, i);
	simt_bpf_last_again(b, label);
	simt_bpf_jump(b, label->back);
}
