// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages have been written: soft/memory/dirty.h. A copy that follows the passes is equal to
 * what threads have written by either of the two rules, while passes were taken at random.
 */
#include <pthread.h>
#include <sched.h>

#include <linux/atomic.h>
#include <linux/slab.h>

#include "vgpu_test.h"

#include "soft/memory/dirty.h"

#define NR_PAGES	200	/* no whole number of words */
#define WRITERS		3	/* of each rule */
#define ROUNDS		20
#define PASSES		40

/**
 * struct writer - a thread that writes
 * @seed:  of what it writes, and where
 * @first: it marks first; else it marks last
 * @stop:  it is to end
 * @gen:   the pass that it has answered last; UINT_MAX: all
 */
struct writer {
	pthread_t thread;
	u64 seed;
	bool first;
	bool stop;
	unsigned int gen;
};

/* Each writer has a word of its own in each page. */
static u64 page[NR_PAGES][2 * WRITERS], copy[NR_PAGES][2 * WRITERS];
static struct writer writer[2 * WRITERS];
static struct soft_dirty *dirty;
static unsigned int gen;

/* Marks some pages, and writes to them until it sees that it is to answer: as engines do. */
static void write_first(struct writer *w, unsigned int index)
{
	unsigned long at[8];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		at[i] = random_next(&w->seed) % NR_PAGES;
		soft_dirty_mark(dirty, at[i]);
	}
	do {
		for (i = 0; i < 64; i++)
			WRITE_ONCE(page[at[i % 8]][index], random_next(&w->seed));
	} while (!random_one_in(&w->seed, 16) &&
		 __atomic_load_n(&gen, __ATOMIC_ACQUIRE) == w->gen);
	/* The store alone is the answer: nothing that was written before may come after it. */
	__atomic_store_n(&w->gen, __atomic_load_n(&gen, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* Writes to a page, and marks it: as the worker does. */
static void write_last(struct writer *w, unsigned int index)
{
	unsigned long at = random_next(&w->seed) % NR_PAGES;

	WRITE_ONCE(page[at][index], random_next(&w->seed));
	smp_mb();
	soft_dirty_mark(dirty, at);
}

static void *write_pages(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		if (w->first)
			write_first(w, w - writer);
		else
			write_last(w, w - writer);
		/* On a host with few processors others wait for this one. */
		if (random_one_in(&w->seed, 8))
			sched_yield();
	}
	/* It writes no more: this answers all. */
	__atomic_store_n(&w->gen, UINT_MAX, __ATOMIC_RELEASE);
	return NULL;
}

static bool has_answered(const struct writer *w)
{
	unsigned int seen = __atomic_load_n(&w->gen, __ATOMIC_ACQUIRE);

	return seen == gen || seen == UINT_MAX;
}

static void copy_pass(u64 *seed, bool all)
{
	unsigned long pgoff, before = 0, nr = soft_dirty_take(dirty), i, k;

	/* The passes are this thread's, which alone writes gen. */
	__atomic_store_n(&gen, gen + 1, __ATOMIC_RELEASE);
	for (i = 0; i < 2 * WRITERS; i++) {
		while (writer[i].first && !has_answered(&writer[i]))
			sched_yield();
	}
	for (i = 0; soft_dirty_next(dirty, &pgoff); i++) {
		assert_true(pgoff < NR_PAGES && (!i || pgoff > before));
		before = pgoff;
		/* What a caller leaves is in the next pass. */
		if (!all && random_one_in(seed, 50))
			return;
		soft_dirty_done(dirty, pgoff);
		for (k = 0; k < 2 * WRITERS; k++)
			copy[pgoff][k] = READ_ONCE(page[pgoff][k]);
	}
	assert_int_equal(i, nr);
}

static void test_no_write_is_lost(void **state)
{
	u64 seed = test_seed();
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		memset(page, 0, sizeof(page));
		memset(copy, 0, sizeof(copy));
		gen = 0;
		dirty = soft_dirty_alloc(NR_PAGES);
		assert_non_null(dirty);
		for (k = 0; k < 2 * WRITERS; k++) {
			writer[k] = (struct writer){ .seed = random_next(&seed) | 1 };
			writer[k].first = k & 1;
			assert_int_equal(pthread_create(&writer[k].thread, NULL, write_pages,
							&writer[k]), 0);
		}
		for (k = 0; k < PASSES; k++)
			copy_pass(&seed, false);
		for (k = 0; k < 2 * WRITERS; k++)
			__atomic_store_n(&writer[k].stop, true, __ATOMIC_RELEASE);
		for (k = 0; k < 2 * WRITERS; k++)
			pthread_join(writer[k].thread, NULL);
		copy_pass(&seed, true);
		assert_memory_equal(page, copy, sizeof(page));
		assert_int_equal(soft_dirty_take(dirty), 0);
		kvfree(dirty);
	}
}

static void test_exact(void **state)
{
	unsigned long at[] = { 0, 63, 64, 127, NR_PAGES - 1 }, pgoff;
	unsigned int i;

	(void)state;
	dirty = soft_dirty_alloc(NR_PAGES);
	assert_non_null(dirty);
	assert_false(soft_dirty_next(dirty, &pgoff));
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		soft_dirty_mark(dirty, at[i]);
		soft_dirty_mark(dirty, at[i]);
	}
	assert_int_equal(soft_dirty_take(dirty), ARRAY_SIZE(at));
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		assert_true(soft_dirty_next(dirty, &pgoff));
		assert_int_equal(pgoff, at[i]);
		soft_dirty_done(dirty, pgoff);
		/* A page that is marked after it was taken is in the next pass, not in this one. */
		soft_dirty_mark(dirty, pgoff);
	}
	assert_false(soft_dirty_next(dirty, &pgoff));
	assert_int_equal(soft_dirty_take(dirty), ARRAY_SIZE(at));
	soft_dirty_mark(dirty, 5);
	soft_dirty_forget(dirty);
	assert_false(soft_dirty_next(dirty, &pgoff));
	assert_int_equal(soft_dirty_take(dirty), 0);
	kvfree(dirty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_no_write_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
