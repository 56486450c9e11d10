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

#include "encoding.h"
#include "float.h"
#include "program.h"

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
	[FORM_FENCE]	= { 0x0000707f, HAS_IMM_I },
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

#define BY_MAJOR(form, name, match)	{ match, SIMT_##name, FORM_##form },
static const struct simt_encoding simt_load[] = { SIMT_ENC_LOAD(BY_MAJOR) };
static const struct simt_encoding simt_load_fp[] = { SIMT_ENC_LOAD_FP(BY_MAJOR) };
static const struct simt_encoding simt_custom_0[] = { SIMT_ENC_CUSTOM_0(BY_MAJOR) };

static const struct simt_encoding simt_misc_mem[] = {
	SIMT_ENC_MISC_MEM(BY_MAJOR) SIMT_ENC_FENCE_I(BY_MAJOR)
};

static const struct simt_encoding simt_op_imm[] = { SIMT_ENC_OP_IMM(BY_MAJOR) };
static const struct simt_encoding simt_auipc[] = { SIMT_ENC_AUIPC(BY_MAJOR) };
static const struct simt_encoding simt_op_imm_32[] = { SIMT_ENC_OP_IMM_32(BY_MAJOR) };
static const struct simt_encoding simt_store[] = { SIMT_ENC_STORE(BY_MAJOR) };
static const struct simt_encoding simt_store_fp[] = { SIMT_ENC_STORE_FP(BY_MAJOR) };
static const struct simt_encoding simt_amo[] = { SIMT_ENC_AMO(BY_MAJOR) };
static const struct simt_encoding simt_op[] = { SIMT_ENC_OP(BY_MAJOR) };
static const struct simt_encoding simt_lui[] = { SIMT_ENC_LUI(BY_MAJOR) };
static const struct simt_encoding simt_op_32[] = { SIMT_ENC_OP_32(BY_MAJOR) };
static const struct simt_encoding simt_madd[] = { SIMT_ENC_MADD(BY_MAJOR) };
static const struct simt_encoding simt_msub[] = { SIMT_ENC_MSUB(BY_MAJOR) };
static const struct simt_encoding simt_nmsub[] = { SIMT_ENC_NMSUB(BY_MAJOR) };
static const struct simt_encoding simt_nmadd[] = { SIMT_ENC_NMADD(BY_MAJOR) };
static const struct simt_encoding simt_op_fp[] = { SIMT_ENC_OP_FP(BY_MAJOR) };
static const struct simt_encoding simt_branch[] = { SIMT_ENC_BRANCH(BY_MAJOR) };
static const struct simt_encoding simt_jalr[] = { SIMT_ENC_JALR(BY_MAJOR) };
static const struct simt_encoding simt_jal[] = { SIMT_ENC_JAL(BY_MAJOR) };
static const struct simt_encoding simt_system[] = { SIMT_ENC_SYSTEM(BY_MAJOR) };

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

#define BY_OP(form, name, match)	\
	[SIMT_##name] = { match, SIMT_##name, FORM_##form },
static const struct simt_encoding simt_by_op[SIMT_NR_OPS] = { SIMT_ENC_ALL(BY_OP) };

/**
 * simt_encode - make a word of a decoded instruction
 * @insn: what simt_decode() has made, also after simt_program_finish()
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
	encoding = &simt_by_op[op == SIMT_CSR_ID ? SIMT_FCSR_RS : op];
	if (!encoding->match)
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
	program->shares = false;
	program->written = 0;
	program->floats = 0;
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

/* Whether rd is a float register. */
static bool simt_writes_float(const struct simt_insn *insn)
{
	const struct simt_encoding *encoding = &simt_by_op[insn->op];

	return encoding->match && simt_forms[encoding->form].has & HAS_FD;
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
		program->shares |= simt_op_atomic(insn->op) || insn->op == SIMT_FENCE;
		if (simt_writes_float(insn))
			program->floats |= 1U << insn->rd;
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
