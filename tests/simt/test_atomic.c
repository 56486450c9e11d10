// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic instructions on words that others write, too: here the VM's other threads are in the place
 * of the CPU's compare and exchange, and get in between as often as the test wants. No instruction
 * takes longer for it, and each lane's access happens once.
 */
#include "vgpu_test.h"

#include <linux/nospec.h>

#include "simt_host.h"
#include "soft/simt/warp.h"

#include "rv.h"

static bool fight(void *at, void *old, u64 new, size_t bytes);
#define __atomic_compare_exchange_n(at, old, new, weak, good, bad) \
	fight(at, old, new, sizeof(*(at)))
#include "soft/simt/slow.c"
#undef __atomic_compare_exchange_n

#define ITEMS	500u
#define WORDS	4u
#define WORDS_AT 0x10000u	/* in global memory; the items' values and results are at 0 */

/**
 * struct fights - exchanges of words
 * @lost_of_100: so many of a hundred find that another thread was faster
 * @tries: exchanges since the interpreter was called
 * @most:  the most that it made in one instruction
 * @nr:    exchanges that succeeded
 * @old:   what was there before each of these
 * @lost:  exchanges that did not succeed
 */
static struct fights {
	unsigned int lost_of_100;
	u32 tries;
	u32 most;
	u32 nr;
	u64 old[ITEMS];
	u64 lost;
} fights;

static u64 seed;

static u64 load(const void *at, size_t bytes)
{
	return bytes == 8 ? *(const u64 *)at : *(const u32 *)at;
}

static bool fight(void *at, void *old, u64 new, size_t bytes)
{
	u64 value;

	check_that(++fights.tries <= 1000, "one instruction goes on for ever");
	if (random_range(&seed, 0, 99) < fights.lost_of_100) {
		value = random_next(&seed);
		memcpy(at, &value, bytes);
	}
	if (load(at, bytes) != load(old, bytes)) {
		memcpy(old, at, bytes);
		fights.lost++;
		return false;
	}
	check_that(fights.nr < ITEMS, "more exchanges than work-items");
	value = load(at, bytes);
	fights.old[fights.nr++] = bytes == 8 ? value : (u64)(s64)(s32)value;
	memcpy(at, &new, bytes);
	return true;
}

static void host_init(struct simt_host *host, const u32 *words, u32 nr)
{
	FILE *out = fopen(ATOMIC_IMAGE, "wb");

	assert_non_null(out);
	assert_int_equal(fwrite(words, 4, nr, out), nr);
	fclose(out);
	assert_int_equal(simt_host_init(host, ATOMIC_IMAGE, nr * 4, 0x20000), 0);
	host->seed = seed;
	host->budget = 1;
}

/* Counts the exchanges of each instruction: the host looks at the TLB between two of them. */
static enum simt_end run(struct simt_host *host, const struct simt_isa *isa, u32 items,
			 bool alone)
{
	u32 words = DIV_ROUND_UP(items, SIMT_LANES) * SIMT_LANES * 16;
	struct simt_dispatch dispatch = {
		.program = host->program, .image_bytes = host->bytes, .args = VGPU_HW_VA_GLOBAL,
		.private_bytes = 16, .grid = { items, 1, 1 }, .group = { items, 1, 1 },
	};
	struct simt_group group = {
		.isa = isa, .mem = &host->mem, .tlb = &host->tlb, .private = calloc(1, words),
	};
	enum simt_end end;

	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(dispatch.group));
	simt_tlb_flush(&host->tlb);
	state_begin(&dispatch, &group);
	do {
		if (alone)	/* each lane runs alone */
			group.round_at = 0;
		fights.tries = 0;
		end = simt_group_run(&group, 1);
		fights.most = max(fights.most, fights.tries);
	} while (end == SIMT_MORE);
	host->fault = group.fault;
	free(group.warps);
	free(group.private);
	return end;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Each work-item does @amo with its value on one of the words, and leaves what it found. */
static void try_fights(u32 amo, const struct simt_isa *isa, unsigned int lost_of_100)
{
	const u32 words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
		RV_SLLI(RV_T1, RV_T0, 3),
		RV_ADD(RV_T1, RV_T1, RV_A0),
		RV_LD(RV_T2, 0, RV_T1),
		RV_I(WORDS - 1, RV_T0, 7, RV_A1, 0x13),		/* andi */
		RV_SLLI(RV_A1, RV_A1, 3),
		RV_LUI(RV_A2, WORDS_AT >> 12),
		RV_ADD(RV_A1, RV_A1, RV_A2),
		RV_ADD(RV_A1, RV_A1, RV_A0),
		amo | RV_A1 << 15 | RV_T2 << 20 | RV_T2 << 7,
		RV_SD(RV_T2, 0, RV_T1),
		RV_RET,
	};
	struct simt_host host;
	u64 *value;
	u32 i;

	memset(&fights, 0, sizeof(fights));
	fights.lost_of_100 = lost_of_100;
	host_init(&host, words, ARRAY_SIZE(words));
	value = (u64 *)host.fb;
	for (i = 0; i < ITEMS; i++)
		value[i] = random_next(&seed);
	assert_int_equal(run(&host, isa, ITEMS, random_one_in(&seed, 2)), SIMT_DONE);
	assert_int_equal(fights.nr, ITEMS);
	check_that(fights.most <= 2 * SIMT_LANES, "%u tries", fights.most);
	qsort(value, ITEMS, sizeof(*value), compare);
	qsort(fights.old, ITEMS, sizeof(*value), compare);
	assert_memory_equal(value, fights.old, sizeof(fights.old));
	if (lost_of_100)
		check_that(fights.lost > ITEMS / 10, "%llu", fights.lost);
	simt_host_exit(&host);
}

static void test_fights(void **state)
{
	static const u32 amos[] = { 0x10, 0x14, 0x18, 0x1c };	/* min, max, minu, maxu */
	static const unsigned int lost[] = { 0, 20, 50, 90, 97 };
	const struct simt_isa *isa;
	unsigned int i, k, n;

	for (i = 0; i < ARRAY_SIZE(amos); i++)
		for (k = 0; k < ARRAY_SIZE(lost); k++)
			for (n = 0; (isa = simt_host_isa(n)); n++) {
				try_fights(amos[i] << 27 | 2 << 12 | 0x2f, isa, lost[k]);
				try_fights(amos[i] << 27 | 3 << 12 | 0x2f, isa, lost[k]);
			}
}

/* Lanes 3 and up are misaligned; lane @none, if there is one, has no memory. The lowest is told. */
static void try_faults(u32 none, enum vgpu_hw_fault code, u32 lane)
{
	static const u32 words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
		RV_SLLI(RV_T0, RV_T0, 3),
		RV_ADD(RV_T0, RV_T0, RV_A0),
		RV_LD(RV_A1, 0, RV_T0),
		RV_AMOADD_D(RV_A2, RV_A1, RV_A1),
		RV_RET,
	};
	struct simt_host host;
	u64 *va, bad;
	u32 i;

	host_init(&host, words, ARRAY_SIZE(words));
	va = (u64 *)host.fb;
	for (i = 0; i < SIMT_LANES; i++)
		va[i] = VGPU_HW_VA_GLOBAL + WORDS_AT + 8 * i + (i >= 3 ? 4 : 0);
	if (none < SIMT_LANES)
		va[none] = VGPU_HW_VA_GLOBAL + host.fb_bytes;
	bad = va[lane];
	assert_int_equal(run(&host, &simt_isa_scalar, SIMT_LANES, false), SIMT_FAULT);
	assert_int_equal(host.fault.code, code);
	assert_int_equal(host.fault.id[0], lane);
	assert_int_equal(host.fault.addr, bad);
	assert_int_equal(host.fault.pc, VGPU_HW_VA_IMAGE + 16);
	for (i = 0; i < SIMT_LANES; i++)
		assert_int_equal(va[WORDS_AT / 8 + i], 0);
	simt_host_exit(&host);
}

static void test_lowest_lane(void **state)
{
	try_faults(SIMT_LANES, VGPU_HW_FAULT_ALIGN, 3);
	try_faults(0, VGPU_HW_FAULT_ADDRESS, 0);
	try_faults(2, VGPU_HW_FAULT_ADDRESS, 2);
	try_faults(3, VGPU_HW_FAULT_ADDRESS, 3);
	try_faults(4, VGPU_HW_FAULT_ALIGN, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fights),
		cmocka_unit_test(test_lowest_lane),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
