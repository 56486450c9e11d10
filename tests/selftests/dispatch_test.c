// SPDX-License-Identifier: GPL-2.0
/* Programs on gr: what work-items are told, work-groups, and the program cache. */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "compute.h"
#include "silent.h"

static struct fx_vgpu v;

/* What a work-item writes down about itself. */
struct item {
	uint32_t id[3], local[3], group[3], local_size[3], size[3], groups[3];
};

/* out[(z * size.y + y) * size.x + x] = all of struct item; 72 bytes are 8 + 64 */
#define STORE_CSR(csr, at) RV_CSRR(RV_T1, csr), RV_SW(RV_T1, at, RV_T0)
#define STORE_CSRS(csr, at) \
	STORE_CSR(csr, at), STORE_CSR(csr + 1, at + 4), STORE_CSR(csr + 2, at + 8)

static const uint32_t tell_ids[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID + 2),
	RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_SIZE + 1),
	RV_MUL(RV_T0, RV_T0, RV_T1),
	RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_ID + 1),
	RV_ADD(RV_T0, RV_T0, RV_T1),
	RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_SIZE),
	RV_MUL(RV_T0, RV_T0, RV_T1),
	RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_ID),
	RV_ADD(RV_T0, RV_T0, RV_T1),
	RV_SLLI(RV_T1, RV_T0, 6),
	RV_SLLI(RV_T0, RV_T0, 3),
	RV_ADD(RV_T0, RV_T0, RV_T1),
	RV_ADD(RV_T0, RV_T0, RV_A0),
	STORE_CSRS(VGPU_HW_CSR_GLOBAL_ID, 0),
	STORE_CSRS(VGPU_HW_CSR_LOCAL_ID, 12),
	STORE_CSRS(VGPU_HW_CSR_GROUP_ID, 24),
	STORE_CSRS(VGPU_HW_CSR_LOCAL_SIZE, 36),
	STORE_CSRS(VGPU_HW_CSR_GLOBAL_SIZE, 48),
	STORE_CSRS(VGPU_HW_CSR_NUM_GROUPS, 60),
	RV_RET,
};

static void check_item(const struct item *item, const uint32_t id[3], const uint32_t grid[3],
		       const uint32_t group[3])
{
	unsigned int k;

	for (k = 0; k < 3; k++) {
		uint32_t first = id[k] / group[k] * group[k], left = grid[k] - first;

		CHECK_EQ(item->id[k], id[k]);
		CHECK_EQ(item->local[k], id[k] % group[k]);
		CHECK_EQ(item->group[k], id[k] / group[k]);
		CHECK_EQ(item->local_size[k], left < group[k] ? left : group[k]);
		CHECK_EQ(item->size[k], grid[k]);
		CHECK_EQ(item->groups[k], (grid[k] + group[k] - 1) / group[k]);
	}
}

static void check_items(const uint32_t grid[3], const uint32_t group[3])
{
	const struct item *items = (const void *)(v.dev->fb + COMPUTE_OUT);
	const struct item *behind = items + (uint64_t)grid[0] * grid[1] * grid[2];
	uint32_t id[3];

	for (id[2] = 0; id[2] < grid[2]; id[2]++)
		for (id[1] = 0; id[1] < grid[1]; id[1]++)
			for (id[0] = 0; id[0] < grid[0]; id[0]++)
				check_item(items++, id, grid, group);
	CHECK(fx_is_zero(behind, sizeof(*behind)), "beyond the grid");
}

static void ids_of_all_shapes(void)
{
	static const uint32_t shapes[][2][3] = {
		{ { 1, 1, 1 }, { 1, 1, 1 } },
		{ { 1, 1, 1 }, { 1024, 1, 1 } },
		{ { 100, 1, 1 }, { 32, 1, 1 } },
		{ { 33, 7, 1 }, { 8, 4, 1 } },
		{ { 5, 6, 7 }, { 2, 4, 3 } },
		{ { 3, 3, 3 }, { 16, 8, 8 } },
		{ { 1025, 2, 1 }, { 1024, 1, 1 } },
		{ { 1, 1, 130 }, { 1, 1, 64 } },
		{ { 2, 500, 3 }, { 1, 77, 2 } },
		{ { 40, 40, 1 }, { 32, 32, 1 } },
	};
	struct vgpu_chan *chan = compute_chan(&v);
	const uint32_t *grid, *group;
	unsigned int i;

	COMPUTE_LOAD(&v, tell_ids);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		grid = shapes[i][0];
		group = shapes[i][1];
		memset(v.dev->fb + COMPUTE_OUT, 0, 5000 * sizeof(struct item));
		compute_dispatch(chan, COMPUTE_SIZE(grid[0], grid[1], grid[2]),
				 COMPUTE_SIZE(group[0], group[1], group[2]), 0);
		fx_finish(chan);
		check_items(grid, group);
	}
	CHECK_EQ(compute_counter(&v, "dispatches "), i);
	CHECK_EQ(compute_counter(&v, "program_misses "), 1);
	CHECK_EQ(compute_counter(&v, "program_hits "), i - 1);
}

/* Each work-item reads what another one of its group has written before a barrier. */
static void group_memory_and_barrier(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_A1, VGPU_HW_CSR_LOCAL_ID),
		RV_CSRR(RV_A2, VGPU_HW_CSR_LOCAL_SIZE),
		RV_CSRR(RV_A3, VGPU_HW_CSR_GLOBAL_ID),
		RV_LUI(RV_A4, VGPU_HW_VA_LOCAL >> 12),
		RV_SLLI(RV_T0, RV_A1, 2),
		RV_ADD(RV_T0, RV_T0, RV_A4),
		RV_SW(RV_A3, 0, RV_T0),			/* local[id] = global id */
		RV_BARRIER,
		RV_SUB(RV_T0, RV_A2, RV_A1),
		RV_ADDI(RV_T0, RV_T0, -1),
		RV_SLLI(RV_T0, RV_T0, 2),
		RV_ADD(RV_T0, RV_T0, RV_A4),
		RV_LW(RV_T1, 0, RV_T0),			/* local[size - 1 - id] */
		RV_SLLI(RV_T0, RV_A3, 2),
		RV_ADD(RV_T0, RV_T0, RV_A0),
		RV_SW(RV_T1, 0, RV_T0),
		RV_RET,
	};
	static const uint32_t sizes[] = { 1, 7, 32, 33, 256, 1000, 1024 };
	struct vgpu_chan *chan = compute_chan(&v);
	uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT), i, k, n, nr;

	COMPUTE_LOAD(&v, words);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		n = sizes[i];
		nr = 5 * n;
		compute_dispatch(chan, COMPUTE_SIZE(nr, 1, 1), COMPUTE_SIZE(n, 1, 1), 4 * n);
		fx_finish(chan);
		for (k = 0; k < nr; k++)
			CHECK_EQ(le32toh(out[k]), k / n * n + n - 1 - k % n, "item %u of %u", k, n);
	}
}

/* How many of the three have said that they have numbers. */
static uint32_t counting(const uint32_t *said)
{
	uint32_t i, nr = 0;

	for (i = 0; i < 3; i++)
		nr += __atomic_load_n(&said[i], __ATOMIC_ACQUIRE);
	return nr;
}

/*
 * Work-items of all groups of two channels, and this program, count with one word while the others
 * do; nobody gets a number twice. Who got a number writes down who he is: the size of his grid, or
 * 1 for this program. Each of the three has numbers, says so, and takes more only when the other
 * two have said it: so the dispatches take turns, even if one CPU could run each to its end.
 */
static void atomics_between_groups(void)
{
	enum { NR = 5000, HALF = 50, MINE = 200000, ALL = (2 * NR + 1) * 2 * HALF };
	static const uint32_t words[] = {
		RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_SIZE),
		RV_ANDI(RV_A2, RV_A1, 1),		/* NR is even */
		RV_SLLI(RV_A2, RV_A2, 2),
		RV_ADD(RV_A2, RV_A2, RV_A0),
		RV_LI(RV_A3, 1),
		RV_LI(RV_A4, 2),
		RV_LI(RV_T2, HALF),			/* 6: */
		RV_AMOADD_W(RV_T1, RV_A3, RV_A0),
		RV_SLLI(RV_T1, RV_T1, 2),
		RV_ADD(RV_T1, RV_T1, RV_A0),
		RV_SW(RV_A1, 64, RV_T1),
		RV_ADDI(RV_T2, RV_T2, -1),
		RV_BNE(RV_T2, RV_ZERO, -20),
		RV_FENCE,
		RV_SW(RV_A3, 4, RV_A2),			/* said[size % 2] = 1 */
		RV_LW(RV_T0, 4, RV_A0),			/* 15: until all of said[] are 1 */
		RV_LW(RV_T1, 8, RV_A0),
		RV_ADD(RV_T0, RV_T0, RV_T1),
		RV_LW(RV_T1, 12, RV_A0),
		RV_ADD(RV_T0, RV_T0, RV_T1),
		RV_LI(RV_T1, 3),
		RV_BNE(RV_T0, RV_T1, -24),
		RV_FENCE,
		RV_ADDI(RV_A4, RV_A4, -1),
		RV_BNE(RV_A4, RV_ZERO, -72),		/* the other half */
		RV_RET,
	};
	struct vgpu_chan *chan = compute_chan(&v), *other;
	uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT), *said = out + 1, *who = out + 16;
	uint32_t mine = 0, turns = 0, last = 0, i;
	uint64_t fence, end = clk_ms() + FX_TIMEOUT_MS;

	other = compute_chan(&v);
	COMPUTE_LOAD(&v, words);
	compute_dispatch(chan, COMPUTE_SIZE(NR, 1, 1), COMPUTE_SIZE(100, 1, 1), 0);
	compute_dispatch(other, COMPUTE_SIZE(NR + 1, 1, 1), COMPUTE_SIZE(100, 1, 1), 0);
	FX_OK(v.dev, vgpu_chan_fence(other, &fence));
	do {
		who[__atomic_fetch_add(out, 1, __ATOMIC_RELAXED)] = 1;
		__atomic_store_n(&said[2], 1, __ATOMIC_RELEASE);
		for (; counting(said) < 3; sched_yield())
			CHECK(clk_ms() < end, "one runs only when the other has ended: %u, %u",
			      said[0], said[1]);
	} while (++mine < MINE && __atomic_load_n(other->signal, __ATOMIC_RELAXED) < fence);
	fx_finish(other);
	fx_finish(chan);
	CHECK_EQ(out[0], ALL + mine);
	/* As many numbers as were given, each to somebody: so none was given twice. */
	for (i = 0; i < ALL + mine; i++) {
		CHECK(who[i] == NR || who[i] == NR + 1 || who[i] == 1, "%u was given to %u", i,
		      who[i]);
		if (who[i] == 1)
			continue;
		turns += last && who[i] != last;
		last = who[i];
	}
	ktap_note("%u numbers for this program, %u turns of the dispatches", mine, turns);
	CHECK(turns > 1, "");
}

/*
 * Work-items of a warp wait for each other in a loop, which is at a lower pc than what the one that
 * has the lock does: so each must run at times.
 */
static void spin_lock_between_lanes(void)
{
	enum { ROUNDS = 5, NR = 100 };
	static const uint32_t words[] = {
		RV_LI(RV_T2, ROUNDS),
		RV_LI(RV_T0, 1),
		RV_AMOSWAP_W(RV_T1, RV_T0, RV_A0),
		RV_BNE(RV_T1, RV_ZERO, -4),
		RV_LW(RV_T1, 4, RV_A0),
		RV_ADDI(RV_T1, RV_T1, 1),
		RV_SW(RV_T1, 4, RV_A0),
		RV_AMOSWAP_W(RV_ZERO, RV_ZERO, RV_A0),
		RV_ADDI(RV_T2, RV_T2, -1),
		RV_BNE(RV_T2, RV_ZERO, -32),
		RV_RET,
	};
	struct vgpu_chan *chan = compute_chan(&v);
	volatile uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT);

	COMPUTE_LOAD(&v, words);
	compute_dispatch(chan, COMPUTE_SIZE(NR, 1, 1), COMPUTE_SIZE(NR, 1, 1), 0);
	fx_finish(chan);
	CHECK_EQ(out[0], 0);
	CHECK_EQ(out[1], NR * ROUNDS);
}

/* Constants behind the text, the arguments, and a stack for each work-item. */
static void image_arguments_and_stack(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID),
		RV_ADDI(RV_SP, RV_SP, -16),
		RV_SD(RV_A1, 8, RV_SP),
		RV_AUIPC(RV_A2, 0),
		RV_LW(RV_A3, 13 * 4, RV_A2),		/* the constant */
		RV_LD(RV_A4, 0, RV_A0),			/* first argument: where to */
		RV_LW(RV_A5, 8, RV_A0),			/* second: a number */
		RV_ADD(RV_A3, RV_A3, RV_A5),
		RV_LD(RV_A1, 8, RV_SP),
		RV_ADD(RV_A3, RV_A3, RV_A1),
		RV_SLLI(RV_A1, RV_A1, 2),
		RV_ADD(RV_A4, RV_A4, RV_A1),
		RV_SW(RV_A3, 0, RV_A4),
		RV_ADDI(RV_SP, RV_SP, 16),
		RV_JR(RV_RA),
		0,
		1000000,
	};
	enum { NR = sizeof(words) / sizeof(words[0]) };
	struct vgpu_chan *chan = compute_chan(&v);
	struct vgpu_hw_program *head = (void *)(v.dev->fb + COMPUTE_HEAD);
	uint64_t *args = (void *)(v.dev->fb + COMPUTE_ARGS);
	uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT), i;

	compute_load(&v, words, NR, 16);
	head->text_bytes = htole32(4 * (NR - 2));
	args[0] = htole64(COMPUTE_OUT + VGPU_HW_VA_GLOBAL);
	args[1] = htole64(500);
	compute_dispatch_head(chan, COMPUTE_HEAD, COMPUTE_ARGS, COMPUTE_SIZE(3000, 1, 1),
			      COMPUTE_SIZE(64, 1, 1), 0);
	fx_finish(chan);
	for (i = 0; i < 3000; i++)
		CHECK_EQ(le32toh(out[i]), 1000500 + i);
}

/* out[0] = 12 bits of the program */
static void load_constant(uint32_t value)
{
	const uint32_t words[] = { RV_LI(RV_T0, value), RV_SW(RV_T0, 0, RV_A0), RV_RET };

	memcpy(v.dev->fb + COMPUTE_IMAGE, words, sizeof(words));
}

/* Changed code is seen after an invalidation, and after a reset. */
static void code_changes(void)
{
	static const uint32_t empty[3];
	struct vgpu_chan *chan = compute_chan(&v);
	volatile uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT);
	uint32_t i;

	COMPUTE_LOAD(&v, empty);
	for (i = 1; i < 50; i++) {
		load_constant(i);
		compute_invalidate(&v, 0);
		compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
		fx_finish(chan);
		CHECK_EQ(*out, i);
		load_constant(i + 1000);
		compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
		fx_finish(chan);
		CHECK(*out == i || *out == i + 1000, "%u", *out);
	}
	CHECK(compute_counter(&v, "program_bytes ") > 0, "");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON(compute_counter(&v, "program_bytes ") == 0);
	FX_SOON(compute_counter(&v, "context_bytes ") == 0);
	FX_OK(v.dev, vgpu_chan_enable(chan));
	load_constant(77);
	compute_head(&v, COMPUTE_HEAD, COMPUTE_IMAGE, 3, 0);
	compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
	fx_finish(chan);
	CHECK_EQ(*out, 77);
}

#define CACHE_BYTES	(16 * FX_MIB)	/* at most, of a vGPU's programs */
#define LARGE_BYTES	(3 * FX_MIB)	/* a text of 1 MiB, decoded */
#define LARGE_EACH	16

/*
 * More programs than the cache has room for: each is right, and the cache does not grow. They are
 * 100 images with lengths of their own; as many as there is time for. Small ones alone would only
 * become too many: together with large ones they become too long.
 */
static void many_programs(void)
{
	uint64_t nr = fx_env("VGPU_TEST_PROGRAMS", 100000), end = clk_ms() + 10000, i;
	struct vgpu_chan *chan = compute_chan(&v);
	volatile uint32_t *out = (void *)(v.dev->fb + COMPUTE_OUT);
	const uint64_t image = 8 * FX_MIB;
	uint64_t bytes, most = 0, large = 0;
	uint32_t k, length;

	for (k = 0; k < 100; k++) {
		const uint32_t words[] = { RV_LI(RV_T0, k), RV_SW(RV_T0, 0, RV_A0), RV_RET };

		memcpy(v.dev->fb + image + k * 4096, words, sizeof(words));
	}
	for (i = 0; i < nr && (i < 1500 || clk_ms() < end); i++) {
		k = i % 100;
		length = 3 + i / 100;
		if (i % LARGE_EACH == 0)
			length = VGPU_HW_TEXT_MAX / 4 - i / 100;
		compute_head(&v, COMPUTE_HEAD, image + k * 4096, length, 0);
		compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
		fx_finish(chan);
		CHECK_EQ(*out, k);
		if (i % LARGE_EACH)
			continue;
		large++;
		bytes = compute_counter(&v, "program_bytes ");
		CHECK(bytes >= LARGE_BYTES && bytes <= CACHE_BYTES, "%llu bytes",
		      (unsigned long long)bytes);
		most = bytes > most ? bytes : most;
	}
	CHECK_EQ(compute_counter(&v, "program_misses "), i);
	CHECK(compute_counter(&v, "program_bytes ") <= CACHE_BYTES, "");
	ktap_note("%llu programs, %llu of them large; at most %llu bytes", (unsigned long long)i,
		  (unsigned long long)large, (unsigned long long)most);
	CHECK(most > CACHE_BYTES - LARGE_BYTES, "there was room for all");
}

/*
 * What idle channels keep does not keep others out: these need 8 MiB each, and only half of the
 * bound is in use when the last one begins.
 */
static void idle_contexts_make_room(void)
{
	enum { IDLE = 3, LOOPS = 4 };
	static const uint32_t words[] = {
		RV_LW(RV_T1, 0, RV_A0),
		RV_BEQ(RV_T1, RV_ZERO, -4),
		RV_RET,
	};
	struct vgpu_chan *idle[IDLE], *busy[LOOPS + 1];
	volatile uint32_t *out;
	uint64_t bytes;
	uint32_t i;

	idle[0] = compute_chan(&v);
	for (i = 1; i < IDLE; i++)
		idle[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	for (i = 0; i <= LOOPS; i++)
		busy[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	out = (void *)(v.dev->fb + COMPUTE_OUT);
	*out = 1;
	compute_load(&v, words, sizeof(words) / sizeof(words[0]), 8192);
	for (i = 0; i < IDLE; i++) {
		compute_dispatch(idle[i], COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(1024, 1, 1), 0);
		fx_finish(idle[i]);
	}
	bytes = compute_counter(&v, "context_bytes ");
	CHECK(bytes > 24 * FX_MIB, "%llu bytes are kept", (unsigned long long)bytes);
	*out = 0;
	for (i = 0; i <= LOOPS; i++)
		compute_dispatch(busy[i], COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(1024, 1, 1), 0);
	FX_SOON(compute_counter(&v, "program_hits ") == IDLE + LOOPS,
		"idle channels keep a dispatch out");
	CHECK(compute_counter(&v, "context_bytes ") <= 64 * FX_MIB, "");
	*out = 1;
	for (i = 0; i <= LOOPS; i++)
		fx_finish(busy[i]);
	for (i = 0; i < IDLE; i++) {
		compute_dispatch(idle[i], COMPUTE_ONE, COMPUTE_ONE, 0);
		fx_finish(idle[i]);
	}
}

/* Each needs almost all the private memory that there may be; together far beyond the bound. */
static void contexts_beyond_the_bound(void)
{
	enum { NR = 16 };
	static const uint32_t words[] = {
		RV_LUI(RV_T1, 1),			/* 4096 rounds */
		RV_ADDI(RV_T1, RV_T1, -1),
		RV_BNE(RV_T1, RV_ZERO, -4),
		RV_LI(RV_T0, 1),
		RV_AMOADD_W(RV_T1, RV_T0, RV_A0),
		RV_RET,
	};
	volatile uint32_t *out;
	struct vgpu_chan *chan[NR];
	uint32_t i, round;

	chan[0] = compute_chan(&v);
	out = (void *)(v.dev->fb + COMPUTE_OUT);
	for (i = 1; i < NR; i++)
		chan[i] = compute_chan(&v);
	compute_load(&v, words, sizeof(words) / sizeof(words[0]), 8192);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < NR; i++)
			compute_dispatch(chan[i], COMPUTE_SIZE(1024, 1, 1),
					 COMPUTE_SIZE(1024, 1, 1), VGPU_HW_LOCAL_MAX);
		for (i = 0; i < NR; i++)
			fx_finish(chan[i]);
		CHECK(compute_counter(&v, "context_bytes ") <= 64 * FX_MIB, "");
	}
	CHECK_EQ(*out, 2 * NR * 1024);
	/* However often they have waited for room. */
	CHECK_EQ(compute_counter(&v, "program_misses "), 1);
	CHECK_EQ(compute_counter(&v, "program_hits "), 2 * NR - 1);
	for (i = 0; i < NR; i++)
		vgpu_chan_destroy(chan[i]);
	FX_SOON(compute_counter(&v, "context_bytes ") == 0);
}

/*
 * Contexts that end while the worker is busy are given to it, but no more of them than must go.
 * They count until they are free.
 */
static void contexts_go_while_the_worker_is_busy(void)
{
	enum { NR = 5, KEPT = 3 };
	static const uint32_t words[] = {
		RV_LW(RV_T0, 0, RV_A0), RV_BEQ(RV_T0, RV_ZERO, -4), RV_RET,
	};
	struct vgpu_chan *chan[NR];
	volatile uint32_t *out;
	uint64_t bytes;
	uint32_t i;

	silent_need();
	chan[0] = compute_chan(&v);
	out = (void *)(v.dev->fb + COMPUTE_OUT);
	for (i = 1; i < NR; i++)
		chan[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	compute_load(&v, words, sizeof(words) / sizeof(words[0]), 8192);
	for (i = 0; i < NR; i++)
		compute_dispatch(chan[i], COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(1024, 1, 1), 0);
	FX_SOON(compute_counter(&v, "program_hits ") == NR - 1);
	bytes = compute_counter(&v, "context_bytes ");
	CHECK(bytes / NR * KEPT <= 32 * FX_MIB && bytes / NR * (KEPT + 1) > 32 * FX_MIB,
	      "%llu bytes", (unsigned long long)bytes);
	silent_stall(&v, 0);
	*out = 1;
	for (i = 0; i < NR; i++)
		fx_finish(chan[i]);
	CHECK_EQ(compute_counter(&v, "context_bytes "), bytes, "is not free yet");
	silent_answer();
	FX_SOON(compute_counter(&v, "context_bytes ") == bytes / NR * KEPT);
	clk_sleep_ms(100);
	CHECK_EQ(compute_counter(&v, "context_bytes "), bytes / NR * KEPT);
	silent_unmap();
}

/*
 * A program finds zeros in private memory that nobody has written to, and nothing of what the host
 * has kept for dispatches of other shapes.
 */
static void memory_has_nothing_of_the_host(void)
{
	enum { BYTES = 4096 };
	static const uint32_t words[] = {
		RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID),
		RV_SLLI(RV_A1, RV_A1, 12),
		RV_ADD(RV_A1, RV_A1, RV_A0),
		RV_LUI(RV_A2, VGPU_HW_VA_PRIVATE >> 12),
		RV_LUI(RV_A3, BYTES >> 12),
		RV_ADD(RV_A3, RV_A3, RV_A2),
		RV_LD(RV_T0, 0, RV_A2),
		RV_SD(RV_T0, 0, RV_A1),
		RV_ADDI(RV_A2, RV_A2, 8),
		RV_ADDI(RV_A1, RV_A1, 8),
		RV_BNE(RV_A2, RV_A3, -16),
		RV_RET,
	};
	static const uint32_t sizes[] = { 1000, 32, 500, 1, 100, 1000 };
	struct vgpu_chan *chan = compute_chan(&v);
	uint32_t i;

	COMPUTE_LOAD(&v, words);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(v.dev->fb + COMPUTE_OUT, 0x5a, sizes[i] * BYTES);
		compute_dispatch(chan, COMPUTE_SIZE(sizes[i], 1, 1), COMPUTE_SIZE(sizes[i], 1, 1),
				 i % 2 ? 4096 : 0);
		fx_finish(chan);
		CHECK(fx_is_zero(v.dev->fb + COMPUTE_OUT, sizes[i] * BYTES),
		      "a group of %u", sizes[i]);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(ids_of_all_shapes),
	KTAP_TEST(group_memory_and_barrier),
	KTAP_TEST(atomics_between_groups),
	KTAP_TEST(spin_lock_between_lanes),
	KTAP_TEST(image_arguments_and_stack),
	KTAP_TEST(memory_has_nothing_of_the_host),
	KTAP_TEST(code_changes),
	KTAP_TEST(many_programs),
	KTAP_TEST(idle_contexts_make_room),
	KTAP_TEST(contexts_beyond_the_bound),
	KTAP_TEST(contexts_go_while_the_worker_is_busy),
};

KTAP_MAIN(tests, fx_cleanup)
