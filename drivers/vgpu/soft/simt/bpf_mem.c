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

#include "bpf.h"

/* The stack pointer: what it points to is most likely private. */
#define SIMT_X_SP	2

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
	/* Here the offset has 32 bits, and if it is too large, the difference is positive. */
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
	}
	simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, 5);
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, SIMT_BPF_A);
}

static void simt_bpf_load_from(struct simt_bpf *b, const struct simt_insn *i,
			       const struct simt_bpf_width *width)
{
	u8 to = width->is_float ? SIMT_BPF_A : b->home[i->rd] ?: SIMT_BPF_A;

	simt_bpf_load(b, width->mode | width->size, to, SIMT_BPF_B, 0);
	if (!width->is_float) {
		simt_bpf_x_set(b, i->rd, to);
		return;
	}
	if (width->bytes == 4) {
		simt_bpf_set(b, SIMT_BPF_C, U64_MAX << 32);
		simt_bpf_rr(b, BPF_ALU64 | BPF_OR, SIMT_BPF_A, SIMT_BPF_C);
	}
	simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_F(i->rd), SIMT_BPF_A);
}

static void simt_bpf_store_to(struct simt_bpf *b, const struct simt_insn *i,
			      const struct simt_bpf_width *width)
{
	u8 value = SIMT_BPF_C;

	if (width->is_float)
		simt_bpf_load(b, BPF_MEM | BPF_DW, value, SIMT_BPF_LONE, SIMT_BPF_F(i->rs2));
	else
		value = simt_bpf_x(b, i->rs2, value);
	simt_bpf_store(b, width->size, SIMT_BPF_B, 0, value);
}

/* B is the place. */
static void simt_bpf_transfer(struct simt_bpf *b, const struct simt_insn *i)
{
	const struct simt_bpf_width width = simt_bpf_width(i->op);

	if (width.mode)
		simt_bpf_load_from(b, i, &width);
	else
		simt_bpf_store_to(b, i, &width);
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
	const struct simt_bpf_width width = simt_bpf_width(i->op);
	struct simt_bpf_label *label = &b->label[i - b->program->insn];

	if (i->rs1 == SIMT_X_SP)
		simt_bpf_find_private(b, i, width.bytes, label->step);
	else
		simt_bpf_find_page(b, i, width.bytes, !width.mode, label->slow);
	simt_bpf_transfer(b, i);
	label->back = b->nr;
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

	label->slow = b->nr;
	if (i->rs1 != SIMT_X_SP) {
		simt_bpf_find_private(b, i, simt_bpf_width(i->op).bytes, label->step);
		simt_bpf_transfer(b, i);
		simt_bpf_jump(b, label->back);
	}
	label->step = b->nr;
	simt_bpf_step(b, i);
	simt_bpf_jump(b, label->back);
}
