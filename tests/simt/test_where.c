// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses by pointers that go to private memory in some turns of a loop, and to global or local
 * memory or the image in others, by code of the CPU against the interpreter: both those that look
 * in private memory first (bpf_where.c), and those that look in the TLB first.
 */
#include "vgpu_test.h"

#include <linux/limits.h>

#include "rv.h"
#include "simt_host.h"
#include "soft/simt/warp.h"
#include "soft/work/native.h"

#define ROUNDS	1500
#define PRIVATE	256u
#define LOCAL	128u
#define TURNS	24
#define MOST	8	/* accesses of a turn */

/* Registers 8 to 15, also of floats, are loaded and stored, and are results in the end. */
#define FIRST	8
#define REGS	8

/* In the page: the stack pointer, those registers, pointers, results, and what pointers go to. */
#define POINTERS	256
#define RESULTS		512
#define DATA		1024

#define RV_FLD(rd, imm, rs1)	RV_I(imm, rs1, 3, rd, 0x07)
#define RV_FSD(rs2, imm, rs1)	(RV_S(imm, rs2, rs1, 3) | 4)

/* The pointer, and the same made of the stack pointer; what reads the table. */
#define RV_P	28
#define RV_Q	29
#define RV_AT	30

#define LENGTH	(MOST + 4 * REGS + 32)

static u64 seed;

struct memory {
	u64 page[VGPU_HW_PAGE_SIZE / 8] __aligned(VGPU_HW_PAGE_SIZE);
	u8 private[PRIVATE * SIMT_LANES];
	u8 local[LOCAL];
};

static struct memory before, now, want;
static u32 image[VGPU_HW_PAGE_SIZE / 4] __aligned(VGPU_HW_PAGE_SIZE);
static u64 entered;
static unsigned int made;
static const struct simt_native *code;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *fault)
{
	*fault = VGPU_HW_FAULT_ADDRESS;
	*keep = true;
	*page = va < VGPU_HW_VA_GLOBAL ? (void *)image : now.page;
	return va == VGPU_HW_VA_IMAGE || va == VGPU_HW_VA_GLOBAL ? SIMT_DONE : SIMT_FAULT;
}

static unsigned int enter(const void *lone, const struct bpf_insn *unused)
{
	entered++;
	return code->run(lone, unused);
}

static u32 random_access(bool reads)
{
	static const struct {
		u32 f3;
		u32 op;
	} kinds[] = {
		{ 0, 0x03 }, { 1, 0x03 }, { 2, 0x03 }, { 3, 0x03 }, { 4, 0x03 }, { 5, 0x03 },
		{ 6, 0x03 }, { 2, 0x07 }, { 3, 0x07 }, { 0, 0x23 }, { 1, 0x23 }, { 2, 0x23 },
		{ 3, 0x23 }, { 2, 0x27 }, { 3, 0x27 },
	};
	u32 kind = random_range(&seed, 0, reads ? 8 : ARRAY_SIZE(kinds) - 1);
	u32 r = FIRST + random_range(&seed, 0, REGS - 1);
	u32 base = random_one_in(&seed, 2) ? RV_P : RV_Q;
	u32 bytes = 1U << (kinds[kind].f3 & 3);
	s32 imm = (s32)(random_range(&seed, 0, 7) * bytes);

	if (kinds[kind].op & 0x20)
		return (RV_S(imm, r, base, kinds[kind].f3) & ~0x7fU) | kinds[kind].op;
	return RV_I(imm, base, kinds[kind].f3, r, kinds[kind].op);
}

static u32 write_program(u32 *words, bool reads)
{
	u32 nr = 0, k, out, loop, accesses = random_range(&seed, 1, MOST);

	words[nr++] = RV_CSRR(RV_T0, 0xcc0);
	words[nr++] = RV_MV(RV_T2, RV_A0);	/* A0 is one of the registers */
	words[nr++] = RV_LI(RV_T1, 100);
	words[nr++] = RV_LD(RV_SP, 0, RV_T2);
	for (k = 0; k < REGS; k++) {
		words[nr++] = RV_LD(FIRST + k, 8 + 8 * k, RV_T2);
		words[nr++] = RV_FLD(FIRST + k, 72 + 8 * k, RV_T2);
	}
	out = nr++;
	words[nr++] = RV_ADDI(RV_T1, RV_T1, -1);	/* so that lane 0 runs alone */
	words[nr++] = RV_MV(RV_ZERO, RV_ZERO);
	words[nr++] = RV_BNE(RV_T1, RV_ZERO, -8);
	words[nr++] = RV_LI(RV_T1, TURNS);
	words[nr++] = RV_MV(RV_AT, RV_T2);
	loop = nr;
	words[nr++] = RV_LD(RV_P, POINTERS, RV_AT);
	words[nr++] = RV_SUB(RV_Q, RV_P, RV_SP);
	words[nr++] = RV_ADD(RV_Q, RV_SP, RV_Q);
	for (k = 0; k < accesses; k++)
		words[nr++] = random_access(reads);
	words[nr++] = RV_ADDI(RV_AT, RV_AT, 8);
	words[nr++] = RV_ADDI(RV_T1, RV_T1, -1);
	words[nr] = RV_BNE(RV_T1, RV_ZERO, -4 * (s32)(nr - loop));
	nr++;
	for (k = 0; k < REGS; k++) {
		words[nr++] = RV_SD(FIRST + k, RESULTS + 8 * k, RV_T2);
		words[nr++] = RV_FSD(FIRST + k, RESULTS + 64 + 8 * k, RV_T2);
	}
	words[out] = RV_BNE(RV_T0, RV_ZERO, 4 * (nr - out));
	words[nr++] = RV_MV(RV_ZERO, RV_ZERO);	/* where the others wait */
	assert_true(nr <= LENGTH);
	return nr;
}

/* An access goes up to 64 bytes beyond it. */
static u64 random_pointer(bool reads)
{
	u64 private = VGPU_HW_VA_PRIVATE + random_range(&seed, 0, PRIVATE - 64) / 8 * 8;

	if (random_one_in(&seed, 8))
		private += random_range(&seed, 0, 7);
	if (random_one_in(&seed, 200))
		return random_next(&seed);
	if (random_one_in(&seed, 200))
		return private + PRIVATE;
	if (random_one_in(&seed, 200))
		return private + (random_next(&seed) << 32);
	switch (random_range(&seed, 0, reads ? 4 : 3)) {
	case 0:
		return VGPU_HW_VA_GLOBAL + DATA + random_range(&seed, 0, 1024);
	case 1:
		return VGPU_HW_VA_LOCAL + random_range(&seed, 0, LOCAL - 64);
	case 2:
	case 3:
		return private;
	default:
		return VGPU_HW_VA_IMAGE + random_range(&seed, 0, VGPU_HW_PAGE_SIZE - 64);
	}
}

/* Runs on @now. */
static enum simt_end run(const struct simt_program *program, const struct simt_isa *isa,
			 const struct simt_native *native, struct simt_fault *fault)
{
	struct simt_warp *w = aligned_alloc(64, sizeof(*w));
	struct simt_mem mem = { .map = map };
	struct simt_dispatch dispatch = {
		.program = program, .grid = { 32, 1, 1 }, .group = { 32, 1, 1 },
		.args = VGPU_HW_VA_GLOBAL, .private_bytes = PRIVATE, .native = native,
		.local_bytes = LOCAL, .image_bytes = sizeof(image),
		.alone = native ? 1 : U32_MAX,
	};
	static struct simt_tlb tlb;
	struct simt_group group = {
		.isa = isa, .mem = &mem, .tlb = &tlb, .private = now.private, .warps = w,
		.local = now.local,
	};
	enum simt_end end;

	now = before;
	memset(w, 0, sizeof(*w));
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	do {
		end = simt_group_run(&group, 200);
	} while (end == SIMT_MORE);
	*fault = group.fault;
	free(w);
	return end;
}

/* Of private memory only that of lane 0 counts: the others may have ended. */
static bool same_memory(void)
{
	u32 k;

	for (k = 0; k < sizeof(now.private); k += 8 * SIMT_LANES)
		if (memcmp(now.private + k, want.private + k, 8))
			return false;
	return !memcmp(now.page, want.page, sizeof(now.page)) &&
	       !memcmp(now.local, want.local, sizeof(now.local));
}

static void fill(bool reads)
{
	u32 k;

	for (k = 0; k < ARRAY_SIZE(before.page); k++)
		before.page[k] = random_next(&seed);
	for (k = 0; k < sizeof(before.private); k++)
		before.private[k] = (u8)random_next(&seed);
	for (k = 0; k < LOCAL; k++)
		before.local[k] = (u8)random_next(&seed);
	before.page[0] = VGPU_HW_VA_PRIVATE + PRIVATE;
	for (k = 0; k < TURNS; k++)
		before.page[POINTERS / 8 + k] = random_pointer(reads);
}

static void try_program(const struct simt_isa *isa)
{
	bool reads = random_one_in(&seed, 3);
	struct simt_fault is = {}, should = {};
	u32 nr = write_program(image, reads);
	struct simt_program *program = malloc(simt_program_bytes(nr));
	struct simt_native counted, *native;
	enum simt_end end;

	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)image, nr);
	simt_program_finish(program);
	fill(reads);
	end = run(program, isa, NULL, &should);
	want = now;
	native = soft_native_make(program, isa);
	if (native) {
		made++;
		code = native;
		counted = *native;
		counted.run = enter;
		assert_int_equal(run(program, isa, &counted, &is), end);
		check_that(same_memory(), "%s: memory", isa->name);
		check_that(end != SIMT_FAULT || (is.code == should.code && is.pc == should.pc &&
						 is.addr == should.addr),
			   "%s: code %u, pc %#llx, address %#llx", isa->name, is.code,
			   (unsigned long long)is.pc, (unsigned long long)is.addr);
		soft_native_free(native);
	}
	free(program);
}

static void test_pointers(void **state)
{
	const struct simt_isa *isa;
	unsigned int k, n;

	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (n = 0; n < ROUNDS; n++)
			try_program(isa);
	printf("# code of the CPU was entered %llu times\n", (unsigned long long)entered);
	check_that(!made || entered > made / 2, "code that was made %u times was not entered",
		   made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pointers),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
