// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that run alone, as programs see them: where they meet again (region.c), what is left of
 * them in the warp that goes on together, and their faults.
 */
#include "vgpu_test.h"

#include <linux/limits.h>

#include "simt_host.h"
#include "soft/simt/warp.h"

#include "rv.h"

#define PAGES	4u
#define TABLE	1016	/* addresses by lane, in the first page; a lane has two words before it */

/**
 * struct world - a warp with a program
 * @mem: its memory: @page, and no image that could be read
 */
struct world {
	struct simt_mem mem;
	struct simt_tlb tlb;
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct simt_program *program;
	struct simt_warp *w;
	u64 page[PAGES][VGPU_HW_PAGE_SIZE / 8] __aligned(VGPU_HW_PAGE_SIZE);
};

static struct world world;
static u64 seed;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	u64 nr = (va - VGPU_HW_VA_GLOBAL) / VGPU_HW_PAGE_SIZE;

	*code = VGPU_HW_FAULT_ADDRESS;
	if (va < VGPU_HW_VA_GLOBAL || nr >= PAGES)
		return SIMT_FAULT;
	*keep = true;
	*page = world.page[nr];
	return SIMT_DONE;
}

static void begin(const u32 *words, u32 nr, const struct simt_isa *isa)
{
	const u32 one[3] = { SIMT_LANES, 1, 1 };
	struct simt_dispatch *dispatch = &world.dispatch;

	memset(&world, 0, sizeof(world));
	world.mem.map = map;
	world.program = malloc(simt_program_bytes(nr));
	simt_program_init(world.program, nr);
	simt_program_decode(world.program, 0, (const __le32 *)words, nr);
	simt_program_finish(world.program);
	world.w = aligned_alloc(64, sizeof(*world.w));
	memset(world.w, 0, sizeof(*world.w));
	*dispatch = (struct simt_dispatch) {
		.program = world.program, .image_bytes = 4 * nr, .args = VGPU_HW_VA_GLOBAL,
	};
	world.group = (struct simt_group) {
		.isa = isa, .mem = &world.mem, .tlb = &world.tlb, .warps = world.w,
	};
	memcpy(dispatch->grid, one, sizeof(one));
	memcpy(dispatch->group, one, sizeof(one));
	simt_tlb_flush(&world.tlb);
	state_begin(dispatch, &world.group);
}

static void end(void)
{
	free(world.w);
	free(world.program);
}

/* Two nested loops, with an if in the inner one, and an else after them. */
static const u32 nest[] = {
	RV_LI(RV_A1, 9),
	RV_LI(RV_A2, 9),			/* 1: the outer loop */
	RV_BNE(RV_T0, RV_ZERO, 12),		/* 2: the inner one */
	RV_ADDI(RV_A3, RV_A3, 1),
	RV_ADDI(RV_A3, RV_A3, 1),
	RV_ADDI(RV_A2, RV_A2, -1),
	RV_BNE(RV_A2, RV_ZERO, -4 * 4),		/* to 2 */
	RV_ADDI(RV_A1, RV_A1, -1),
	RV_BNE(RV_A1, RV_ZERO, -7 * 4),		/* to 1 */
	RV_BEQ(RV_T0, RV_ZERO, 12),
	RV_ADDI(RV_A3, RV_A3, 1),
	RV_J(8),
	RV_ADDI(RV_A3, RV_A3, 2),
	RV_RET,
};

#define NOWHERE	(-1)

static const struct meet {
	u32 pc[2];
	s32 depths[2];
	u32 level;
	s32 meet;
	s32 depth;
} meets[] = {
	{ { 3, 5 }, { 0, 0 }, 0, 5, 0 },		/* where the if ends */
	{ { 3, 4 }, { 0, 0 }, 0, 4, 0 },
	{ { 5, 3 }, { 2, 2 }, 1, 7, 2 },		/* where the inner loop ends */
	{ { 2, 7 }, { 0, 0 }, 0, 7, 0 },
	{ { 2, 8 }, { 0, 0 }, 0, 8, 0 },
	{ { 2, 9 }, { 0, 0 }, 0, 9, 0 },		/* where the outer one does */
	{ { 4, 5 }, { 0, 0 }, 2, 9, 0 },
	{ { 3, 9 }, { 0, 0 }, 0, 9, 0 },
	{ { 10, 12 }, { 0, 0 }, 0, 13, 0 },		/* behind the else */
	{ { 10, 12 }, { 1, 1 }, 1, NOWHERE, 1 },	/* there is no loop: where they return */
	{ { 3, 5 }, { 0, 0 }, SIMT_LEVEL_NEVER, NOWHERE, S32_MIN },
	{ { 3, 12 }, { 1, 4 }, 0, 3, 1 },		/* one is in a call */
};

static void test_meet(void **state)
{
	const struct simt_insn *meet;
	unsigned int k, l;
	s32 depth;

	begin(nest, ARRAY_SIZE(nest), &simt_isa_scalar);
	for (k = 0; k < ARRAY_SIZE(meets); k++) {
		for (l = 0; l < SIMT_LANES; l++) {
			world.w->pc[l] = meets[k].pc[l % 2];
			world.w->depths[l] = meets[k].depths[l % 2];
		}
		simt_region_meet(world.w, 0xff00ff, meets[k].level, &meet, &depth);
		check_that((meet ? meet - world.w->text : NOWHERE) == meets[k].meet &&
			   depth == meets[k].depth, "case %u: %d, depth %d", k,
			   meet ? (int)(meet - world.w->text) : NOWHERE, depth);
	}
	end();
}

/* Each lane's loop is of another length; after that all do the same, for long. */
static const u32 again[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_LOCAL_ID),
	RV_SLLI(RV_T1, RV_T0, 4),
	RV_ADDI(RV_T1, RV_T1, 1),
	RV_ADD(RV_A1, RV_T1, RV_T0),		/* 3 */
	RV_MUL(RV_A2, RV_A1, RV_A1),
	RV_ADDI(RV_T1, RV_T1, -1),
	RV_BNE(RV_T1, RV_ZERO, -3 * 4),		/* to 3 */
	RV_LUI(RV_A3, 5),
	RV_ADD(RV_A4, RV_T0, RV_A3),		/* 8 */
	RV_ADDI(RV_A3, RV_A3, -1),
	RV_BNE(RV_A3, RV_ZERO, -2 * 4),		/* to 8 */
	RV_RET,
};

#define SECOND	8

static void try_again(const struct simt_isa *isa, u32 budget)
{
	bool alone = false, agree = false;
	enum simt_end how;

	begin(again, ARRAY_SIZE(again), isa);
	world.dispatch.alone = 300;
	do {
		how = simt_group_run(&world.group, budget);
		alone |= world.w->watch && world.w->alone.on;
		/* As a warp whose lanes never parted: nothing is noted. What is affine stays so. */
		if (how == SIMT_MORE && !world.w->watch && world.w->ip != SIMT_LEAVE &&
		    world.w->ip - world.w->text >= SECOND)
			agree |= !world.w->partial && !(world.w->vec & 1ULL << RV_T0);
	} while (how == SIMT_MORE);
	assert_int_equal(how, SIMT_DONE);
	check_that(alone, "%s, budget %u: no lane has run alone", isa->name, budget);
	check_that(agree, "%s, budget %u: lanes do not agree again", isa->name, budget);
	end();
}

static void test_again(void **state)
{
	static const u32 budgets[] = { 1, 7, 20, 50 };	/* alone across calls */
	const struct simt_isa *isa;
	unsigned int k, b;

	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (b = 0; b < ARRAY_SIZE(budgets); b++)
			try_again(isa, budgets[b]);
}

#define FAIL_AT	7

/* A lane stores its id, does something with the address that is its own, and stores it again. */
static const u32 fault[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_SLLI(RV_T1, RV_T0, 4),
	RV_ADD(RV_T1, RV_T1, RV_A0),
	RV_SLLI(RV_T2, RV_T0, 3),
	RV_ADD(RV_T2, RV_T2, RV_A0),
	RV_LD(RV_A1, TABLE, RV_T2),
	RV_SD(RV_A0, 0, RV_T1),
	RV_ECALL,				/* FAIL_AT: see below */
	RV_SD(RV_A0, 8, RV_T1),
	RV_RET,
};

static const struct failure {
	u32 word;
	u64 good;
	u64 bad;
	enum vgpu_hw_fault code;
} failures[] = {
	{ RV_LD(RV_A2, 0, RV_A1), VGPU_HW_VA_GLOBAL, VGPU_HW_VA_GLOBAL + 0x100000,
	  VGPU_HW_FAULT_ADDRESS },
	{ RV_SD(RV_A2, 0, RV_A1), VGPU_HW_VA_GLOBAL + 0x2000, VGPU_HW_VA_IMAGE + 8,
	  VGPU_HW_FAULT_PAGE },
	{ RV_LW(RV_A2, 0, RV_A1), VGPU_HW_VA_GLOBAL + 2, VGPU_HW_VA_PRIVATE + 0x100000,
	  VGPU_HW_FAULT_STACK },
	{ RV_AMOADD_W(RV_A2, RV_T0, RV_A1), VGPU_HW_VA_GLOBAL + 0x2000,
	  VGPU_HW_VA_GLOBAL + 0x2002, VGPU_HW_FAULT_ALIGN },
	{ RV_JR(RV_A1), VGPU_HW_VA_IMAGE + 4 * (FAIL_AT + 1), VGPU_HW_VA_IMAGE + 0x1000,
	  VGPU_HW_FAULT_ILLEGAL },
};

static void try_fault(const struct failure *failure, const struct simt_isa *isa, u32 budget)
{
	u32 bad = random_range(&seed, 0, SIMT_LANES - 1), words[ARRAY_SIZE(fault)], l;
	const struct simt_fault *is = &world.group.fault;
	u64 *page = world.page[0];
	enum simt_end how;

	memcpy(words, fault, sizeof(fault));
	words[FAIL_AT] = failure->word;
	begin(words, ARRAY_SIZE(words), isa);
	/* So all run alone, one after the other, in a round. */
	world.program->shares = true;
	world.group.round_at = 0;
	for (l = 0; l < SIMT_LANES; l++)
		page[TABLE / 8 + l] = l == bad ? failure->bad : failure->good;
	do {
		how = simt_group_run(&world.group, budget);
	} while (how == SIMT_MORE);
	assert_int_equal(how, SIMT_FAULT);
	check_that(is->code == failure->code && is->addr == failure->bad && is->id[0] == bad &&
		   is->pc == VGPU_HW_VA_IMAGE + 4 * FAIL_AT,
		   "%s: lane %u: code %u, address %#llx, item %u, pc %#llx", isa->name, bad,
		   is->code, (unsigned long long)is->addr, is->id[0], (unsigned long long)is->pc);
	for (l = 0; l <= bad; l++) {
		assert_true(page[2 * l] == VGPU_HW_VA_GLOBAL);
		assert_true(page[2 * l + 1] == (l < bad ? VGPU_HW_VA_GLOBAL : 0));
	}
	end();
}

static void test_faults(void **state)
{
	const struct simt_isa *isa;
	unsigned int k, f, n;

	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (f = 0; f < ARRAY_SIZE(failures); f++)
			for (n = 0; n < 20; n++)
				try_fault(&failures[f], isa, n % 2 ? 1 : 4096);
}

/* Each lane goes round once more than the one before; then the text ends. */
static const u32 rounds[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_LOCAL_ID), RV_ADDI(RV_T0, RV_T0, 1),
	RV_ADDI(RV_T0, RV_T0, -1), RV_BNE(RV_T0, RV_ZERO, -4),
};

/* Wherever it is left while lanes end alone, a warp all of whose lanes have ended is known to. */
static void try_ends(const struct simt_isa *isa, u32 budget)
{
	enum simt_end how;

	begin(rounds, ARRAY_SIZE(rounds), isa);
	world.program->shares = true;
	world.group.round_at = 0;
	do {
		how = simt_group_run(&world.group, budget);
		check_that(how != SIMT_MORE || world.w->live || world.group.waiting & 1,
			   "%s: left with all lanes ended, budget %u", isa->name, budget);
	} while (how == SIMT_MORE);
	assert_int_equal(how, SIMT_DONE);
	end();
}

static void test_ends(void **state)
{
	const struct simt_isa *isa;
	unsigned int k, budget;

	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (budget = 1; budget <= 100; budget++)
			try_ends(isa, budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meet),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_ends),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
