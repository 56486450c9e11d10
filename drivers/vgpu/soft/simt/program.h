/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs: decoded RISC-V instructions. Pure logic, compiled in user space too. Allocates nothing.
 */
#ifndef _VGPU_SIMT_PROGRAM_H
#define _VGPU_SIMT_PROGRAM_H

#include <linux/types.h>

#include "op.h"

/* Writes to x0 go to this register, which no instruction reads. */
#define SIMT_X_SINK	32

/* Numbers of the float CSRs, in imm of FCSR_*. SIMT_CSR_FCSR contains the other two. */
#define SIMT_CSR_FFLAGS	1
#define SIMT_CSR_FRM	2
#define SIMT_CSR_FCSR	3

/* Added to imm of a jump to a misaligned target: see SIMT_OPS_FLOW. */
#define SIMT_NO_DISTANCE	0x40000000

/**
 * struct simt_insn - a decoded instruction
 * @op:  enum simt_op
 * @rd:  destination, 0 to 31; an integer destination x0 is SIMT_X_SINK
 * @rs1: first source, 0 to 31
 * @rs2: likewise
 * @rs3: likewise
 * @rm:  rounding mode, 0 to 4, or 7 for the mode in frm; 0 if the instruction has none
 * @pad: 0
 * @imm: immediate value, see enum simt_op
 */
struct simt_insn {
	u16 op;
	u8 rd;
	u8 rs1;
	u8 rs2;
	u8 rs3;
	u8 rm;
	u8 pad;
	s32 imm;
};

/**
 * struct simt_program - the text of a program
 * @nr: number of instructions, at least 1
 * @exact: the program accesses fflags or fcsr, so all float operations must raise flags
 * @frm:  the program may write frm, also by fcsr, so rm 7 may stand for any mode
 * @shares: it has atomic instructions or fences, so its lanes may get into each other's way though
 *        they agree
 * @written: bit r: some instruction may write x[r]
 * @floats: bit r: some instruction may write f[r]
 * @insn: the instructions, and after them one ILLEGAL
 */
struct simt_program {
	u32 nr;
	bool exact;
	bool frm;
	bool shares;
	u64 written;
	u32 floats;
	struct simt_insn insn[];
};

/* Bytes of a struct simt_program of @nr instructions, at most VGPU_HW_TEXT_MAX / 4. */
static inline size_t simt_program_bytes(u32 nr)
{
	return sizeof(struct simt_program) + ((size_t)nr + 1) * sizeof(struct simt_insn);
}

/* decode.c */
void simt_decode(u32 word, struct simt_insn *insn);
u32 simt_encode(const struct simt_insn *insn);
void simt_program_init(struct simt_program *program, u32 nr);
void simt_program_decode(struct simt_program *program, u32 first, const __le32 *words, u32 count);
void simt_program_finish(struct simt_program *program);
bool simt_program_slow(const struct simt_program *program, bool fused);

#endif /* _VGPU_SIMT_PROGRAM_H */
