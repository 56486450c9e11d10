// SPDX-License-Identifier: GPL-2.0
/*
 * How soon the interpreter returns when time is over. It asks after every SIMT_APART_MOST accesses
 * whose lanes' places lie apart, however large its budget and whatever other instructions the
 * program has, and returns after one more instruction when the answer is yes.
 */
#include "vgpu_test.h"

#include "simt_host.h"

#include "rv.h"

#define PAGE		((u64)VGPU_HW_PAGE_SIZE)
#define NEAR_PAGE	SIMT_LANES	/* behind a page for each lane */
#define PAGES		(NEAR_PAGE + 1)
#define HEAD		6u
#define BODY_MAX	40u
#define WORDS		(HEAD + BODY_MAX + 1)
#define ROUNDS		300
#define ASKS		20u

/**
 * struct memory - a page for each lane, which the interpreter looks up each time, and one more
 * @mem:   as the interpreter knows it
 * @page:  in the host's memory
 * @looks: for pages of lanes: as many as lanes for each access by all of them
 * @asked: how often the interpreter has asked whether time is over
 * @over:  time is over when it asks so often
 * @at:    @looks when it asked last
 */
struct memory {
	struct simt_mem mem;
	u8 page[PAGES][VGPU_HW_PAGE_SIZE];
	u64 looks;
	u32 asked;
	u32 over;
	u64 at;
};

static struct memory memory;
static u64 seed;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	u64 nr = (va - VGPU_HW_VA_GLOBAL) / PAGE;

	check_that(nr < PAGES, "page at %#llx", (unsigned long long)va);
	memory.looks += nr != NEAR_PAGE;
	*keep = nr == NEAR_PAGE;
	*page = memory.page[nr];
	return SIMT_DONE;
}

static bool over(struct simt_mem *mem)
{
	u64 apart = (memory.looks - memory.at) / SIMT_LANES;

	memory.at = memory.looks;
	memory.asked++;
	/* Of lanes that run alone, as all do now and then, each access counts. */
	check_that(apart <= SIMT_APART_MOST, "asked after %llu accesses",
		   (unsigned long long)apart);
	return memory.asked == memory.over;
}

/* An endless loop; returns how many of its instructions are accesses that lie apart. */
static u32 make_words(u32 words[WORDS], u32 body)
{
	u32 i, apart = 0, at = 0;

	words[at++] = RV_LI(RV_T0, VGPU_HW_VA_GLOBAL >> 32);
	words[at++] = RV_SLLI(RV_T0, RV_T0, 32);
	words[at++] = RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_ID);
	words[at++] = RV_SLLI(RV_T2, RV_T1, 12);
	words[at++] = RV_ADD(RV_A1, RV_T0, RV_T2);	/* the lane's page */
	words[at++] = RV_ADD(RV_A2, RV_T0, RV_A0);	/* the page of all */
	for (i = 0; i < body; i++) {
		switch (random_range(&seed, 0, 6)) {
		case 0:
			words[at++] = RV_LD(RV_A3, 8, RV_A1);
			apart++;
			break;
		case 1:
			words[at++] = RV_SW(RV_T1, 16, RV_A1);
			apart++;
			break;
		case 2:
			words[at++] = RV_AMOADD_W(RV_A3, RV_T1, RV_A1);
			apart++;
			break;
		case 3:
			words[at++] = RV_LD(RV_A4, 0, RV_A2);
			break;
		case 4:
			words[at++] = RV_MUL(RV_A5, RV_A5, RV_A4);
			break;
		default:
			words[at++] = RV_ADDI(RV_A5, RV_A5, 1);
		}
	}
	words[at++] = RV_J(-4 * (s32)body);
	return apart;
}

static void try_one(const struct simt_isa *isa, u32 *words, u32 body, u32 budget)
{
	static struct simt_tlb tlb;
	u32 nr = HEAD + body + 1;
	struct simt_program *program = calloc(1, simt_program_bytes(nr));
	struct simt_dispatch dispatch = {
		.program = program, .image_bytes = 4 * nr, .args = NEAR_PAGE * PAGE,
		.grid = { SIMT_LANES, 1, 1 }, .group = { SIMT_LANES, 1, 1 },
	};
	struct simt_group group = { .isa = isa, .mem = &memory.mem, .tlb = &tlb };
	enum simt_end end;
	u64 before;

	memory.asked = 0;
	memory.over = random_range(&seed, 1, ASKS);
	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)words, nr);
	simt_program_finish(program);
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(dispatch.group));
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	do {
		before = group.executed;
		memory.at = memory.looks;
		end = simt_group_run(&group, budget);
		check_that(end == SIMT_MORE, "%s: end %d, fault %u", isa->name, end,
			   group.fault.code);
		check_that(group.executed - before <= budget, "%s: %llu of %u instructions",
			   isa->name, (unsigned long long)(group.executed - before), budget);
		check_that(memory.looks - memory.at < SIMT_APART_MOST * SIMT_LANES,
			   "%s: not asked for %llu looks", isa->name,
			   (unsigned long long)(memory.looks - memory.at));
	} while (memory.asked < memory.over && group.executed < 100 * budget);
	if (memory.asked == memory.over)
		check_that(memory.looks - memory.at <= SIMT_LANES,
			   "%s: %llu looks after time was over", isa->name,
			   (unsigned long long)(memory.looks - memory.at));
	free(group.warps);
	free(program);
}

/* The budget is never used up: what ends the section is that time is over. */
static void test_over(void **state)
{
	const struct simt_isa *isa;
	u32 words[WORDS], round, k, body;

	for (round = 0; round < ROUNDS; round++) {
		body = random_range(&seed, 1, BODY_MAX);
		if (!make_words(words, body))
			continue;
		for (k = 0; (isa = simt_host_isa(k)); k++) {
			try_one(isa, words, body, 1000000);
			assert_int_equal(memory.asked, memory.over);
		}
	}
}

/* Budgets as engines have them: the count of accesses begins anew with each. */
static void test_budgets(void **state)
{
	const struct simt_isa *isa;
	u32 words[WORDS], round, k, body;

	for (round = 0; round < ROUNDS; round++) {
		body = random_range(&seed, 1, BODY_MAX);
		make_words(words, body);
		for (k = 0; (isa = simt_host_isa(k)); k++)
			try_one(isa, words, body, random_range(&seed, 1, 256));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_budgets),
	};

	seed = test_seed();
	memory.mem.map = map;
	memory.mem.over = over;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
