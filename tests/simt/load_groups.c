// SPDX-License-Identifier: GPL-2.0
/* Loads of work-groups: barriers, memory of the group, atomics. */
#include "load.h"

#define GROUP	256	/* at most */

static u32 item_word(const struct load_args *args, u32 id, u32 k)
{
	return (u32)load_get(args->mem + (size_t)id * LOAD_ITEM + 4 * k);
}

static void item_put(const struct load_args *args, u32 id, u32 k, u64 v)
{
	load_put(args->mem + (size_t)id * LOAD_ITEM + LOAD_ITEM / 2 + 8 * k, v);
}

/* Running sums of a group, by doubling distances. */
LOAD_LOCAL u64 scan_sums[2][GROUP];

LOAD(scan)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 by, from = 0;

	scan_sums[0][lid] = item_word(args, id, 0);
	load_barrier();
	for (by = 1; by < n; by *= 2) {
		scan_sums[!from][lid] = scan_sums[from][lid] +
					(lid >= by ? scan_sums[from][lid - by] : 0);
		from = !from;
		load_barrier();
	}
	item_put(args, id, 0, scan_sums[from][lid]);
}

/* Bitonic, for groups of any size: what is beyond the end is the greatest. */
LOAD_LOCAL u32 bitonic_keys[GROUP];

LOAD(bitonic)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 k, j;

	bitonic_keys[lid] = item_word(args, id, 1);
	for (k = 2; k < 2 * n; k *= 2) {
		for (j = k / 2; j; j /= 2) {
			/* The first step of each round mirrors, so that all rows ascend. */
			u32 peer = j == k / 2 ? lid ^ (k - 1) : lid ^ j;

			load_barrier();
			if (peer > lid && peer < n && bitonic_keys[lid] > bitonic_keys[peer]) {
				u32 t = bitonic_keys[lid];

				bitonic_keys[lid] = bitonic_keys[peer];
				bitonic_keys[peer] = t;
			}
		}
	}
	load_barrier();
	item_put(args, id, 0, bitonic_keys[lid]);
}

/* By 4 bits at a time: counts by atomics, places by sums of counts. */
LOAD_LOCAL u32 radix_key[2][GROUP], radix_count[16], radix_first[16];

LOAD(radix)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 shift, from = 0, i, place, digit;

	radix_key[0][lid] = item_word(args, id, 2);
	for (shift = 0; shift < 32; shift += 4) {
		for (i = lid; i < 16; i += n)
			radix_count[i] = 0;
		load_barrier();
		digit = radix_key[from][lid] >> shift & 15;
		__atomic_fetch_add(&radix_count[digit], 1, __ATOMIC_RELAXED);
		load_barrier();
		if (!lid) {
			for (i = 0, place = 0; i < 16; i++) {
				radix_first[i] = place;
				place += radix_count[i];
			}
		}
		load_barrier();
		for (i = 0, place = radix_first[digit]; i < lid; i++)
			place += (radix_key[from][i] >> shift & 15) == digit;
		radix_key[!from][place] = radix_key[from][lid];
		from = !from;
		load_barrier();
	}
	item_put(args, id, 0, radix_key[from][lid]);
}

/* Counts of a group, then of all. */
LOAD_LOCAL u32 histogram_bins[64];

LOAD(histogram)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u64 *all = (u64 *)load_shared(args);
	u32 i;

	for (i = lid; i < 64; i += n)
		histogram_bins[i] = 0;
	load_barrier();
	for (i = 0; i < 40 + id % 5; i++)
		__atomic_fetch_add(&histogram_bins[item_word(args, id, i) % 64], 1,
				   __ATOMIC_RELAXED);
	load_barrier();
	for (i = lid; i < 64; i += n)
		__atomic_fetch_add(&all[i], histogram_bins[i], __ATOMIC_RELAXED);
}

#define AMO_ALL(type, at, v) do {							\
	type *at_ = (at);								\
	type old_, new_;								\
											\
	__atomic_fetch_add(&at_[0], (type)(v), __ATOMIC_SEQ_CST);			\
	__atomic_fetch_sub(&at_[1], (type)(v), __ATOMIC_ACQUIRE);			\
	__atomic_fetch_xor(&at_[2], (type)(v), __ATOMIC_RELEASE);			\
	__atomic_fetch_or(&at_[3], (type)1 << ((v) & 31), __ATOMIC_ACQ_REL);		\
	__atomic_fetch_and(&at_[4], ~((type)1 << ((v) & 15)), __ATOMIC_RELAXED);	\
	old_ = __atomic_load_n(&at_[5], __ATOMIC_RELAXED);				\
	do {										\
		new_ = old_ * 2 > (type)(v) ? old_ : (type)(v) / 2;			\
		load_relax();								\
	} while (!__atomic_compare_exchange_n(&at_[5], &old_, new_, 1, __ATOMIC_SEQ_CST, \
					      __ATOMIC_RELAXED));			\
	__atomic_exchange_n(&at_[6], (type)(v), __ATOMIC_SEQ_CST);			\
} while (0)

/* Operations whose order does not matter, on words that several lanes have in common. */
LOAD(atomics)
{
	u32 id = load_csr(LOAD_ID), k;
	u8 *shared = load_shared(args);

	for (k = 0; k < 6; k++) {
		u64 v = load_get(args->mem + (size_t)id * LOAD_ITEM + 8 * k);

		AMO_ALL(u32, (u32 *)(shared + (v >> 60) * 64), v);
		AMO_ALL(u64, (u64 *)(shared + 4096 + (v >> 60) * 64), v);
		AMO_ALL(s32, (s32 *)(shared + 8192 + (v >> 60) * 64), (s32)(v >> 8));
	}
	load_barrier();
	/* Exchanged words depend on the order of all work-items: none is kept. */
	for (k = 0; k < 16; k++) {
		__atomic_store_n((u32 *)(shared + 64 * k) + 6, 0, __ATOMIC_RELAXED);
		__atomic_store_n((u64 *)(shared + 4096 + 64 * k) + 6, 0, __ATOMIC_RELAXED);
		__atomic_store_n((s32 *)(shared + 8192 + 64 * k) + 6, 0, __ATOMIC_RELAXED);
	}
}

/* Distances in a graph of 256 nodes: one group's work-items take nodes from a list. */
#define NODES	256

LOAD_LOCAL u32 bfs_list[2][NODES], bfs_nr[2], bfs_distance[NODES];

static void bfs_visit(const u8 *edges, u32 node, u32 level, u32 *list, u32 *nr)
{
	u32 k, unseen;

	for (k = 0; k < 3; k++) {
		u32 next = edges[node * 3 + k];

		unseen = ~0U;
		if (__atomic_compare_exchange_n(&bfs_distance[next], &unseen, level + 1, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			list[__atomic_fetch_add(nr, 1, __ATOMIC_RELAXED)] = next;
	}
}

LOAD(bfs)
{
	u32 lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 group = load_csr(LOAD_GROUP_ID), level, i;
	const u8 *edges = load_shared_in(args) + group * NODES * 3 % 65536;

	for (i = lid; i < NODES; i += n)
		bfs_distance[i] = i ? ~0U : 0;
	if (!lid) {
		bfs_list[0][0] = 0;
		bfs_nr[0] = 1;
		bfs_nr[1] = 0;
	}
	load_barrier();
	for (level = 0; bfs_nr[level & 1]; level++) {
		for (i = lid; i < bfs_nr[level & 1]; i += n)
			bfs_visit(edges, bfs_list[level & 1][i], level, bfs_list[~level & 1],
				  &bfs_nr[~level & 1]);
		load_barrier();
		if (!lid)
			bfs_nr[level & 1] = 0;
		load_barrier();
	}
	for (i = lid; i < NODES && group < 64; i += n)
		((u32 *)load_shared(args))[group * NODES + i] = bfs_distance[i];
}

/* Some have ended before each barrier; those that are left meet at any of three. */
LOAD_LOCAL u32 leave_left[64];

static load_noinline void leave_barrier(void)
{
	load_barrier();
}

LOAD(leave)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 turns = item_word(args, id, 0) % 40, k;
	u64 h = 0;

	for (k = lid; k < 64; k += n)
		leave_left[k] = 0;
	load_barrier();
	for (k = 0; k < turns; k++) {
		__atomic_fetch_add(&leave_left[k], 1, __ATOMIC_RELAXED);
		if ((turns + k) % 3 == 0)
			load_barrier();
		else if ((turns + k) % 3 == 1)
			leave_barrier();
		else
			load_barrier();
		h = h * 5 + __atomic_load_n(&leave_left[k], __ATOMIC_RELAXED);
		if (k == 20 && lid % 3 == 1) {
			item_put(args, id, 1, h);
			return;
		}
	}
	item_put(args, id, 0, h);
}

/* The number of turns, and thus of barriers, is found as the group goes on. */
LOAD_LOCAL u64 relax_value[2][GROUP];
LOAD_LOCAL u32 relax_moved[3];

LOAD(settle)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	u32 k = 0;

	relax_value[0][lid] = item_word(args, id, 3) & 0xffff;
	if (!lid) {
		relax_moved[0] = 0;
		relax_moved[1] = 0;
		relax_moved[2] = 0;
	}
	load_barrier();
	do {
		const u64 *now = relax_value[k & 1];
		u64 v = now[lid], left = now[lid ? lid - 1 : lid];
		u64 right = now[lid + 1 < n ? lid + 1 : lid];
		u64 most = left > right ? left : right;

		if (most > v + 3) {
			v = most - 3;
			__atomic_store_n(&relax_moved[k % 3], 1, __ATOMIC_RELAXED);
		}
		relax_value[~k & 1][lid] = v;
		if (!lid)
			relax_moved[(k + 1) % 3] = 0;
		load_barrier();
	} while (relax_moved[k++ % 3]);
	item_put(args, id, 0, relax_value[k & 1][lid]);
	item_put(args, id, 1, k);
}

/* All of one dimension, @k, which is a part of the instructions. */
#define IDS_PUT(args, at, k) do {						\
	item_put(args, at, 3 * (k), (u64)load_csr(LOAD_ID + (k)) << 32 |	\
		 load_csr(LOAD_LOCAL_ID + (k)));				\
	item_put(args, at, 3 * (k) + 1, (u64)load_csr(LOAD_GROUP_ID + (k)) << 32 | \
		 load_csr(LOAD_LOCAL_SIZE + (k)));				\
	item_put(args, at, 3 * (k) + 2, (u64)load_csr(LOAD_GLOBAL_SIZE + (k)) << 32 | \
		 load_csr(LOAD_NUM_GROUPS + (k)));				\
} while (0)

LOAD(ids)
{
	u32 id = load_csr(LOAD_ID), at = load_csr(LOAD_ID + 2);

	at = at * load_csr(LOAD_GLOBAL_SIZE + 1) + load_csr(LOAD_ID + 1);
	at = at * load_csr(LOAD_GLOBAL_SIZE) + id;
	IDS_PUT(args, at, 0);
	IDS_PUT(args, at, 1);
	IDS_PUT(args, at, 2);
}
