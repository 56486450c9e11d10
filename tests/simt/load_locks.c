// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of work-items that wait for each other in loops: within a warp, between warps, and for
 * groups that came before.
 */
#include "load.h"

static u64 *words(const struct load_args *args)
{
	return (u64 *)load_shared(args);
}

static void lock(u32 *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		load_relax();
}

static void unlock(u32 *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* What a lock protects is not atomic. */
LOAD(spin)
{
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 64), k, id = load_csr(LOAD_ID);

	for (k = 0; k < 2; k++) {
		u32 which = (id * 7 + k) % 5;

		lock(&locks[which]);
		w[which] += id;
		w[which + 8]++;
		unlock(&locks[which]);
	}
}

/* One lock within another, and a call in between. */
static load_noinline void add_to(volatile u64 *at, u64 by)
{
	*at += by;
}

LOAD(locks)
{
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 64), id = load_csr(LOAD_ID);
	u32 first = id % 3, second = first + 1 + id % 2;

	lock(&locks[first]);
	add_to(&w[first], id);
	lock(&locks[second]);
	if (id & 4)
		add_to(&w[8 + second], id * 3);
	else
		w[16 + second] ^= (u64)id << 8;
	unlock(&locks[second]);
	unlock(&locks[first]);
}

/* Tickets: each waits for the one before it, whose lane may be any. */
LOAD(tickets)
{
	volatile u64 *w = words(args);
	u64 mine = __atomic_fetch_add(&w[0], 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&w[1], __ATOMIC_ACQUIRE) != mine)
		load_relax();
	w[2] = w[2] * 3 + 1;
	__atomic_store_n(&w[1], mine + 1, __ATOMIC_RELEASE);
}

/* A chain through a group, from its last work-item to its first, which is at the lowest address. */
LOAD(chain)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	volatile u64 *w = words(args);

	if (lid + 1 < n)
		while (!__atomic_load_n(&w[id + 1], __ATOMIC_ACQUIRE))
			load_relax();
	__atomic_store_n(&w[id], lid + 1 < n ? w[id + 1] * 3 + 1 : 1, __ATOMIC_RELEASE);
}

/* Several loops that wait for the last work-item: none of them may keep it from its turn. */
#define AWAIT(n)	case n:							\
		while (!__atomic_load_n(&w[1], __ATOMIC_ACQUIRE))		\
			load_relax();						\
		__asm__ volatile(".rept " #n "\n\tnop\n\t.endr");		\
		__atomic_fetch_add(&w[0], n, __ATOMIC_RELAXED);			\
		break

LOAD(crowd)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	volatile u64 *w = words(args) + 8 * load_csr(LOAD_GROUP_ID);

	if (lid + 1 == n) {
		w[2] = id;
		__atomic_store_n(&w[1], 1, __ATOMIC_RELEASE);
		return;
	}
	switch (lid % 6) {
	AWAIT(1);
	AWAIT(2);
	AWAIT(3);
	AWAIT(4);
	AWAIT(5);
	default:
		break;
	}
}

/*
 * A ring of 4 words between the two halves of a group. The first ones are in a page that the tests
 * look up at each access: those who wait there use up what may be looked up, not their turn.
 */
#define RING_AT	3072

LOAD(ring)
{
	u32 lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE), pairs = n / 2, k;
	volatile u64 *w = words(args) + RING_AT + 16 * load_csr(LOAD_ID);

	if (lid >= 2 * pairs)
		return;
	if (lid < pairs) {	/* takes */
		u64 h = 0;

		for (k = 0; k < 12; k++) {
			while (__atomic_load_n(&w[0], __ATOMIC_ACQUIRE) == k)
				load_relax();
			h = h * 31 + w[2 + k % 4];
			__atomic_store_n(&w[1], k + 1, __ATOMIC_RELEASE);
		}
		w[7] = h;
		return;
	}
	w -= 16 * pairs;
	for (k = 0; k < 12; k++) {	/* gives */
		while (k - __atomic_load_n(&w[1], __ATOMIC_ACQUIRE) == 4)
			load_relax();
		w[2 + k % 4] = load_mix(lid * 100 + k);
		__atomic_store_n(&w[0], k + 1, __ATOMIC_RELEASE);
	}
}

/* Tickets, several for each: all but one wait, and the next one may be in any warp. */
LOAD(queue)
{
	volatile u64 *w = words(args);
	u32 k;

	for (k = 0; k < 4; k++) {
		u64 mine = __atomic_fetch_add(&w[0], 1, __ATOMIC_RELAXED);

		while (__atomic_load_n(&w[1], __ATOMIC_ACQUIRE) != mine)
			load_relax();
		w[2]++;
		__atomic_store_n(&w[1], mine + 1, __ATOMIC_RELEASE);
	}
}

/* Likewise, from the last work-item to the first, over and over. */
LOAD(backwards)
{
	u32 lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE), k;
	volatile u64 *w = words(args) + 8 * load_csr(LOAD_GROUP_ID);

	for (k = 0; k < 2; k++) {
		while (__atomic_load_n(&w[1], __ATOMIC_ACQUIRE) != k * n + n - 1 - lid)
			load_relax();
		w[2] += lid;
		__atomic_store_n(&w[1], w[1] + 1, __ATOMIC_RELEASE);
	}
}

/*
 * Each takes two locks, but does not wait for the second one: it gives the first one back. All do
 * so at the same time, if nobody keeps them from that.
 */
static load_noinline int lock_both(u32 *first, u32 *second)
{
	if (__atomic_exchange_n(first, 1, __ATOMIC_ACQUIRE))
		return 0;
	if (!__atomic_exchange_n(second, 1, __ATOMIC_ACQUIRE))
		return 1;
	unlock(first);
	return 0;
}

/* In a ring. */
LOAD(forks)
{
	u32 id = load_csr(LOAD_ID), n = load_csr(LOAD_GLOBAL_SIZE), next = (id + 1) % n;
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 4096);

	while (next != id && !lock_both(&locks[id], &locks[next]))
		load_relax();
	w[id]++;
	w[next]++;
	unlock(&locks[next]);
	unlock(&locks[id]);
}

/* All the same two, in both orders; who has failed does something else for a while. */
LOAD(retreat)
{
	u32 id = load_csr(LOAD_ID), k;
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 4096);

	while (!lock_both(&locks[id % 2], &locks[!(id % 2)])) {
		load_relax();
		for (k = 0; k < 50; k++)
			__asm__ volatile("");
	}
	w[0]++;
	w[1] += id;
	unlock(&locks[!(id % 2)]);
	unlock(&locks[id % 2]);
}

/* The same by LR and SC, as compilers make of a compare-and-exchange. */
LOAD(exchange)
{
	u32 id = load_csr(LOAD_ID), n = load_csr(LOAD_GLOBAL_SIZE), next = (id + 1) % n, none;
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 4096);

	for (;;) {
		none = 0;
		if (__atomic_compare_exchange_n(&locks[id], &none, id + 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			none = 0;
			if (next == id ||
			    __atomic_compare_exchange_n(&locks[next], &none, id + 1, 0,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				break;
			unlock(&locks[id]);
		}
		load_relax();
	}
	w[id]++;
	w[next]++;
	unlock(&locks[next]);
	unlock(&locks[id]);
}

/* As forks, but each has his first lock for long: where he is left, he most likely has it. */
static load_noinline u64 work(u64 x, u32 rounds)
{
	while (rounds--)
		x = load_mix(x);
	return x;
}

static void hold_both(const struct load_args *args, u32 rounds)
{
	u32 id = load_csr(LOAD_ID), n = load_csr(LOAD_GLOBAL_SIZE), next = (id + 1) % n;
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 4096);
	u64 x = 0;

	while (next != id) {
		if (!__atomic_exchange_n(&locks[id], 1, __ATOMIC_ACQUIRE)) {
			x = work(id, rounds);
			if (!__atomic_exchange_n(&locks[next], 1, __ATOMIC_ACQUIRE))
				break;
			unlock(&locks[id]);
		}
		load_relax();
	}
	w[id] += x;
	w[next]++;
	unlock(&locks[next]);
	unlock(&locks[id]);
}

LOAD(hold)
{
	hold_both(args, 20);
}

LOAD(hold_long)
{
	hold_both(args, 300);
}

/* Three of five locks, all given back if one is not to be had. */
LOAD(three)
{
	u32 id = load_csr(LOAD_ID), a = id % 5, b = (a + 1 + id / 5 % 2) % 5, c = (a + 3) % 5;
	volatile u64 *w = words(args);
	u32 *locks = (u32 *)(w + 4096);

	for (;;) {
		if (lock_both(&locks[a], &locks[b])) {
			if (!__atomic_exchange_n(&locks[c], 1, __ATOMIC_ACQUIRE))
				break;
			unlock(&locks[b]);
			unlock(&locks[a]);
		}
		load_relax();
	}
	__atomic_fetch_add(&w[0], 1, __ATOMIC_RELAXED);
	unlock(&locks[c]);
	unlock(&locks[b]);
	unlock(&locks[a]);
}

/* Groups take turns: each waits for the one before, which has come first. */
LOAD(relay)
{
	u32 lid = load_csr(LOAD_LOCAL_ID), group = load_csr(LOAD_GROUP_ID);
	volatile u64 *w = words(args);

	if (group && !lid)
		while (__atomic_load_n(&w[0], __ATOMIC_ACQUIRE) != group)
			load_relax();
	load_barrier();
	__atomic_fetch_add(&w[8 + group], w[7 + group] + lid, __ATOMIC_RELAXED);
	load_barrier();
	if (!lid)
		__atomic_store_n(&w[0], group + 1, __ATOMIC_RELEASE);
}

/* A stack of nodes that are pushed and taken by compare-and-exchange of its head. */
LOAD(stack)
{
	u32 id = load_csr(LOAD_ID);
	u64 *w = words(args), head = __atomic_load_n(&w[0], __ATOMIC_RELAXED), node;

	do {
		__atomic_store_n(&w[64 + id], (u32)head, __ATOMIC_RELAXED);
		load_relax();
	} while (!__atomic_compare_exchange_n(&w[0], &head, ((head >> 32) + 1) << 32 | (id + 1), 1,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	load_barrier();
	head = __atomic_load_n(&w[0], __ATOMIC_ACQUIRE);
	do {
		node = (u32)head - 1;
		load_relax();
	} while (!__atomic_compare_exchange_n(&w[0], &head, ((head >> 32) + 1) << 32 |
					      __atomic_load_n(&w[64 + node], __ATOMIC_RELAXED), 1,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	__atomic_fetch_add(&w[1], node * node, __ATOMIC_RELAXED);
	load_barrier();
	w[64 + id] = 0;
}
