// SPDX-License-Identifier: GPL-2.0
/*
 * Where lanes go alone at once, as learned (lone_when.c): a warp for each row of work, of which one
 * access in each round tells whether lanes are apart there without being alone. A place where they
 * soon part is learned if that pays, is doubted now and then, and is forgotten when it pays no
 * more; one where they part late is not taken.
 */
#include "vgpu_test.h"

#include <linux/filter.h>

#include "simt_host.h"
#include "soft/simt/warp.h"

#include "rv.h"

#define ROWS	640u
#define ITEMS	(ROWS * SIMT_LANES)
#define WORKS	(ITEMS * 8 / VGPU_HW_PAGE_SIZE)	/* pages, before that of all */
#define DOUBT	64u				/* once in so many times */
#define FIRST	8u				/* rows in which it may be learned, or forgotten */
#define FEW	4u				/* rows that are done in rounds */

/* How lanes did a row. */
#define ROW_APART	1
#define ROW_ALONE	2

/**
 * struct world - a dispatch
 * @mem:  @work, which the TLB may keep, and a page which it may not
 * @work: how often each work-item goes round
 * @rows: ROW_*
 */
static struct world {
	struct simt_mem mem;
	struct simt_tlb tlb;
	struct simt_group group;
	u64 work[ITEMS] __aligned(VGPU_HW_PAGE_SIZE);
	u64 page[VGPU_HW_PAGE_SIZE / 8] __aligned(VGPU_HW_PAGE_SIZE);
	u8 rows[ROWS];
} world;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	u64 nr = (va - VGPU_HW_VA_GLOBAL) / VGPU_HW_PAGE_SIZE;
	const struct simt_warp *w = world.group.warps;

	*keep = nr < WORKS;
	*page = *keep ? (u8 *)world.work + nr * VGPU_HW_PAGE_SIZE : (u8 *)world.page;
	if (*keep)
		return SIMT_DONE;
	if (w->watch && w->alone.on && !w->alone.round)
		world.rows[world.group.group_id[0]] |= ROW_ALONE;
	else if (w->partial)
		world.rows[world.group.group_id[0]] |= ROW_APART;
	return SIMT_DONE;
}

/* A loop, in which a work-item goes round as often as @work says. */
static const u32 words[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_SLLI(RV_T0, RV_T0, 3),
	RV_ADD(RV_T0, RV_T0, RV_A0),
	RV_LD(RV_T1, 0, RV_T0),
	RV_LUI(RV_A2, WORKS),
	RV_ADD(RV_A2, RV_A2, RV_A0),
	RV_LD(RV_A1, 0, RV_A2),			/* 6 */
	RV_ADDI(RV_T1, RV_T1, -1),
	RV_BNE(RV_T1, RV_ZERO, -2 * 4),		/* to 6 */
	RV_MV(RV_A1, RV_ZERO),			/* lanes wait here that have left the loop */
};

/* With code of the CPU that can be entered nowhere: estimates go by it. */
static void run(const struct simt_isa *isa)
{
	static const u8 marks[ARRAY_SIZE(words) + 1];
	const struct simt_native native = { .marks = marks, .ps = 300 };
	struct simt_program *program = calloc(1, simt_program_bytes(ARRAY_SIZE(words)));
	struct simt_dispatch dispatch = {
		.program = program, .image_bytes = 4 * ARRAY_SIZE(words), .args = VGPU_HW_VA_GLOBAL,
		.grid = { ITEMS, 1, 1 }, .group = { SIMT_LANES, 1, 1 }, .native = &native,
	};
	enum simt_end how;

	simt_program_init(program, ARRAY_SIZE(words));
	simt_program_decode(program, 0, (const __le32 *)words, ARRAY_SIZE(words));
	simt_program_finish(program);
	world.group = (struct simt_group) {
		.isa = isa, .mem = &world.mem, .tlb = &world.tlb,
		.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group)),
	};
	memset(world.group.warps, 0, simt_warps_bytes(dispatch.group));
	memset(world.rows, 0, sizeof(world.rows));
	simt_tlb_flush(&world.tlb);
	state_begin(&dispatch, &world.group);
	do {
		how = simt_group_run(&world.group, 4096);
	} while (how == SIMT_MORE);
	assert_int_equal(how, SIMT_DONE);
	free(world.group.warps);
	free(program);
}

/* Of rows from @first on, @nr. */
static u32 count(u32 first, u32 nr, u8 how)
{
	u32 k, found = 0;

	for (k = first; k < first + nr; k++)
		found += !!(world.rows[k] & how);
	return found;
}

/* Work-items of rows from @first on go round @least times, or up to @most times more. */
static void fill(u32 first, u32 least, u32 most)
{
	u32 k;

	for (k = first * SIMT_LANES; k < ITEMS; k++)
		world.work[k] = least + k * 7 % (most + 1);
}

static void test_learned(void **state)
{
	const struct simt_isa *isa;
	unsigned int k;
	u32 apart, alone;

	fill(0, 1, 24);
	for (k = 0; (isa = simt_host_isa(k)); k++) {
		run(isa);
		apart = count(FIRST, ROWS - FIRST, ROW_APART);
		check_that(apart >= ROWS / DOUBT / 2 && apart <= ROWS / DOUBT * 2,
			   "%s: apart in %u rows", isa->name, apart);
		alone = count(FIRST, ROWS - FIRST, ROW_ALONE);
		check_that(alone >= ROWS - FIRST - FEW, "%s: alone in %u rows", isa->name, alone);
	}
}

/* Half of them have almost nothing to do: to begin costs more. */
static void test_forgotten(void **state)
{
	const u32 half = ROWS / 2;
	const struct simt_isa *isa;
	unsigned int k;
	u32 alone;

	fill(0, 1, 24);
	fill(half, 1, 1);
	for (k = 0; (isa = simt_host_isa(k)); k++) {
		run(isa);
		alone = count(FIRST, half - FIRST, ROW_ALONE);
		check_that(alone >= half - FIRST - FEW, "%s: alone in %u rows", isa->name, alone);
		alone = count(half + FIRST, half - FIRST, ROW_ALONE);
		check_that(!alone, "%s: alone in %u rows for which it does not pay", isa->name,
			   alone);
	}
}

/*
 * All go round forty times together before they part. If their turn ends just before that, they
 * seem to part soon, until there is a doubt.
 */
static void test_late(void **state)
{
	const struct simt_isa *isa;
	unsigned int k;
	u32 apart;

	fill(0, 40, 24);
	for (k = 0; (isa = simt_host_isa(k)); k++) {
		run(isa);
		apart = count(0, ROWS, ROW_APART);
		check_that(apart > ROWS / 2, "%s: apart in %u rows", isa->name, apart);
	}
}

/* What an instruction of a loop takes on the average, of which this is one. */
static u32 ps_with(u32 word, const struct simt_isa *isa)
{
	const u32 loop[] = { word, RV_ADDI(RV_T1, RV_T1, -1), RV_BNE(RV_T1, RV_ZERO, -8) };
	struct simt_program *program = calloc(1, simt_program_bytes(ARRAY_SIZE(loop)));
	u8 marks[ARRAY_SIZE(loop) + 1];
	void *scratch;
	u32 ps;

	simt_program_init(program, ARRAY_SIZE(loop));
	simt_program_decode(program, 0, (const __le32 *)loop, ARRAY_SIZE(loop));
	simt_program_finish(program);
	scratch = malloc(simt_native_scratch_bytes(program));
	assert_true(simt_native_translate(program, isa, marks, scratch, NULL, 0));
	ps = simt_native_ps(scratch);
	free(scratch);
	free(program);
	return ps;
}

/* An atomic instruction keeps no lane from running alone: it is slow in a warp, too. */
static void test_atomics(void **state)
{
	u32 atomic = ps_with(RV_AMOADD_W(RV_A1, RV_T0, RV_A0), &simt_isa_scalar);
	u32 other = ps_with(RV_CSRR(RV_A1, SIMT_CSR_FFLAGS), &simt_isa_scalar);

	check_that(atomic + 1000 < other, "%u ps with one, %u with another", atomic, other);
}

/* How many atomic instructions the code of one instruction has. */
static unsigned int atomics_of(const struct simt_insn *insn)
{
	struct simt_program *program = calloc(1, simt_program_bytes(1));
	const u32 word = simt_encode(insn);
	struct bpf_insn code[256];
	unsigned int atomics = 0;
	u32 nr, k;
	u8 marks[2];
	void *scratch;

	simt_program_init(program, 1);
	simt_program_decode(program, 0, (const __le32 *)&word, 1);
	simt_program_finish(program);
	scratch = malloc(simt_native_scratch_bytes(program));
	nr = simt_native_translate(program, &simt_isa_scalar, marks, scratch, code,
				   ARRAY_SIZE(code));
	assert_in_range(nr, 1, ARRAY_SIZE(code));
	for (k = 0; k < nr; k++)
		atomics += code[k].code == (BPF_STX | BPF_ATOMIC | BPF_DW);
	free(scratch);
	free(program);
	return atomics;
}

/* The CPU has a fence of its own only where writes before must be seen before reads after. */
static void test_fences(void **state)
{
	static const struct {
		u32 word;
		bool full;
	} fences[] = {
		{ 0x0ff0000f, true },	/* iorw, iorw */
		{ 0x0330000f, true },	/* rw, rw */
		{ 0x0120000f, true },	/* w, r */
		{ 0x0480000f, true },	/* o, i */
		{ 0x0230000f, false },	/* r, rw: behind a load that acquires */
		{ 0x0310000f, false },	/* rw, w: before a store that releases */
		{ 0x0110000f, false },	/* w, w */
		{ 0x0220000f, false },	/* r, r */
		{ 0x0000000f, true },	/* as in streams that have not kept the sets */
	};
	struct simt_insn insn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fences); i++) {
		simt_decode(fences[i].word, &insn);
		assert_int_equal(insn.op, SIMT_FENCE);
		check_that(simt_fence_full(insn.imm) == fences[i].full &&
			   simt_encode(&insn) == fences[i].word, "%#x, imm %#x, %#x again",
			   fences[i].word, insn.imm, simt_encode(&insn));
		check_that(atomics_of(&insn) == fences[i].full, "%#x: %u", fences[i].word,
			   atomics_of(&insn));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learned),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_fences),
	};

	world.mem.map = map;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
