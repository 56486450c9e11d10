// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs whose work-items part and meet again (diverge.py) do the same on the device's
 * interpreter as when gcc has compiled them for this CPU: with one lane and with many, stopped at
 * random, while pages cannot be had, on each instruction set of the CPU. Some stops
 * move the dispatch: state_image.h.
 */
#include "vgpu_test.h"

#include "diverge_program.h"
#include "simt_host.h"

#define ITEMS		300
#define FB_BYTES	(1 << 20)
#define STATES		(64 * 1024)
#define FUEL		300

extern const struct diverge_cpu *const diverge_programs[];
extern const int diverge_count;

static struct simt_host host;
static u32 entries[1024];
static u64 seed;

/* Work-groups one after the other, and in them phase by phase. */
static void run_cpu(const struct diverge_cpu *program, struct state *states, u32 group)
{
	uint64_t near[2][DIVERGE_GROUP];
	u32 first, id;
	int k;

	for (first = 0; first < ITEMS; first += group) {
		u32 size = min(group, (u32)ITEMS - first);

		for (k = 0; k < program->nr; k++) {
			for (id = first; id < first + size; id++) {
				struct state s = states[id];

				program->phases[k](&s, id, size, near[~k & 1]);
				near[k & 1][id - first] = s.v[0];
				states[id] = s;
			}
		}
	}
}

static void random_states(struct state *states)
{
	u32 id, k;

	for (id = 0; id < ITEMS; id++) {
		for (k = 0; k < 4; k++)
			states[id].v[k] = random_next(&seed) >> random_range(&seed, 0, 60);
		states[id].fuel = FUEL;
	}
}

static void check_program(const struct simt_isa *isa, int number, u32 group, u32 budget, u32 waits)
{
	struct simt_work work = {
		.entry = entries[number], .args = VGPU_HW_VA_GLOBAL, .grid = { ITEMS, 1, 1 },
		.group = { group, 1, 1 }, .local_bytes = 2 * 8 * DIVERGE_GROUP,
		.private_bytes = 4096,
	};
	struct state want[ITEMS], *got = (struct state *)(host.fb + STATES);
	u64 at = VGPU_HW_VA_GLOBAL + STATES;
	enum simt_end end;
	u32 id;

	random_states(want);
	memcpy(host.fb, &at, sizeof(at));
	memcpy(got, want, sizeof(want));
	run_cpu(diverge_programs[number], want, group);
	host.budget = budget;
	host.waits = waits;
	end = simt_host_run(&host, isa, &work);
	check_that(end == SIMT_DONE, "program %d of %s in groups of %u: end %d, fault %d at %#llx (%#llx)",
		   number, isa->name, group, end, host.fault.code,
		   (unsigned long long)host.fault.pc, (unsigned long long)host.fault.addr);
	for (id = 0; id < ITEMS; id++)
		check_that(!memcmp(&want[id], &got[id], sizeof(want[id])),
			   "program %d of %s in groups of %u, budget %u: work-item %u: %#llx %#llx %#llx %#llx, not %#llx %#llx %#llx %#llx",
			   number, isa->name, group, budget, id,
			   (unsigned long long)got[id].v[0], (unsigned long long)got[id].v[1],
			   (unsigned long long)got[id].v[2], (unsigned long long)got[id].v[3],
			   (unsigned long long)want[id].v[0], (unsigned long long)want[id].v[1],
			   (unsigned long long)want[id].v[2], (unsigned long long)want[id].v[3]);
}

static void check_isa(const struct simt_isa *isa)
{
	int number;

	if (!isa)
		skip();
	for (number = 0; number < diverge_count; number++) {
		check_program(isa, number, 1, 1000, 0);
		check_program(isa, number, 32, 1, 0);
		check_program(isa, number, random_range(&seed, 2, DIVERGE_GROUP), 0, 0);
		check_program(isa, number, DIVERGE_GROUP, 100, 97);
	}
}

static void test_scalar(void **state)
{
	check_isa(simt_host_isa(0));
}

static void test_sse2(void **state)
{
	check_isa(simt_host_isa(1));
}

static void test_avx2(void **state)
{
	check_isa(simt_host_isa(2));
}

/* The table of entries is a section of its own: entries' addresses. */
static int read_entries(const char *file)
{
	FILE *in = fopen(file, "rb");
	u64 va;
	int n = 0;

	while (in && n < ARRAY_SIZE(entries) && fread(&va, sizeof(va), 1, in) == 1)
		entries[n++] = (va - VGPU_HW_VA_IMAGE) / 4;
	if (in)
		fclose(in);
	return n;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_sse2),
		cmocka_unit_test(test_avx2),
	};
	int ret;

	seed = test_seed();
	host.seed = seed;
	if (simt_host_init(&host, DIVERGE_IMAGE, strtoul(DIVERGE_TEXT, NULL, 0), FB_BYTES))
		return 1;
	host.seed = seed;
	host.alone = true;
	host.moves = (struct state_moves){ .seed = seed, .one_in = 3000 };
	if (read_entries(DIVERGE_ENTRIES) != diverge_count) {
		fprintf(stderr, "%s: not %d entries\n", DIVERGE_ENTRIES, diverge_count);
		return 1;
	}
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	simt_host_exit(&host);
	return ret;
}
