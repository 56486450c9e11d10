// SPDX-License-Identifier: GPL-2.0
/*
 * Programs: decoded in pieces as well as at once, and with exact operations on floats where, and
 * only where, the program could tell the difference.
 */
#include <endian.h>

#include "vgpu_test.h"

#include <uapi/linux/vgpu_hw.h>

#include "soft/simt/float.h"
#include "soft/simt/program.h"

#define NR_MAX		4096
#define RM(rm)		((u32)(rm) << 12)

#define FADD_D(rm)	(0x02000053 | RM(rm))
#define FCVT_W_S(rm)	(0xc0000053 | RM(rm))
#define FCVT_S_W(rm)	(0xd0000053 | RM(rm))
#define FCVT_D_S(rm)	(0x42000053 | RM(rm))
#define FCVT_D_WU(rm)	(0xd2100053 | RM(rm))
#define FEQ_S		0xa0002053
#define FSGNJ_S		0x20000053
#define FMADD_S		0x00000043
#define FNMADD_S	0x0000004f
#define FMSUB_D		0x02000047
#define AMOADD_W	0x0000202f
#define LW		0x00002003
#define NOP		0x00000013

#define CSRRW(csr, rs1)	(0x00001073 | (csr) << 20 | (rs1) << 15)
#define CSRRS(csr, rs1)	(0x00002073 | (csr) << 20 | (rs1) << 15)
#define CSRRCI(csr, imm) (0x00007073 | (csr) << 20 | (imm) << 15)
#define CSRRWI(csr, imm) (0x00005073 | (csr) << 20 | (imm) << 15)

static struct simt_program *decode(const u32 *words, u32 nr, u32 piece)
{
	struct simt_program *program = malloc(simt_program_bytes(nr));
	__le32 *le = malloc(nr * sizeof(*le));
	u32 i, count;

	assert_non_null(program);
	assert_non_null(le);
	for (i = 0; i < nr; i++)
		le[i] = htole32(words[i]);
	simt_program_init(program, nr);
	for (i = 0; i < nr; i += count) {
		count = min(piece, nr - i);
		simt_program_decode(program, i, le + i, count);
	}
	simt_program_finish(program);
	free(le);
	return program;
}

/* Programs of all floats that depend on anything, and @csr. */
struct expected {
	u32 csr;
	bool exact, frm;
};

static void check_floats(const struct expected *e)
{
	const struct {
		u32 word;
		enum simt_op fast, exact;
		bool otherwise;		/* rounds otherwise than the fast one; rm 7: with frm 0 */
		bool dynamic;		/* depends on frm */
	} floats[] = {
		{ FADD_D(SIMT_RNE), SIMT_FADD_D, SIMT_FADD_D_X },
		{ FADD_D(SIMT_RTZ), SIMT_FADD_D, SIMT_FADD_D_X, true },
		{ FADD_D(SIMT_RMM), SIMT_FADD_D, SIMT_FADD_D_X, true },
		{ FADD_D(SIMT_RM_DYN), SIMT_FADD_D, SIMT_FADD_D_X, false, true },
		{ FCVT_S_W(SIMT_RNE), SIMT_FCVT_S_W, SIMT_FCVT_S_W_X },
		{ FCVT_S_W(SIMT_RUP), SIMT_FCVT_S_W, SIMT_FCVT_S_W_X, true },
		{ FCVT_S_W(SIMT_RM_DYN), SIMT_FCVT_S_W, SIMT_FCVT_S_W_X, false, true },
		{ FCVT_W_S(SIMT_RNE), SIMT_FCVT_W_S, SIMT_FCVT_W_S_X, true },
		{ FCVT_W_S(SIMT_RTZ), SIMT_FCVT_W_S, SIMT_FCVT_W_S_X },
		{ FCVT_W_S(SIMT_RM_DYN), SIMT_FCVT_W_S, SIMT_FCVT_W_S_X, true, true },
		{ FCVT_D_S(SIMT_RDN), SIMT_FCVT_D_S, SIMT_FCVT_D_S_X },
		{ FCVT_D_WU(SIMT_RM_DYN), SIMT_FCVT_D_WU, SIMT_FCVT_D_WU_X, false, true },
		{ FEQ_S, SIMT_FEQ_S, SIMT_FEQ_S_X },
		{ FSGNJ_S, SIMT_FSGNJ_S, SIMT_FSGNJ_S },
	};
	u32 words[ARRAY_SIZE(floats) + 1], i;
	struct simt_program *program;
	enum simt_op op;

	for (i = 0; i < ARRAY_SIZE(floats); i++)
		words[i] = floats[i].word;
	words[i] = e->csr;
	program = decode(words, i + 1, 3);
	check_that(program->exact == e->exact && program->frm == e->frm, "%08x: %d %d", e->csr,
		   program->exact, program->frm);
	for (i = 0; i < ARRAY_SIZE(floats); i++) {
		op = e->exact || floats[i].otherwise || (floats[i].dynamic && e->frm) ?
		     floats[i].exact : floats[i].fast;
		check_that(program->insn[i].op == op, "%08x with %08x: %d, not %d",
			   floats[i].word, e->csr, program->insn[i].op, op);
	}
	free(program);
}

static void test_floats(void **state)
{
	static const struct expected expected[] = {
		{ NOP, false, false },
		{ CSRRS(0xcc0, 0), false, false },	/* an id */
		{ CSRRS(2, 0), false, false },		/* reads frm */
		{ CSRRCI(2, 0), false, false },
		{ CSRRS(2, 5), false, true },
		{ CSRRW(2, 0), false, true },
		{ CSRRWI(2, 0), false, true },
		{ CSRRCI(2, 1), false, true },
		{ CSRRS(1, 0), true, false },		/* reads fflags */
		{ CSRRWI(1, 0), true, false },
		{ CSRRS(3, 0), true, false },		/* reads fcsr */
		{ CSRRW(3, 0), true, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(expected); i++)
		check_floats(&expected[i]);
}

/* The same wherever it is cut, with one ILLEGAL after it. */
static void test_pieces(void **state)
{
	u64 seed = test_seed();
	static u32 words[NR_MAX];
	struct simt_program *whole, *pieces;
	u32 round, i, nr;

	for (round = 0; round < 200; round++) {
		nr = random_range(&seed, 1, NR_MAX);
		for (i = 0; i < nr; i++)
			words[i] = random_next(&seed) | 3;
		whole = decode(words, nr, nr);
		pieces = decode(words, nr, random_range(&seed, 1, nr));
		assert_int_equal(whole->nr, nr);
		assert_int_equal(whole->insn[nr].op, SIMT_ILLEGAL);
		assert_int_equal(pieces->exact, whole->exact);
		assert_int_equal(pieces->frm, whole->frm);
		assert_memory_equal(pieces->insn, whole->insn, (nr + 1) * sizeof(*whole->insn));
		free(whole);
		free(pieces);
	}
}

/* Which programs have the clock looked at more often. */
static void test_slow(void **state)
{
	static const struct {
		u32 word;
		bool slow, slow_unfused;
	} cases[] = {
		{ NOP, false, false },
		{ LW, false, false },
		{ FADD_D(SIMT_RNE), false, false },
		{ FSGNJ_S, false, false },
		{ FMADD_S, false, true },
		{ FNMADD_S, false, true },
		{ FMSUB_D, false, true },
		{ FADD_D(SIMT_RMM), true, true },
		{ FMADD_S | RM(SIMT_RTZ), true, true },
		{ AMOADD_W, true, true },
	};
	struct simt_program *program;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const u32 words[] = { NOP, NOP, cases[i].word };

		program = decode(words, ARRAY_SIZE(words), 1);
		assert_int_not_equal(program->insn[2].op, SIMT_ILLEGAL);
		check_that(simt_program_slow(program, true) == cases[i].slow &&
			   simt_program_slow(program, false) == cases[i].slow_unfused,
			   "%#x", cases[i].word);
		free(program);
	}
}

/* A decoded instruction is all that is kept of its word: one that is made of it is as good. */
static void check_word(u32 word)
{
	struct simt_insn insn, again;

	simt_decode(word, &insn);
	simt_decode(simt_encode(&insn), &again);
	check_that(!memcmp(&insn, &again, sizeof(insn)), "%#x: op %u, then %#x: op %u", word,
		   insn.op, simt_encode(&insn), again.op);
}

static void test_encode(void **state)
{
	u64 seed = test_seed();
	struct simt_insn insn;
	unsigned int op, i;
	u32 word;

	for (i = 0; i < 1000000; i++)
		check_word(random_next(&seed));
	for (op = 0; op < SIMT_NR_OPS; op++) {
		insn = (struct simt_insn){ .op = op };
		if (op == SIMT_CSR_ID)
			insn.imm = VGPU_HW_CSR_GROUP_ID;
		else if (op >= SIMT_FCSR_RW && op <= SIMT_FCSR_RCI)
			insn.imm = SIMT_CSR_FRM;
		word = simt_encode(&insn);
		simt_decode(word, &insn);
		check_that(insn.op == (simt_op_exact(op) ? op - SIMT_FMIN_S_X + SIMT_FMIN_S : op),
			   "%u: %#x is %u", op, word, insn.op);
		for (i = 0; i < 2000; i++)
			check_word(word ^ (random_next(&seed) & random_next(&seed) & ~0x7fU));
	}
}

/* The choice between fast and exact operations is made again, and is the same. */
static void test_encode_program(void **state)
{
	enum { NR = 200 };
	static __le32 words[NR], made[NR];
	struct simt_program *program = calloc(1, simt_program_bytes(NR));
	struct simt_program *again = calloc(1, simt_program_bytes(NR));
	u64 seed = test_seed();
	unsigned int i, k, exact = 0;

	for (i = 0; i < 3000; i++) {
		for (k = 0; k < NR; k++)
			words[k] = (random_next(&seed) & 0xfffff000) | 0x53;
		/* Sometimes an access to fcsr, or a write to frm. */
		words[i % NR] = i & 1 ? 0x00301073 | (i & 2) << 19 : 0x13;
		simt_program_init(program, NR);
		simt_program_decode(program, 0, words, NR);
		simt_program_finish(program);
		for (k = 0; k < NR; k++) {
			made[k] = simt_encode(&program->insn[k]);
			exact += simt_op_exact(program->insn[k].op);
		}
		simt_program_init(again, NR);
		simt_program_decode(again, 0, made, NR);
		simt_program_finish(again);
		assert_memory_equal(program, again, simt_program_bytes(NR));
	}
	check_that(exact > NR, "%u", exact);
	free(program);
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_encode_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
