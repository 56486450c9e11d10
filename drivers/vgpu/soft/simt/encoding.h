/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of instructions: for each major opcode a list of E(FORM, NAME, match), from which
 * decode.c makes its tables for both directions. An instruction of the form FORM_FORM is
 * SIMT_NAME if its bits in the form's mask are match.
 */
#ifndef _VGPU_SIMT_ENCODING_H
#define _VGPU_SIMT_ENCODING_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

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

/* Of bits and fields: see simt_forms[]. */
enum simt_form {
	FORM_R, FORM_R1, FORM_I, FORM_SHIFT, FORM_SHIFT_W, FORM_U, FORM_J, FORM_B, FORM_S,
	FORM_LOAD_FP, FORM_LR, FORM_AMO, FORM_FENCE, FORM_WORD, FORM_CSR,
	FORM_F4, FORM_F2, FORM_F1, FORM_F2_RM, FORM_F1_RM, FORM_X1_RM,
};

#define ENC(E, form, name, opcode, f3, high)					\
	E(form, name, (u32)(high) | (f3) << 12 | (opcode))
#define ENC_7(E, form, name, opcode, f3, f7)					\
	ENC(E, form, name, opcode, f3, (u32)(f7) << 25)
#define ENC_12(E, form, name, opcode, f3, f12)					\
	ENC(E, form, name, opcode, f3, (u32)(f12) << 20)
#define ENC_AMO(E, form, name, f5)						\
	ENC_7(E, form, name##_W, AMO, 2, (f5) << 2) ENC_7(E, form, name##_D, AMO, 3, (f5) << 2)
#define ENC_F4(E, name, opcode)							\
	ENC_7(E, F4, name##_S, opcode, 0, 0) ENC_7(E, F4, name##_D, opcode, 0, 1)
/* Float operations of both formats. */
#define ENC_F(E, form, name, f3, f5)						\
	ENC_7(E, form, name##_S, OP_FP, f3, (f5) << 2)				\
	ENC_7(E, form, name##_D, OP_FP, f3, (f5) << 2 | 1)
/* Conversions: a number in place of rs2. */
#define ENC_CVT(E, form, name, f5, fmt, rs2)					\
	ENC_12(E, form, name, OP_FP, 0, (f5) << 7 | (fmt) << 5 | (rs2))

#define SIMT_ENC_LOAD(E) \
	ENC(E, I, LB, LOAD, 0, 0) ENC(E, I, LH, LOAD, 1, 0) ENC(E, I, LW, LOAD, 2, 0) \
	ENC(E, I, LD, LOAD, 3, 0) ENC(E, I, LBU, LOAD, 4, 0) ENC(E, I, LHU, LOAD, 5, 0) \
	ENC(E, I, LWU, LOAD, 6, 0)

#define SIMT_ENC_LOAD_FP(E) \
	ENC(E, LOAD_FP, FLW, LOAD_FP, 2, 0) ENC(E, LOAD_FP, FLD, LOAD_FP, 3, 0)
#define SIMT_ENC_CUSTOM_0(E) E(WORD, BARRIER, VGPU_HW_INSN_BARRIER)

/* By the specification, the registers of both are ignored. FENCE is the word that is made. */
#define SIMT_ENC_MISC_MEM(E) ENC(E, FENCE, FENCE, MISC_MEM, 0, 0)
#define SIMT_ENC_FENCE_I(E) ENC(E, FENCE, FENCE, MISC_MEM, 1, 0)

#define SIMT_ENC_OP_IMM(E) \
	ENC(E, I, ADDI, OP_IMM, 0, 0) ENC(E, I, SLTI, OP_IMM, 2, 0) \
	ENC(E, I, SLTIU, OP_IMM, 3, 0) ENC(E, I, XORI, OP_IMM, 4, 0) \
	ENC(E, I, ORI, OP_IMM, 6, 0) ENC(E, I, ANDI, OP_IMM, 7, 0) \
	ENC_7(E, SHIFT, SLLI, OP_IMM, 1, 0x00) ENC_7(E, SHIFT, SRLI, OP_IMM, 5, 0x00) \
	ENC_7(E, SHIFT, SRAI, OP_IMM, 5, 0x20) ENC_7(E, SHIFT, RORI, OP_IMM, 5, 0x30) \
	ENC_7(E, SHIFT, BSETI, OP_IMM, 1, 0x14) ENC_7(E, SHIFT, BCLRI, OP_IMM, 1, 0x24) \
	ENC_7(E, SHIFT, BINVI, OP_IMM, 1, 0x34) ENC_7(E, SHIFT, BEXTI, OP_IMM, 5, 0x24) \
	ENC_12(E, R1, CLZ, OP_IMM, 1, 0x600) ENC_12(E, R1, CTZ, OP_IMM, 1, 0x601) \
	ENC_12(E, R1, CPOP, OP_IMM, 1, 0x602) ENC_12(E, R1, SEXT_B, OP_IMM, 1, 0x604) \
	ENC_12(E, R1, SEXT_H, OP_IMM, 1, 0x605) ENC_12(E, R1, ORC_B, OP_IMM, 5, 0x287) \
	ENC_12(E, R1, REV8, OP_IMM, 5, 0x6b8)

#define SIMT_ENC_AUIPC(E) ENC(E, U, AUIPC, AUIPC, 0, 0)

#define SIMT_ENC_OP_IMM_32(E) \
	ENC(E, I, ADDIW, OP_IMM_32, 0, 0) ENC_7(E, SHIFT_W, SLLIW, OP_IMM_32, 1, 0x00) \
	ENC_7(E, SHIFT_W, SRLIW, OP_IMM_32, 5, 0x00) \
	ENC_7(E, SHIFT_W, SRAIW, OP_IMM_32, 5, 0x20) \
	ENC_7(E, SHIFT_W, RORIW, OP_IMM_32, 5, 0x30) \
	ENC_7(E, SHIFT, SLLI_UW, OP_IMM_32, 1, 0x04) ENC_12(E, R1, CLZW, OP_IMM_32, 1, 0x600) \
	ENC_12(E, R1, CTZW, OP_IMM_32, 1, 0x601) ENC_12(E, R1, CPOPW, OP_IMM_32, 1, 0x602)

#define SIMT_ENC_STORE(E) \
	ENC(E, S, SB, STORE, 0, 0) ENC(E, S, SH, STORE, 1, 0) ENC(E, S, SW, STORE, 2, 0) \
	ENC(E, S, SD, STORE, 3, 0)

#define SIMT_ENC_STORE_FP(E) ENC(E, S, FSW, STORE_FP, 2, 0) ENC(E, S, FSD, STORE_FP, 3, 0)

#define SIMT_ENC_AMO(E) \
	ENC_AMO(E, LR, LR, 0x02) ENC_AMO(E, AMO, SC, 0x03) ENC_AMO(E, AMO, AMOSWAP, 0x01) \
	ENC_AMO(E, AMO, AMOADD, 0x00) ENC_AMO(E, AMO, AMOXOR, 0x04) \
	ENC_AMO(E, AMO, AMOAND, 0x0c) ENC_AMO(E, AMO, AMOOR, 0x08) \
	ENC_AMO(E, AMO, AMOMIN, 0x10) ENC_AMO(E, AMO, AMOMAX, 0x14) \
	ENC_AMO(E, AMO, AMOMINU, 0x18) ENC_AMO(E, AMO, AMOMAXU, 0x1c)

#define SIMT_ENC_OP(E) \
	ENC_7(E, R, ADD, OP, 0, 0x00) ENC_7(E, R, SUB, OP, 0, 0x20) \
	ENC_7(E, R, SLL, OP, 1, 0x00) ENC_7(E, R, SLT, OP, 2, 0x00) \
	ENC_7(E, R, SLTU, OP, 3, 0x00) ENC_7(E, R, XOR, OP, 4, 0x00) \
	ENC_7(E, R, SRL, OP, 5, 0x00) ENC_7(E, R, SRA, OP, 5, 0x20) \
	ENC_7(E, R, OR, OP, 6, 0x00) ENC_7(E, R, AND, OP, 7, 0x00) \
	ENC_7(E, R, MUL, OP, 0, 0x01) ENC_7(E, R, MULH, OP, 1, 0x01) \
	ENC_7(E, R, MULHSU, OP, 2, 0x01) ENC_7(E, R, MULHU, OP, 3, 0x01) \
	ENC_7(E, R, DIV, OP, 4, 0x01) ENC_7(E, R, DIVU, OP, 5, 0x01) \
	ENC_7(E, R, REM, OP, 6, 0x01) ENC_7(E, R, REMU, OP, 7, 0x01) \
	ENC_7(E, R, SH1ADD, OP, 2, 0x10) ENC_7(E, R, SH2ADD, OP, 4, 0x10) \
	ENC_7(E, R, SH3ADD, OP, 6, 0x10) ENC_7(E, R, ANDN, OP, 7, 0x20) \
	ENC_7(E, R, ORN, OP, 6, 0x20) ENC_7(E, R, XNOR, OP, 4, 0x20) \
	ENC_7(E, R, MIN, OP, 4, 0x05) ENC_7(E, R, MINU, OP, 5, 0x05) \
	ENC_7(E, R, MAX, OP, 6, 0x05) ENC_7(E, R, MAXU, OP, 7, 0x05) \
	ENC_7(E, R, ROL, OP, 1, 0x30) ENC_7(E, R, ROR, OP, 5, 0x30) \
	ENC_7(E, R, BSET, OP, 1, 0x14) ENC_7(E, R, BCLR, OP, 1, 0x24) \
	ENC_7(E, R, BINV, OP, 1, 0x34) ENC_7(E, R, BEXT, OP, 5, 0x24) \
	ENC_7(E, R, CZERO_EQZ, OP, 5, 0x07) ENC_7(E, R, CZERO_NEZ, OP, 7, 0x07)

#define SIMT_ENC_LUI(E) ENC(E, U, LUI, LUI, 0, 0)

#define SIMT_ENC_OP_32(E) \
	ENC_7(E, R, ADDW, OP_32, 0, 0x00) ENC_7(E, R, SUBW, OP_32, 0, 0x20) \
	ENC_7(E, R, SLLW, OP_32, 1, 0x00) ENC_7(E, R, SRLW, OP_32, 5, 0x00) \
	ENC_7(E, R, SRAW, OP_32, 5, 0x20) ENC_7(E, R, MULW, OP_32, 0, 0x01) \
	ENC_7(E, R, DIVW, OP_32, 4, 0x01) ENC_7(E, R, DIVUW, OP_32, 5, 0x01) \
	ENC_7(E, R, REMW, OP_32, 6, 0x01) ENC_7(E, R, REMUW, OP_32, 7, 0x01) \
	ENC_7(E, R, ADD_UW, OP_32, 0, 0x04) ENC_7(E, R, SH1ADD_UW, OP_32, 2, 0x10) \
	ENC_7(E, R, SH2ADD_UW, OP_32, 4, 0x10) ENC_7(E, R, SH3ADD_UW, OP_32, 6, 0x10) \
	ENC_7(E, R, ROLW, OP_32, 1, 0x30) ENC_7(E, R, RORW, OP_32, 5, 0x30) \
	ENC_12(E, R1, ZEXT_H, OP_32, 4, 0x080)

#define SIMT_ENC_MADD(E) ENC_F4(E, FMADD, MADD)
#define SIMT_ENC_MSUB(E) ENC_F4(E, FMSUB, MSUB)
#define SIMT_ENC_NMSUB(E) ENC_F4(E, FNMSUB, NMSUB)
#define SIMT_ENC_NMADD(E) ENC_F4(E, FNMADD, NMADD)

#define SIMT_ENC_OP_FP(E) \
	ENC_F(E, F2_RM, FADD, 0, 0x00) ENC_F(E, F2_RM, FSUB, 0, 0x01) \
	ENC_F(E, F2_RM, FMUL, 0, 0x02) ENC_F(E, F2_RM, FDIV, 0, 0x03) \
	ENC_F(E, F1_RM, FSQRT, 0, 0x0b) ENC_F(E, F2, FSGNJ, 0, 0x04) \
	ENC_F(E, F2, FSGNJN, 1, 0x04) ENC_F(E, F2, FSGNJX, 2, 0x04) \
	ENC_F(E, F2, FMIN, 0, 0x05) ENC_F(E, F2, FMAX, 1, 0x05) ENC_F(E, R, FLE, 0, 0x14) \
	ENC_F(E, R, FLT, 1, 0x14) ENC_F(E, R, FEQ, 2, 0x14) ENC_F(E, R1, FCLASS, 1, 0x1c) \
	ENC_12(E, R1, FMV_X_W, OP_FP, 0, 0xe00) ENC_12(E, R1, FMV_X_D, OP_FP, 0, 0xe20) \
	ENC_12(E, F1, FMV_W_X, OP_FP, 0, 0xf00) ENC_12(E, F1, FMV_D_X, OP_FP, 0, 0xf20) \
	ENC_CVT(E, F1_RM, FCVT_S_D, 0x08, 0, 1) ENC_CVT(E, F1_RM, FCVT_D_S, 0x08, 1, 0) \
	ENC_CVT(E, X1_RM, FCVT_W_S, 0x18, 0, 0) ENC_CVT(E, X1_RM, FCVT_WU_S, 0x18, 0, 1) \
	ENC_CVT(E, X1_RM, FCVT_L_S, 0x18, 0, 2) ENC_CVT(E, X1_RM, FCVT_LU_S, 0x18, 0, 3) \
	ENC_CVT(E, X1_RM, FCVT_W_D, 0x18, 1, 0) ENC_CVT(E, X1_RM, FCVT_WU_D, 0x18, 1, 1) \
	ENC_CVT(E, X1_RM, FCVT_L_D, 0x18, 1, 2) ENC_CVT(E, X1_RM, FCVT_LU_D, 0x18, 1, 3) \
	ENC_CVT(E, F1_RM, FCVT_S_W, 0x1a, 0, 0) ENC_CVT(E, F1_RM, FCVT_S_WU, 0x1a, 0, 1) \
	ENC_CVT(E, F1_RM, FCVT_S_L, 0x1a, 0, 2) ENC_CVT(E, F1_RM, FCVT_S_LU, 0x1a, 0, 3) \
	ENC_CVT(E, F1_RM, FCVT_D_W, 0x1a, 1, 0) ENC_CVT(E, F1_RM, FCVT_D_WU, 0x1a, 1, 1) \
	ENC_CVT(E, F1_RM, FCVT_D_L, 0x1a, 1, 2) ENC_CVT(E, F1_RM, FCVT_D_LU, 0x1a, 1, 3)

#define SIMT_ENC_BRANCH(E) \
	ENC(E, B, BEQ, BRANCH, 0, 0) ENC(E, B, BNE, BRANCH, 1, 0) ENC(E, B, BLT, BRANCH, 4, 0) \
	ENC(E, B, BGE, BRANCH, 5, 0) ENC(E, B, BLTU, BRANCH, 6, 0) \
	ENC(E, B, BGEU, BRANCH, 7, 0)

#define SIMT_ENC_JALR(E) ENC(E, I, JALR, JALR, 0, 0)
#define SIMT_ENC_JAL(E) ENC(E, J, JAL, JAL, 0, 0)

#define SIMT_ENC_SYSTEM(E) \
	ENC(E, CSR, FCSR_RW, SYSTEM, 1, 0) ENC(E, CSR, FCSR_RS, SYSTEM, 2, 0) \
	ENC(E, CSR, FCSR_RC, SYSTEM, 3, 0) ENC(E, CSR, FCSR_RWI, SYSTEM, 5, 0) \
	ENC(E, CSR, FCSR_RSI, SYSTEM, 6, 0) ENC(E, CSR, FCSR_RCI, SYSTEM, 7, 0)

/* All instructions, each once. */
#define SIMT_ENC_ALL(E) \
	SIMT_ENC_LOAD(E) SIMT_ENC_LOAD_FP(E) SIMT_ENC_CUSTOM_0(E) SIMT_ENC_MISC_MEM(E) \
	SIMT_ENC_OP_IMM(E) SIMT_ENC_AUIPC(E) SIMT_ENC_OP_IMM_32(E) SIMT_ENC_STORE(E) \
	SIMT_ENC_STORE_FP(E) SIMT_ENC_AMO(E) SIMT_ENC_OP(E) SIMT_ENC_LUI(E) SIMT_ENC_OP_32(E) \
	SIMT_ENC_MADD(E) SIMT_ENC_MSUB(E) SIMT_ENC_NMSUB(E) SIMT_ENC_NMADD(E) \
	SIMT_ENC_OP_FP(E) SIMT_ENC_BRANCH(E) SIMT_ENC_JALR(E) SIMT_ENC_JAL(E) \
	SIMT_ENC_SYSTEM(E)

#endif /* _VGPU_SIMT_ENCODING_H */
