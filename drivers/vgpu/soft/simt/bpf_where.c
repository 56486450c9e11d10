// SPDX-License-Identifier: GPL-2.0
/*
 * Where loads and stores of a program are likely to find their memory: see bpf.c. What comes from
 * the stack pointer by additions points to private memory. That is followed through registers, what
 * is saved on the stack, jumps and calls.
 *
 * It says only what the code tries first, and need not be right. So of what may come from several
 * places the private one counts, and jumps to computed addresses are guessed.
 */
#include <linux/bits.h>

#include "bpf.h"

/* Most programs need fewer passes. */
#define SIMT_WHERE_PASSES	16

/* Registers by their use in calls: a0 to a7 are arguments, and those and t0 to t6 are lost. */
#define SIMT_X_ARGS	(0xffULL << 10)
#define SIMT_X_LOST	(SIMT_X_ARGS | 7ULL << 5 | 0xfULL << 28)

#define SIMT_WHERE_SP	BIT_ULL(SIMT_X_SP)

/**
 * struct simt_bpf_walk - a pass through the program
 * @now:   before the instruction
 * @jump:  likewise, before the last jump to a computed address
 * @calls: arguments of calls of such
 * @ended: the instruction does not follow the one before it
 * @more:  something was found that other instructions have not seen
 */
struct simt_bpf_walk {
	struct simt_bpf_where now;
	struct simt_bpf_where jump;
	u64 calls;
	bool ended;
	bool more;
};

static bool simt_where_is(const struct simt_bpf_where *where, u8 r)
{
	return where->x >> r & 1;
}

/* The stack pointer moves by @bytes. */
static u64 simt_where_moved(u64 words, u32 bytes)
{
	u32 by = bytes / 8 % 64;

	return by ? words >> by | words << (64 - by) : words;
}

static u64 simt_where_word(const struct simt_insn *i)
{
	return 1ULL << ((u32)i->imm / 8 % 64);
}

/* Whether the integer that the instruction computes is likely to point to private memory. */
static bool simt_where_result(const struct simt_bpf_where *where, const struct simt_insn *i)
{
	switch (i->op) {
	case SIMT_ADDI:
	case SIMT_CZERO_EQZ:
	case SIMT_CZERO_NEZ:
		return simt_where_is(where, i->rs1);
	case SIMT_ANDI:
		return i->imm < 0 && simt_where_is(where, i->rs1);
	case SIMT_ADD:
	case SIMT_OR:
	case SIMT_MIN:
	case SIMT_MAX:
	case SIMT_MINU:
	case SIMT_MAXU:
		return simt_where_is(where, i->rs1) || simt_where_is(where, i->rs2);
	case SIMT_SUB:
		return simt_where_is(where, i->rs1) && !simt_where_is(where, i->rs2);
	case SIMT_ADD_UW:
	case SIMT_SH1ADD:
	case SIMT_SH2ADD:
	case SIMT_SH3ADD:
	case SIMT_SH1ADD_UW:
	case SIMT_SH2ADD_UW:
	case SIMT_SH3ADD_UW:
		return simt_where_is(where, i->rs2);
	case SIMT_LD:
		return i->rs1 == SIMT_X_SP && where->words & simt_where_word(i);
	default:
		return false;
	}
}

/* Whether it computes no integer. */
static bool simt_where_no_result(const struct simt_bpf *b, const struct simt_insn *i)
{
	return simt_bpf_is_float(i->op) || b->isa->values[i->op].to == SIMT_VALUE_F ||
	       i->op == SIMT_FMV_W_X || i->op == SIMT_FMV_D_X || simt_op_exact(i->op);
}

static void simt_where_insn(const struct simt_bpf *b, struct simt_bpf_where *where,
			    const struct simt_insn *i)
{
	bool result;

	if (i->op == SIMT_SD && i->rs1 == SIMT_X_SP) {
		where->words &= ~simt_where_word(i);
		if (simt_where_is(where, i->rs2))
			where->words |= simt_where_word(i);
	}
	if (simt_where_no_result(b, i))
		return;
	if (i->op == SIMT_ADDI && i->rd == SIMT_X_SP)
		where->words = simt_where_moved(where->words, i->imm);
	result = simt_where_result(where, i);
	where->x = (where->x & ~(1ULL << i->rd)) | (u64)result << i->rd | SIMT_WHERE_SP;
}

static void simt_where_merge(struct simt_bpf *b, struct simt_bpf_walk *walk, u32 to,
			     struct simt_bpf_where where)
{
	struct simt_bpf_where *into = &b->label[to].where;

	where.reached = true;
	if (where.x & ~into->x || where.words & ~into->words || !into->reached)
		walk->more = true;
	into->x |= where.x;
	into->words |= where.words;
	into->reached = true;
}

/* A block begins, which may be one that only computed addresses lead to. */
static void simt_where_begin(struct simt_bpf *b, struct simt_bpf_walk *walk, u32 at)
{
	struct simt_bpf_where *where = &b->label[at].where;

	if (!walk->ended)
		simt_where_merge(b, walk, at, walk->now);
	walk->now = *where;
	if (where->reached)
		return;
	walk->now = walk->jump;
	walk->now.x |= walk->calls | SIMT_WHERE_SP;
}

/* What the instruction hands on to where it goes. */
static void simt_where_go(struct simt_bpf *b, struct simt_bpf_walk *walk,
			  const struct simt_insn *i)
{
	u32 target = simt_bpf_jumps(i) ? simt_bpf_target(b, i) : simt_bpf_far_target(b, i);
	const struct simt_bpf_where call = {
		.x = walk->now.x & (SIMT_X_ARGS | SIMT_WHERE_SP),
	};
	bool calls = simt_bpf_calls(i);

	if (target <= b->program->nr)
		simt_where_merge(b, walk, target, calls ? call : walk->now);
	else if (i->op == SIMT_JALR && calls)
		walk->calls |= call.x;
	else if (i->op == SIMT_JALR && i->rs1 != 1 && i->rs1 != 5)
		walk->jump = walk->now;
	if (calls)
		walk->now.x &= ~SIMT_X_LOST;
	walk->ended = !calls && simt_bpf_ends(i) && i->op != SIMT_BARRIER;
}

/* One pass. Returns whether another one may find more. */
static bool simt_where_pass(struct simt_bpf *b, u64 *calls)
{
	struct simt_bpf_walk walk = { .now.x = SIMT_WHERE_SP, .calls = *calls };
	const struct simt_insn *i;
	u32 at;

	for (at = 0; at < b->program->nr; at++) {
		i = &b->program->insn[at];
		if (b->marks[at] & SIMT_MARK_BLOCK)
			simt_where_begin(b, &walk, at);
		b->label[at].is_private = simt_where_is(&walk.now, i->rs1);
		simt_where_insn(b, &walk.now, i);
		simt_where_go(b, &walk, i);
	}
	walk.more |= walk.calls != *calls;
	*calls = walk.calls;
	return walk.more;
}

/**
 * simt_bpf_wheres() - guess which accesses are to private memory
 * @b: the translation, whose blocks are known; sets struct simt_bpf_label.is_private
 * Context: any.
 */
void simt_bpf_wheres(struct simt_bpf *b)
{
	unsigned int passes = 0;
	u64 calls = 0;

	while (simt_where_pass(b, &calls) && ++passes < SIMT_WHERE_PASSES)
		;
}
