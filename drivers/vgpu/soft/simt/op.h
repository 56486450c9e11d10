/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations of decoded instructions: lists of X(NAME), and enum simt_op, which is made of them.
 * Names are those of the RISC-V specification, with _ for a dot. The order matters in some lists:
 * see the functions at the end. Documentation/isa.rst says how to add an instruction.
 */
#ifndef _VGPU_SIMT_OP_H
#define _VGPU_SIMT_OP_H

#include <linux/build_bug.h>
#include <linux/types.h>

/* rd = f(rs1, rs2) */
#define SIMT_OPS_RR(X) \
	X(ADD) X(SUB) X(SLL) X(SLT) X(SLTU) X(XOR) X(SRL) X(SRA) X(OR) X(AND) \
	X(ADDW) X(SUBW) X(SLLW) X(SRLW) X(SRAW) \
	X(MUL) X(MULH) X(MULHSU) X(MULHU) X(DIV) X(DIVU) X(REM) X(REMU) \
	X(MULW) X(DIVW) X(DIVUW) X(REMW) X(REMUW) \
	X(ADD_UW) X(SH1ADD) X(SH2ADD) X(SH3ADD) X(SH1ADD_UW) X(SH2ADD_UW) X(SH3ADD_UW) \
	X(ANDN) X(ORN) X(XNOR) X(MAX) X(MAXU) X(MIN) X(MINU) \
	X(ROL) X(ROLW) X(ROR) X(RORW) \
	X(BCLR) X(BEXT) X(BINV) X(BSET) X(CZERO_EQZ) X(CZERO_NEZ)

/* rd = f(rs1, imm) */
#define SIMT_OPS_RI(X) \
	X(ADDI) X(SLTI) X(SLTIU) X(XORI) X(ORI) X(ANDI) X(SLLI) X(SRLI) X(SRAI) \
	X(ADDIW) X(SLLIW) X(SRLIW) X(SRAIW) \
	X(SLLI_UW) X(RORI) X(RORIW) X(BCLRI) X(BEXTI) X(BINVI) X(BSETI)

/* rd = f(rs1) */
#define SIMT_OPS_R(X) \
	X(CLZ) X(CLZW) X(CTZ) X(CTZW) X(CPOP) X(CPOPW) X(SEXT_B) X(SEXT_H) X(ZEXT_H) \
	X(ORC_B) X(REV8)

/*
 * imm of LUI and AUIPC: the value; of JALR: bytes; of JAL and branches: the distance in
 * instructions. If that distance is not a multiple of 4 bytes, imm is SIMT_NO_DISTANCE plus the
 * bytes, which is beyond the end of any text.
 */
#define SIMT_OPS_FLOW(X) \
	X(LUI) X(AUIPC) X(JAL) X(JALR) X(BEQ) X(BNE) X(BLT) X(BGE) X(BLTU) X(BGEU)

#define SIMT_OPS_LOAD(X) X(LB) X(LH) X(LW) X(LD) X(LBU) X(LHU) X(LWU) X(FLW) X(FLD)
#define SIMT_OPS_STORE(X) X(SB) X(SH) X(SW) X(SD) X(FSW) X(FSD)	/* imm(rs1) = rs2 */

/* rd, rs1: address, rs2 */
#define SIMT_OPS_ATOMIC(X) \
	X(LR_W) X(LR_D) X(SC_W) X(SC_D) \
	X(AMOSWAP_W) X(AMOADD_W) X(AMOXOR_W) X(AMOAND_W) X(AMOOR_W) \
	X(AMOMIN_W) X(AMOMAX_W) X(AMOMINU_W) X(AMOMAXU_W) \
	X(AMOSWAP_D) X(AMOADD_D) X(AMOXOR_D) X(AMOAND_D) X(AMOOR_D) \
	X(AMOMIN_D) X(AMOMAX_D) X(AMOMINU_D) X(AMOMAXU_D)

/*
 * FENCE stands for FENCE.I, too, which has no effect on a decoded program; imm has its fields fm,
 * pred and succ. CSR_ID: rd = the CSR whose number (VGPU_HW_CSR_*) is in imm. FCSR_*: imm is the
 * number of fflags, frm or fcsr; in RWI, RSI and RCI rs1 is the operand itself. ILLEGAL: any other
 * word, also ECALL and EBREAK.
 */
#define SIMT_OPS_SYSTEM(X) \
	X(ILLEGAL) X(FENCE) X(BARRIER) X(CSR_ID) \
	X(FCSR_RW) X(FCSR_RS) X(FCSR_RC) X(FCSR_RWI) X(FCSR_RSI) X(FCSR_RCI)

/* Float operations whose result or flags depend on rounding. Each has a NAME_X, see below. */
#define SIMT_OPS_ROUND(X) \
	X(FADD_S) X(FSUB_S) X(FMUL_S) X(FDIV_S) X(FSQRT_S) \
	X(FMADD_S) X(FMSUB_S) X(FNMSUB_S) X(FNMADD_S) \
	X(FADD_D) X(FSUB_D) X(FMUL_D) X(FDIV_D) X(FSQRT_D) \
	X(FMADD_D) X(FMSUB_D) X(FNMSUB_D) X(FNMADD_D) \
	X(FCVT_S_D) X(FCVT_D_S) \
	X(FCVT_W_S) X(FCVT_WU_S) X(FCVT_L_S) X(FCVT_LU_S) \
	X(FCVT_W_D) X(FCVT_WU_D) X(FCVT_L_D) X(FCVT_LU_D) \
	X(FCVT_S_W) X(FCVT_S_WU) X(FCVT_S_L) X(FCVT_S_LU) \
	X(FCVT_D_W) X(FCVT_D_WU) X(FCVT_D_L) X(FCVT_D_LU)

/* Float operations that raise flags, but do not round. Each has a NAME_X, too. */
#define SIMT_OPS_FLAG(X) \
	X(FMIN_S) X(FMAX_S) X(FEQ_S) X(FLT_S) X(FLE_S) \
	X(FMIN_D) X(FMAX_D) X(FEQ_D) X(FLT_D) X(FLE_D)

#define SIMT_OPS_FLOAT(X) \
	X(FSGNJ_S) X(FSGNJN_S) X(FSGNJX_S) X(FSGNJ_D) X(FSGNJN_D) X(FSGNJX_D) \
	X(FCLASS_S) X(FCLASS_D) X(FMV_X_W) X(FMV_W_X) X(FMV_X_D) X(FMV_D_X)

#define SIMT_OPS(X) \
	SIMT_OPS_SYSTEM(X) SIMT_OPS_FLOW(X) SIMT_OPS_RR(X) SIMT_OPS_RI(X) SIMT_OPS_R(X) \
	SIMT_OPS_LOAD(X) SIMT_OPS_STORE(X) SIMT_OPS_ATOMIC(X) SIMT_OPS_FLOAT(X) \
	SIMT_OPS_FLAG(X) SIMT_OPS_ROUND(X)

/*
 * NAME is the fast operation: it ignores rm, rounds to nearest even (conversions to integers:
 * towards zero) and raises no flags. NAME_X is the exact operation: it rounds by struct
 * simt_insn.rm, or by frm if that is 7, and raises flags.
 */
#define SIMT_OPS_EXACT(X) SIMT_OPS_FLAG(X) SIMT_OPS_ROUND(X)

#define SIMT_OP_ENUM(name)	SIMT_##name,
#define SIMT_OP_ENUM_X(name)	SIMT_##name##_X,
enum simt_op {
	SIMT_OPS(SIMT_OP_ENUM)
	SIMT_OPS_EXACT(SIMT_OP_ENUM_X)
	SIMT_NR_OPS,
};

/* Counts the operations of a list, as in 0 SIMT_OPS_LOAD(SIMT_OP_COUNT). */
#define SIMT_OP_COUNT(name)	+ (SIMT_##name < SIMT_NR_OPS)

/*
 * Whether a FENCE with this imm orders writes before it and reads after it. CPUs that are TSO, as
 * x86, order all else themselves. A FENCE has no sets if it comes from a stream of before they were
 * kept.
 */
static inline bool simt_fence_full(s32 imm)
{
	return !(imm & 0xff) || (imm & 0x50 && imm & 0x0a);	/* O or W, and I or R */
}

static inline bool simt_op_stores(unsigned int op)
{
	static_assert(SIMT_FSD - SIMT_SB + 1 == 0 SIMT_OPS_STORE(SIMT_OP_COUNT));
	return op >= SIMT_SB && op <= SIMT_FSD;
}

static inline bool simt_op_atomic(unsigned int op)
{
	static_assert(SIMT_AMOMAXU_D - SIMT_LR_W + 1 == 0 SIMT_OPS_ATOMIC(SIMT_OP_COUNT));
	return op >= SIMT_LR_W && op <= SIMT_AMOMAXU_D;
}

/* Whether the atomic @op accesses 64 bits. */
static inline bool simt_op_atomic_d(unsigned int op)
{
	static_assert(SIMT_AMOMAXU_D - SIMT_AMOSWAP_D == SIMT_AMOMAXU_W - SIMT_AMOSWAP_W);
	static_assert(SIMT_AMOSWAP_D - SIMT_AMOMAXU_W == 1);
	return op == SIMT_LR_D || op == SIMT_SC_D ||
	       (op >= SIMT_AMOSWAP_D && op <= SIMT_AMOMAXU_D);
}

/* Whether @op is a fused multiply-add; not its NAME_X. */
static inline bool simt_op_fused(unsigned int op)
{
	static_assert(SIMT_FNMADD_S - SIMT_FMADD_S == 3 && SIMT_FNMADD_D - SIMT_FMADD_D == 3);
	return (op >= SIMT_FMADD_S && op <= SIMT_FNMADD_S) ||
	       (op >= SIMT_FMADD_D && op <= SIMT_FNMADD_D);
}

/* Whether @op is a NAME_X. */
static inline bool simt_op_exact(unsigned int op)
{
	static_assert(SIMT_NR_OPS - SIMT_FMIN_S_X == 0 SIMT_OPS_EXACT(SIMT_OP_COUNT));
	return op >= SIMT_FMIN_S_X;
}

#endif /* _VGPU_SIMT_OP_H */
