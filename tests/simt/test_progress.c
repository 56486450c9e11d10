// SPDX-License-Identifier: GPL-2.0
/*
 * Forward progress, as isa.rst states it: loads whose work-items wait for each other, or get into
 * each other's way, come to an end within a number of instructions, whatever their warps and the
 * budgets are. None of them needs a clock, so neither does this.
 */
#include "vgpu_test.h"

#include "load.h"
#include "simt_host.h"

#define LOADS_MAX	64
#define FIXED		500000ULL

/**
 * struct wait - a load of load_locks.c
 * @name:  its name
 * @most:  work-items of a group
 * @each:  instructions of warps that it may take for each, beside FIXED
 * @count: a word of the memory that all share, and what it is in the end, for each work-item
 * @is:    see there
 */
struct wait {
	const char *name;
	u32 most;
	u32 each;
	u32 count;
	u32 is;
};

static const struct wait locks[] = {
	{ "spin", 1024, 3000, 0, 0 },
	{ "tickets", 1024, 3000, 1, 1 },
	{ "queue", 1024, 6000, 2, 4 },
	{ "backwards", 1024, 6000, 1, 2 },
	{ "chain", 1024, 3000, 0, 0 },
	{ "crowd", 1024, 3000, 0, 0 },
	{ "forks", 1024, 15000, 0, 0 },
	{ "retreat", 64, 30000, 0, 1 },
	{ "exchange", 1024, 6000, 0, 0 },
	{ "hold", 64, 100000, 0, 0 },
	{ "hold_long", 2, 20000000, 0, 0 },
	{ "three", 64, 100000, 0, 1 },
};

/* Likewise, of load_plain.c. */
static const struct wait plain[] = {
	{ "plain_chain", 1024, 3000, 0, 0 },
	{ "plain_turns", 1024, 6000, 1, 2 },
	{ "plain_gate", 1024, 3000, 0, 1 },
};

/* One group each; the last budget is larger than all of these take. */
static const u32 groups[] = { 2, 32, 64, 1024 };
static const u32 budgets[] = { 1, 16, 50, 256, 4096, 100000000 };

static struct simt_host host;

static u32 find(const char *table, const char *name)
{
	struct load loads[LOADS_MAX];
	FILE *in = fopen(table, "rb");
	int n = 0, i;

	assert_non_null(in);
	n = fread(loads, sizeof(*loads), LOADS_MAX, in);
	fclose(in);
	for (i = 0; i < n; i++)
		if (!strcmp(loads[i].name, name))
			return ((uintptr_t)loads[i].run - VGPU_HW_VA_IMAGE) / 4;
	check_that(false, "no load %s in %s", name, table);
	return 0;
}

static void check_wait(const struct wait *wait, u32 entry, const struct simt_isa *isa, u32 group,
		       u32 budget)
{
	const struct simt_work work = {
		.entry = entry, .args = VGPU_HW_VA_GLOBAL + LOAD_BYTES, .local_bytes = 16384,
		.private_bytes = LOAD_PRIVATE, .grid = { group, 1, 1 }, .group = { group, 1, 1 },
	};
	const u64 args = VGPU_HW_VA_GLOBAL;
	const u8 *shared = host.fb + LOAD_ITEMS * LOAD_ITEM;
	enum simt_end end;
	u64 count;

	memset(host.fb, 0, LOAD_BYTES);
	memcpy(host.fb + LOAD_BYTES, &args, sizeof(args));
	host.budget = budget;
	host.limit = FIXED + group * wait->each;
	end = simt_host_run(&host, isa, &work);
	if (getenv("PROGRESS_PRINT"))
		printf("# %-10s %-6s %4u items, budget %9u: %9llu instructions\n", wait->name,
		       isa->name, group, budget, (unsigned long long)host.executed);
	memcpy(&count, shared + 8 * wait->count, sizeof(count));
	check_that(end == SIMT_DONE && host.executed <= host.limit &&
		   (!wait->is || count == (u64)group * wait->is),
		   "%s of %s, %u items, budget %u: end %d after %llu instructions, %llu",
		   wait->name, isa->name, group, budget, end, (unsigned long long)host.executed,
		   (unsigned long long)count);
}

/* @name: a program's files */
static void check_program(const struct wait *waits, unsigned int nr, const char *name,
			  const char *text_bytes)
{
	const struct simt_isa *isa;
	unsigned int i, k, g, b;
	char file[256];

	snprintf(file, sizeof(file), "%s.bin", name);
	assert_int_equal(simt_host_init(&host, file, strtoul(text_bytes, NULL, 0),
					LOAD_BYTES + VGPU_HW_PAGE_SIZE), 0);
	snprintf(file, sizeof(file), "%s.loads", name);
	for (i = 0; i < nr; i++)
		for (k = 0; (isa = simt_host_isa(k)); k++)
			for (g = 0; g < ARRAY_SIZE(groups) && groups[g] <= waits[i].most; g++)
				for (b = 0; b < ARRAY_SIZE(budgets); b++)
					check_wait(&waits[i], find(file, waits[i].name), isa,
						   groups[g], budgets[b]);
	simt_host_exit(&host);
}

static void test_o0(void **state)
{
	check_program(locks, ARRAY_SIZE(locks), LOADS_O0);
}

static void test_o2(void **state)
{
	check_program(locks, ARRAY_SIZE(locks), LOADS_O2);
}

static void test_plain_o0(void **state)
{
	check_program(plain, ARRAY_SIZE(plain), PLAIN_O0);
}

static void test_plain_o2(void **state)
{
	check_program(plain, ARRAY_SIZE(plain), PLAIN_O2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o0),
		cmocka_unit_test(test_o2),
		cmocka_unit_test(test_plain_o0),
		cmocka_unit_test(test_plain_o2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
