// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes RISC-V instructions and programs. The guest chose the words, so they may be anything: a
 * word that is in no table here becomes SIMT_ILLEGAL, and the operations and registers of a decoded
 * instruction exist.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le32_to_cpu(x)	le32toh(x)
#endif
#include <uapi/linux/vgpu_hw.h>

#include "float.h"
#include "program.h"

/* Major opcodes: bits 6 to 0. */
enum {
	LOAD = 0x03,
	LOAD_FP = 0x07,
	CUSTOM_0 = 0x0b,
	MISC_MEM = 0x0f,
	OP_IMM = 0x13,
	AUIPC = 0x17,
	OP_IMM_32 = 0x1b,
	STORE = 0x23,
	STORE_FP = 0x27,
	AMO = 0x2f,
	OP = 0x33,
	LUI = 0x37,
	OP_32 = 0x3b,
	MADD = 0x43,
	MSUB = 0x47,
	NMSUB = 0x4b,
	NMADD = 0x4f,
	OP_FP = 0x53,
	BRANCH = 0x63,
	JALR = 0x67,
	JAL = 0x6f,
	SYSTEM = 0x73,
};

#define NR_MAJORS	32	/* of 32-bit instructions: bits 1 and 0 are set */
#define MAJOR(word)	((word) >> 2 & (NR_MAJORS - 1))

/* Fields of an instruction. */
#define HAS_XD		0x001	/* rd, integer */
#define HAS_FD		0x002	/* rd, float */
#define HAS_RS1		0x004
#define HAS_RS2		0x008
#define HAS_RS3		0x010
#define HAS_RM		0x020
#define HAS_IMM_I	0x040
#define HAS_IMM_S	0x080
#define HAS_IMM_B	0x100
#define HAS_IMM_U	0x200
#define HAS_IMM_J	0x400
#define HAS_SHAMT	0x800

enum simt_form {
	FORM_R, FORM_R1, FORM_I, FORM_SHIFT, FORM_SHIFT_W, FORM_U, FORM_J, FORM_B, FORM_S,
	FORM_LOAD_FP, FORM_LR, FORM_AMO, FORM_FENCE, FORM_WORD, FORM_CSR,
	FORM_F4, FORM_F2, FORM_F1, FORM_F2_RM, FORM_F1_RM, FORM_X1_RM,
};

/*
 * For each form: the bits that identify the instruction, and its fields. The name of a form with
 * float sources is F, or X for an integer destination, and the number of sources.
 */
static const struct {
	u32 mask;
	u32 has;
} simt_forms[] = {
	[FORM_R]	= { 0xfe00707f, HAS_XD | HAS_RS1 | HAS_RS2 },
	[FORM_R1]	= { 0xfff0707f, HAS_XD | HAS_RS1 },
	[FORM_I]	= { 0x0000707f, HAS_XD | HAS_RS1 | HAS_IMM_I },
	[FORM_SHIFT]	= { 0xfc00707f, HAS_XD | HAS_RS1 | HAS_SHAMT },
	[FORM_SHIFT_W]	= { 0xfe00707f, HAS_XD | HAS_RS1 | HAS_SHAMT },
	[FORM_U]	= { 0x0000007f, HAS_XD | HAS_IMM_U },
	[FORM_J]	= { 0x0000007f, HAS_XD | HAS_IMM_J },
	[FORM_B]	= { 0x0000707f, HAS_RS1 | HAS_RS2 | HAS_IMM_B },
	[FORM_S]	= { 0x0000707f, HAS_RS1 | HAS_RS2 | HAS_IMM_S },
	[FORM_LOAD_FP]	= { 0x0000707f, HAS_FD | HAS_RS1 | HAS_IMM_I },
	[FORM_LR]	= { 0xf9f0707f, HAS_XD | HAS_RS1 },
	[FORM_AMO]	= { 0xf800707f, HAS_XD | HAS_RS1 | HAS_RS2 },
	[FORM_FENCE]	= { 0x0000707f, 0 },
	[FORM_WORD]	= { 0xffffffff, 0 },
	[FORM_CSR]	= { 0x0000707f, HAS_XD | HAS_RS1 },
	[FORM_F4]	= { 0x0600007f, HAS_FD | HAS_RS1 | HAS_RS2 | HAS_RS3 | HAS_RM },
	[FORM_F2]	= { 0xfe00707f, HAS_FD | HAS_RS1 | HAS_RS2 },
	[FORM_F1]	= { 0xfff0707f, HAS_FD | HAS_RS1 },
	[FORM_F2_RM]	= { 0xfe00007f, HAS_FD | HAS_RS1 | HAS_RS2 | HAS_RM },
	[FORM_F1_RM]	= { 0xfff0007f, HAS_FD | HAS_RS1 | HAS_RM },
	[FORM_X1_RM]	= { 0xfff0007f, HAS_XD | HAS_RS1 | HAS_RM },
};

struct simt_encoding {
	u32 match;
	u16 op;
	u16 form;
};

#define ENC(form, name, opcode, f3, high)					\
	{ (u32)(high) | (f3) << 12 | (opcode), SIMT_##name, FORM_##form }
#define ENC_7(form, name, opcode, f3, f7)	ENC(form, name, opcode, f3, (u32)(f7) << 25)
#define ENC_12(form, name, opcode, f3, f12)	ENC(form, name, opcode, f3, (u32)(f12) << 20)
#define ENC_AMO(form, name, f5)							\
	ENC_7(form, name##_W, AMO, 2, (f5) << 2), ENC_7(form, name##_D, AMO, 3, (f5) << 2)
#define ENC_F4(name, opcode)							\
	ENC_7(F4, name##_S, opcode, 0, 0), ENC_7(F4, name##_D, opcode, 0, 1)
/* Float operations of both formats. */
#define ENC_F(form, name, f3, f5)						\
	ENC_7(form, name##_S, OP_FP, f3, (f5) << 2), ENC_7(form, name##_D, OP_FP, f3, (f5) << 2 | 1)
/* Conversions: a number in place of rs2. */
#define ENC_CVT(form, name, f5, fmt, rs2)					\
	ENC_12(form, name, OP_FP, 0, (f5) << 7 | (fmt) << 5 | (rs2))

static const struct simt_encoding simt_load[] = {
	ENC(I, LB, LOAD, 0, 0), ENC(I, LH, LOAD, 1, 0), ENC(I, LW, LOAD, 2, 0),
	ENC(I, LD, LOAD, 3, 0), ENC(I, LBU, LOAD, 4, 0), ENC(I, LHU, LOAD, 5, 0),
	ENC(I, LWU, LOAD, 6, 0),
};

static const struct simt_encoding simt_load_fp[] = {
	ENC(LOAD_FP, FLW, LOAD_FP, 2, 0), ENC(LOAD_FP, FLD, LOAD_FP, 3, 0),
};

static const struct simt_encoding simt_custom_0[] = {
	{ VGPU_HW_INSN_BARRIER, SIMT_BARRIER, FORM_WORD },
};

/* By the specification, the other fields of both are ignored. */
static const struct simt_encoding simt_misc_mem[] = {
	ENC(FENCE, FENCE, MISC_MEM, 0, 0), ENC(FENCE, FENCE, MISC_MEM, 1, 0),
};

static const struct simt_encoding simt_op_imm[] = {
	ENC(I, ADDI, OP_IMM, 0, 0), ENC(I, SLTI, OP_IMM, 2, 0), ENC(I, SLTIU, OP_IMM, 3, 0),
	ENC(I, XORI, OP_IMM, 4, 0), ENC(I, ORI, OP_IMM, 6, 0), ENC(I, ANDI, OP_IMM, 7, 0),
	ENC_7(SHIFT, SLLI, OP_IMM, 1, 0x00), ENC_7(SHIFT, SRLI, OP_IMM, 5, 0x00),
	ENC_7(SHIFT, SRAI, OP_IMM, 5, 0x20), ENC_7(SHIFT, RORI, OP_IMM, 5, 0x30),
	ENC_7(SHIFT, BSETI, OP_IMM, 1, 0x14), ENC_7(SHIFT, BCLRI, OP_IMM, 1, 0x24),
	ENC_7(SHIFT, BINVI, OP_IMM, 1, 0x34), ENC_7(SHIFT, BEXTI, OP_IMM, 5, 0x24),
	ENC_12(R1, CLZ, OP_IMM, 1, 0x600), ENC_12(R1, CTZ, OP_IMM, 1, 0x601),
	ENC_12(R1, CPOP, OP_IMM, 1, 0x602), ENC_12(R1, SEXT_B, OP_IMM, 1, 0x604),
	ENC_12(R1, SEXT_H, OP_IMM, 1, 0x605), ENC_12(R1, ORC_B, OP_IMM, 5, 0x287),
	ENC_12(R1, REV8, OP_IMM, 5, 0x6b8),
};

static const struct simt_encoding simt_auipc[] = { ENC(U, AUIPC, AUIPC, 0, 0) };

static const struct simt_encoding simt_op_imm_32[] = {
	ENC(I, ADDIW, OP_IMM_32, 0, 0), ENC_7(SHIFT_W, SLLIW, OP_IMM_32, 1, 0x00),
	ENC_7(SHIFT_W, SRLIW, OP_IMM_32, 5, 0x00), ENC_7(SHIFT_W, SRAIW, OP_IMM_32, 5, 0x20),
	ENC_7(SHIFT_W, RORIW, OP_IMM_32, 5, 0x30), ENC_7(SHIFT, SLLI_UW, OP_IMM_32, 1, 0x04),
	ENC_12(R1, CLZW, OP_IMM_32, 1, 0x600), ENC_12(R1, CTZW, OP_IMM_32, 1, 0x601),
	ENC_12(R1, CPOPW, OP_IMM_32, 1, 0x602),
};

static const struct simt_encoding simt_store[] = {
	ENC(S, SB, STORE, 0, 0), ENC(S, SH, STORE, 1, 0), ENC(S, SW, STORE, 2, 0),
	ENC(S, SD, STORE, 3, 0),
};

static const struct simt_encoding simt_store_fp[] = {
	ENC(S, FSW, STORE_FP, 2, 0), ENC(S, FSD, STORE_FP, 3, 0),
};

static const struct simt_encoding simt_amo[] = {
	ENC_AMO(LR, LR, 0x02), ENC_AMO(AMO, SC, 0x03), ENC_AMO(AMO, AMOSWAP, 0x01),
	ENC_AMO(AMO, AMOADD, 0x00), ENC_AMO(AMO, AMOXOR, 0x04), ENC_AMO(AMO, AMOAND, 0x0c),
	ENC_AMO(AMO, AMOOR, 0x08), ENC_AMO(AMO, AMOMIN, 0x10), ENC_AMO(AMO, AMOMAX, 0x14),
	ENC_AMO(AMO, AMOMINU, 0x18), ENC_AMO(AMO, AMOMAXU, 0x1c),
};

static const struct simt_encoding simt_op[] = {
	ENC_7(R, ADD, OP, 0, 0x00), ENC_7(R, SUB, OP, 0, 0x20), ENC_7(R, SLL, OP, 1, 0x00),
	ENC_7(R, SLT, OP, 2, 0x00), ENC_7(R, SLTU, OP, 3, 0x00), ENC_7(R, XOR, OP, 4, 0x00),
	ENC_7(R, SRL, OP, 5, 0x00), ENC_7(R, SRA, OP, 5, 0x20), ENC_7(R, OR, OP, 6, 0x00),
	ENC_7(R, AND, OP, 7, 0x00),
	ENC_7(R, MUL, OP, 0, 0x01), ENC_7(R, MULH, OP, 1, 0x01), ENC_7(R, MULHSU, OP, 2, 0x01),
	ENC_7(R, MULHU, OP, 3, 0x01), ENC_7(R, DIV, OP, 4, 0x01), ENC_7(R, DIVU, OP, 5, 0x01),
	ENC_7(R, REM, OP, 6, 0x01), ENC_7(R, REMU, OP, 7, 0x01),
	ENC_7(R, SH1ADD, OP, 2, 0x10), ENC_7(R, SH2ADD, OP, 4, 0x10),
	ENC_7(R, SH3ADD, OP, 6, 0x10),
	ENC_7(R, ANDN, OP, 7, 0x20), ENC_7(R, ORN, OP, 6, 0x20), ENC_7(R, XNOR, OP, 4, 0x20),
	ENC_7(R, MIN, OP, 4, 0x05), ENC_7(R, MINU, OP, 5, 0x05), ENC_7(R, MAX, OP, 6, 0x05),
	ENC_7(R, MAXU, OP, 7, 0x05), ENC_7(R, ROL, OP, 1, 0x30), ENC_7(R, ROR, OP, 5, 0x30),
	ENC_7(R, BSET, OP, 1, 0x14), ENC_7(R, BCLR, OP, 1, 0x24), ENC_7(R, BINV, OP, 1, 0x34),
	ENC_7(R, BEXT, OP, 5, 0x24),
	ENC_7(R, CZERO_EQZ, OP, 5, 0x07), ENC_7(R, CZERO_NEZ, OP, 7, 0x07),
};

static const struct simt_encoding simt_lui[] = { ENC(U, LUI, LUI, 0, 0) };

static const struct simt_encoding simt_op_32[] = {
	ENC_7(R, ADDW, OP_32, 0, 0x00), ENC_7(R, SUBW, OP_32, 0, 0x20),
	ENC_7(R, SLLW, OP_32, 1, 0x00), ENC_7(R, SRLW, OP_32, 5, 0x00),
	ENC_7(R, SRAW, OP_32, 5, 0x20),
	ENC_7(R, MULW, OP_32, 0, 0x01), ENC_7(R, DIVW, OP_32, 4, 0x01),
	ENC_7(R, DIVUW, OP_32, 5, 0x01), ENC_7(R, REMW, OP_32, 6, 0x01),
	ENC_7(R, REMUW, OP_32, 7, 0x01),
	ENC_7(R, ADD_UW, OP_32, 0, 0x04), ENC_7(R, SH1ADD_UW, OP_32, 2, 0x10),
	ENC_7(R, SH2ADD_UW, OP_32, 4, 0x10), ENC_7(R, SH3ADD_UW, OP_32, 6, 0x10),
	ENC_7(R, ROLW, OP_32, 1, 0x30), ENC_7(R, RORW, OP_32, 5, 0x30),
	ENC_12(R1, ZEXT_H, OP_32, 4, 0x080),
};

static const struct simt_encoding simt_madd[] = { ENC_F4(FMADD, MADD) };
static const struct simt_encoding simt_msub[] = { ENC_F4(FMSUB, MSUB) };
static const struct simt_encoding simt_nmsub[] = { ENC_F4(FNMSUB, NMSUB) };
static const struct simt_encoding simt_nmadd[] = { ENC_F4(FNMADD, NMADD) };

static const struct simt_encoding simt_op_fp[] = {
	ENC_F(F2_RM, FADD, 0, 0x00), ENC_F(F2_RM, FSUB, 0, 0x01), ENC_F(F2_RM, FMUL, 0, 0x02),
	ENC_F(F2_RM, FDIV, 0, 0x03), ENC_F(F1_RM, FSQRT, 0, 0x0b),
	ENC_F(F2, FSGNJ, 0, 0x04), ENC_F(F2, FSGNJN, 1, 0x04), ENC_F(F2, FSGNJX, 2, 0x04),
	ENC_F(F2, FMIN, 0, 0x05), ENC_F(F2, FMAX, 1, 0x05),
	ENC_F(R, FLE, 0, 0x14), ENC_F(R, FLT, 1, 0x14), ENC_F(R, FEQ, 2, 0x14),
	ENC_F(R1, FCLASS, 1, 0x1c),
	ENC_12(R1, FMV_X_W, OP_FP, 0, 0xe00), ENC_12(R1, FMV_X_D, OP_FP, 0, 0xe20),
	ENC_12(F1, FMV_W_X, OP_FP, 0, 0xf00), ENC_12(F1, FMV_D_X, OP_FP, 0, 0xf20),
	ENC_CVT(F1_RM, FCVT_S_D, 0x08, 0, 1), ENC_CVT(F1_RM, FCVT_D_S, 0x08, 1, 0),
	ENC_CVT(X1_RM, FCVT_W_S, 0x18, 0, 0), ENC_CVT(X1_RM, FCVT_WU_S, 0x18, 0, 1),
	ENC_CVT(X1_RM, FCVT_L_S, 0x18, 0, 2), ENC_CVT(X1_RM, FCVT_LU_S, 0x18, 0, 3),
	ENC_CVT(X1_RM, FCVT_W_D, 0x18, 1, 0), ENC_CVT(X1_RM, FCVT_WU_D, 0x18, 1, 1),
	ENC_CVT(X1_RM, FCVT_L_D, 0x18, 1, 2), ENC_CVT(X1_RM, FCVT_LU_D, 0x18, 1, 3),
	ENC_CVT(F1_RM, FCVT_S_W, 0x1a, 0, 0), ENC_CVT(F1_RM, FCVT_S_WU, 0x1a, 0, 1),
	ENC_CVT(F1_RM, FCVT_S_L, 0x1a, 0, 2), ENC_CVT(F1_RM, FCVT_S_LU, 0x1a, 0, 3),
	ENC_CVT(F1_RM, FCVT_D_W, 0x1a, 1, 0), ENC_CVT(F1_RM, FCVT_D_WU, 0x1a, 1, 1),
	ENC_CVT(F1_RM, FCVT_D_L, 0x1a, 1, 2), ENC_CVT(F1_RM, FCVT_D_LU, 0x1a, 1, 3),
};

static const struct simt_encoding simt_branch[] = {
	ENC(B, BEQ, BRANCH, 0, 0), ENC(B, BNE, BRANCH, 1, 0), ENC(B, BLT, BRANCH, 4, 0),
	ENC(B, BGE, BRANCH, 5, 0), ENC(B, BLTU, BRANCH, 6, 0), ENC(B, BGEU, BRANCH, 7, 0),
};

static const struct simt_encoding simt_jalr[] = { ENC(I, JALR, JALR, 0, 0) };
static const struct simt_encoding simt_jal[] = { ENC(J, JAL, JAL, 0, 0) };

static const struct simt_encoding simt_system[] = {
	ENC(CSR, FCSR_RW, SYSTEM, 1, 0), ENC(CSR, FCSR_RS, SYSTEM, 2, 0),
	ENC(CSR, FCSR_RC, SYSTEM, 3, 0), ENC(CSR, FCSR_RWI, SYSTEM, 5, 0),
	ENC(CSR, FCSR_RSI, SYSTEM, 6, 0), ENC(CSR, FCSR_RCI, SYSTEM, 7, 0),
};

#define TABLE(table)	{ table, ARRAY_SIZE(table) }
static const struct {
	const struct simt_encoding *table;
	size_t nr;
} simt_majors[NR_MAJORS] = {
	[MAJOR(LOAD)]		= TABLE(simt_load),
	[MAJOR(LOAD_FP)]	= TABLE(simt_load_fp),
	[MAJOR(CUSTOM_0)]	= TABLE(simt_custom_0),
	[MAJOR(MISC_MEM)]	= TABLE(simt_misc_mem),
	[MAJOR(OP_IMM)]		= TABLE(simt_op_imm),
	[MAJOR(AUIPC)]		= TABLE(simt_auipc),
	[MAJOR(OP_IMM_32)]	= TABLE(simt_op_imm_32),
	[MAJOR(STORE)]		= TABLE(simt_store),
	[MAJOR(STORE_FP)]	= TABLE(simt_store_fp),
	[MAJOR(AMO)]		= TABLE(simt_amo),
	[MAJOR(OP)]		= TABLE(simt_op),
	[MAJOR(LUI)]		= TABLE(simt_lui),
	[MAJOR(OP_32)]		= TABLE(simt_op_32),
	[MAJOR(MADD)]		= TABLE(simt_madd),
	[MAJOR(MSUB)]		= TABLE(simt_msub),
	[MAJOR(NMSUB)]		= TABLE(simt_nmsub),
	[MAJOR(NMADD)]		= TABLE(simt_nmadd),
	[MAJOR(OP_FP)]		= TABLE(simt_op_fp),
	[MAJOR(BRANCH)]		= TABLE(simt_branch),
	[MAJOR(JALR)]		= TABLE(simt_jalr),
	[MAJOR(JAL)]		= TABLE(simt_jal),
	[MAJOR(SYSTEM)]		= TABLE(simt_system),
};

static const struct simt_encoding *simt_find(u32 word)
{
	const struct simt_encoding *encoding = simt_majors[MAJOR(word)].table;
	size_t nr = simt_majors[MAJOR(word)].nr;

	for (; nr; nr--, encoding++) {
		if ((word & simt_forms[encoding->form].mask) == encoding->match)
			return encoding;
	}
	return NULL;
}

#define FIELD_RD(word)	((word) >> 7 & 31)
#define FIELD_RS1(word)	((word) >> 15 & 31)
#define FIELD_RS2(word)	((word) >> 20 & 31)
#define FIELD_RS3(word)	((word) >> 27)
#define FIELD_RM(word)	((word) >> 12 & 7)
#define FIELD_CSR(word)	((word) >> 20)

/* Bit 31 of the word is the sign of every immediate value. */
static s32 simt_imm_s(u32 word)
{
	return ((s32)word >> 20 & ~0x1f) | FIELD_RD(word);
}

/* Returns imm of JAL and branches: see SIMT_OPS_FLOW. */
static s32 simt_distance(s32 bytes)
{
	return bytes % 4 ? SIMT_NO_DISTANCE + bytes : bytes / 4;
}

static s32 simt_imm_b(u32 word)
{
	return ((s32)word >> 31 & ~0xfff) | (word << 4 & 0x800) | (word >> 20 & 0x7e0) |
	       (word >> 7 & 0x1e);
}

static s32 simt_imm_j(u32 word)
{
	return ((s32)word >> 31 & ~0xfffff) | (word & 0xff000) | (word >> 9 & 0x800) |
	       (word >> 20 & 0x7fe);
}

static s32 simt_imm(u32 word, u32 has)
{
	if (has & HAS_IMM_I)
		return (s32)word >> 20;
	if (has & HAS_IMM_S)
		return simt_imm_s(word);
	if (has & HAS_IMM_B)
		return simt_distance(simt_imm_b(word));
	if (has & HAS_IMM_U)
		return word & ~0xfffU;
	if (has & HAS_IMM_J)
		return simt_distance(simt_imm_j(word));
	if (has & HAS_SHAMT)	/* bit 25 is 0 in shifts of words */
		return word >> 20 & 63;
	return 0;
}

/* RS, RC, RSI and RCI with rs1 = 0 do not write. */
static bool simt_csr_writes(const struct simt_insn *insn)
{
	return insn->op == SIMT_FCSR_RW || insn->op == SIMT_FCSR_RWI || insn->rs1;
}

/* Each id has three CSRs in a row, one per dimension: see simt_slow_csr_id(). */
#define CSR_ID_END	(VGPU_HW_CSR_NUM_GROUPS + 3)

/* Decodes the CSR. Returns false if it does not exist, or is written but read-only. */
static bool simt_decode_csr(u32 word, struct simt_insn *insn)
{
	u32 csr = FIELD_CSR(word);

	insn->imm = csr;
	if (csr >= SIMT_CSR_FFLAGS && csr <= SIMT_CSR_FCSR)
		return true;
	if (csr < VGPU_HW_CSR_GLOBAL_ID || csr >= CSR_ID_END || simt_csr_writes(insn))
		return false;
	insn->op = SIMT_CSR_ID;
	return true;
}

static bool simt_decode_fields(u32 word, u32 has, struct simt_insn *insn)
{
	if (has & (HAS_XD | HAS_FD))
		insn->rd = FIELD_RD(word);
	if ((has & HAS_XD) && !insn->rd)
		insn->rd = SIMT_X_SINK;
	if (has & HAS_RS1)
		insn->rs1 = FIELD_RS1(word);
	if (has & HAS_RS2)
		insn->rs2 = FIELD_RS2(word);
	if (has & HAS_RS3)
		insn->rs3 = FIELD_RS3(word);
	if (has & HAS_RM)
		insn->rm = FIELD_RM(word);
	insn->imm = simt_imm(word, has);
	return insn->rm <= SIMT_RMM || insn->rm == SIMT_RM_DYN;
}

/**
 * simt_decode - decode an instruction
 * @word: any 32 bits
 * @insn: set to the decoded instruction; to SIMT_ILLEGAL and 0 in all other fields if programs may
 *        not have it
 */
void simt_decode(u32 word, struct simt_insn *insn)
{
	const struct simt_encoding *encoding = simt_find(word);

	*insn = (struct simt_insn){ .op = encoding ? encoding->op : SIMT_ILLEGAL };
	if (!encoding)
		return;
	if (!simt_decode_fields(word, simt_forms[encoding->form].has, insn) ||
	    (encoding->form == FORM_CSR && !simt_decode_csr(word, insn)))
		*insn = (struct simt_insn){ .op = SIMT_ILLEGAL };
}

static u32 simt_word_b(s32 imm)
{
	u32 bytes = imm < SIMT_NO_DISTANCE / 2 ? imm * 4 : imm - SIMT_NO_DISTANCE;

	return (bytes & 0x1000) << 19 | (bytes & 0x7e0) << 20 | (bytes & 0x1e) << 7 |
	       (bytes & 0x800) >> 4;
}

static u32 simt_word_j(s32 imm)
{
	u32 bytes = imm < SIMT_NO_DISTANCE / 2 ? imm * 4 : imm - SIMT_NO_DISTANCE;

	return (bytes & 0x100000) << 11 | (bytes & 0x7fe) << 20 | (bytes & 0x800) << 9 |
	       (bytes & 0xff000);
}

/* The bits of a word that simt_imm() makes @imm of. */
static u32 simt_word_imm(s32 imm, u32 has)
{
	if (has & (HAS_IMM_I | HAS_SHAMT))
		return (u32)imm << 20;
	if (has & HAS_IMM_S)
		return (imm & 0xfe0U) << 20 | (imm & 0x1fU) << 7;
	if (has & HAS_IMM_B)
		return simt_word_b(imm);
	if (has & HAS_IMM_U)
		return imm;
	if (has & HAS_IMM_J)
		return simt_word_j(imm);
	return 0;
}

static const struct simt_encoding *simt_encoding(unsigned int op)
{
	unsigned int major;
	size_t i;

	for (major = 0; major < NR_MAJORS; major++)
		for (i = 0; i < simt_majors[major].nr; i++)
			if (simt_majors[major].table[i].op == op)
				return &simt_majors[major].table[i];
	return NULL;
}

/**
 * simt_encode - make a word of a decoded instruction
 * @insn: what simt_decode() has made, also after simt_program_finish()
 *
 * Takes a microsecond or so.
 *
 * Return: a word that simt_decode() makes the same instruction of, but for the choice of
 * simt_program_finish(). Words of which it makes the same become one: so of all illegal ones.
 */
u32 simt_encode(const struct simt_insn *insn)
{
	const struct simt_encoding *encoding;
	unsigned int op = insn->op;
	u32 word, has;

	if (simt_op_exact(op))
		op -= SIMT_FMIN_S_X - SIMT_FMIN_S;
	/* Reads of an id set no bits. */
	encoding = simt_encoding(op == SIMT_CSR_ID ? SIMT_FCSR_RS : op);
	if (!encoding)
		return 0;
	has = simt_forms[encoding->form].has;
	word = encoding->match | simt_word_imm(insn->imm, has);
	if (encoding->form == FORM_CSR)
		word |= (u32)insn->imm << 20;
	if (has & HAS_FD || (has & HAS_XD && insn->rd != SIMT_X_SINK))
		word |= (u32)insn->rd << 7;
	return word | (u32)insn->rs1 << 15 | (u32)insn->rs2 << 20 | (u32)insn->rs3 << 27 |
	       (u32)insn->rm << 12;
}

/**
 * simt_program_init - begin to decode a program
 * @program: simt_program_bytes() of memory
 * @nr:      number of its instructions, at least 1
 */
void simt_program_init(struct simt_program *program, u32 nr)
{
	program->nr = nr;
	program->exact = false;
	program->frm = false;
	program->written = 0;
	program->insn[nr] = (struct simt_insn){ .op = SIMT_ILLEGAL };
}

/**
 * simt_program_decode - decode some of a program's instructions
 * @program: the program, set up by simt_program_init()
 * @first:   index of the first instruction
 * @words:   the instructions; no thread changes them meanwhile
 * @count:   their number; @first + @count is at most @program->nr
 */
void simt_program_decode(struct simt_program *program, u32 first, const __le32 *words, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		simt_decode(le32_to_cpu(words[i]), &program->insn[first + i]);
}

/* An access to a float CSR affects all float operations of the program. */
static void simt_program_note(struct simt_program *program, const struct simt_insn *insn)
{
	switch (insn->op) {
	case SIMT_FCSR_RW:
	case SIMT_FCSR_RS:
	case SIMT_FCSR_RC:
	case SIMT_FCSR_RWI:
	case SIMT_FCSR_RSI:
	case SIMT_FCSR_RCI:
		if (insn->imm != SIMT_CSR_FRM)
			program->exact = true;
		if (insn->imm != SIMT_CSR_FFLAGS && simt_csr_writes(insn))
			program->frm = true;
	}
}

/* Whether the fast operation may round differently from what the instruction specifies. */
static bool simt_rounds_otherwise(const struct simt_program *program, const struct simt_insn *insn)
{
	switch (insn->op) {
	case SIMT_FCVT_D_S:
	case SIMT_FCVT_D_W:
	case SIMT_FCVT_D_WU:	/* these do not round, but an invalid mode in frm is illegal */
		return insn->rm == SIMT_RM_DYN && program->frm;
	case SIMT_FCVT_W_S:
	case SIMT_FCVT_WU_S:
	case SIMT_FCVT_L_S:
	case SIMT_FCVT_LU_S:
	case SIMT_FCVT_W_D:
	case SIMT_FCVT_WU_D:
	case SIMT_FCVT_L_D:
	case SIMT_FCVT_LU_D:
		return insn->rm != SIMT_RTZ;
	default:	/* until the program writes frm, it is 0: to nearest even */
		return insn->rm == SIMT_RM_DYN ? program->frm : insn->rm != SIMT_RNE;
	}
}

#define SIMT_EXACT_OP(name)	\
	[SIMT_##name] = SIMT_##name##_X,
static const u16 simt_exact_op[SIMT_NR_OPS] = { SIMT_OPS_EXACT(SIMT_EXACT_OP) };

/**
 * simt_program_finish - complete the decoding of a program
 * @program: the program, whose instructions have all been decoded
 *
 * Chooses between the fast and the exact operations on floats.
 */
void simt_program_finish(struct simt_program *program)
{
	struct simt_insn *insn, *end = program->insn + program->nr;

	for (insn = program->insn; insn < end; insn++) {
		simt_program_note(program, insn);
		program->written |= 1ULL << insn->rd;
	}
	for (insn = program->insn; insn < end; insn++) {
		if (simt_exact_op[insn->op] &&
		    (program->exact || simt_rounds_otherwise(program, insn)))
			insn->op = simt_exact_op[insn->op];
	}
}

/*
 * Operations that take some microseconds: exact operations on floats, fused operations if the CPU
 * has none, and atomics if threads of the VM contend for the same words.
 */
static bool simt_slow_op(unsigned int op, bool fused)
{
	return simt_op_exact(op) || simt_op_atomic(op) || (!fused && simt_op_fused(op));
}

/**
 * simt_program_slow - tell whether a program has slow instructions
 * @program: the program, after simt_program_finish()
 * @fused: struct simt_isa.fused of the interpreter that runs it
 * Return: true if it has; then the caller must read the clock more often.
 */
bool simt_program_slow(const struct simt_program *program, bool fused)
{
	u32 i;

	for (i = 0; i < program->nr; i++)
		if (simt_slow_op(program->insn[i].op, fused))
			return true;
	return false;
}
