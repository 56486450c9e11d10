/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of this CPU for lanes that run alone (lone.c), made of a program by way of eBPF: see bpf.c.
 */
#ifndef _VGPU_SIMT_NATIVE_H
#define _VGPU_SIMT_NATIVE_H

#include <linux/types.h>

#include "program.h"

struct bpf_insn;
struct simt_isa;

/* What struct simt_native.run returns: see simt_lone_native(). */
enum simt_native_end {
	SIMT_NATIVE_LEFT,	/* go on with the interpreter, or stop, at struct simt_lone.at */
	SIMT_NATIVE_MET,	/* stop: lanes meet at struct simt_lone.at */
	SIMT_NATIVE_STEP,	/* the interpreter has set what it stopped with */
};

/* Marks of an instruction. */
#define SIMT_MARK_BLOCK		1	/* a block of the code begins there, which can be entered */
#define SIMT_MARK_HEAD		2	/* likewise, and jumps may go there */
#define SIMT_MARK_RETURN	4	/* a call comes back there */

/**
 * struct simt_native - a program's code
 * @run:   runs a lane, which is at an instruction with SIMT_MARK_BLOCK, and gets its registers if
 *         struct simt_lone.regs says so; with SIMT_NATIVE_MET they are the warp's again
 * @marks: of each instruction of the program, and of its end
 * @ps:    what one of its instructions takes on the average, as an estimate
 */
struct simt_native {
	unsigned int (*run)(const void *lone, const struct bpf_insn *unused);
	const u8 *marks;
	u32 ps;
};

/*
 * Functions that return what an operation has as its result. Results of 32 bits are sign-extended,
 * or NaN-boxed singles.
 *
 * On x86-64 those of floats have a further operand and a further result: the last float that was
 * computed, in the first register that the CPU's calls have for such, where it stays until another
 * function is called. To take it from there saves the time that it takes to move it from registers
 * for integers, which is more than that of an addition.
 */
typedef u64 (*simt_value_fn)(u64 a, u64 b, u64 c);

/* The type of the last float that was computed. */
enum simt_last {
	SIMT_LAST_NONE,	/* it is not known where it is */
	SIMT_LAST_S,
	SIMT_LAST_D,
	SIMT_LAST_KEEP,	/* as it was, if it was that of the operands */
};

/* Where operands are taken from, and where the result goes. */
enum simt_value_kind {
	SIMT_VALUE_NONE,
	SIMT_VALUE_X,	/* x[rs1] is the first operand, x[rs2] the second one; x[rd] the result */
	SIMT_VALUE_F,	/* likewise f[] */
	SIMT_VALUE_IMM,
	SIMT_VALUE_LONE,	/* the struct simt_lone */
};

/**
 * struct simt_value - an operation on registers
 * @fn: NULL: it is none
 * @by_last: likewise, if the last float is the first operand, the second one, or the third one; or
 *           both if there are two; NULL: there is none
 * @from: enum simt_value_kind of its operands
 * @to: of its result
 * @takes: enum simt_last of what @by_last takes
 * @gives: the last float after it
 */
struct simt_value {
	simt_value_fn fn;
	simt_value_fn by_last[3];
	u8 from[3];
	u8 to;
	u8 takes;
	u8 gives;
};

size_t simt_native_scratch_bytes(const struct simt_program *program);
u32 simt_native_translate(const struct simt_program *program, const struct simt_isa *isa, u8 *marks,
			  void *scratch, struct bpf_insn *insn, u32 most);
u32 simt_native_ps(const void *scratch);

#endif /* _VGPU_SIMT_NATIVE_H */
