// SPDX-License-Identifier: GPL-2.0
/*
 * Translates a program to eBPF, of which the kernel's compiler makes code of this CPU for lanes
 * that run alone (lone.c). What is rare, or slow anyway, the code has the interpreter do, and what
 * is neither, but has no equal in eBPF, functions (struct simt_isa.values).
 *
 * No verifier looks at the code. It is safe because of how it is made: each access to memory is by
 * the TLB or within private memory (bpf_mem.c), jumps go to places in the code only, there is no
 * jump to a computed address, and each block looks whether the lane's time is over.
 *
 * The code consists of blocks. At the first instruction of one it can be entered and left. A jump
 * to an address that a program has computed is a search among the blocks.
 *
 * Pure logic, compiled in user space too. Allocates nothing.
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "bpf.h"

/* A block that no jump divides ends after so many instructions: the lane may have to stop. */
#define SIMT_BLOCK_MOST	64

/* An instruction in a loop counts as so many more for the choice of registers, as a logarithm. */
#define SIMT_NEST_BITS	5
#define SIMT_NEST_MOST	5

#ifdef __x86_64__
#define SIMT_BPF_TSO	true
#else
#define SIMT_BPF_TSO	false
#endif

/* Estimates in ps: an instruction of eBPF, a call of a function, and of the interpreter. */
#define SIMT_PS_OP	70
#define SIMT_PS_CALL	1000
#define SIMT_PS_STEP	5000
#define SIMT_PS_MOST	10000	/* on the average */

/* Finds blocks, and how many loops each instruction is in. */
static void simt_bpf_blocks(struct simt_bpf *b)
{
	const struct simt_program *program = b->program;
	const struct simt_insn *i;
	u32 at, target, length = 0;

	memset(b->marks, 0, program->nr + 1);
	memset(b->label, 0, (program->nr + 1) * sizeof(*b->label));
	b->marks[0] |= SIMT_MARK_BLOCK | SIMT_MARK_HEAD;
	b->marks[program->nr] |= SIMT_MARK_BLOCK | SIMT_MARK_HEAD;
	for (at = 0; at < program->nr; at++) {
		i = &program->insn[at];
		target = simt_bpf_jumps(i) ? simt_bpf_target(b, i) : simt_bpf_far_target(b, i);
		if (target <= program->nr)
			b->marks[target] |= SIMT_MARK_BLOCK | SIMT_MARK_HEAD;
		if (target <= at && !simt_bpf_calls(i)) {
			b->label[target].nest++;
			b->label[at + 1].nest--;
		}
		if (simt_bpf_ends(i))
			b->marks[at + 1] |= SIMT_MARK_BLOCK | SIMT_MARK_HEAD;
		else if (simt_bpf_branches(i))
			b->marks[at + 1] |= SIMT_MARK_BLOCK;
		if (simt_bpf_calls(i))
			b->marks[at + 1] |= SIMT_MARK_RETURN;
	}
	for (at = 0; at <= program->nr; at++) {
		if (at)
			b->label[at].nest += b->label[at - 1].nest;
		if (length == SIMT_BLOCK_MOST)
			b->marks[at] |= SIMT_MARK_BLOCK | SIMT_MARK_HEAD;
		length = b->marks[at] & SIMT_MARK_BLOCK ? 1 : length + 1;
	}
}

/* How often the instruction is executed, as an estimate. */
static u64 simt_bpf_often(const struct simt_bpf *b, u32 at)
{
	return 1ULL << min(b->label[at].nest, SIMT_NEST_MOST) * SIMT_NEST_BITS;
}

/*
 * Gives homes to the registers that are used most. One that calls overwrite, and that is stored and
 * loaded for each, must have more uses than that.
 */
static void simt_bpf_homes(struct simt_bpf *b)
{
	static const u8 homes[SIMT_BPF_HOMES] = {
		SIMT_BPF_KEPT, SIMT_BPF_KEPT + 1, SIMT_BPF_LOST + 2, SIMT_BPF_LOST,
		SIMT_BPF_LOST + 1,
	};
	u64 uses[SIMT_X_REGS] = {};
	unsigned int r, k, best;
	u32 at;

	for (at = 0; at < b->program->nr; at++) {
		const struct simt_insn *i = &b->program->insn[at];
		const struct simt_value *value = &b->isa->values[i->op];
		u64 use = simt_bpf_often(b, at);

		if (value->to != SIMT_VALUE_F && !simt_bpf_is_float(i->op))
			uses[i->rd] += use;
		if (value->from[0] != SIMT_VALUE_F)
			uses[i->rs1] += use;
		if (value->from[0] != SIMT_VALUE_F && !simt_bpf_is_float(i->op))
			uses[i->rs2] += use;
	}
	for (k = 0; k < SIMT_BPF_HOMES; k++) {
		best = 0;
		for (r = 1; r < SIMT_X_SINK; r++)
			if (uses[r] && !b->home[r] && (!best || uses[r] > uses[best]))
				best = r;
		if (!best || (homes[k] < SIMT_BPF_KEPT && uses[best] <= 2 * b->called))
			return;
		b->home[best] = homes[k];
		b->guest[homes[k] - SIMT_BPF_LOST] = best;
	}
}

static bool simt_bpf_is_fence(const struct simt_insn *i)
{
	return SIMT_BPF_TSO && i->op == SIMT_FENCE;
}

/* Here each atomic instruction is a fence, and all that is less than a full one comes unasked. */
static void simt_bpf_fence(struct simt_bpf *b, const struct simt_insn *i)
{
	if (!simt_fence_full(i->imm))
		return;
	simt_bpf_set(b, SIMT_BPF_A, 0);
	simt_bpf_put(b, BPF_STX | BPF_ATOMIC | BPF_DW, SIMT_BPF_LONE, SIMT_BPF_A,
		     SIMT_BPF_FIELD(at), BPF_ADD);
	b->steps++;	/* takes as long */
}

/* The instruction's cost as the interpreter has it, unless a step counts it. */
static u32 simt_bpf_cost(const struct simt_bpf *b, const struct simt_insn *i)
{
	const struct simt_value *value = &b->isa->values[i->op];

	if (simt_bpf_is_access(i->op) || simt_bpf_is_fence(i))
		return SIMT_LONE_APART;
	if (value->from[0] == SIMT_VALUE_F || value->to == SIMT_VALUE_F)
		return SIMT_LONE_FLOAT;
	return value->fn || simt_bpf_jumps(i) || i->op == SIMT_JALR || simt_bpf_is_op(i->op);
}

/* The costs of a block. */
static u32 simt_bpf_costs(const struct simt_bpf *b, u32 at)
{
	u32 cost = 0;

	do {
		cost += simt_bpf_cost(b, &b->program->insn[at++]);
	} while (at < b->program->nr && !(b->marks[at] & SIMT_MARK_BLOCK));
	return cost;
}

/* The begin of a block. */
static void simt_bpf_begin(struct simt_bpf *b, u32 at)
{
	struct simt_bpf_label *label = &b->label[at];

	b->last_type = SIMT_LAST_NONE;
	label->head = b->nr;
	/* Who is there when his time is over has met the others: he does not begin there again. */
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_FIELD(meet_at));
	simt_bpf_jump_ri(b, BPF_JEQ, SIMT_BPF_A, at, label->meet);
	label->on = b->nr;
	if (b->marks[at] & SIMT_MARK_HEAD)
		simt_bpf_jump_ri(b, BPF_JSLE, SIMT_BPF_LEFT, 0, label->exit);
	label->body = b->nr;
	if (at < b->program->nr)
		simt_bpf_ri(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_LEFT, simt_bpf_costs(b, at));
}

static void simt_bpf_depth(struct simt_bpf *b, s32 more)
{
	simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_B, SIMT_BPF_LONE, SIMT_BPF_FIELD(depth));
	simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_B, more);
	simt_bpf_store(b, BPF_W, SIMT_BPF_LONE, SIMT_BPF_FIELD(depth), SIMT_BPF_B);
}

static void simt_bpf_link(struct simt_bpf *b, const struct simt_insn *i)
{
	if (i->rd == SIMT_X_SINK)
		return;
	simt_bpf_set(b, SIMT_BPF_B, VGPU_HW_VA_IMAGE + 4 * (u64)(i + 1 - b->program->insn));
	simt_bpf_x_set(b, i->rd, SIMT_BPF_B);
}

/* Goes to a target, and notes where it comes from. */
static void simt_bpf_go(struct simt_bpf *b, const struct simt_insn *i, u32 target)
{
	simt_bpf_link(b, i);
	if (simt_bpf_calls(i))
		simt_bpf_depth(b, 1);
	simt_bpf_jump(b, b->label[target].head);
}

static void simt_bpf_jalr(struct simt_bpf *b, const struct simt_insn *i)
{
	struct simt_bpf_label *label = &b->label[i - b->program->insn];
	bool ret = i->rd == SIMT_X_SINK && (i->rs1 == 1 || i->rs1 == 5);
	u32 target = simt_bpf_far_target(b, i);

	if (target != U32_MAX && !ret) {
		simt_bpf_go(b, i, target);
		return;
	}
	simt_bpf_x_to(b, i->rs1, SIMT_BPF_A);
	simt_bpf_ri(b, BPF_ALU64 | BPF_ADD, SIMT_BPF_A, i->imm);
	simt_bpf_ri(b, BPF_ALU64 | BPF_AND, SIMT_BPF_A, ~1);
	simt_bpf_ri(b, BPF_ALU64 | BPF_SUB, SIMT_BPF_A, (s32)VGPU_HW_VA_IMAGE);
	simt_bpf_jump_ri(b, BPF_JSET, SIMT_BPF_A, 3, label->slow);
	simt_bpf_ri(b, BPF_ALU64 | BPF_RSH, SIMT_BPF_A, 2);
	simt_bpf_jump_ri(b, BPF_JGT, SIMT_BPF_A, b->program->nr, label->slow);
	simt_bpf_link(b, i);
	if (simt_bpf_calls(i))
		simt_bpf_depth(b, 1);
	if (ret) {
		simt_bpf_depth(b, -1);
		simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_C, SIMT_BPF_LONE,
			      SIMT_BPF_FIELD(meet_depth));
		simt_bpf_jump_rr(b, BPF_JSLT, SIMT_BPF_B, SIMT_BPF_C, b->ways.met);
	}
	simt_bpf_jump(b, ret ? b->ways.ret : b->ways.any);
}

static void simt_bpf_branch(struct simt_bpf *b, const struct simt_insn *i, u32 to)
{
	static const u8 ops[] = { BPF_JEQ, BPF_JNE, BPF_JSLT, BPF_JSGE, BPF_JLT, BPF_JGE };
	u8 op = ops[i->op - SIMT_BEQ], x = simt_bpf_x(b, i->rs1, SIMT_BPF_A);

	if (i->rs2)
		simt_bpf_jump_rr(b, op, x, simt_bpf_x(b, i->rs2, SIMT_BPF_B), to);
	else
		simt_bpf_jump_ri(b, op, x, 0, to);
}

/* Leaves the code at the instruction. */
static void simt_bpf_leave(struct simt_bpf *b, const struct simt_insn *i, u32 out)
{
	simt_bpf_set(b, SIMT_BPF_A, i - b->program->insn);
	simt_bpf_jump(b, out);
}

static void simt_bpf_insn(struct simt_bpf *b, const struct simt_insn *i)
{
	u32 target = simt_bpf_jumps(i) ? simt_bpf_target(b, i) : 0;

	if (target > b->program->nr || i->op == SIMT_BARRIER || i->op == SIMT_ILLEGAL)
		simt_bpf_leave(b, i, b->ways.out);
	else if (i->op == SIMT_JAL)
		simt_bpf_go(b, i, target);
	else if (i->op == SIMT_JALR)
		simt_bpf_jalr(b, i);
	else if (simt_bpf_branches(i))
		simt_bpf_branch(b, i, b->label[target].head);
	else if (simt_bpf_is_access(i->op))
		simt_bpf_access(b, i);
	else if (simt_bpf_is_fence(i))
		simt_bpf_fence(b, i);
	else if (!simt_bpf_op(b, i) && !simt_bpf_value(b, i))
		simt_bpf_step(b, i);
}

/* What is apart from the code of the program. */
static void simt_bpf_apart(struct simt_bpf *b, u32 at)
{
	const struct simt_insn *i = &b->program->insn[at];
	struct simt_bpf_label *label = &b->label[at];

	if (b->marks[at] & SIMT_MARK_BLOCK) {
		/* The block may be where lanes meet. A: at */
		label->meet = b->nr;
		simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_B, SIMT_BPF_LONE,
			      SIMT_BPF_FIELD(depth));
		simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_C, SIMT_BPF_LONE,
			      SIMT_BPF_FIELD(meet_depth));
		simt_bpf_jump_rr(b, BPF_JEQ, SIMT_BPF_B, SIMT_BPF_C, b->ways.met);
		simt_bpf_jump(b, label->on);
		label->exit = b->nr;
		simt_bpf_leave(b, i, b->ways.out);
	}
	if (at == b->program->nr)
		return;
	if (simt_bpf_is_access(i->op)) {
		simt_bpf_access_slow(b, i);
	} else if (i->op == SIMT_JALR) {
		label->slow = b->nr;
		simt_bpf_leave(b, i, b->ways.out);
	}
}

/**
 * struct simt_bpf_search - a search for the block in A
 * @list: numbers of the blocks, ascending
 * @body: goes to its first instruction, else to its head
 * @none: where the search goes if there is no such block
 */
struct simt_bpf_search {
	const u32 *list;
	bool body;
	u32 none;
};

/* Searches @nr blocks from @first on, by halves. */
static void simt_bpf_halve(struct simt_bpf *b, const struct simt_bpf_search *search, u32 first,
			   u32 nr)
{
	const struct simt_bpf_label *label;
	u32 middle = first + nr / 2, from;

	if (nr <= 1) {
		if (nr) {
			label = &b->label[search->list[first]];
			simt_bpf_jump_ri(b, BPF_JEQ, SIMT_BPF_A, search->list[first],
					 search->body ? label->body : label->head);
		}
		simt_bpf_jump(b, search->none);
		return;
	}
	simt_bpf_put(b, BPF_JMP | BPF_JLT | BPF_K, SIMT_BPF_A, 0, 1, search->list[middle]);
	from = b->nr;
	simt_bpf_jump(b, from);
	simt_bpf_halve(b, search, first, nr / 2);
	simt_bpf_aim(b, from, b->nr);
	simt_bpf_halve(b, search, middle, nr - nr / 2);
}

static u32 simt_bpf_search(struct simt_bpf *b, u8 mark, bool body, u32 none)
{
	struct simt_bpf_search search = { .list = b->list, .body = body, .none = none };
	u32 begin = b->nr, nr = 0, at;

	for (at = 0; at <= b->program->nr; at++)
		if (b->marks[at] & mark)
			b->list[nr++] = at;
	simt_bpf_halve(b, &search, 0, nr);
	return begin;
}

/* Leaves the code: A is the instruction, and @end what is returned. */
static u32 simt_bpf_exit(struct simt_bpf *b, enum simt_native_end end)
{
	u32 begin = b->nr;

	simt_bpf_store(b, BPF_DW, SIMT_BPF_LONE, SIMT_BPF_FIELD(at), SIMT_BPF_A);
	simt_bpf_store(b, BPF_W, SIMT_BPF_LONE, SIMT_BPF_FIELD(left), SIMT_BPF_LEFT);
	if (end == SIMT_NATIVE_MET)
		simt_bpf_put_regs(b);
	else
		simt_bpf_leave_homes(b, SIMT_BPF_LOST, SIMT_BPF_HOMES);
	simt_bpf_set(b, SIMT_BPF_A, end);
	simt_bpf_put(b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return begin;
}

/* Notes what the program's instruction takes, whose code begins at @begin. */
static void simt_bpf_note(struct simt_bpf *b, u32 at, u32 begin)
{
	u64 often = simt_bpf_often(b, at);

	b->executed += often;
	b->called += often * b->calls;
	b->ps += often * ((b->nr - begin) * SIMT_PS_OP + b->calls * SIMT_PS_CALL +
			  b->steps * SIMT_PS_STEP);
	b->calls = 0;
	b->steps = 0;
}

/* Writes all of it. Jumps forward are right if it has been written before. */
static void simt_bpf_write(struct simt_bpf *b)
{
	u32 nr = b->program->nr, at, begin;

	b->nr = 0;
	b->too_far = false;
	b->executed = 0;
	b->calls = 0;
	b->steps = 0;
	b->called = 0;
	b->ps = 0;
	simt_bpf_mov(b, SIMT_BPF_LONE, BPF_REG_1);
	simt_bpf_load(b, BPF_MEMSX | BPF_W, SIMT_BPF_LEFT, SIMT_BPF_LONE, SIMT_BPF_FIELD(left));
	simt_bpf_get_regs(b);
	simt_bpf_load(b, BPF_MEM | BPF_DW, SIMT_BPF_A, SIMT_BPF_LONE, SIMT_BPF_FIELD(at));
	simt_bpf_search(b, SIMT_MARK_BLOCK, true, b->ways.out);
	for (at = 0; at <= nr; at++) {
		begin = b->nr;
		if (b->marks[at] & SIMT_MARK_BLOCK)
			simt_bpf_begin(b, at);
		simt_bpf_insn(b, &b->program->insn[at]);
		simt_bpf_note(b, at, begin);
	}
	for (at = 0; at <= nr; at++)
		simt_bpf_apart(b, at);
	b->ways.any = simt_bpf_search(b, SIMT_MARK_BLOCK, false, b->ways.out);
	b->ways.ret = simt_bpf_search(b, SIMT_MARK_RETURN, false, b->ways.any);
	b->ways.out = simt_bpf_exit(b, SIMT_NATIVE_LEFT);
	b->ways.met = simt_bpf_exit(b, SIMT_NATIVE_MET);
	b->ways.stopped = simt_bpf_exit(b, SIMT_NATIVE_STEP);
}

/**
 * simt_native_ps() - estimate what an instruction of a program's code takes
 * @scratch: as simt_native_translate() has left it
 * Context: any.
 * Return: the time in ps, on the average, by how often each is likely to be executed.
 */
u32 simt_native_ps(const void *scratch)
{
	const struct simt_bpf *b = scratch;

	return min_t(u64, div64_u64(b->ps, b->executed), SIMT_PS_MOST);
}

size_t simt_native_scratch_bytes(const struct simt_program *program)
{
	size_t each = sizeof(struct simt_bpf_label) + sizeof(u32);

	return sizeof(struct simt_bpf) + (program->nr + 1) * each;
}

/**
 * simt_native_translate() - translate a program to eBPF
 * @program: the program
 * @isa: the interpreter that works with the code
 * @marks: a byte per instruction, and one more: set to struct simt_native.marks
 * @scratch: simt_native_scratch_bytes() of memory, in which nothing is kept
 * @insn: the code, or NULL
 * @most: length of @insn
 * Context: any.
 * Return: the length of the code. If it is more than @most, @insn is not complete. 0: there can be
 * none here, as a function that it calls is too far away.
 */
u32 simt_native_translate(const struct simt_program *program, const struct simt_isa *isa, u8 *marks,
			  void *scratch, struct bpf_insn *insn, u32 most)
{
	struct simt_bpf *b = scratch;

	*b = (struct simt_bpf) { .program = program, .isa = isa, .marks = marks };
	b->label = (struct simt_bpf_label *)(b + 1);
	b->list = (u32 *)(b->label + program->nr + 1);
	simt_bpf_blocks(b);
	simt_bpf_runs(b);
	simt_bpf_wheres(b);
	simt_bpf_write(b);	/* finds where calls are */
	simt_bpf_homes(b);
	simt_bpf_write(b);
	simt_bpf_write(b);
	if (b->too_far) {
		b->far = true;
		simt_bpf_write(b);
	}
	b->insn = insn;
	b->most = most;
	if (insn)
		simt_bpf_write(b);
	return b->unreached ? 0 : b->nr;
}
