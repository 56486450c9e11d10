// SPDX-License-Identifier: GPL-2.0
/*
 * Sections of programs, as soft/work/lanes.c makes them, by a clock that only instructions and
 * memory move. Whatever a program does, and however long it takes, the clock is read after so many
 * instructions, and after SIMT_APART_MOST accesses whose lanes' places lie apart; and the section
 * ends at the first look past its limit, or after it was told to.
 */
#include "vgpu_test.h"

#include "clk.h"
#include "simt_host.h"
#include "soft/simt/warp.h"
#include "soft/work/lanes.h"

#include "rv.h"

#define PAGE		((u64)VGPU_HW_PAGE_SIZE)
#define WARPS		4u
#define ITEMS		(WARPS * SIMT_LANES)
#define NEAR_PAGE	(ITEMS + 1)	/* behind a page for each work-item and one more */
#define PAGES		(NEAR_PAGE + 1)
#define HEAD		9u
#define BODY_MAX	60u
#define TAIL		4u
#define WORDS		(HEAD + BODY_MAX + TAIL)
#define PROGRAMS	200
#define SECTIONS	20

/* How long things take at most. */
#define INSN_NS		350u
#define LANE_NS		110u		/* of an access by lanes, each: it is in no cache */
#define LOOK_NS		50u

/**
 * struct world - what a section is made of
 * @mem:     finds a page for each work-item, each time that it is accessed, and that of all
 * @page:    in the host's memory
 * @isa:     an interpreter, around @real
 * @real:    the interpreter
 * @now_ns:  the time
 * @insn_ns: how long an instruction takes
 * @lane_ns: how long it takes to access a work-item's page
 * @end_ns:  when the section is to end
 * @most:    instructions between two looks at the clock
 * @insns:   since the last one
 * @lanes:   pieces of accesses to work-items' pages since the last one
 * @late:    looks since @end_ns, that one too which found that it had passed
 * @leave:   the section is to end
 * @leave_in: looks until @leave becomes true; 0: it does not
 * @asked:   the interpreter looks
 * @stayed:  looks of lanes.c since @leave has become true
 */
static struct world {
	struct simt_mem mem;
	u8 page[PAGES][VGPU_HW_PAGE_SIZE];
	struct simt_isa isa;
	const struct simt_isa *real;
	u64 now_ns;
	u32 insn_ns;
	u32 lane_ns;
	u64 end_ns;
	u32 most;
	u32 insns;
	u32 lanes;
	u32 late;
	bool leave;
	u32 leave_in;
	bool asked;
	u32 stayed;
} world;

static u64 seed;

/* A look at the clock. */
uint64_t clk_ns(void)
{
	world.now_ns += LOOK_NS;
	/* The last one that counts may be in two pieces. */
	check_that(world.lanes <= (SIMT_APART_MOST + 1) * SIMT_LANES,
		   "%s: %u pieces without a look", world.real->name, world.lanes);
	check_that(world.insns <= world.most, "%s: %u instructions without a look, %u may be",
		   world.real->name, world.insns, world.most);
	if (world.late)
		check_that(world.lanes <= 2 * SIMT_LANES, "%s: %u pieces after time was over",
			   world.real->name, world.lanes);
	world.insns = 0;
	world.lanes = 0;
	world.late += world.now_ns >= world.end_ns;
	world.stayed += world.leave && !world.asked;
	if (world.leave_in && !--world.leave_in)
		world.leave = true;
	return world.now_ns;
}

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	u64 nr = (va - VGPU_HW_VA_GLOBAL) / PAGE;

	check_that(nr < PAGES, "page at %#llx", (unsigned long long)va);
	*keep = nr == NEAR_PAGE;
	*page = world.page[nr];
	if (*keep)
		return SIMT_DONE;
	world.lanes++;
	world.now_ns += world.lane_ns;
	return SIMT_DONE;
}

/* As soft/work/dispatch.c has it. */
static bool over(struct simt_mem *mem)
{
	bool is_over;

	world.asked = true;
	is_over = clk_ns() >= world.end_ns;
	world.asked = false;
	return is_over;
}

static enum simt_end run(struct simt_warp *w, u32 *budget)
{
	u32 before = *budget, insns;
	u64 extra = w->group->executed;
	enum simt_end end = world.real->run(w, budget);

	extra -= w->group->executed;		/* of the budget, without an instruction */
	insns = before - *budget - extra;
	world.insns += insns;
	world.now_ns += (u64)insns * world.insn_ns;
	return end;
}

/*
 * An endless loop of @body instructions, of which one in @one_in accesses memory that lies apart,
 * and of @quick rounds of two that do not: so many that the clock is read seldom. Returns its
 * length.
 */
static u32 make_words(u32 words[WORDS], u32 body, u32 one_in, u32 quick)
{
	u32 i, at = 0;

	words[at++] = RV_LI(RV_T0, VGPU_HW_VA_GLOBAL >> 32);
	words[at++] = RV_SLLI(RV_T0, RV_T0, 32);
	words[at++] = RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_ID);
	words[at++] = RV_SLLI(RV_T2, RV_T1, 12);
	words[at++] = RV_ADD(RV_A1, RV_T0, RV_T2);	/* the work-item's page */
	words[at++] = RV_ADD(RV_A2, RV_T0, RV_A0);	/* the page of all */
	words[at++] = RV_LI(RV_T2, 2047);
	words[at++] = RV_ADD(RV_A3, RV_A1, RV_T2);
	words[at++] = RV_ADDI(RV_A3, RV_A3, 2045);	/* before its end */
	for (i = 0; i < body; i++) {
		if (!random_range(&seed, 0, one_in - 1)) {
			switch (random_range(&seed, 0, 4)) {
			case 0:
				words[at++] = RV_LD(RV_A4, 8, RV_A1);
				break;
			case 1:
				words[at++] = RV_SW(RV_T1, 16, RV_A1);
				break;
			case 2:
				words[at++] = RV_LD(RV_A4, 0, RV_A3);	/* over its end */
				break;
			case 3:
				words[at++] = RV_SD(RV_T1, 0, RV_A3);
				break;
			default:
				words[at++] = RV_AMOADD_W(RV_A4, RV_T1, RV_A1);
			}
			continue;
		}
		switch (random_range(&seed, 0, 3)) {
		case 0:
			words[at++] = RV_LD(RV_A4, 0, RV_A2);
			break;
		case 1:
			words[at++] = RV_MUL(RV_A5, RV_A5, RV_T1);
			break;
		default:
			words[at++] = RV_ADDI(RV_A5, RV_A5, 1);
		}
	}
	words[at++] = RV_LI(RV_T2, quick);
	words[at++] = RV_ADDI(RV_T2, RV_T2, -1);
	words[at++] = RV_BNE(RV_T2, RV_ZERO, -4);
	words[at++] = RV_J(-4 * (s32)(body + TAIL - 1));
	return at;
}

/* Returns how long the longest section was. */
static u64 try_program(const u32 *words, u32 nr, bool slow)
{
	static struct simt_tlb tlb;
	u32 warps = random_range(&seed, 1, WARPS), piece = SOFT_PIECE_FIRST, i;
	struct simt_program *program = calloc(1, simt_program_bytes(nr));
	struct simt_dispatch dispatch = {
		.program = program, .image_bytes = 4 * nr, .args = NEAR_PAGE * PAGE,
		.grid = { warps * SIMT_LANES, 1, 1 }, .group = { warps * SIMT_LANES, 1, 1 },
	};
	struct simt_group group = { .isa = &world.isa, .mem = &world.mem, .tlb = &tlb };
	u64 took_ns, most_ns = 0;
	enum simt_end end;

	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)words, nr);
	simt_program_finish(program);
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(dispatch.group));
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	world.most = slow ? SOFT_PIECE_MOST_SLOW : SOFT_PIECE_MOST;
	for (i = 0; i < SECTIONS; i++) {
		/* It begins with a look. */
		world.end_ns = world.now_ns + LOOK_NS + random_range(&seed, US, SOFT_SECTION_NS);
		world.late = 0;
		world.leave = false;
		world.leave_in = random_range(&seed, 0, 12);
		world.stayed = 0;
		end = soft_lanes_section(&group, &piece, slow, world.end_ns, &world.leave,
					 &took_ns);
		check_that(end == SIMT_MORE, "%s: end %d, fault %u", world.real->name, end,
			   group.fault.code);
		/* The interpreter's look, after which it ends, and that of lanes.c. */
		check_that((world.leave || world.late >= 1) && world.late <= 2,
			   "%s: %u looks after time was over", world.real->name, world.late);
		check_that(world.stayed <= 1, "%s: %u looks after it was to end",
			   world.real->name, world.stayed);
		most_ns = max(most_ns, took_ns);
	}
	world.insns = 0;
	world.lanes = 0;
	world.end_ns = U64_MAX;
	world.leave = false;
	world.leave_in = 0;
	free(group.warps);
	free(program);
	/* The last piece, as if all were in caches, and accesses that were not. */
	check_that(most_ns <= 90 * US + (SIMT_APART_MOST + 3) * SIMT_LANES * LANE_NS,
		   "%s: a section of %llu ns", world.real->name, (unsigned long long)most_ns);
	return most_ns;
}

/* Programs with more and more accesses that lie apart, down to nothing else. */
static void test_sections(void **state)
{
	static const u32 one_in[] = { 1, 2, 5, 20, 200 };
	u32 words[WORDS], k, n, i, nr;
	u64 most_ns;

	for (i = 0; i < ARRAY_SIZE(one_in); i++) {
		most_ns = 0;
		for (n = 0; n < PROGRAMS; n++) {
			nr = make_words(words, random_range(&seed, 1, BODY_MAX), one_in[i],
					random_one_in(&seed, 2) ? 2000 : 1);
			world.insn_ns = random_range(&seed, 1,
						     random_one_in(&seed, 2) ? INSN_NS : 20);
			world.lane_ns = random_range(&seed, 1, LANE_NS);
			for (k = 0; (world.real = simt_host_isa(k)); k++)
				most_ns = max(most_ns, try_program(words, nr,
								   random_one_in(&seed, 4)));
		}
		printf("# one access in %u instructions: sections of %llu ns at most\n", one_in[i],
		       (unsigned long long)most_ns);
	}
}

static int begin(void **state)
{
	seed = test_seed();
	world.mem.map = map;
	world.mem.over = over;
	world.isa.run = run;
	world.end_ns = U64_MAX;
	world.most = U32_MAX;
	world.real = simt_host_isa(0);
	return soft_lanes_init("scalar");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
