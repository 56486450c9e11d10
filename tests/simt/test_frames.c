// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses by the stack pointer that follow each other, of which code of the CPU finds the place
 * once (bpf_mem.c), against the interpreter: in private memory, across its ends, where no word
 * begins, and elsewhere.
 */
#include "vgpu_test.h"

#include <linux/limits.h>

#include "rv.h"
#include "simt_host.h"
#include "soft/simt/warp.h"
#include "soft/work/native.h"

#define ROUNDS	2000
#define PRIVATE	256u
#define MOST	12	/* instructions of a run */

/* The program: lane 0 loops, so that it runs alone, then comes the run. */
#define HEAD	24	/* instructions before the run */
#define LENGTH	(HEAD + MOST + 2 * REGS + 1)

/* Registers 8 to 15, also of floats, are what the run works on; in the page they follow SP. */
#define FIRST	8
#define REGS	8
#define RESULTS	512

#define RV_FLD(rd, imm, rs1)	RV_I(imm, rs1, 3, rd, 0x07)
#define RV_FSD(rs2, imm, rs1)	(RV_S(imm, rs2, rs1, 3) | 4)

static u64 seed;

/* A warp's memory: private, of all lanes, and a page that begins with the stack pointer. */
struct memory {
	u64 page[VGPU_HW_PAGE_SIZE / 8] __aligned(VGPU_HW_PAGE_SIZE);
	u8 private[PRIVATE * SIMT_LANES];
};

static struct memory before, now, want;
static u64 entered;
static unsigned int made;
static const struct simt_native *code;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *fault)
{
	*fault = VGPU_HW_FAULT_ADDRESS;
	if (va - VGPU_HW_VA_GLOBAL >= VGPU_HW_PAGE_SIZE)
		return SIMT_FAULT;
	*keep = true;
	*page = now.page;
	return SIMT_DONE;
}

static unsigned int enter(const void *lone, const struct bpf_insn *unused)
{
	entered++;
	return code->run(lone, unused);
}

/* One instruction of the run, mostly an access. */
static u32 random_insn(s32 low)
{
	static const struct {
		u32 f3;
		u32 op;
		bool store;
	} kinds[] = {
		{ 0, 0x03 }, { 1, 0x03 }, { 2, 0x03 }, { 3, 0x03 }, { 4, 0x03 }, { 5, 0x03 },
		{ 6, 0x03 }, { 2, 0x07 }, { 3, 0x07 }, { 0, 0x23, true }, { 1, 0x23, true },
		{ 2, 0x23, true }, { 3, 0x23, true }, { 3, 0x23, true }, { 2, 0x27, true },
		{ 3, 0x27, true }, { 3, 0x03 }, { 3, 0x03 },
	};
	u32 kind = random_range(&seed, 0, ARRAY_SIZE(kinds) - 1);
	u32 r = FIRST + random_range(&seed, 0, REGS - 1);
	u32 bytes = 1U << (kinds[kind].f3 & 3), base = RV_SP;
	s32 imm = low + (s32)random_range(&seed, 0, 40) * 8 / (s32)bytes * (s32)bytes;

	if (random_one_in(&seed, 6))
		return RV_ADDI(r, FIRST + random_range(&seed, 0, REGS - 1), imm);
	if (random_one_in(&seed, 30))
		imm += 4;
	if (random_one_in(&seed, 40))
		base = RV_T2;
	imm = clamp(imm, -2048, 2047);
	if (base == RV_T2)
		imm = RESULTS + 256 + (imm & 0x78);
	if (kinds[kind].store)
		return (RV_S(imm, r, base, kinds[kind].f3) & ~0x7fU) | kinds[kind].op;
	return RV_I(imm, base, kinds[kind].f3, r, kinds[kind].op);
}

static u32 write_program(u32 *words)
{
	s32 low = (s32)random_range(&seed, 0, 40) * 8 - 160;
	u32 nr = 0, k, run = random_range(&seed, 2, MOST);

	words[nr++] = RV_CSRR(RV_T0, 0xcc0);
	words[nr++] = RV_MV(RV_T2, RV_A0);	/* A0 is one of the run's registers */
	words[nr++] = RV_LI(RV_T1, 100);
	words[nr++] = RV_LD(RV_SP, 0, RV_A0);
	for (k = 0; k < REGS; k++) {
		words[nr++] = RV_LD(FIRST + k, 8 + 8 * k, RV_T2);
		words[nr++] = RV_FLD(FIRST + k, 72 + 8 * k, RV_T2);
	}
	words[nr] = RV_BNE(RV_T0, RV_ZERO, 4 * (HEAD - nr + run + 2 * REGS));
	nr++;
	words[nr++] = RV_ADDI(RV_T1, RV_T1, -1);
	words[nr++] = RV_MV(RV_ZERO, RV_ZERO);
	words[nr++] = RV_BNE(RV_T1, RV_ZERO, -8);
	assert_int_equal(nr, HEAD);
	for (k = 0; k < run; k++)
		words[nr++] = random_insn(low);
	for (k = 0; k < REGS; k++) {
		words[nr++] = RV_SD(FIRST + k, RESULTS + 8 * k, RV_T2);
		words[nr++] = RV_FSD(FIRST + k, RESULTS + 64 + 8 * k, RV_T2);
	}
	words[nr++] = RV_MV(RV_ZERO, RV_ZERO);	/* where the others wait */
	return nr;
}

static u64 random_sp(void)
{
	u64 sp = VGPU_HW_VA_PRIVATE + random_range(&seed, 0, 40) * 8;

	switch (random_range(&seed, 0, 9)) {
	case 0:
		return sp + random_range(&seed, 1, 7);
	case 1:
		return VGPU_HW_VA_GLOBAL + 1024 + random_range(&seed, 0, 3000);
	case 2:
		return random_next(&seed);
	case 3:
		return sp - 160;
	case 4:
		return sp + (random_next(&seed) << 32);
	default:
		return sp;
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
		.alone = native ? 1 : U32_MAX,
	};
	static struct simt_tlb tlb;
	struct simt_group group = {
		.isa = isa, .mem = &mem, .tlb = &tlb, .private = now.private, .warps = w,
	};
	enum simt_end end;

	now = before;
	memset(w, 0, sizeof(*w));
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	do {
		end = simt_group_run(&group, 30);
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
	return !memcmp(now.page, want.page, sizeof(now.page));
}

static void try_run(const struct simt_isa *isa)
{
	u32 words[LENGTH], nr = write_program(words), k;
	struct simt_program *program = malloc(simt_program_bytes(nr));
	struct simt_fault is = {}, should = {};
	struct simt_native counted, *native;
	enum simt_end end;

	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)words, nr);
	simt_program_finish(program);
	for (k = 0; k < ARRAY_SIZE(before.page); k++)
		before.page[k] = random_next(&seed);
	for (k = 0; k < sizeof(before.private); k++)
		before.private[k] = (u8)random_next(&seed);
	before.page[0] = random_sp();
	end = run(program, isa, NULL, &should);
	want = now;
	native = soft_native_make(program, isa);
	if (native) {
		made++;
		code = native;
		counted = *native;
		counted.run = enter;
		assert_int_equal(run(program, isa, &counted, &is), end);
		check_that(same_memory(), "%s: sp %#llx: memory", isa->name,
			   (unsigned long long)before.page[0]);
		check_that(end != SIMT_FAULT || (is.code == should.code && is.pc == should.pc &&
						 is.addr == should.addr),
			   "%s: sp %#llx: code %u, pc %#llx, address %#llx", isa->name,
			   (unsigned long long)before.page[0], is.code, (unsigned long long)is.pc,
			   (unsigned long long)is.addr);
		soft_native_free(native);
	}
	free(program);
}

static void test_runs(void **state)
{
	const struct simt_isa *isa;
	unsigned int k, n;

	for (k = 0; (isa = simt_host_isa(k)); k++)
		for (n = 0; n < ROUNDS; n++)
			try_run(isa);
	printf("# code of the CPU was entered %llu times\n", (unsigned long long)entered);
	check_that(!made || entered > made / 2, "code that was made %u times was not entered",
		   made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
