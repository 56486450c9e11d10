// SPDX-License-Identifier: GPL-2.0
/*
 * Page tables of address spaces: what each bit of an entry does, and that a walk through any
 * tables, also ones that change under it, ends after three entries and in the vGPU's framebuffer.
 */
#include "vgpu_test.h"

#include "soft/memory/walk.h"
#include "walk_naive.h"

#define PAGE		4096ULL
#define MIB		(1ULL << 20)
#define GIB		(1ULL << 30)
#define TABLES		24	/* pages that have content; all others are zero */
#define FB		(5 * GIB + 3 * PAGE)
#define NR_RANDOM	3000000

#define V		VGPU_HW_PTE_V
#define R		VGPU_HW_PTE_R
#define W		VGPU_HW_PTE_W
#define X		VGPU_HW_PTE_X
#define SYS		VGPU_HW_PTE_SYS

static u64 tables[TABLES][512];
static u64 fb_bytes;

/* The entry at @at, as the guest has it now. */
static u64 read_entry(u64 at)
{
	check_that(!(at % 8) && at + 8 <= fb_bytes, "entry at %#llx", (unsigned long long)at);
	return at / PAGE < TABLES ? tables[at / PAGE][at % PAGE / 8] : 0;
}

/* Called between two steps of a walk. */
static void (*meddle)(void);

static enum soft_walk_end walk_to(struct soft_walk *walk, u64 page, u64 va)
{
	enum soft_walk_end end;
	unsigned int steps;

	end = soft_walk_begin(walk, (u32)(VGPU_HW_ROOT_VALID | page), va, fb_bytes);
	for (steps = 0; end == SOFT_WALK_MORE; steps++) {
		check_that(steps < SOFT_WALK_LEVELS && walk->level == 2 - steps, "level %u",
			   walk->level);
		end = soft_walk_step(walk, read_entry(walk->at));
		if (meddle)
			meddle();
	}
	if (end == SOFT_WALK_LEAF) {
		check_that(walk->bytes && walk->bytes <= GIB, "%#llx bytes",
			   (unsigned long long)walk->bytes);
		if (!(walk->flags & SYS))
			check_that(walk->addr < fb_bytes && walk->bytes <= fb_bytes - walk->addr,
				   "leaf at %#llx", (unsigned long long)walk->addr);
	}
	return end;
}

static void compare(u64 page, u64 va, int line)
{
	struct soft_walk walk, want;
	bool leaf = walk_to(&walk, page, va) == SOFT_WALK_LEAF;

	check_that(leaf == walk_naive(read_entry, fb_bytes, page, va, &want), "line %d: %#llx: leaf %d", line,
		   (unsigned long long)va, leaf);
	if (leaf)
		check_that(walk.addr == want.addr && walk.bytes == want.bytes &&
			   walk.flags == want.flags, "line %d: %#llx leads to %#llx, %#x", line,
			   (unsigned long long)va, (unsigned long long)walk.addr, walk.flags);
}

static u64 table_at(u64 page)
{
	return page << VGPU_HW_PTE_PAGE_SHIFT | V;
}

static u64 leaf_at(u64 addr, u64 flags)
{
	return addr / PAGE << VGPU_HW_PTE_PAGE_SHIFT | flags | V;
}

/* Root in page 0, tables of the levels 1 and 0 in pages 1 and 2. */
static int setup(void **state)
{
	memset(tables, 0, sizeof(tables));
	tables[0][0] = table_at(1);
	tables[1][0] = table_at(2);
	fb_bytes = FB;
	meddle = NULL;
	return 0;
}

static void expect_leaf(u64 va, u64 addr, u64 bytes, u32 flags, int line)
{
	struct soft_walk walk;

	check_that(walk_to(&walk, 0, va) == SOFT_WALK_LEAF, "line %d: fault", line);
	check_that(walk.addr == addr && walk.bytes == bytes && walk.flags == flags,
		   "line %d: %#llx, %#llx bytes, %#x", line, (unsigned long long)walk.addr,
		   (unsigned long long)walk.bytes, walk.flags);
	compare(0, va, line);
}

static void expect_fault(u64 va, int line)
{
	struct soft_walk walk;

	check_that(walk_to(&walk, 0, va) == SOFT_WALK_FAULT, "line %d: leaf", line);
	compare(0, va, line);
}

#define EXPECT_LEAF(va, addr, bytes, flags) expect_leaf(va, addr, bytes, flags, __LINE__)
#define EXPECT_FAULT(va) expect_fault(va, __LINE__)

static void test_levels(void **state)
{
	EXPECT_FAULT(0);
	tables[2][5] = leaf_at(7 * PAGE, R | W);
	EXPECT_LEAF(5 * PAGE, 7 * PAGE, PAGE, R | W);
	EXPECT_LEAF(5 * PAGE + 4095, 7 * PAGE + 4095, 1, R | W);
	EXPECT_FAULT(6 * PAGE);
	tables[1][3] = leaf_at(4 * MIB, R);
	EXPECT_LEAF(6 * MIB + 100, 4 * MIB + 100, 2 * MIB - 100, R);
	tables[0][2] = leaf_at(3 * GIB, R | X);
	EXPECT_LEAF(2 * GIB + 5, 3 * GIB + 5, GIB - 5, R | X);
	/* The upper half, and the last byte of all. */
	tables[0][511] = leaf_at(GIB, R | W | X);
	EXPECT_LEAF(~0ULL, 2 * GIB - 1, 1, R | W | X);
	EXPECT_LEAF(-GIB, GIB, GIB, R | W | X);
	tables[0][256] = leaf_at(GIB, R);
	EXPECT_LEAF(-VA_HALF, GIB, GIB, R);
	tables[0][255] = leaf_at(2 * GIB, R);
	EXPECT_LEAF(VA_HALF - 1, 3 * GIB - 1, 1, R);
}

static void test_canonical(void **state)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		tables[0][i] = leaf_at(GIB, R);
	EXPECT_FAULT(VA_HALF);
	EXPECT_FAULT(-VA_HALF - 1);
	EXPECT_FAULT(1ULL << 63);
	for (i = 38; i < 64; i++) {
		EXPECT_FAULT(1ULL << i);
		EXPECT_FAULT(~0ULL ^ 1ULL << i);
	}
}

static void test_bits(void **state)
{
	static const unsigned int free_bits[] = { 4, 5, 6, 7, 9 };
	unsigned int level, access, i;
	u64 *entry, base;

	for (level = 0; level < 3; level++) {
		entry = &tables[2 - level][0];
		base = leaf_at(GIB, 0);
		for (access = 1; access < 8; access++) {
			*entry = base | access << 1;
			if (access == 2 || access == 6)
				EXPECT_FAULT(0);
			else
				EXPECT_LEAF(0, GIB, 4096ULL << 9 * level, access << 1);
		}
		base |= R;
		for (i = 0; i < ARRAY_SIZE(free_bits); i++) {
			*entry = base | 1ULL << free_bits[i];
			EXPECT_LEAF(0, GIB, 4096ULL << 9 * level, R);
		}
		for (i = 54; i < 64; i++) {
			*entry = base | 1ULL << i;
			EXPECT_FAULT(0);
		}
		*entry = base & ~(u64)V;
		EXPECT_FAULT(0);
		/* Guest memory has no end. */
		*entry = base | SYS;
		EXPECT_LEAF(0, GIB, 4096ULL << 9 * level, R | SYS);
		*entry = leaf_at((1ULL << 56) - GIB, R | SYS);
		EXPECT_LEAF(0, (1ULL << 56) - GIB, 4096ULL << 9 * level, R | SYS);
	}
}

static void test_tables(void **state)
{
	unsigned int i;

	tables[2][0] = leaf_at(GIB, R);
	EXPECT_LEAF(0, GIB, PAGE, R);
	for (i = 4; i < 10; i++) {
		tables[1][0] = table_at(2) | 1ULL << i;
		if (i == 8)	/* in guest memory */
			EXPECT_FAULT(0);
		else
			EXPECT_LEAF(0, GIB, PAGE, R);
	}
	for (i = 54; i < 64; i++) {
		tables[1][0] = table_at(2) | 1ULL << i;
		EXPECT_FAULT(0);
	}
	tables[1][0] = table_at(2);
	/* The last level has no tables. */
	tables[2][0] = table_at(1);
	EXPECT_FAULT(0);
}

static void test_aligned(void **state)
{
	tables[1][0] = leaf_at(GIB + PAGE, R);
	EXPECT_FAULT(0);
	tables[1][0] = leaf_at(GIB + MIB, R | SYS);
	EXPECT_FAULT(0);
	tables[0][0] = leaf_at(2 * MIB, R);
	EXPECT_FAULT(0);
	tables[0][0] = leaf_at(GIB + GIB / 2, R | SYS);
	EXPECT_FAULT(0);
}

static void test_bounds(void **state)
{
	struct soft_walk walk;

	/* Three pages are left behind the last whole GiB. */
	tables[2][0] = leaf_at(FB - PAGE, R);
	EXPECT_LEAF(0, FB - PAGE, PAGE, R);
	tables[2][0] = leaf_at(FB, R);
	EXPECT_FAULT(0);
	tables[2][0] = leaf_at(1ULL << 55, R);
	EXPECT_FAULT(0);
	tables[1][1] = leaf_at(5 * GIB, R);
	EXPECT_FAULT(2 * MIB);
	tables[1][1] = leaf_at(5 * GIB - 2 * MIB, R);
	EXPECT_LEAF(2 * MIB, 5 * GIB - 2 * MIB, 2 * MIB, R);
	tables[0][1] = leaf_at(5 * GIB, R);
	EXPECT_FAULT(GIB);
	/* Tables in the last page, and behind it. The last page reads zero. */
	tables[1][2] = table_at(FB / PAGE - 1);
	EXPECT_FAULT(4 * MIB);
	tables[1][2] = table_at(FB / PAGE);
	EXPECT_FAULT(4 * MIB);
	tables[1][2] = table_at((1ULL << 44) - 1);
	EXPECT_FAULT(4 * MIB);
	assert_int_equal(walk_to(&walk, FB / PAGE - 1, 0), SOFT_WALK_FAULT);
	assert_int_equal(walk_to(&walk, FB / PAGE, 0), SOFT_WALK_FAULT);
	assert_true(soft_walk_root_ok(VGPU_HW_ROOT_VALID | (FB / PAGE - 1), FB));
	assert_false(soft_walk_root_ok(VGPU_HW_ROOT_VALID | (FB / PAGE), FB));
	assert_false(soft_walk_root_ok(VGPU_HW_ROOT_VALID | VGPU_HW_ROOT_PAGE_MASK, FB));
	assert_true(soft_walk_root_ok(VGPU_HW_ROOT_VALID | VGPU_HW_ROOT_PAGE_MASK, 1ULL << 43));
}

/* Tables that have themselves for tables: the same entries are read at several levels. */
static void test_loops(void **state)
{
	tables[0][0] = table_at(0);
	EXPECT_FAULT(0);
	tables[0][1] = leaf_at(GIB, R);
	EXPECT_LEAF(GIB, GIB, GIB, R);
	EXPECT_LEAF(2 * MIB, GIB, 2 * MIB, R);
	EXPECT_LEAF(PAGE, GIB, PAGE, R);
	/* Good for a page, and too little aligned for more. */
	tables[0][2] = leaf_at(9 * PAGE, R | W);
	EXPECT_FAULT(2 * GIB);
	EXPECT_FAULT(4 * MIB);
	EXPECT_LEAF(2 * PAGE, 9 * PAGE, PAGE, R | W);
	/* Two tables that have each other. */
	tables[0][3] = table_at(1);
	tables[1][3] = table_at(0);
	EXPECT_FAULT(3 * GIB + 6 * MIB + 3 * PAGE);
}

static u64 *seed;

static u64 random_entry(void)
{
	static const u64 places[] = { 0, GIB, 2 * MIB, FB, FB - PAGE, 5 * GIB, 1ULL << 55 };
	u64 entry;

	if (random_one_in(seed, 8))
		return random_next(seed);
	if (random_one_in(seed, 2)) {
		entry = table_at(random_range(seed, 0, TABLES - 1));
	} else {
		entry = leaf_at(places[random_range(seed, 0, ARRAY_SIZE(places) - 1)],
				random_next(seed) & (R | W | X));
		if (random_one_in(seed, 4))
			entry += random_range(seed, 0, 1024) << VGPU_HW_PTE_PAGE_SHIFT;
	}
	if (random_one_in(seed, 16))
		entry ^= 1ULL << random_range(seed, 0, 63);
	return entry;
}

/* Mostly one that takes the first entries of tables, as few have more. */
static u64 random_va(void)
{
	u64 va = random_range(seed, 0, 7) << 30 | random_range(seed, 0, 7) << 21 |
		 random_range(seed, 0, 7) << 12 | random_range(seed, 0, 4095);

	if (random_one_in(seed, 4))
		va ^= 1ULL << random_range(seed, 0, 63);
	if (random_one_in(seed, 32))
		va = random_next(seed);
	return random_one_in(seed, 8) ? -va : va;
}

static void random_tables(void)
{
	static const u64 sizes[] = { FB, 16 * PAGE, PAGE, GIB, 1ULL << 40, 3 * GIB };
	unsigned int i, k;

	for (i = 0; i < TABLES; i++)
		for (k = 0; k < 8; k++)
			tables[i][k] = random_entry();
	fb_bytes = sizes[random_one_in(seed, 2) ? 0 : random_range(seed, 0, 5)];
}

static u64 random_root(void)
{
	return random_one_in(seed, 64) ? random_next(seed) & VGPU_HW_ROOT_PAGE_MASK :
					 random_range(seed, 0, TABLES - 1);
}

static void test_random(void **state)
{
	u64 start = test_seed(), leaves = 0, root, va;
	struct soft_walk walk;
	unsigned int i;

	seed = &start;
	for (i = 0; i < NR_RANDOM; i++) {
		if (i % 64 == 0)
			random_tables();
		root = random_root();
		va = random_va();
		compare(root, va, __LINE__);
		leaves += walk_to(&walk, root, va) == SOFT_WALK_LEAF;
	}
	printf("# %llu of %u random walks came to a leaf\n", (unsigned long long)leaves, NR_RANDOM);
	assert_true(leaves > NR_RANDOM / 25);
}

/* The guest writes to its tables between any two steps. */
static void scribble(void)
{
	tables[random_range(seed, 0, TABLES - 1)][random_range(seed, 0, 7)] = random_entry();
}

static void test_changed(void **state)
{
	u64 start = test_seed();
	struct soft_walk walk;
	unsigned int i;

	seed = &start;
	random_tables();
	meddle = scribble;
	for (i = 0; i < NR_RANDOM; i++)
		walk_to(&walk, random_root(), random_va());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_levels, setup),
		cmocka_unit_test_setup(test_canonical, setup),
		cmocka_unit_test_setup(test_bits, setup),
		cmocka_unit_test_setup(test_tables, setup),
		cmocka_unit_test_setup(test_aligned, setup),
		cmocka_unit_test_setup(test_bounds, setup),
		cmocka_unit_test_setup(test_loops, setup),
		cmocka_unit_test_setup(test_random, setup),
		cmocka_unit_test_setup(test_changed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
