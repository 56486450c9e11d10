/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translation of programs to eBPF, which the kernel's own compiler makes code of this CPU: see
 * bpf.c. Only the files of the translation include this.
 */
#ifndef _VGPU_SIMT_BPF_H
#define _VGPU_SIMT_BPF_H

#include <linux/filter.h>
#include <linux/stddef.h>

#include "native.h"
#include "warp.h"

/*
 * Registers of eBPF. R0 to R2 are for the length of one instruction. What is in R3 to R5 is lost
 * in a call. Integer registers of the lane have their homes in R3 to R7, and else in its memory.
 */
#define SIMT_BPF_A	BPF_REG_0
#define SIMT_BPF_B	BPF_REG_1
#define SIMT_BPF_C	BPF_REG_2
#define SIMT_BPF_LOST	BPF_REG_3	/* the first of three */
#define SIMT_BPF_KEPT	BPF_REG_6	/* the first of two */
#define SIMT_BPF_LEFT	BPF_REG_8	/* struct simt_lone.left */
#define SIMT_BPF_LONE	BPF_REG_9	/* the struct simt_lone */
#define SIMT_BPF_HOMES	5

/* The stack pointer: what it points to is most likely private. */
#define SIMT_X_SP	2

/**
 * struct simt_bpf_where - what is likely to point to private memory
 * @x:     bit r: register x[r]
 * @words: bit w: the word at 8 * w from the stack pointer on, or 512 bytes from there, or 1024, ...
 * @reached: it is known where the lane comes from
 */
struct simt_bpf_where {
	u64 x;
	u64 words;
	bool reached;
};

/**
 * struct simt_bpf_label - places in the code, of an instruction of the program
 * @head: where those who jump there go, and what looks whether the lane is to stop; of a block only
 * @on:   likewise, if lanes do not meet there; of a block only
 * @body: the instruction itself
 * @exit: leaves the code; of a block only
 * @meet: looks whether lanes meet there, as the instruction is right; of a block only
 * @slow: looks for an access in other memory; or leaves the code for a jump
 * @step: executes an access by the interpreter
 * @back: what comes after the instruction
 * @base: of an access of a run: the offset from the stack pointer that the run's place has
 * @run:  instructions of the run that begins there: accesses by the stack pointer; 0: none does
 * @behind: how many of the run come before this one; 0: it is in none, or its first
 * @last: struct simt_bpf.last after an access, or after the run of accesses that begins there
 * @has_last: there is one
 * @is_private: what rs1 points to is likely to be private
 * @where: where the instruction begins; of a block only
 * @nest: how many loops it is in, for the first instruction of the program; how many more than the
 *        one before it, for others
 */
struct simt_bpf_label {
	u32 head;
	u32 on;
	u32 body;
	u32 exit;
	u32 meet;
	u32 slow;
	u32 step;
	u32 back;
	s32 base;
	u8 run;
	u8 behind;
	u8 last;
	bool has_last;
	bool is_private;
	s32 nest;
	struct simt_bpf_where where;
};

/**
 * struct simt_bpf_ways - places in the code that belong to no instruction of the program
 * @out:  leaves it, at the instruction in A, with SIMT_NATIVE_LEFT
 * @met:  likewise, with SIMT_NATIVE_MET
 * @stopped: likewise, with SIMT_NATIVE_STEP; A means nothing
 * @any:  goes to the head of the block in A
 * @ret:  likewise, which is most likely where a call comes back
 */
struct simt_bpf_ways {
	u32 out;
	u32 met;
	u32 stopped;
	u32 any;
	u32 ret;
};

/**
 * struct simt_bpf - a translation
 * @program: the program
 * @isa:    the interpreter that works with the code
 * @marks:  struct simt_native.marks
 * @label:  for each instruction, and one more
 * @list:   likewise, for searches
 * @insn:   the code; NULL: its length is counted
 * @most:   length of @insn
 * @nr:     length so far
 * @far:    jumps may be farther than 16 bits tell
 * @too_far: one was
 * @unreached: a function is farther away than a call tells
 * @ways:   other places
 * @calls:  of functions, in what was written of the instruction so far
 * @steps:  those of the interpreter
 * @executed: how many instructions of the program are executed, as an estimate
 * @called: how often functions are called, likewise
 * @ps:     what the instructions take, likewise
 * @last:   the lane's register that the last float is in, by simt_value_fn
 * @last_type: enum simt_last of it
 * @home:   of the lane's integer register; 0: its memory
 * @guest:  the lane's register that has its home in SIMT_BPF_LOST + i; 0: none
 */
struct simt_bpf {
	const struct simt_program *program;
	const struct simt_isa *isa;
	u8 *marks;
	struct simt_bpf_label *label;
	u32 *list;
	struct bpf_insn *insn;
	u32 most;
	u32 nr;
	bool far;
	bool too_far;
	bool unreached;
	struct simt_bpf_ways ways;
	u32 calls;
	u32 steps;
	u64 executed;
	u64 called;
	u64 ps;
	u8 last;
	u8 last_type;
	u8 home[SIMT_X_REGS];
	u8 guest[SIMT_BPF_HOMES];
};

/* Where a register of the lane is in its memory, and another field. */
#define SIMT_BPF_X(r)		(offsetof(struct simt_lone, x) + 8 * (r))
#define SIMT_BPF_F(r)		(offsetof(struct simt_lone, f) + 8 * (r))
#define SIMT_BPF_FIELD(name)	offsetof(struct simt_lone, name)

/* bpf_emit.c: one instruction of eBPF each, or a few */
void simt_bpf_put(struct simt_bpf *b, u8 code, u8 dst, u8 src, s16 off, s32 imm);
void simt_bpf_rr(struct simt_bpf *b, u8 op, u8 dst, u8 src);
void simt_bpf_ri(struct simt_bpf *b, u8 op, u8 dst, s32 imm);
void simt_bpf_mov(struct simt_bpf *b, u8 dst, u8 src);
void simt_bpf_set(struct simt_bpf *b, u8 dst, u64 value);
void simt_bpf_sext(struct simt_bpf *b, u8 reg, unsigned int bits);
void simt_bpf_load(struct simt_bpf *b, u8 size, u8 dst, u8 from, s16 off);
void simt_bpf_store(struct simt_bpf *b, u8 size, u8 to, s16 off, u8 src);
void simt_bpf_jump(struct simt_bpf *b, u32 to);
void simt_bpf_aim(struct simt_bpf *b, u32 from, u32 to);
void simt_bpf_jump_rr(struct simt_bpf *b, u8 op, u8 dst, u8 src, u32 to);
void simt_bpf_jump_ri(struct simt_bpf *b, u8 op, u8 dst, s32 imm, u32 to);
void simt_bpf_call(struct simt_bpf *b, u64 (*fn)(u64, u64, u64));
u8 simt_bpf_x(struct simt_bpf *b, u8 r, u8 spare);
void simt_bpf_x_to(struct simt_bpf *b, u8 r, u8 to);
void simt_bpf_x_set(struct simt_bpf *b, u8 r, u8 from);
void simt_bpf_leave_homes(struct simt_bpf *b, u8 first, u8 nr);
void simt_bpf_enter_homes(struct simt_bpf *b, u8 first, u8 nr);
void simt_bpf_get_regs(struct simt_bpf *b);
void simt_bpf_put_regs(struct simt_bpf *b);
void simt_bpf_f_set(struct simt_bpf *b, u8 r, u8 from);
void simt_bpf_last_again(struct simt_bpf *b, const struct simt_bpf_label *label);
void simt_bpf_step(struct simt_bpf *b, const struct simt_insn *i);

/* bpf_jump.c: instructions that go elsewhere */
bool simt_bpf_branches(const struct simt_insn *i);
bool simt_bpf_jumps(const struct simt_insn *i);
bool simt_bpf_calls(const struct simt_insn *i);
bool simt_bpf_ends(const struct simt_insn *i);
u32 simt_bpf_target(const struct simt_bpf *b, const struct simt_insn *i);
u32 simt_bpf_far_target(const struct simt_bpf *b, const struct simt_insn *i);

/* bpf_where.c */
void simt_bpf_wheres(struct simt_bpf *b);

/* bpf_op.c: operations */
bool simt_bpf_op(struct simt_bpf *b, const struct simt_insn *i);
bool simt_bpf_is_op(unsigned int op);
bool simt_bpf_value(struct simt_bpf *b, const struct simt_insn *i);

/* bpf_mem.c: loads and stores */
bool simt_bpf_is_access(unsigned int op);
bool simt_bpf_is_float(unsigned int op);
void simt_bpf_runs(struct simt_bpf *b);
void simt_bpf_access(struct simt_bpf *b, const struct simt_insn *i);
void simt_bpf_access_slow(struct simt_bpf *b, const struct simt_insn *i);

#endif /* _VGPU_SIMT_BPF_H */
