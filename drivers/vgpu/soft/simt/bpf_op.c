// SPDX-License-Identifier: GPL-2.0
/* Operations of programs in eBPF: see bpf.c. What is not here is a call of simt_isa.values. */
#include <linux/kernel.h>

#include "bpf.h"
#include "float.h"

/*
 * Operations that eBPF has. BPF_ALU: of 32 bits, whose result is sign-extended. Shifts take as many
 * bits of their second operand as those of RISC-V.
 */
static u8 simt_bpf_same(unsigned int op)
{
	switch (op) {
	case SIMT_ADD: case SIMT_ADDI:		return BPF_ALU64 | BPF_ADD;
	case SIMT_SUB:				return BPF_ALU64 | BPF_SUB;
	case SIMT_SLL: case SIMT_SLLI:		return BPF_ALU64 | BPF_LSH;
	case SIMT_XOR: case SIMT_XORI:		return BPF_ALU64 | BPF_XOR;
	case SIMT_SRL: case SIMT_SRLI:		return BPF_ALU64 | BPF_RSH;
	case SIMT_SRA: case SIMT_SRAI:		return BPF_ALU64 | BPF_ARSH;
	case SIMT_OR: case SIMT_ORI:		return BPF_ALU64 | BPF_OR;
	case SIMT_AND: case SIMT_ANDI:		return BPF_ALU64 | BPF_AND;
	case SIMT_MUL:				return BPF_ALU64 | BPF_MUL;
	case SIMT_ADDW: case SIMT_ADDIW:	return BPF_ALU | BPF_ADD;
	case SIMT_SUBW:				return BPF_ALU | BPF_SUB;
	case SIMT_SLLW: case SIMT_SLLIW:	return BPF_ALU | BPF_LSH;
	case SIMT_SRLW: case SIMT_SRLIW:	return BPF_ALU | BPF_RSH;
	case SIMT_SRAW: case SIMT_SRAIW:	return BPF_ALU | BPF_ARSH;
	case SIMT_MULW:				return BPF_ALU | BPF_MUL;
	default:				return 0;
	}
}

static bool simt_bpf_has_imm(unsigned int op)
{
	static_assert(SIMT_BSETI - SIMT_ADDI + 1 == 0 SIMT_OPS_RI(SIMT_OP_COUNT));
	return op >= SIMT_ADDI && op <= SIMT_BSETI;
}

static bool simt_bpf_shifts(u8 op)
{
	return BPF_OP(op) == BPF_LSH || BPF_OP(op) == BPF_RSH || BPF_OP(op) == BPF_ARSH;
}

/* Where the result can be computed, while the second operand is still needed. */
static u8 simt_bpf_to(const struct simt_bpf *b, const struct simt_insn *i, bool imm)
{
	u8 home = b->home[i->rd];

	return home && (imm || home != b->home[i->rs2]) ? home : SIMT_BPF_A;
}

static void simt_bpf_binary(struct simt_bpf *b, const struct simt_insn *i, u8 op)
{
	bool imm = simt_bpf_has_imm(i->op), word = BPF_CLASS(op) == BPF_ALU;
	u8 to = simt_bpf_to(b, i, imm);

	if (imm && i->rs1 == 0 && op == (BPF_ALU64 | BPF_ADD)) {
		simt_bpf_set(b, to, (u64)(s64)i->imm);
	} else {
		simt_bpf_x_to(b, i->rs1, to);
		if (!imm)
			simt_bpf_rr(b, op, to, simt_bpf_x(b, i->rs2, SIMT_BPF_B));
		else if (simt_bpf_shifts(op))
			simt_bpf_ri(b, op, to, i->imm & (word ? 31 : 63));
		else if (i->imm || word || BPF_OP(op) == BPF_AND)
			simt_bpf_ri(b, op, to, i->imm);
		if (word)
			simt_bpf_sext(b, to, 32);
	}
	simt_bpf_x_set(b, i->rd, to);
}

/*
 * 1 if x < y, without a jump, which would be hard to foresee where carries are computed so: the
 * sign of (x - y) ^ ((x ^ y) & ((x - y) ^ z)), where z is x for signed numbers, else y (Warren,
 * "Hacker's Delight", 2-12). In A, from C and B.
 */
static void simt_bpf_less(struct simt_bpf *b, const struct simt_insn *i, bool is_signed, bool imm)
{
	u8 y;

	if (imm)
		simt_bpf_set(b, SIMT_BPF_B, (u64)(s64)i->imm);
	y = imm ? SIMT_BPF_B : simt_bpf_x(b, i->rs2, SIMT_BPF_B);
	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_mov(b, SIMT_BPF_C, SIMT_BPF_A);
	simt_bpf_rr(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_C, y);	/* C: x - y */
	if (is_signed) {
		/* B: y ^ x, then C ^ ((y ^ x) & (C ^ x)) */
		simt_bpf_mov(b, SIMT_BPF_B, y);
		simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_B, SIMT_BPF_A);
		simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, SIMT_BPF_C);
		simt_bpf_rr(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, SIMT_BPF_B);
	} else {
		simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, y);
		simt_bpf_mov(b, SIMT_BPF_B, y);
		simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_B, SIMT_BPF_C);
		simt_bpf_rr(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, SIMT_BPF_B);
	}
	simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, SIMT_BPF_C);
	simt_bpf_ri(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_A, 63);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* 1 if the register is not 0, else 0; or the other way round. */
static void simt_bpf_not_zero(struct simt_bpf *b, const struct simt_insn *i, u8 r, bool zero)
{
	simt_bpf_x_to(b, r, SIMT_BPF_A);
	simt_bpf_mov(b, SIMT_BPF_B, SIMT_BPF_A);
	simt_bpf_put(b, BPF_ALU64 | BPF_NEG, SIMT_BPF_B, 0, 0, 0);
	simt_bpf_rr(b, BPF_ALU64 | BPF_OR, SIMT_BPF_A, SIMT_BPF_B);
	simt_bpf_ri(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_A, 63);
	if (zero)
		simt_bpf_ri(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, 1);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* x << shift, or its low half, + y */
static void simt_bpf_shift_add(struct simt_bpf *b, const struct simt_insn *i, unsigned int shift,
			       bool low)
{
	u8 to = simt_bpf_to(b, i, false);

	if (low)
		simt_bpf_rr(b, BPF_ALU | BPF_MOV, to, simt_bpf_x(b, i->rs1, SIMT_BPF_A));
	else
		simt_bpf_x_to(b, i->rs1, to);
	if (shift)
		simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, to, shift);
	simt_bpf_rr(b, BPF_ALU64 | BPF_ADD, to, simt_bpf_x(b, i->rs2, SIMT_BPF_B));
	simt_bpf_x_set(b, i->rd, to);
}

/* x @op ~y */
static void simt_bpf_with_not(struct simt_bpf *b, const struct simt_insn *i, u8 op)
{
	simt_bpf_x_to(b, i->rs2, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, -1);
	simt_bpf_rr(b, BPF_ALU64 | op, SIMT_BPF_A, simt_bpf_x(b, i->rs1, SIMT_BPF_B));
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* x if x @op y, else y */
static void simt_bpf_choose(struct simt_bpf *b, const struct simt_insn *i, u8 op)
{
	u8 y = simt_bpf_x(b, i->rs2, SIMT_BPF_B);

	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_put(b, BPF_JMP | op | BPF_X, SIMT_BPF_A, y, 1, 0);
	simt_bpf_rr(b, BPF_ALU64 | BPF_MOV, SIMT_BPF_A, y);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* x, or 0 if y @op 0 */
static void simt_bpf_or_zero(struct simt_bpf *b, const struct simt_insn *i, u8 op)
{
	u8 y = simt_bpf_x(b, i->rs2, SIMT_BPF_B);

	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_put(b, BPF_JMP | (op == BPF_JEQ ? BPF_JNE : BPF_JEQ) | BPF_K, y, 0, 1, 0);
	simt_bpf_ri(b, BPF_ALU64 | BPF_MOV, SIMT_BPF_A, 0);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* x @op 1 << y */
static void simt_bpf_bit(struct simt_bpf *b, const struct simt_insn *i, u8 op, bool imm)
{
	simt_bpf_ri(b, BPF_ALU64 | BPF_MOV, SIMT_BPF_A, 1);
	if (imm)
		simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, i->imm & 63);
	else
		simt_bpf_rr(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, simt_bpf_x(b, i->rs2, SIMT_BPF_B));
	if (op == BPF_AND)
		simt_bpf_ri(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, -1);
	simt_bpf_rr(b, BPF_ALU64 | op, SIMT_BPF_A, simt_bpf_x(b, i->rs1, SIMT_BPF_B));
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* x >> y & 1 */
static void simt_bpf_bit_get(struct simt_bpf *b, const struct simt_insn *i, bool imm)
{
	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	if (imm)
		simt_bpf_ri(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_A, i->imm & 63);
	else
		simt_bpf_rr(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_A, simt_bpf_x(b, i->rs2, SIMT_BPF_B));
	simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, 1);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

/* To the right, or by @left to the left. @class: BPF_ALU: of 32 bits. */
static void simt_bpf_rotate(struct simt_bpf *b, const struct simt_insn *i, u8 class, bool left)
{
	u8 by = simt_bpf_x(b, i->rs2, SIMT_BPF_B);

	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_mov(b, SIMT_BPF_C, SIMT_BPF_A);
	simt_bpf_rr(b, class | (left ? BPF_LSH : BPF_RSH), SIMT_BPF_A, by);
	simt_bpf_mov(b, SIMT_BPF_B, by);
	simt_bpf_put(b, BPF_ALU64 | BPF_NEG, SIMT_BPF_B, 0, 0, 0);
	simt_bpf_rr(b, class | (left ? BPF_RSH : BPF_LSH), SIMT_BPF_C, SIMT_BPF_B);
	simt_bpf_rr(b, class | BPF_OR, SIMT_BPF_A, SIMT_BPF_C);
	if (class == BPF_ALU)
		simt_bpf_sext(b, SIMT_BPF_A, 32);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

static void simt_bpf_rotate_imm(struct simt_bpf *b, const struct simt_insn *i, u8 class)
{
	unsigned int bits = class == BPF_ALU ? 32 : 64;

	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_mov(b, SIMT_BPF_B, SIMT_BPF_A);
	simt_bpf_ri(b, class | BPF_RSH, SIMT_BPF_A, i->imm & (bits - 1));
	simt_bpf_ri(b, class | BPF_LSH, SIMT_BPF_B, -i->imm & (bits - 1));
	simt_bpf_rr(b, class | BPF_OR, SIMT_BPF_A, SIMT_BPF_B);
	if (class == BPF_ALU)
		simt_bpf_sext(b, SIMT_BPF_A, 32);
	simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
}

static void simt_bpf_extend(struct simt_bpf *b, const struct simt_insn *i, unsigned int bits)
{
	u8 from = simt_bpf_x(b, i->rs1, SIMT_BPF_A), to = b->home[i->rd] ?: SIMT_BPF_A;

	simt_bpf_put(b, BPF_ALU64 | BPF_MOV | BPF_X, to, from, bits, 0);
	simt_bpf_x_set(b, i->rd, to);
}

/* Moves of 64 bits between registers, and of the low half. */
static void simt_bpf_move(struct simt_bpf *b, const struct simt_insn *i)
{
	switch (i->op) {
	case SIMT_FMV_X_D:
		simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_F(i->rs1));
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return;
	case SIMT_FMV_X_W:
		simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_F(i->rs1));
		simt_bpf_sext(b, SIMT_BPF_A, 32);
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return;
	case SIMT_FMV_D_X:
		simt_bpf_f_set(b, i->rd, simt_bpf_x(b, i->rs1, SIMT_BPF_A));
		return;
	default:
		simt_bpf_rr(b, BPF_ALU | BPF_MOV, SIMT_BPF_A, simt_bpf_x(b, i->rs1, SIMT_BPF_A));
		simt_bpf_set(b, SIMT_BPF_B, U64_MAX << 32);
		simt_bpf_rr(b, BPF_ALU64 | BPF_OR, SIMT_BPF_A, SIMT_BPF_B);
		simt_bpf_f_set(b, i->rd, SIMT_BPF_A);
	}
}

/* A copy of a float, or its negative or absolute value: it has both signs from one register. */
static bool simt_bpf_sign(struct simt_bpf *b, const struct simt_insn *i)
{
	bool single = i->op == SIMT_FSGNJ_S || i->op == SIMT_FSGNJN_S || i->op == SIMT_FSGNJX_S;
	u64 sign = single ? 1ULL << 31 : 1ULL << 63;

	if (i->rs1 != i->rs2)
		return false;
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_F(i->rs1));
	if (single) {
		/* If it is not boxed, it counts as a NaN. */
		simt_bpf_mov(b, SIMT_BPF_B, SIMT_BPF_A);
		simt_bpf_ri(b, BPF_ALU64 | BPF_ARSH, SIMT_BPF_B, 32);
		simt_bpf_put(b, BPF_JMP | BPF_JEQ | BPF_K, SIMT_BPF_B, 0, 2, -1);
		simt_bpf_set(b, SIMT_BPF_A, U64_MAX << 32 | SIMT_F32_NAN);
	}
	if (i->op == SIMT_FSGNJN_S || i->op == SIMT_FSGNJN_D) {
		simt_bpf_set(b, SIMT_BPF_B, sign);
		simt_bpf_rr(b, BPF_ALU64 | BPF_XOR, SIMT_BPF_A, SIMT_BPF_B);
	} else if (i->op == SIMT_FSGNJX_S || i->op == SIMT_FSGNJX_D) {
		simt_bpf_set(b, SIMT_BPF_B, ~sign);
		simt_bpf_rr(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, SIMT_BPF_B);
	}
	simt_bpf_f_set(b, i->rd, SIMT_BPF_A);
	return true;
}

/**
 * simt_bpf_op() - translate an operation on integer registers, if that takes few instructions
 * @b: the translation
 * @i: the operation
 * Context: any.
 * Return: false: it is none of these.
 */
bool simt_bpf_op(struct simt_bpf *b, const struct simt_insn *i)
{
	u8 same = simt_bpf_same(i->op);

	if (same) {
		simt_bpf_binary(b, i, same);
		return true;
	}
	switch (i->op) {
	case SIMT_LUI:
		simt_bpf_set(b, SIMT_BPF_A, (u64)(s64)i->imm);
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return true;
	case SIMT_AUIPC:
		simt_bpf_set(b, SIMT_BPF_A, VGPU_HW_VA_IMAGE + 4 * (u64)(i - b->program->insn) +
			     (u64)(s64)i->imm);
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return true;
	case SIMT_SLT:
		simt_bpf_less(b, i, true, false);
		return true;
	case SIMT_SLTU:
		if (!i->rs1)
			simt_bpf_not_zero(b, i, i->rs2, false);
		else
			simt_bpf_less(b, i, false, false);
		return true;
	case SIMT_SLTI:
		simt_bpf_less(b, i, true, true);
		return true;
	case SIMT_SLTIU:
		if (i->imm == 1)
			simt_bpf_not_zero(b, i, i->rs1, true);
		else
			simt_bpf_less(b, i, false, true);
		return true;
	case SIMT_ADD_UW: case SIMT_SH1ADD_UW: case SIMT_SH2ADD_UW: case SIMT_SH3ADD_UW:
		simt_bpf_shift_add(b, i, i->op == SIMT_ADD_UW ? 0 : i->op - SIMT_SH1ADD_UW + 1,
				   true);
		return true;
	case SIMT_SH1ADD: case SIMT_SH2ADD: case SIMT_SH3ADD:
		simt_bpf_shift_add(b, i, i->op - SIMT_SH1ADD + 1, false);
		return true;
	case SIMT_SLLI_UW:
		simt_bpf_rr(b, BPF_ALU | BPF_MOV, SIMT_BPF_A, simt_bpf_x(b, i->rs1, SIMT_BPF_A));
		simt_bpf_ri(b, BPF_ALU64 | BPF_LSH, SIMT_BPF_A, i->imm & 63);
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return true;
	case SIMT_ANDN:
		simt_bpf_with_not(b, i, BPF_AND);
		return true;
	case SIMT_ORN:
		simt_bpf_with_not(b, i, BPF_OR);
		return true;
	case SIMT_XNOR:
		simt_bpf_with_not(b, i, BPF_XOR);
		return true;
	case SIMT_MAX:
		simt_bpf_choose(b, i, BPF_JSGT);
		return true;
	case SIMT_MAXU:
		simt_bpf_choose(b, i, BPF_JGT);
		return true;
	case SIMT_MIN:
		simt_bpf_choose(b, i, BPF_JSLT);
		return true;
	case SIMT_MINU:
		simt_bpf_choose(b, i, BPF_JLT);
		return true;
	case SIMT_CZERO_EQZ:
		simt_bpf_or_zero(b, i, BPF_JEQ);
		return true;
	case SIMT_CZERO_NEZ:
		simt_bpf_or_zero(b, i, BPF_JNE);
		return true;
	case SIMT_BCLR: case SIMT_BCLRI:
		simt_bpf_bit(b, i, BPF_AND, i->op == SIMT_BCLRI);
		return true;
	case SIMT_BINV: case SIMT_BINVI:
		simt_bpf_bit(b, i, BPF_XOR, i->op == SIMT_BINVI);
		return true;
	case SIMT_BSET: case SIMT_BSETI:
		simt_bpf_bit(b, i, BPF_OR, i->op == SIMT_BSETI);
		return true;
	case SIMT_BEXT: case SIMT_BEXTI:
		simt_bpf_bit_get(b, i, i->op == SIMT_BEXTI);
		return true;
	case SIMT_ROL: case SIMT_ROR:
		simt_bpf_rotate(b, i, BPF_ALU64, i->op == SIMT_ROL);
		return true;
	case SIMT_ROLW: case SIMT_RORW:
		simt_bpf_rotate(b, i, BPF_ALU, i->op == SIMT_ROLW);
		return true;
	case SIMT_RORI:
		simt_bpf_rotate_imm(b, i, BPF_ALU64);
		return true;
	case SIMT_RORIW:
		simt_bpf_rotate_imm(b, i, BPF_ALU);
		return true;
	case SIMT_SEXT_B:
		simt_bpf_extend(b, i, 8);
		return true;
	case SIMT_SEXT_H:
		simt_bpf_extend(b, i, 16);
		return true;
	case SIMT_ZEXT_H:
		simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
		simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, 0xffff);
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		return true;
	case SIMT_FMV_X_D: case SIMT_FMV_D_X: case SIMT_FMV_X_W: case SIMT_FMV_W_X:
		simt_bpf_move(b, i);
		return true;
	case SIMT_FSGNJ_S: case SIMT_FSGNJN_S: case SIMT_FSGNJX_S:
	case SIMT_FSGNJ_D: case SIMT_FSGNJN_D: case SIMT_FSGNJX_D:
		return simt_bpf_sign(b, i);
	default:
		return false;
	}
}

/* Whether simt_bpf_op() translates an operation that is no struct simt_value. */
bool simt_bpf_is_op(unsigned int op)
{
	return op == SIMT_LUI || op == SIMT_AUIPC || op == SIMT_SLLI_UW || op == SIMT_FMV_D_X ||
	       op == SIMT_FMV_X_W || op == SIMT_FMV_W_X;
}

static void simt_bpf_operand(struct simt_bpf *b, u8 kind, u8 r, s32 imm, u8 to)
{
	if (kind == SIMT_VALUE_X)
		simt_bpf_x_to(b, r, to);
	else if (kind == SIMT_VALUE_F)
		simt_bpf_load(b, BPF_MEM | BPF_DW, to, SIMT_BPF_LONE, SIMT_BPF_F(r));
	else if (kind == SIMT_VALUE_IMM)
		simt_bpf_set(b, to, (u64)(s64)imm);
	else if (kind == SIMT_VALUE_LONE)
		simt_bpf_mov(b, to, SIMT_BPF_LONE);
}

/* Which operands are the last float: those that struct simt_value.by_last takes. */
static u32 simt_bpf_lasts(const struct simt_bpf *b, const struct simt_insn *i,
			  const struct simt_value *value)
{
	const u8 regs[] = { i->rs1, i->rs2, i->rs3 };
	u32 lasts = 0, k;

	if (!b->last_type || b->last_type != value->takes)
		return 0;
	for (k = 0; k < ARRAY_SIZE(regs); k++)
		if (value->from[k] == SIMT_VALUE_F && regs[k] == b->last && value->by_last[k])
			lasts |= 1U << k;
	/* Of three operands it is one. */
	return value->from[2] ? lasts & -lasts : lasts;
}

/**
 * simt_bpf_value() - translate an operation on registers to a call of its function
 * @b: the translation
 * @i: the operation
 * Context: any.
 * Return: false: it has none.
 */
bool simt_bpf_value(struct simt_bpf *b, const struct simt_insn *i)
{
	const struct simt_value *value = &b->isa->values[i->op];
	u8 last_type = b->last_type;
	u32 lasts;

	if (!value->fn)
		return false;
	lasts = simt_bpf_lasts(b, i, value);
	simt_bpf_leave_homes(b, SIMT_BPF_LOST, 3);
	if (!(lasts & 1))
		simt_bpf_operand(b, value->from[0], i->rs1, i->imm, BPF_REG_1);
	if (!(lasts & 2))
		simt_bpf_operand(b, value->from[1], i->rs2, i->imm, BPF_REG_2);
	if (!(lasts & 4))
		simt_bpf_operand(b, value->from[2], i->rs3, i->imm, BPF_REG_3);
	simt_bpf_call(b, !lasts ? value->fn : value->by_last[lasts > 3 ? 2 : lasts - 1]);
	simt_bpf_enter_homes(b, SIMT_BPF_LOST, 3);
	if (value->to == SIMT_VALUE_X) {
		simt_bpf_x_set(b, i->rd, SIMT_BPF_A);
		if (value->gives == SIMT_LAST_KEEP && last_type == value->takes)
			b->last_type = last_type;
		return true;
	}
	simt_bpf_f_set(b, i->rd, SIMT_BPF_A);
	b->last = i->rd;
	b->last_type = value->gives;
	return true;
}
