// SPDX-License-Identifier: GPL-2.0
/* Where programs jump to, for their translation to eBPF: see bpf.c. */
#include "bpf.h"

bool simt_bpf_branches(const struct simt_insn *i)
{
	static_assert(SIMT_BGEU - SIMT_BEQ == 5);
	return i->op >= SIMT_BEQ && i->op <= SIMT_BGEU;
}

bool simt_bpf_jumps(const struct simt_insn *i)
{
	return simt_bpf_branches(i) || i->op == SIMT_JAL;
}

bool simt_bpf_calls(const struct simt_insn *i)
{
	return (i->op == SIMT_JAL || i->op == SIMT_JALR) && (i->rd == 1 || i->rd == 5);
}

/* Whether the lane is never at the next instruction, unless it comes from elsewhere. */
bool simt_bpf_ends(const struct simt_insn *i)
{
	return i->op == SIMT_JAL || i->op == SIMT_JALR || i->op == SIMT_BARRIER ||
	       i->op == SIMT_ILLEGAL;
}

/* The target of a jump; above struct simt_program.nr: there is none. */
u32 simt_bpf_target(const struct simt_bpf *b, const struct simt_insn *i)
{
	return (u32)(i - b->program->insn) + (u32)i->imm;
}

/*
 * The target of a JALR after an AUIPC, with which compilers call what may be far; U32_MAX: it is
 * none, or none that is good. If lanes come to the JALR from elsewhere, it may go elsewhere, too.
 */
u32 simt_bpf_far_target(const struct simt_bpf *b, const struct simt_insn *i)
{
	u32 at = i - b->program->insn;
	u64 bytes;

	if (i->op != SIMT_JALR || !at || i[-1].op != SIMT_AUIPC || i[-1].rd != i->rs1 ||
	    b->marks[at] & SIMT_MARK_BLOCK)
		return U32_MAX;
	bytes = (u64)(at - 1) * 4 + (u64)(s64)i[-1].imm + (u64)(s64)i->imm;
	return bytes % 4 || bytes / 4 > b->program->nr ? U32_MAX : bytes / 4;
}
