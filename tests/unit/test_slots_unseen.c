// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share in virtual time: T2, which the head of slots.c promises. Of a vGPU
 * nothing is to be seen of what its neighbours do (slots_load.h), but for what they owe.
 */

#include "slots_load.h"

#define MAX_RUNS	40000

/**
 * struct history - what entity 0 did
 * @run:      its runs
 * @nr:       how many
 * @debts_ns: the most that all entities owed at a time
 */
struct history {
	struct {
		u64 start_ns, done_ns;
	} run[MAX_RUNS];
	unsigned int nr;
	u64 debts_ns;
};

static void history_see(struct loads *loads)
{
	struct history *h = loads->data;

	h->debts_ns = max(h->debts_ns, loads_debts_ns(loads));
	if (loads->running == 0 && loads->start_ns == loads->w.now_ns && h->nr < MAX_RUNS) {
		h->run[h->nr].start_ns = loads->start_ns;
		h->run[h->nr].done_ns = loads->done_ns;
		h->nr++;
	}
}

/**
 * struct walk - goes over a history in time
 * @h:       the history
 * @edge:    starts and ends of runs that have been passed
 * @work_ns: work done in the runs that are over
 */
struct walk {
	const struct history *h;
	unsigned int edge;
	u64 work_ns;
};

/* The next start or end of a run; U64_MAX: there is none. */
static u64 walk_next_ns(const struct walk *walk)
{
	unsigned int i = walk->edge / 2;

	if (i == walk->h->nr)
		return U64_MAX;
	return walk->edge % 2 ? walk->h->run[i].done_ns : walk->h->run[i].start_ns;
}

/* Goes on to @at_ns. Returns the work done by then. */
static u64 walk_to(struct walk *walk, u64 at_ns)
{
	const struct history *h = walk->h;
	unsigned int i;

	while (walk_next_ns(walk) <= at_ns) {
		i = walk->edge / 2;
		if (walk->edge % 2)
			walk->work_ns += h->run[i].done_ns - h->run[i].start_ns;
		walk->edge++;
	}
	i = walk->edge / 2;
	return walk->work_ns + (walk->edge % 2 ? at_ns - h->run[i].start_ns : 0);
}

/*
 * The histories of entity 0 without and with neighbours do not differ by more than debts: not in
 * the starts of its runs, if it always has work, and at no time in the work done by then.
 */
static void history_compare(const struct history *off, const struct history *on, bool always,
			    u64 end_ns)
{
	struct walk a = { .h = off }, b = { .h = on };
	u64 at_ns, work_off_ns, work_on_ns;
	unsigned int k;

	for (k = 0; always && k < min(off->nr, on->nr); k++)
		check_that(on->run[k].start_ns - off->run[k].start_ns <= on->debts_ns,
			   "run %u at %llu, not %llu, %llu overrun", k, on->run[k].start_ns,
			   off->run[k].start_ns, on->debts_ns);
	for (k = 0; ; k++) {
		at_ns = min(walk_next_ns(&a), walk_next_ns(&b));
		if (at_ns >= end_ns)
			break;
		work_off_ns = walk_to(&a, at_ns);
		work_on_ns = walk_to(&b, at_ns);
		check_that(max(work_off_ns, work_on_ns) - min(work_off_ns, work_on_ns) <=
			   on->debts_ns, "%llu, not %llu done by %llu", work_on_ns, work_off_ns,
			   at_ns);
	}
	assert_true(k > 10);
}

/* Makes the neighbours of entity 0 idle, or not @overruns: so that they stop in time. */
static void tame(struct loads *loads, bool idle, bool overruns)
{
	unsigned int i;

	for (i = 1; i < loads->w.nr; i++) {
		if (idle)
			loads->load[i].kind = LOAD_IDLE;
		if (overruns)
			continue;
		loads->load[i].over_ns = 0;
		if (load_overruns(&loads->load[i]))
			loads->load[i].kind = LOAD_HOG;
	}
}

static void unseen(const struct vgpu_sched_policy *policy, u64 seed)
{
	static struct history h[2];
	static struct loads loads;
	u64 rnd = seed, end_ns, salt, slice_ns;
	unsigned int load, on, exact = 0, skipped = 0;
	bool always = false, overruns;
	u32 nr_slots;

	for (load = 0; load < 700; load++) {
		memset(h, 0, sizeof(h));
		nr_slots = random_range(&rnd, 2, 40);
		slice_ns = random_range(&rnd, VGPU_SLICE_MIN_NS, 5 * MS);
		salt = random_next(&rnd);
		overruns = random_one_in(&rnd, 2);
		end_ns = 400 * slice_ns;
		for (on = 0; on < 2; on++) {
			/* The same loads; entity 0's own arrivals are its own random numbers. */
			rnd = salt;
			loads_begin(&loads, policy, nr_slots, slice_ns);
			loads_populate(&loads, &rnd);
			always = loads.load[0].kind != LOAD_JOBS;
			loads.load[0].kind = always ? LOAD_HOG : LOAD_JOBS;
			tame(&loads, !on, overruns);
			loads.see = history_see;
			loads.data = &h[on];
			loads_run(&loads, ~0U, end_ns);
			loads_end(&loads);
		}
		/* A draw of many tiny jobs, one in some thousand checks, is more than is kept. */
		assert_int_equal(h[0].debts_ns, 0);
		if (h[0].nr == MAX_RUNS || h[1].nr == MAX_RUNS) {
			skipped++;
			continue;
		}
		exact += !h[1].debts_ns;
		if (h[0].nr > 10)
			history_compare(&h[0], &h[1], always, end_ns);
	}
	check_that(exact > 50 && load - exact - skipped > 50 && skipped <= 2, "%u, %u skipped",
		   exact, skipped);
}

static void test_neighbours_are_not_seen(void **state)
{
	unseen(&vgpu_policy_equal_share, test_seed() + 2);
	unseen(&vgpu_policy_fixed_share, test_seed() + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours_are_not_seen),
	};

	/* A policy that walked over slots one by one would not come to an end here. */
	test_limit_cpu(300);
	return cmocka_run_group_tests_name("slots_unseen", tests, NULL, NULL);
}
