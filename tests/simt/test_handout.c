// SPDX-License-Identifier: GPL-2.0
/*
 * The groups of a dispatch are handed out in the order of their ids, each once, to any number of
 * groups in flight; also where there are too many of them for 64 bits, and from any of them on.
 */
#include <pthread.h>

#include "vgpu_test.h"

#include "simt_host.h"
#include "soft/simt/warp.h"

#include "rv.h"

#define FLIGHTS		3
#define ROUNDS		2000
#define ITEMS_MAX	4096

/* Work-item n adds 1 to word n. */
static const u32 words[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_SLLI(RV_T0, RV_T0, 2),
	RV_ADD(RV_T0, RV_T0, RV_A0),
	RV_LW(RV_T1, 0, RV_T0),
	RV_ADDI(RV_T1, RV_T1, 1),
	RV_SW(RV_T1, 0, RV_T0),
	RV_RET,
};

/**
 * struct flight - a group in flight, of one warp at most
 * @group: the group
 * @tlb:   of what executes it
 */
struct flight {
	struct simt_group group;
	struct simt_tlb tlb;
};

static u32 memory[ITEMS_MAX] __aligned(VGPU_HW_PAGE_SIZE);
static struct simt_program *program;
static u64 seed;

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	u64 offset = va - VGPU_HW_VA_GLOBAL;

	check_that(offset < sizeof(memory), "page at %#llx", (unsigned long long)va);
	*page = (u8 *)memory + offset;
	*keep = true;
	return SIMT_DONE;
}

static struct simt_mem mem = { .map = map };

static void make_program(void)
{
	const u32 nr = ARRAY_SIZE(words);

	program = calloc(1, simt_program_bytes(nr));
	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)words, nr);
	simt_program_finish(program);
}

static void set_up(struct simt_dispatch *dispatch, const u32 grid[3], const u32 group[3])
{
	*dispatch = (struct simt_dispatch) {
		.program = program, .image_bytes = sizeof(words), .args = VGPU_HW_VA_GLOBAL,
	};
	memcpy(dispatch->grid, grid, sizeof(dispatch->grid));
	memcpy(dispatch->group, group, sizeof(dispatch->group));
	simt_dispatch_begin(dispatch);
}

static void open_flight(struct flight *flight, struct simt_dispatch *dispatch)
{
	flight->group = (struct simt_group) {
		.isa = &simt_isa_scalar, .mem = &mem, .tlb = &flight->tlb,
		.warps = aligned_alloc(64, simt_warps_bytes(dispatch->group)),
	};
	memset(flight->group.warps, 0x5a, simt_warps_bytes(dispatch->group));
	/* No group has been handed out that this could follow. */
	memset(flight->group.group_id, 0x5a, sizeof(flight->group.group_id));
	simt_tlb_flush(&flight->tlb);
	simt_group_init(&flight->group, dispatch);
}

static void close_flight(struct flight *flight)
{
	free(flight->group.warps);
}

static void check_id(const struct simt_group *group, u64 nr)
{
	const u32 *groups = group->dispatch->groups, *id = group->group_id;
	u64 is = ((u64)id[2] * groups[1] + id[1]) * groups[0] + id[0];

	check_that(is == nr && id[0] < groups[0] && id[1] < groups[1] && id[2] < groups[2],
		   "group %llu of %u * %u * %u is %u, %u, %u", (unsigned long long)nr, groups[0],
		   groups[1], groups[2], id[0], id[1], id[2]);
}

/* One thread that gives groups to several that are in flight, in any order. */
static void test_order(void **state)
{
	struct flight flights[FLIGHTS];
	struct simt_dispatch dispatch;
	u32 grid[3], size[3], k;
	u64 nr, all;
	int n;

	for (n = 0; n < ROUNDS; n++) {
		for (k = 0; k < 3; k++) {
			size[k] = random_range(&seed, 1, 3);
			grid[k] = random_range(&seed, 1, 20);
		}
		set_up(&dispatch, grid, size);
		all = (u64)dispatch.groups[0] * dispatch.groups[1] * dispatch.groups[2];
		assert_true(dispatch.left == all);
		for (k = 0; k < FLIGHTS; k++)
			open_flight(&flights[k], &dispatch);
		for (nr = 0; nr < all; nr++) {
			struct simt_group *group = &flights[random_range(&seed, 0, 2)].group;

			assert_true(simt_dispatch_next(&dispatch, group));
			check_id(group, nr);
			for (k = 0; k < 3; k++)
				assert_int_equal(group->size[k],
						 min(size[k],
						     grid[k] - group->group_id[k] * size[k]));
		}
		for (k = 0; k < FLIGHTS; k++) {
			assert_false(simt_dispatch_next(&dispatch, &flights[k].group));
			close_flight(&flights[k]);
		}
		assert_true(dispatch.given == all);
	}
}

/* Groups that are executed by turns: all is done, and once. */
static void test_runs(void **state)
{
	struct flight flights[FLIGHTS];
	bool begun[FLIGHTS];
	struct simt_dispatch dispatch;
	u32 size[3] = { 1, 1, 1 }, grid[3] = { 1, 1, 1 }, k, busy;
	u64 executed;
	int n;

	for (n = 0; n < ROUNDS / 10; n++) {
		grid[0] = random_range(&seed, 1, ITEMS_MAX);
		size[0] = random_range(&seed, 1, 100);
		memset(memory, 0, sizeof(memory));
		set_up(&dispatch, grid, size);
		for (k = 0; k < FLIGHTS; k++) {
			open_flight(&flights[k], &dispatch);
			flights[k].group.isa = simt_host_isa(k) ?: simt_host_isa(0);
			begun[k] = simt_dispatch_next(&dispatch, &flights[k].group);
		}
		do {
			busy = 0;
			for (k = 0; k < FLIGHTS; k++) {
				u32 budget = random_range(&seed, 1, 50);

				if (!begun[k])
					continue;
				begun[k] = simt_group_run(&flights[k].group, budget) != SIMT_DONE;
				busy += begun[k];
			}
		} while (busy);
		executed = 0;
		for (k = 0; k < FLIGHTS; k++) {
			executed += flights[k].group.executed;
			close_flight(&flights[k]);
		}
		for (k = 0; k < ITEMS_MAX; k++)
			assert_int_equal(memory[k], k < grid[0]);
		assert_true(executed >= ARRAY_SIZE(words) * dispatch.groups[0]);
	}
}

static struct simt_dispatch shared;
static u8 taken[1 << 18];

static void *take(void *unused)
{
	struct flight *flight = malloc(sizeof(*flight));

	open_flight(flight, &shared);
	while (simt_dispatch_next(&shared, &flight->group)) {
		const u32 *id = flight->group.group_id;
		u32 nr = (id[2] * shared.groups[1] + id[1]) * shared.groups[0] + id[0];

		check_that(!__atomic_fetch_add(&taken[nr], 1, __ATOMIC_RELAXED),
			   "group %u was handed out twice", nr);
	}
	close_flight(flight);
	free(flight);
	return NULL;
}

static void test_threads(void **state)
{
	const u32 grid[3] = { 64, 64, sizeof(taken) / 4096 }, size[3] = { 1, 1, 1 };
	pthread_t threads[FLIGHTS];
	u32 k;

	set_up(&shared, grid, size);
	for (k = 0; k < FLIGHTS; k++)
		assert_int_equal(pthread_create(&threads[k], NULL, take, NULL), 0);
	for (k = 0; k < FLIGHTS; k++)
		pthread_join(threads[k], NULL);
	for (k = 0; k < sizeof(taken); k++)
		assert_int_equal(taken[k], 1);
	assert_in_range(shared.given, sizeof(taken), sizeof(taken) + FLIGHTS - 1);
}

static u64 left_by_128(const struct simt_dispatch *dispatch)
{
	const u32 *groups = dispatch->groups, *first = dispatch->first;
	/* Below 2^96. */
	unsigned __int128 rows = (unsigned __int128)groups[1] * groups[2];
	unsigned __int128 gone = (unsigned __int128)first[2] * groups[1] + first[1];
	unsigned __int128 left = rows * groups[0] - gone * groups[0] - first[0];

	return left > SIMT_LEFT_MOST ? SIMT_LEFT_MOST : (u64)left;
}

static u32 random_edge(u32 most)
{
	return random_one_in(&seed, 2) ? random_range(&seed, 0, min(most, 3u)) :
					 most - (u32)random_range(&seed, 0, min(most, 3u));
}

/* How many are left, and the ids of some of them, from any group on. */
static void test_left(void **state)
{
	u32 groups[3], first[3], id[3], k;
	const u32 one[3] = { 1, 1, 1 };
	struct simt_dispatch dispatch;
	unsigned __int128 want, is;
	int n, whole = 0;
	u64 nr;

	for (n = 0; n < 100 * ROUNDS; n++) {
		for (k = 0; k < 3; k++) {
			u32 most = U32_MAX >> random_range(&seed, 0, 31);

			groups[k] = random_one_in(&seed, 4) ? most : random_range(&seed, 1, most);
			first[k] = random_one_in(&seed, 4) ?
				   random_range(&seed, 0, groups[k] - 1) :
				   random_edge(groups[k] - 1);
		}
		set_up(&dispatch, groups, one);
		simt_dispatch_from(&dispatch, first);
		check_that(dispatch.left == left_by_128(&dispatch),
			   "%u, %u, %u of %u * %u * %u: %llu", first[0], first[1], first[2],
			   groups[0], groups[1], groups[2], (unsigned long long)dispatch.left);
		whole += dispatch.left < SIMT_LEFT_MOST;

		nr = random_one_in(&seed, 4) ? dispatch.left : random_range(&seed, 0, 10);
		nr = min3(nr, dispatch.left, U64_MAX - U32_MAX);
		simt_dispatch_id(&dispatch, nr, id);
		want = ((unsigned __int128)first[2] * groups[1] + first[1]) * groups[0] + first[0];
		is = ((unsigned __int128)id[2] * groups[1] + id[1]) * groups[0] + id[0];
		check_that(is == want + nr && id[0] < groups[0] && id[1] < groups[1],
			   "%u, %u, %u of %u * %u * %u: number %llu is %u, %u, %u", first[0],
			   first[1], first[2], groups[0], groups[1], groups[2],
			   (unsigned long long)nr, id[0], id[1], id[2]);
	}
	assert_in_range(whole, 10 * ROUNDS, 99 * ROUNDS);
}

/* 2^96 groups, but for few: the first ones, and the last three. */
static void test_largest(void **state)
{
	const u32 grid[3] = { U32_MAX, U32_MAX, U32_MAX }, one[3] = { 1, 1, 1 };
	const u32 end[3] = { 0, 0, U32_MAX };
	struct simt_dispatch dispatch;
	struct flight flight;
	u32 from, nr, first[3], id[3];

	set_up(&dispatch, grid, one);
	assert_true(dispatch.left == SIMT_LEFT_MOST);
	open_flight(&flight, &dispatch);
	for (nr = 0; nr < 3; nr++) {
		assert_true(simt_dispatch_next(&dispatch, &flight.group));
		check_id(&flight.group, nr);
	}
	for (from = 1; from <= 3; from++) {
		memset(first, 0xff, sizeof(first));
		first[0] -= from;
		first[1]--;
		first[2]--;
		simt_dispatch_from(&dispatch, first);
		simt_group_init(&flight.group, &dispatch);
		assert_true(dispatch.left == from);
		for (nr = 0; nr < from; nr++) {
			assert_true(simt_dispatch_next(&dispatch, &flight.group));
			assert_int_equal(flight.group.group_id[0], U32_MAX - from + nr);
			assert_int_equal(flight.group.group_id[1], U32_MAX - 1);
			assert_int_equal(flight.group.group_id[2], U32_MAX - 1);
		}
		assert_false(simt_dispatch_next(&dispatch, &flight.group));
		simt_dispatch_id(&dispatch, dispatch.left, id);
		assert_memory_equal(id, end, sizeof(id));
	}
	simt_dispatch_from(&dispatch, end);
	assert_true(!dispatch.left);
	assert_false(simt_dispatch_next(&dispatch, &flight.group));
	close_flight(&flight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_largest),
	};

	seed = test_seed();
	make_program();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
