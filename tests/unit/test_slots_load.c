// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share in virtual time: T1 and T3, which the head of slots.c promises, in
 * every interval of random loads (slots_load.h).
 */

#include "slots_load.h"

/* An entity's share is share_of() / cycle_of(). What follows counts in ns times cycle_of(). */
static s64 share_of(const struct world *w, unsigned int i)
{
	return w->rq.policy == &vgpu_policy_fixed_share ? w->entity[i].share.nr_slots : 1;
}

static s64 cycle_of(const struct world *w)
{
	return w->rq.policy == &vgpu_policy_fixed_share ? w->rq.nr_slots : w->nr;
}

/* By how many slots an interval may be off, as an entity's slots are not evenly spaced. */
static s64 spread_of(const struct world *w, unsigned int i)
{
	return share_of(w, i) & (share_of(w, i) - 1) ? 3 : 1;
}

/**
 * struct bounds - T1 of one entity: extremes so far, times the cycle
 * @low:       of service - share * time, the least
 * @high:      the most
 * @paid_low:  of the same with debts taken out of service and time, the least
 * @paid_high: the most
 *
 * The time between such an extreme and now is an interval, and no other is worse.
 */
struct bounds {
	s64 low, high;
	s64 paid_low, paid_high;
};

/**
 * struct t3 - T3 of one entity, times the cycle
 * @low:     the least so far of service - share * time + share * debts, the debts being those at
 *           the beginning of an interval
 * @off:     the least of service - share * time
 * @debts:   share * debts at that time
 * @over_ns: its longest overrun; 0: it never overruns
 */
struct t3 {
	s64 low, off, debts;
	u64 over_ns;
};

/**
 * struct t3_used - how much of what T3 allows was used, the largest fraction, per mille
 * @never:    by entities that never overrun
 * @overruns: by entities that do
 * @debts:    by the former, where the debts of others are half of what is allowed
 */
struct t3_used {
	u64 never;
	u64 overruns;
	u64 debts;
};

/* What a look at loads has seen so far. */
struct promises {
	struct bounds bounds[LOADS_MAX];
	struct t3 t3[LOADS_MAX];
	struct t3_used used;
	bool seen;
	unsigned int runs;
	u64 off_permille;	/* of what T1 allows */
};

static void t3_see(const struct loads *loads, struct promises *p)
{
	const struct world *w = &loads->w;
	s64 cycle = cycle_of(w), debts_ns = loads_debts_ns(loads), off, most, got;
	struct t3_used *used = &p->used;
	struct t3 *t3 = p->t3;
	unsigned int i;

	for (i = 0; i < w->nr; i++, t3++) {
		if (load_overruns(&loads->load[i]))
			t3->over_ns = max(t3->over_ns, loads->load[i].over_ns);
		off = (s64)loads->service_ns[i] * cycle - share_of(w, i) * w->now_ns;
		most = w->rq.slice_ns * spread_of(w, i) * cycle;
		/* An entity that overruns may get so much more, and owes that then. */
		if (t3->over_ns)
			most += (w->rq.slice_ns + t3->over_ns) * cycle;
		got = off - (p->seen ? t3->low : off);
		check_that(got <= most, "%u of %u got %lld too much", i, w->nr,
			   (got - most) / cycle);
		if (!p->seen || off + share_of(w, i) * debts_ns < t3->low)
			t3->low = off + share_of(w, i) * debts_ns;
		/* From this time on it has got the most. */
		if (!p->seen || off < t3->off) {
			t3->debts = share_of(w, i) * debts_ns;
			t3->off = off;
		}
		got = max(off - t3->off, 0) * 1000 / (most + t3->debts);
		if (t3->over_ns)
			used->overruns = max(used->overruns, (u64)got);
		else
			used->never = max(used->never, (u64)got);
		if (!t3->over_ns && t3->debts >= most)
			used->debts = max(used->debts, (u64)got);
	}
}

/* What entity @i may owe at most: a slot and its longest overrun. */
static s64 may_owe_ns(const struct loads *loads, unsigned int i)
{
	return load_overruns(&loads->load[i]) ? loads->w.rq.slice_ns + loads->load[i].over_ns : 0;
}

static void t1_see(const struct loads *loads, struct promises *p)
{
	s64 debts_ns = loads_debts_ns(loads), most_ns, off, share, paid, over_ns, all_over_ns = 0;
	const struct world *w = &loads->w;
	s64 cycle = cycle_of(w);
	unsigned int i;

	for (i = 0; i < w->nr; i++)
		all_over_ns += may_owe_ns(loads, i);

	for (i = 0; i < w->nr; i++) {
		bool always = load_always(&loads->load[i]);
		struct bounds *b = &p->bounds[i];
		u64 debt_ns = loads_debt_ns(loads, i);

		share = share_of(w, i);
		off = (s64)loads->service_ns[i] * cycle - share * w->now_ns;
		paid = ((s64)loads->service_ns[i] - (s64)debt_ns) * cycle -
		       share * ((s64)w->now_ns - debts_ns);
		if (!p->seen)
			*b = (struct bounds){ off, off, paid, paid };
		b->low = min(b->low, off);
		b->high = max(b->high, off);
		b->paid_low = min(b->paid_low, paid);
		b->paid_high = max(b->paid_high, paid);

		most_ns = w->rq.slice_ns * spread_of(w, i);
		check_that(paid - b->paid_low <= most_ns * cycle,
			   "%u of %u has %lld more than its share", i, w->nr,
			   (paid - b->paid_low) / cycle);
		if (always)
			check_that(b->paid_high - paid <= most_ns * cycle,
				   "%u of %u has %lld less than its share", i, w->nr,
				   (b->paid_high - paid) / cycle);
		p->off_permille = max(p->off_permille,
				      (paid - b->paid_low) * 1000 / cycle / most_ns);

		/* The same without a look at what the policy takes for debts. */
		over_ns = may_owe_ns(loads, i);
		check_that(debt_ns <= over_ns, "%u owes %llu", i, debt_ns);
		most_ns = (most_ns + over_ns) * cycle + (all_over_ns - over_ns) * share;
		check_that(off - b->low <= most_ns, "%u of %u got %lld too much", i, w->nr,
			   (off - b->low - most_ns) / cycle);
		if (always)
			check_that(b->high - off <= most_ns, "%u of %u got %lld too little", i,
				   w->nr, (b->high - off - most_ns) / cycle);
	}
}

static void promises_see(struct loads *loads)
{
	struct promises *p = loads->data;

	t1_see(loads, p);
	t3_see(loads, p);
	p->seen = true;
	p->runs += loads->running != NOBODY && loads->start_ns == loads->w.now_ns;
}

static void used_add(struct t3_used *sum, const struct t3_used *used)
{
	sum->never = max(sum->never, used->never);
	sum->overruns = max(sum->overruns, used->overruns);
	sum->debts = max(sum->debts, used->debts);
}

static void used_print(const struct vgpu_sched_policy *policy, const struct t3_used *used)
{
	printf("# %s: of T3 used, per mille: %llu without overruns (%llu where debts are half of it), %llu with them\n",
	       policy->name, used->never, used->debts, used->overruns);
}

static void promises(const struct vgpu_sched_policy *policy, u64 seed)
{
	unsigned int load, i, kind, runs = 0;
	struct t3_used used = {};
	static struct loads loads;
	static struct promises p;
	u64 rnd = seed, most = 0;
	bool alike;

	for (load = 0; load < 3000; load++) {
		loads_begin(&loads, policy, random_one_in(&rnd, 3) ?
			    random_range(&rnd, 1, 100) : 1U << random_range(&rnd, 0, 5),
			    random_one_in(&rnd, 2) ? 1 * MS :
			    random_range(&rnd, VGPU_SLICE_MIN_NS, VGPU_SLICE_MAX_NS));
		loads_populate(&loads, &rnd);
		alike = random_one_in(&rnd, 3);
		kind = alike ? random_range(&rnd, LOAD_HOG, LOAD_JOBS) : LOAD_IDLE;
		for (i = 0; i < loads.w.nr && alike; i++)
			loads.load[i].kind = kind;
		memset(&p, 0, sizeof(p));
		loads.see = promises_see;
		loads.data = &p;
		loads_run(&loads, 600, U64_MAX / 4);
		most = max(most, p.off_permille);
		runs += p.runs;
		used_add(&used, &p.used);
		loads_end(&loads);
	}
	printf("# %s: %u runs, %llu per mille of a slot more than the share\n", policy->name, runs,
	       most);
	used_print(policy, &used);
}

static void test_equal_share_in_every_interval(void **state)
{
	promises(&vgpu_policy_equal_share, test_seed());
}

static void test_fixed_share_in_every_interval(void **state)
{
	promises(&vgpu_policy_fixed_share, test_seed() + 1);
}

static void t3_only_see(struct loads *loads)
{
	struct promises *p = loads->data;

	t3_see(loads, p);
	p->seen = true;
}

/* One of the entities runs once more, late by @over_ns at its end. */
static void overrun_once(struct loads *loads, unsigned int i, u64 over_ns)
{
	u64 runs_ns = loads->w.service_ns[i] + loads->w.rq.slice_ns;

	loads->load[i].kind = LOAD_CHRONIC;
	loads->load[i].over_ns = over_ns;
	while (loads->w.service_ns[i] < runs_ns)
		loads_run(loads, 1, U64_MAX / 4);
}

/*
 * T3 is no more than is needed: neighbours run up debts of @over_ns each and pay them, again and
 * again; or @one of them alone overruns until it owes a slot but for 1 ns, and then by @over_ns.
 */
static void t3_tight(const struct vgpu_sched_policy *policy, u64 over_ns, bool one,
		     struct t3_used *used)
{
	u64 slice_ns = 1 * MS;
	static struct promises p;
	static struct loads loads;
	unsigned int i, round;

	memset(&p, 0, sizeof(p));
	loads_begin(&loads, policy, 4, slice_ns);
	loads.see = t3_only_see;
	loads.data = &p;
	world_open(&loads.w, 4);
	for (i = 0; i < 4; i++)
		loads.load[i].kind = LOAD_HOG;
	for (round = 0; round < 4; round++) {
		for (i = one ? 3 : 1; i < 4; i++) {
			while (one && vgpu_slots_of(&loads.w.entity[i])->debt_ns < slice_ns - 1) {
				loads.load[i].kind = LOAD_CHRONIC;
				loads.load[i].over_ns = slice_ns - 1;
				loads_run(&loads, 1, U64_MAX / 4);
			}
			overrun_once(&loads, i, over_ns);
			loads.load[i].kind = LOAD_HOG;
		}
		loads_run(&loads, ~0U, loads.w.now_ns + 8 * over_ns + 8 * slice_ns);
	}
	used_add(used, &p.used);
	loads_end(&loads);
}

static void test_t3_is_tight(void **state)
{
	static const u64 over_ns[] = { 1 * MS, 3 * MS, 9 * MS, 30 * MS };
	const struct vgpu_sched_policy *policy;
	unsigned int p, i;

	for_each_slots_policy(policy, p) {
		struct t3_used used = {};

		for (i = 0; i < ARRAY_SIZE(over_ns); i++) {
			t3_tight(policy, over_ns[i], false, &used);
			t3_tight(policy, over_ns[i], true, &used);
		}
		used_print(policy, &used);
		assert_true(used.never >= 500);
		assert_true(used.debts >= 900);
		assert_true(used.overruns >= 500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_share_in_every_interval),
		cmocka_unit_test(test_fixed_share_in_every_interval),
		cmocka_unit_test(test_t3_is_tight),
	};

	/* A policy that walked over slots one by one would not come to an end here. */
	test_limit_cpu(300);
	return cmocka_run_group_tests_name("slots_load", tests, NULL, NULL);
}
