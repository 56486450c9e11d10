// SPDX-License-Identifier: GPL-2.0
/*
 * Loads (load_*.c) leave the same memory on the device's interpreter as on this CPU: in groups of
 * many shapes, with one lane and with many, stopped at random and after every instruction, while
 * pages cannot be had, as compiled with and without optimization, on each instruction set of the
 * CPU.
 */
#include "vgpu_test.h"

#include "load_cpu.h"
#include "simt_host.h"

#define LOADS_MAX	64
#define LIMIT		50000000	/* instructions of warps; the longest takes some millions */

static struct simt_host host;
static struct load loads[LOADS_MAX];
static int nr_loads;
static u64 seed;

/* How a load is run. */
struct run {
	u32 grid[3], group[3], budget, waits;
};

static const struct run rows[] = {
	{ { 64, 1, 1 }, { 32, 1, 1 }, 1, 0 },
	{ { 33, 1, 1 }, { 33, 1, 1 }, 0, 101 },
	{ { 26, 1, 1 }, { 13, 1, 1 }, 3000, 101 },
	{ { 3, 1, 1 }, { 1, 1, 1 }, 7, 0 },
	{ { 150, 1, 1 }, { 100, 1, 1 }, 17, 397 },
};

/* For those that know of more dimensions. */
static const struct run boxes[] = {
	{ { 8, 4, 3 }, { 8, 4, 1 }, 1, 0 },
	{ { 10, 5, 4 }, { 3, 5, 2 }, 0, 101 },
	{ { 64, 2, 2 }, { 32, 2, 2 }, 3000, 0 },
	{ { 1, 1, 70 }, { 1, 1, 33 }, 7, 0 },
	{ { 100, 5, 1 }, { 65, 2, 1 }, 17, 397 },
};

static void random_memory(u8 *mem)
{
	u32 id, at;

	memset(mem, 0, LOAD_BYTES);
	for (id = 0; id < LOAD_ITEMS; id++)
		for (at = 0; at < LOAD_ITEM / 2; at += 8)
			load_put(mem + id * LOAD_ITEM + at, random_next(&seed));
	for (at = LOAD_BYTES - LOAD_SHARED / 2; at < LOAD_BYTES; at += 8)
		load_put(mem + at, random_next(&seed));
}

static void check_run(const struct load *load, const struct simt_isa *isa, const struct run *run,
		      const u8 *before, const u8 *want)
{
	struct simt_work work = {
		.entry = ((uintptr_t)load->run - VGPU_HW_VA_IMAGE) / 4,
		.args = VGPU_HW_VA_GLOBAL + LOAD_BYTES, .local_bytes = 16384,
		.private_bytes = LOAD_PRIVATE,
	};
	enum simt_end end;
	u32 at;

	memcpy(work.grid, run->grid, sizeof(work.grid));
	memcpy(work.group, run->group, sizeof(work.group));
	memcpy(host.fb, before, LOAD_BYTES);
	load_put(host.fb + LOAD_BYTES, VGPU_HW_VA_GLOBAL);
	host.budget = run->budget;
	host.waits = run->waits;
	host.limit = LIMIT;
	end = simt_host_run(&host, isa, &work);
	check_that(end == SIMT_DONE, "%s of %s in groups of %u, budget %u: end %d after %llu instructions, fault %d at %#llx (%#llx)",
		   load->name, isa->name, run->group[0], run->budget, end,
		   (unsigned long long)host.executed, host.fault.code,
		   (unsigned long long)host.fault.pc, (unsigned long long)host.fault.addr);
	if (!memcmp(host.fb, want, LOAD_BYTES))
		return;
	for (at = 0; host.fb[at] == want[at]; at++)
		;
	check_that(false, "%s of %s in groups of %u, budget %u: byte %u of %u is %#x, not %#x",
		   load->name, isa->name, run->group[0], run->budget, at % LOAD_ITEM,
		   at / LOAD_ITEM, host.fb[at], want[at]);
}

static void check_load(const struct load *load)
{
	const struct run *runs = strcmp(load->name, "ids") ? rows : boxes;
	static u8 before[LOAD_BYTES], want[LOAD_BYTES];
	const struct load *cpu = load_cpu_find(load->name);
	const struct simt_isa *isa;
	unsigned int i, k;

	check_that(cpu, "%s is not on the CPU", load->name);
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		random_memory(before);
		memcpy(want, before, sizeof(want));
		load_cpu_run(cpu, want, runs[k].grid, runs[k].group);
		for (i = 0; (isa = simt_host_isa(i)); i++)
			check_run(load, isa, &runs[k], before, want);
	}
}

static int read_loads(const char *file)
{
	FILE *in = fopen(file, "rb");
	int n = 0;

	if (!in)
		return 0;
	n = fread(loads, sizeof(*loads), LOADS_MAX, in);
	fclose(in);
	return n;
}

/* @name: a program's files */
static void check_program(const char *name, const char *text_bytes)
{
	char file[256];
	int i;

	snprintf(file, sizeof(file), "%s.loads", name);
	nr_loads = read_loads(file);
	assert_true(nr_loads > 0);
	snprintf(file, sizeof(file), "%s.bin", name);
	assert_int_equal(simt_host_init(&host, file, strtoul(text_bytes, NULL, 0),
					LOAD_BYTES + VGPU_HW_PAGE_SIZE), 0);
	host.seed = seed;
	host.alone = true;
	host.moves = (struct state_moves){ .seed = seed, .one_in = 20000 };
	for (i = 0; i < nr_loads; i++)
		check_load(&loads[i]);
	check_that(!host.native || host.entered > 1000, "code was entered %llu times",
		   (unsigned long long)host.entered);
	simt_host_exit(&host);
}

static void test_o0(void **state)
{
	check_program(LOADS_O0);
}

static void test_o2(void **state)
{
	check_program(LOADS_O2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o0),
		cmocka_unit_test(test_o2),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
