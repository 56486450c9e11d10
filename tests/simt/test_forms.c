// SPDX-License-Identifier: GPL-2.0
/*
 * An instruction gives the same whatever forms its operands have: affine registers, arrays of 32
 * and of 64 bits; with all lanes and with some. Random instructions on integers, with values around
 * the edges where an affine result wraps.
 */
#include "vgpu_test.h"

#include <linux/bitops.h>
#include <linux/limits.h>

#include "simt_host.h"
#include "soft/simt/warp.h"

#define ROUNDS	400000

static u64 seed;

/* An operand: base + lane * stride, and in which form a warp has it. */
struct operand {
	u64 base;
	u64 stride;
};

static u64 edge(void)
{
	static const u64 edges[] = { 0, 1ULL << 31, 1ULL << 32, 1ULL << 63, 1ULL << 12, 32, 64 };
	u64 value = edges[random_range(&seed, 0, ARRAY_SIZE(edges) - 1)];

	if (random_one_in(&seed, 4))
		value = random_next(&seed) >> random_range(&seed, 0, 63);
	if (random_one_in(&seed, 2))
		value += random_range(&seed, 0, 128) - 64;
	return random_one_in(&seed, 4) ? -value : value;
}

static struct operand random_operand(void)
{
	struct operand o = { .base = edge() };

	if (random_one_in(&seed, 3))
		o.base &= ~31ULL;
	switch (random_range(&seed, 0, 4)) {
	case 0:
		o.stride = edge();
		break;
	case 1:
		o.stride = 1;
		break;
	case 2:
		o.stride = random_range(&seed, 0, 16) - 8;
		break;
	default:	/* uniform */
		break;
	}
	return o;
}

/* An instruction on integers, with x1 to x3 for its registers. */
static void random_insn(struct simt_insn *insn)
{
	static const u32 opcodes[] = { 0x13, 0x1b, 0x33, 0x3b };

	do {
		u32 word = random_next(&seed);

		if (random_one_in(&seed, 2))	/* mostly the plain ones */
			word &= ~0xbe000000U;
		word = (word & ~0x7fU) | opcodes[random_range(&seed, 0, 3)];
		simt_decode(word, insn);
	} while (insn->op == SIMT_ILLEGAL);
	insn->rd = random_range(&seed, 1, 3);
	insn->rs1 = random_range(&seed, 0, 2);
	insn->rs2 = random_range(&seed, 0, 2);
}

static u64 lane_of(const struct operand *o, unsigned int l)
{
	return o->base + o->stride * l;
}

static bool fits(const struct operand *o)
{
	unsigned int l;

	for (l = 0; l < SIMT_LANES; l++)
		if (lane_of(o, l) != (u64)(s64)(s32)lane_of(o, l))
			return false;
	return true;
}

/* @form: 0: affine; 1: 64 bits; 2: 32 bits where they do. */
static void set(struct simt_warp *w, unsigned int r, const struct operand *o, unsigned int form)
{
	unsigned int l;

	w->base[r] = form ? 0x5555 : o->base;
	w->stride[r] = form ? 0x3333 : o->stride;
	w->vec &= ~(1ULL << r);
	w->narrow &= ~(1ULL << r);
	if (!form)
		return;
	w->vec |= 1ULL << r;
	if (form == 2 && fits(o)) {
		w->narrow |= 1ULL << r;
		for (l = 0; l < SIMT_LANES; l++)
			w->x[r].n[l] = (s32)lane_of(o, l);
		return;
	}
	for (l = 0; l < SIMT_LANES; l++)
		w->x[r].d[l] = lane_of(o, l);
}

static u64 get(const struct simt_warp *w, unsigned int r, unsigned int l)
{
	if (w->narrow >> r & 1)
		return (u64)(s64)w->x[r].n[l];
	return w->vec >> r & 1 ? w->x[r].d[l] : w->base[r] + w->stride[r] * l;
}

struct world {
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct simt_tlb tlb;
	struct simt_program *program;
};

static void execute(struct world *world, const struct simt_isa *isa, const struct simt_insn *insn,
		    const struct operand *operands, const u8 *forms, u32 active)
{
	struct simt_warp *w = world->group.warps;
	unsigned int r, l;
	u32 budget = 1;

	world->program->insn[0] = *insn;
	simt_warp_start(w, &world->group, 0);
	for (r = 1; r <= 3; r++)
		set(w, r, &operands[r], forms[r]);
	w->active = active;
	w->partial = ~active;
	for (l = 0; l < SIMT_LANES; l++) {
		w->mask32[l] = -(active >> l & 1);
		w->mask64[l] = -(u64)(active >> l & 1);
		w->pc[l] = 1;
		w->depths[l] = 0;
	}
	isa->run(w, &budget);
}

static void check_once(struct world *world, const struct simt_isa *isa)
{
	static const u8 wide[4] = { 0, 1, 1, 1 };
	struct operand operands[4] = {};
	struct simt_warp *w = world->group.warps;
	u32 active = random_one_in(&seed, 2) ? U32_MAX : random_next(&seed) | 1;
	struct simt_insn insn;
	u64 want[4][SIMT_LANES];
	unsigned int r, l;
	u8 forms[4] = {};

	random_insn(&insn);
	for (r = 1; r <= 3; r++) {
		operands[r] = random_operand();
		forms[r] = random_range(&seed, 0, 2);
	}
	execute(world, &simt_isa_scalar, &insn, operands, wide, U32_MAX);
	for (r = 0; r <= 3; r++)
		for (l = 0; l < SIMT_LANES; l++)
			want[r][l] = active >> l & 1 ? get(w, r, l) : lane_of(&operands[r], l);
	execute(world, isa, &insn, operands, forms, active);
	for (r = 0; r <= 3; r++)
		for (l = 0; l < SIMT_LANES; l++)
			check_that(get(w, r, l) == want[r][l],
				   "%s: op %u imm %d x%u = x%u, x%u, forms %u %u %u, lanes %#x: lane %u of x%u is %#llx, not %#llx; bases %#llx %#llx, strides %#llx %#llx",
				   isa->name, insn.op, insn.imm, insn.rd, insn.rs1, insn.rs2,
				   forms[1], forms[2], forms[3], active, l, r,
				   (unsigned long long)get(w, r, l),
				   (unsigned long long)want[r][l],
				   (unsigned long long)operands[1].base,
				   (unsigned long long)operands[2].base,
				   (unsigned long long)operands[1].stride,
				   (unsigned long long)operands[2].stride);
}

/* Whether a branch of @funct3 is taken: by the specification's words. */
static bool taken(unsigned int funct3, u64 a, u64 b)
{
	switch (funct3) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 4:
		return (s64)a < (s64)b;
	case 5:
		return (s64)a >= (s64)b;
	case 6:
		return a < b;
	default:
		return a >= b;
	}
}

/* A branch over one instruction, of x1 and x2. */
static void check_branch(struct world *world, const struct simt_isa *isa)
{
	static const u8 funct3s[] = { 0, 1, 4, 5, 6, 7 };
	unsigned int funct3 = funct3s[random_range(&seed, 0, 5)], l;
	u32 active = random_one_in(&seed, 2) ? U32_MAX : random_next(&seed) | 1;
	struct operand operands[4] = { [1] = random_operand(), [2] = random_operand() };
	struct simt_warp *w = world->group.warps;
	u8 forms[4] = {};
	struct simt_insn insn;

	if (random_one_in(&seed, 2))
		operands[2].stride = operands[1].stride;
	if (random_one_in(&seed, 4))
		operands[2].base = lane_of(&operands[1], random_range(&seed, 0, 2));
	for (l = 1; l <= 2; l++)
		forms[l] = random_range(&seed, 0, 2);
	simt_decode(2U << 20 | 1U << 15 | funct3 << 12 | 4U << 8 | 0x63, &insn);
	execute(world, isa, &insn, operands, forms, active);
	for (l = 0; l < SIMT_LANES; l++) {
		u64 a = lane_of(&operands[1], l), b = lane_of(&operands[2], l);
		u32 pc = w->ip == SIMT_LEAVE ? w->pc[l] : (u32)(w->ip - w->text);

		if (active >> l & 1)
			check_that(pc == (taken(funct3, a, b) ? 2 : 1),
				   "%s: branch %u of %#llx and %#llx, forms %u %u, lanes %#x: lane %u goes on at %u; bases %#llx %#llx, strides %#llx %#llx",
				   isa->name, funct3, (unsigned long long)a, (unsigned long long)b,
				   forms[1], forms[2], active, l, pc,
				   (unsigned long long)operands[1].base,
				   (unsigned long long)operands[2].base,
				   (unsigned long long)operands[1].stride,
				   (unsigned long long)operands[2].stride);
	}
}

static void for_all(void (*check)(struct world *world, const struct simt_isa *isa))
{
	static const u32 one[3] = { SIMT_LANES, 1, 1 };
	struct world *world = calloc(1, sizeof(*world));
	const struct simt_isa *isa;
	unsigned int i, k;

	world->program = calloc(1, simt_program_bytes(2));
	simt_program_init(world->program, 2);
	world->dispatch.program = world->program;
	world->group.dispatch = &world->dispatch;
	world->group.tlb = &world->tlb;
	world->group.round_at = S32_MAX;	/* all lanes together */
	memcpy(world->group.size, one, sizeof(one));
	world->group.warps = aligned_alloc(64, simt_warps_bytes(one));
	memset(world->group.warps, 0, simt_warps_bytes(one));
	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (i = 0; i < ROUNDS; i++)
			check(world, isa);
	free(world->group.warps);
	free(world->program);
	free(world);
}

static void test_forms(void **state)
{
	for_all(check_once);
}

static void test_branches(void **state)
{
	for_all(check_branch);
}

/* Of a budget that all instructions share, slow ones get fewer: the engine looks at the clock. */
static void test_split_takes_more(void **state)
{
	static const u32 words[] = {
		0xfc010113,	/* addi sp, sp, -64 */
		0x00513223,	/* 1: sd t0, 4(sp): in two words of private memory */
		0xffdff06f,	/* j 1b */
	};
	static const u32 one[3] = { SIMT_LANES, 1, 1 };
	struct simt_mem mem = {};
	struct simt_tlb tlb;
	struct simt_dispatch dispatch = { .private_bytes = 64 };
	struct simt_group group = { .mem = &mem, .tlb = &tlb };
	struct simt_program *program = malloc(simt_program_bytes(ARRAY_SIZE(words)));
	const struct simt_isa *isa;
	unsigned int k, i;

	simt_program_init(program, ARRAY_SIZE(words));
	simt_program_decode(program, 0, (const __le32 *)words, ARRAY_SIZE(words));
	simt_program_finish(program);
	dispatch.program = program;
	memcpy(dispatch.grid, one, sizeof(one));
	memcpy(dispatch.group, one, sizeof(one));
	group.warps = aligned_alloc(64, simt_warps_bytes(one));
	group.private = calloc(1, simt_private_bytes(one, 64));
	for (k = 0; (isa = simt_host_isa(k)); k++) {
		memset(group.warps, 0, simt_warps_bytes(one));
		simt_tlb_flush(&tlb);
		group.isa = isa;
		state_begin(&dispatch, &group);
		for (i = 0; i < 100; i++)
			assert_int_equal(simt_group_run(&group, 60), SIMT_MORE);
		/* A store and a jump take 6. */
		assert_in_range(group.executed, 1900, 2200);
	}
	free(group.private);
	free(group.warps);
	free(program);
}

static u64 looks;

/* Every other time there is no page; from the 33rd on there is none at all. */
static enum simt_end scarce_map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
				enum vgpu_hw_fault *code)
{
	static u64 words[VGPU_HW_PAGE_SIZE / 8];

	if (++looks % 2)
		return SIMT_WAIT;
	*code = VGPU_HW_FAULT_ADDRESS;
	*page = words;
	*keep = true;
	return va < VGPU_HW_VA_GLOBAL + SIMT_LANES * VGPU_HW_PAGE_SIZE ? SIMT_DONE : SIMT_FAULT;
}

/* An instruction counts when it has had an effect: not for each page that it waited for. */
static void test_waits_do_not_count(void **state)
{
	static const u32 words[] = {
		0xcc0022f3,	/* csrr t0, global_id */
		0x00c29293,	/* slli t0, t0, 12 */
		0x00a282b3,	/* add t0, t0, a0 */
		0x0002b303,	/* ld t1, 0(t0) */
		0x0062b023,	/* sd t1, 0(t0) */
	};
	struct simt_program *program = malloc(simt_program_bytes(ARRAY_SIZE(words)));
	struct simt_mem mem = { .map = scarce_map };
	struct simt_tlb tlb;
	struct simt_dispatch dispatch = {
		.program = program, .args = VGPU_HW_VA_GLOBAL,
		.grid = { 2 * SIMT_LANES, 1, 1 }, .group = { SIMT_LANES, 1, 1 },
	};
	struct simt_group group = { .mem = &mem, .tlb = &tlb };
	unsigned int budget, waits, k;
	const struct simt_isa *isa;
	enum simt_end end;

	simt_program_init(program, ARRAY_SIZE(words));
	simt_program_decode(program, 0, (const __le32 *)words, ARRAY_SIZE(words));
	simt_program_finish(program);
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	for (k = 0; (isa = simt_host_isa(k)); k++) {
		for (budget = 1; budget < 8; budget++) {
			memset(group.warps, 0, simt_warps_bytes(dispatch.group));
			simt_tlb_flush(&tlb);
			group.isa = isa;
			looks = 0;
			waits = 0;
			state_begin(&dispatch, &group);
			while ((end = simt_group_run(&group, budget)) != SIMT_FAULT) {
				assert_int_not_equal(end, SIMT_DONE);
				waits += end == SIMT_WAIT;
			}
			/* Each page once to be read, once to be written. */
			assert_int_equal(waits, 2 * SIMT_LANES + 1);
			/* The second group faults when it reads. */
			assert_int_equal(group.executed, 5 + 3);
		}
	}
	free(group.warps);
	free(program);
}

/* A text may end with a barrier: work-items that have met there end. */
static void test_barrier_at_the_end(void **state)
{
	static const u32 sizes[] = { 1, 2, 32, 33, 1024 };
	struct simt_program *program = calloc(1, simt_program_bytes(3));
	struct simt_mem mem = {};
	struct simt_tlb tlb;
	const struct simt_isa *isa;
	unsigned int k, i, n;

	for (n = 1; n <= 3; n += 2) {
		simt_program_init(program, n);
		simt_decode(0xcc0022f3, &program->insn[0]);	/* csrr t0, global_id */
		simt_decode(0x00028463, &program->insn[n / 2]);	/* beqz t0, .+8 */
		simt_decode(0x0000000b, &program->insn[n - 1]);	/* barrier */
		simt_program_finish(program);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct simt_dispatch dispatch = {
				.program = program,
				.grid = { 2 * sizes[i], 1, 1 }, .group = { sizes[i], 1, 1 },
			};
			struct simt_group group = { .mem = &mem, .tlb = &tlb };

			group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
			for (k = 0; (isa = simt_host_isa(k)); k++) {
				group.isa = isa;
				memset(group.warps, 0, simt_warps_bytes(dispatch.group));
				simt_tlb_flush(&tlb);
				state_begin(&dispatch, &group);
				check_that(simt_group_run(&group, 10000) == SIMT_DONE,
					   "%s: groups of %u, text of %u: fault %u at %#llx",
					   isa->name, sizes[i], n, group.fault.code,
					   (unsigned long long)group.fault.pc);
			}
			free(group.warps);
		}
	}
	free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_split_takes_more),
		cmocka_unit_test(test_waits_do_not_count),
		cmocka_unit_test(test_barrier_at_the_end),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
