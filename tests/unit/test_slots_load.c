// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share in virtual time: what slots promise, in every
 * interval of random loads.
 */
#include <unistd.h>

#include "slots_world.h"

/* What a vGPU does. */
enum kind {
	IDLE,
	HOG,		/* always work, stops in time */
	OVERRUNS,	/* stops late by up to over_ns */
	CHRONIC,	/* stops late by over_ns */
	FLICKERS,	/* always work, but ends runs early */
	JOBS,		/* work comes at times */
	NR_KINDS,
};

struct load {
	enum kind kind;
	u64 over_ns;
	u64 period_ns;	/* between jobs, up to twice that */
	u64 job_ns;	/* and their length */
	u64 next_ns;
	u64 backlog_ns;
	u64 rnd;
};

static void load_random(struct load *load, u64 *rnd, u64 slice_ns, u64 now_ns)
{
	load->kind = rnd_range(rnd, HOG, JOBS);
	load->over_ns = rnd_one_in(rnd, 3) ? rnd_range(rnd, 1, 9 * MS) :
		rnd_range(rnd, 1, 100 * US);
	if (rnd_one_in(rnd, 10))
		load->over_ns = rnd_range(rnd, slice_ns, 20 * slice_ns);
	load->period_ns = rnd_range(rnd, 10 * US, 10 * slice_ns);
	load->job_ns = rnd_one_in(rnd, 4) ?
		rnd_range(rnd, 1, 3 * slice_ns) : rnd_range(rnd, 1, slice_ns);
	load->next_ns = now_ns + rnd_range(rnd, 0, load->period_ns);
	load->backlog_ns = 0;
	load->rnd = rnd_next(rnd);
}

static u64 load_over_ns(struct load *load)
{
	switch (load->kind) {
	case CHRONIC:
		return load->over_ns;
	case OVERRUNS:
		return rnd_one_in(&load->rnd, 3) ? 0 :
		       rnd_range(&load->rnd, 0, load->over_ns);
	default:
		return 0;
	}
}

/* How long it holds the engine, with @slice_ns until it is to stop. */
static u64 load_run_ns(struct load *load, u64 slice_ns)
{
	switch (load->kind) {
	case FLICKERS:
		return rnd_range(&load->rnd, 0, slice_ns);
	case JOBS:
		return min(load->backlog_ns, slice_ns);
	default:
		return slice_ns + load_over_ns(load);
	}
}

static bool load_has_work(const struct load *load)
{
	return load->kind == JOBS ? load->backlog_ns : load->kind != IDLE;
}

static void load_arrive(struct load *load, u64 now_ns)
{
	while (load->kind == JOBS && load->next_ns <= now_ns) {
		load->backlog_ns += load->job_ns;
		load->next_ns += rnd_range(&load->rnd, 1, 2 * load->period_ns);
	}
}

/*
 * A simulation: the events of loads on a world, one after the other. After each,
 * @see is called, with the running entity or NOBODY.
 */
struct sim {
	struct world w;
	struct load load[MAX_ENTITIES];
	int running;
	u64 start_ns;
	u64 done_ns;
	u64 until_ns;
	u64 service_ns[MAX_ENTITIES];	/* with that of the present run */
	void (*see)(struct sim *sim);
	void *data;
};

static void sim_pick(struct sim *sim)
{
	struct world *w = &sim->w;
	int i;

	if (sim->running != NOBODY)
		return;
	i = pick(w, &sim->until_ns);
	sim->running = i;
	if (i == NOBODY)
		return;
	sim->start_ns = w->now_ns;
	sim->done_ns = w->now_ns + load_run_ns(&sim->load[i],
					       w->deadline_ns - w->now_ns);
}

static void sim_done(struct sim *sim)
{
	unsigned int i = sim->running;
	u64 ran_ns = sim->done_ns - sim->start_ns;

	sim->w.now_ns = sim->start_ns;
	ran(&sim->w, i, ran_ns);
	if (sim->load[i].kind == JOBS)
		sim->load[i].backlog_ns -= ran_ns;
	sim->running = NOBODY;
	if (load_has_work(&sim->load[i]))
		enqueue(&sim->w, i);
}

static void sim_run(struct sim *sim, unsigned int events, u64 end_ns)
{
	struct world *w = &sim->w;
	unsigned int i, event;
	u64 next_ns;

	for (event = 0; event < events && w->now_ns < end_ns; event++) {
		next_ns = event ? end_ns : w->now_ns;
		if (sim->running != NOBODY)
			next_ns = sim->done_ns;
		else if (w->rq.nr_queued && sim->until_ns)
			next_ns = sim->until_ns;
		for (i = 0; i < w->nr; i++)
			if (sim->load[i].kind == JOBS)
				next_ns = min(next_ns, sim->load[i].next_ns);
		w->now_ns = max(w->now_ns, next_ns);

		if (sim->running != NOBODY && sim->done_ns <= w->now_ns)
			sim_done(sim);
		for (i = 0; i < w->nr; i++) {
			load_arrive(&sim->load[i], w->now_ns);
			if (i != sim->running && !w->entity[i].queued &&
			    w->entity[i].started &&
			    load_has_work(&sim->load[i]))
				enqueue(w, i);
		}
		sim_pick(sim);
		for (i = 0; i < w->nr; i++)
			sim->service_ns[i] = w->service_ns[i];
		if (sim->running != NOBODY)
			sim->service_ns[sim->running] +=
				w->now_ns - sim->start_ns;
		if (sim->see)
			sim->see(sim);
	}
}

static void sim_init(struct sim *sim, const struct vgpu_sched_policy *policy,
		     u32 nr_slots, u64 slice_ns)
{
	memset(sim, 0, sizeof(*sim));
	world_init(&sim->w, policy, nr_slots, slice_ns);
	sim->running = NOBODY;
}

/* The run under way comes to its end, and the world to its own. */
static void sim_exit(struct sim *sim)
{
	if (sim->running != NOBODY)
		sim_done(sim);
	world_exit(&sim->w);
}

/* An entity's overrun not yet paid back, that of the present run too. */
static u64 sim_debt_ns(const struct sim *sim, unsigned int i)
{
	u64 debt_ns = sim->w.entity[i].slots.debt_ns;

	if (i == sim->running && sim->w.now_ns > sim->w.deadline_ns)
		debt_ns += sim->w.now_ns - sim->w.deadline_ns;
	return debt_ns;
}

static u64 sim_debts_ns(const struct sim *sim)
{
	u64 debts_ns = 0;
	unsigned int i;

	for (i = 0; i < sim->w.nr; i++)
		debts_ns += sim_debt_ns(sim, i);
	return debts_ns;
}

/* Fills the GPU with vGPUs at random; of equal_share the shares mean nothing. */
static void sim_populate(struct sim *sim, u64 *rnd, unsigned int max)
{
	struct world *w = &sim->w;
	u32 first = 0, size, slots = w->rq.nr_slots;

	while (first < slots && w->nr < max) {
		for (size = rnd_range(rnd, 1, slots); slots % size; size--)
			;
		/* At a multiple of its size, not over the end. */
		while (first % size || first + size > slots)
			for (size--; slots % size; size--)
				;
		if ((first + size == slots && !w->nr) ||
		    !rnd_one_in(rnd, 4)) {
			load_random(&sim->load[w->nr], rnd, w->rq.slice_ns,
				    w->now_ns);
			start(w, join(w, first, size));
		}
		first += size;
	}
}

/* cycle x its share, and cycle */
static s64 share_of(const struct world *w, unsigned int i)
{
	return w->rq.policy == &vgpu_policy_fixed_share ?
	       w->entity[i].share.nr_slots : 1;
}

static s64 cycle_of(const struct world *w)
{
	return w->rq.policy == &vgpu_policy_fixed_share ? w->rq.nr_slots :
							  w->nr;
}

/* How many slots it may be off for the way they are spread. */
static s64 spread_of(const struct world *w, unsigned int i)
{
	return share_of(w, i) & (share_of(w, i) - 1) ? 3 : 1;
}

/*
 * T1 and T3: running extremes of service - share * time, and of the same with
 * debts taken out of both, all times the cycle. Whatever lies between the lowest
 * so far and now is an interval.
 */
struct bounds {
	s64 low, high;			/* service - share * time */
	s64 paid_low, paid_high;	/* debts taken out */
	u64 over_ns;			/* the longest overrun */
};

/*
 * T3, of one entity, times the cycle. @low: the least so far of service - share *
 * time + share * debts, the debts being those at the begin of an interval. @off:
 * the least of service - share * time, and @debts: share * debts then.
 */
struct t3 {
	s64 low, off, debts;
	u64 over_ns;	/* the longest it overruns by; 0: it never does */
};

/* How much of it is used: the largest fraction, per mille. */
struct t3_used {
	u64 never;		/* by those who never overrun */
	u64 overruns;		/* by those who do */
	u64 debts;		/* by the former, where debts are half of it */
};

static void t3_see(const struct sim *sim, struct t3 *t3, bool first,
		   struct t3_used *used)
{
	const struct world *w = &sim->w;
	s64 cycle = cycle_of(w), debts_ns = sim_debts_ns(sim), off, most, got;
	unsigned int i;

	for (i = 0; i < w->nr; i++, t3++) {
		bool overruns = sim->load[i].kind == OVERRUNS ||
				sim->load[i].kind == CHRONIC;

		if (overruns)
			t3->over_ns = max(t3->over_ns, sim->load[i].over_ns);
		off = (s64)sim->service_ns[i] * cycle - share_of(w, i) * w->now_ns;
		most = w->rq.slice_ns * spread_of(w, i) * cycle;
		/* Up to a slot more, and its overrun: what it owes. */
		if (t3->over_ns)
			most += (w->rq.slice_ns + t3->over_ns) * cycle;
		got = off - (first ? off : t3->low);
		check_that(got <= most, "%u of %u got %lld too much", i, w->nr,
			   (got - most) / cycle);
		if (first || off + share_of(w, i) * debts_ns < t3->low)
			t3->low = off + share_of(w, i) * debts_ns;
		/* From here on it has got the most. */
		if (first || off < t3->off) {
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

struct promises {
	struct bounds bounds[MAX_ENTITIES];
	struct t3 t3[MAX_ENTITIES];
	struct t3_used used;
	bool seen;
	unsigned int runs;
	u64 off_permille;		/* of what a promise allows */
};

static void promises_see(struct sim *sim)
{
	struct promises *p = sim->data;
	struct world *w = &sim->w;
	s64 cycle = cycle_of(w), slot_ns = w->rq.slice_ns, most_ns, off, share;
	s64 debts_ns = sim_debts_ns(sim), paid, all_over_ns = 0;
	unsigned int i;

	if (sim->running != NOBODY && w->now_ns > w->deadline_ns) {
		struct bounds *b = &p->bounds[sim->running];

		b->over_ns = max(b->over_ns, w->now_ns - w->deadline_ns);
	}
	for (i = 0; i < w->nr; i++)
		if (sim->load[i].kind == OVERRUNS ||
		    sim->load[i].kind == CHRONIC)
			all_over_ns += slot_ns + sim->load[i].over_ns;

	for (i = 0; i < w->nr; i++) {
		struct bounds *b = &p->bounds[i];
		bool always = sim->load[i].kind != JOBS &&
			      sim->load[i].kind != IDLE;
		s64 over_ns = 0;

		share = share_of(w, i);
		off = (s64)sim->service_ns[i] * cycle - share * w->now_ns;
		paid = ((s64)sim->service_ns[i] - (s64)sim_debt_ns(sim, i)) *
		       cycle - share * ((s64)w->now_ns - debts_ns);
		if (!p->seen) {
			b->low = off;
			b->high = off;
			b->paid_low = paid;
			b->paid_high = paid;
		}
		b->low = min(b->low, off);
		b->high = max(b->high, off);
		b->paid_low = min(b->paid_low, paid);
		b->paid_high = max(b->paid_high, paid);

		most_ns = slot_ns * spread_of(w, i);
		check_that(paid - b->paid_low <= most_ns * cycle,
			   "%u of %u has %lld more than its share", i, w->nr,
			   (paid - b->paid_low) / cycle);
		if (always)
			check_that(b->paid_high - paid <= most_ns * cycle,
				   "%u of %u has %lld less than its share", i,
				   w->nr, (b->paid_high - paid) / cycle);
		p->off_permille = max(p->off_permille,
				      (paid - b->paid_low) * 1000 / cycle /
				      most_ns);

		/* Without a look at what the policy takes for debts. */
		if (sim->load[i].kind == OVERRUNS ||
		    sim->load[i].kind == CHRONIC)
			over_ns = slot_ns + sim->load[i].over_ns;
		check_that(sim_debt_ns(sim, i) <= over_ns, "%u owes %llu", i,
			   sim_debt_ns(sim, i));
		most_ns = (slot_ns * spread_of(w, i) + over_ns) * cycle +
			  (all_over_ns - over_ns) * share;
		check_that(off - b->low <= most_ns,
			   "%u of %u got %lld too much", i, w->nr,
			   (off - b->low - most_ns) / cycle);
		if (always)
			check_that(b->high - off <= most_ns,
				   "%u of %u got %lld too little", i, w->nr,
				   (b->high - off - most_ns) / cycle);
	}
	t3_see(sim, p->t3, !p->seen, &p->used);
	p->seen = true;
	p->runs += sim->running != NOBODY && sim->start_ns == w->now_ns;
}

static void t3_print(const struct vgpu_sched_policy *policy,
		     const struct t3_used *used)
{
	printf("# %s: of T3 used, per mille: %llu by who never overruns (%llu where debts are half of it), %llu by who does\n",
	       policy->name, used->never, used->debts, used->overruns);
}

static void promises(const struct vgpu_sched_policy *policy, u64 seed)
{
	static struct promises p;
	static struct sim sim;
	unsigned int load, i, kind, runs = 0;
	struct t3_used used = {};
	u64 rnd = seed, most = 0;

	for (load = 0; load < 3000; load++) {
		sim_init(&sim, policy, rnd_one_in(&rnd, 3) ?
			 rnd_range(&rnd, 1, 100) : 1U << rnd_range(&rnd, 0, 5),
			 rnd_one_in(&rnd, 2) ? 1 * MS :
			 rnd_range(&rnd, VGPU_SLICE_MIN_NS, VGPU_SLICE_MAX_NS));
		sim_populate(&sim, &rnd, 16);
		kind = rnd_one_in(&rnd, 3) ? rnd_range(&rnd, HOG, JOBS) :
					     NR_KINDS;
		for (i = 0; i < sim.w.nr && kind < NR_KINDS; i++)
			sim.load[i].kind = kind;
		memset(&p, 0, sizeof(p));
		sim.see = promises_see;
		sim.data = &p;
		sim_run(&sim, 600, U64_MAX / 4);
		most = max(most, p.off_permille);
		runs += p.runs;
		used.never = max(used.never, p.used.never);
		used.overruns = max(used.overruns, p.used.overruns);
		used.debts = max(used.debts, p.used.debts);
		sim_exit(&sim);
	}
	printf("# %s: %u runs, %llu per mille of a slot more than the share\n",
	       policy->name, runs, most);
	t3_print(policy, &used);
}

static void test_equal_share_in_every_interval(void **state)
{
	promises(&vgpu_policy_equal_share, test_seed());
}

static void test_fixed_share_in_every_interval(void **state)
{
	promises(&vgpu_policy_fixed_share, test_seed() + 1);
}

/*
 * T3 is no more than is needed: neighbours run up debts of @over_ns each and
 * pay them, again and again, and @one overruns by as much as takes it to the
 * brink of a slot that it owes, and then by @over_ns.
 */
struct t3_state {
	struct t3 t3[MAX_ENTITIES];
	struct t3_used used;
	bool seen;
};

static void t3_state_see(struct sim *sim)
{
	struct t3_state *state = sim->data;

	t3_see(sim, state->t3, !state->seen, &state->used);
	state->seen = true;
}

static void t3_tight(const struct vgpu_sched_policy *policy, u64 over_ns,
		     bool one, struct t3_used *used)
{
	static struct t3_state state;
	static struct sim sim;
	unsigned int i, round;
	u64 slice_ns = 1 * MS;

	memset(&state, 0, sizeof(state));
	sim_init(&sim, policy, 4, slice_ns);
	sim.see = t3_state_see;
	sim.data = &state;
	for (i = 0; i < 4; i++) {
		start(&sim.w, join(&sim.w, i, 1));
		sim.load[i].kind = HOG;
	}
	for (round = 0; round < 4; round++) {
		/* Each of them once. */
		for (i = one ? 3 : 1; i < 4; i++) {
			u64 runs_ns = sim.w.service_ns[i] + slice_ns;

			if (one) {
				/* A slot owed, but for 1 ns. */
				sim.load[i].kind = CHRONIC;
				sim.load[i].over_ns = slice_ns - 1;
				while (sim.w.entity[i].slots.debt_ns <
				       slice_ns - 1)
					sim_run(&sim, 1, U64_MAX / 4);
				runs_ns = sim.w.service_ns[i] + slice_ns;
			}
			sim.load[i].kind = CHRONIC;
			sim.load[i].over_ns = over_ns;
			while (sim.w.service_ns[i] < runs_ns)
				sim_run(&sim, 1, U64_MAX / 4);
			sim.load[i].kind = HOG;
		}
		sim_run(&sim, ~0U, sim.w.now_ns + 8 * over_ns + 8 * slice_ns);
	}
	used->never = max(used->never, state.used.never);
	used->debts = max(used->debts, state.used.debts);
	used->overruns = max(used->overruns, state.used.overruns);
	sim_exit(&sim);
}

static void test_t3_is_tight(void **state)
{
	static const u64 over_ns[] = { 1 * MS, 3 * MS, 9 * MS, 30 * MS };
	unsigned int p, i;

	for (p = 0; p < ARRAY_SIZE(policies); p++) {
		struct t3_used used = {};

		for (i = 0; i < ARRAY_SIZE(over_ns); i++) {
			t3_tight(policies[p], over_ns[i], false, &used);
			t3_tight(policies[p], over_ns[i], true, &used);
		}
		t3_print(policies[p], &used);
		assert_true(used.never >= 500);
		assert_true(used.debts >= 900);
		assert_true(used.overruns >= 500);
	}
}

/* T2: what entity 0 did. */
#define MAX_RUNS	40000

struct history {
	struct {
		u64 start_ns, done_ns;
	} run[MAX_RUNS];
	unsigned int nr;
	u64 debts_ns;		/* the most that all owed at a time */
	u64 last_service_ns;
	bool was_running;
};

static void history_see(struct sim *sim)
{
	struct history *h = sim->data;
	bool runs = sim->running == 0;

	h->debts_ns = max(h->debts_ns, sim_debts_ns(sim));
	if (runs && sim->start_ns == sim->w.now_ns && h->nr < MAX_RUNS) {
		h->run[h->nr].start_ns = sim->start_ns;
		h->run[h->nr].done_ns = sim->done_ns;
		h->nr++;
	}
}

/* Work done by @at_ns; *@from goes on from one call to the next. */
static u64 history_work_ns(const struct history *h, unsigned int *from,
			   u64 *before_ns, u64 at_ns)
{
	while (*from < h->nr && h->run[*from].done_ns <= at_ns) {
		*before_ns += h->run[*from].done_ns - h->run[*from].start_ns;
		(*from)++;
	}
	if (*from < h->nr && h->run[*from].start_ns < at_ns)
		return *before_ns + at_ns - h->run[*from].start_ns;
	return *before_ns;
}

static void history_compare(const struct history *off, const struct history *on,
			    bool always, u64 end_ns)
{
	unsigned int a = 0, b = 0, ai = 0, bi = 0, k;
	u64 a_ns = 0, b_ns = 0, at_ns, work[2];

	if (always) {
		for (k = 0; k < min(off->nr, on->nr); k++)
			check_that(on->run[k].start_ns - off->run[k].start_ns <=
				   on->debts_ns,
				   "run %u at %llu, not %llu, %llu overrun", k,
				   on->run[k].start_ns, off->run[k].start_ns,
				   on->debts_ns);
	}
	/* At each start and end of a run here or there. */
	for (k = 0; ; k++) {
		at_ns = end_ns;
		if (ai < 2 * off->nr)
			at_ns = min(at_ns, ai % 2 ? off->run[ai / 2].done_ns :
						    off->run[ai / 2].start_ns);
		if (bi < 2 * on->nr)
			at_ns = min(at_ns, bi % 2 ? on->run[bi / 2].done_ns :
						    on->run[bi / 2].start_ns);
		if (at_ns >= end_ns)
			break;
		work[0] = history_work_ns(off, &a, &a_ns, at_ns);
		work[1] = history_work_ns(on, &b, &b_ns, at_ns);
		check_that(max(work[0], work[1]) - min(work[0], work[1]) <=
			   on->debts_ns, "%llu, not %llu done by %llu",
			   work[1], work[0], at_ns);
		while (ai < 2 * off->nr &&
		       (ai % 2 ? off->run[ai / 2].done_ns :
				 off->run[ai / 2].start_ns) <= at_ns)
			ai++;
		while (bi < 2 * on->nr &&
		       (bi % 2 ? on->run[bi / 2].done_ns :
				 on->run[bi / 2].start_ns) <= at_ns)
			bi++;
	}
	assert_true(k > 10);
}

static void unseen(const struct vgpu_sched_policy *policy, u64 seed)
{
	static struct history h[2];
	static struct sim sim;
	unsigned int load, on, i, exact = 0;
	u64 rnd = seed, end_ns, salt, slice_ns;
	bool always = false, overruns;
	u32 nr_slots;

	for (load = 0; load < 700; load++) {
		memset(h, 0, sizeof(h));
		nr_slots = rnd_range(&rnd, 2, 40);
		slice_ns = rnd_range(&rnd, VGPU_SLICE_MIN_NS, 5 * MS);
		salt = rnd_next(&rnd);
		overruns = rnd_one_in(&rnd, 2);
		end_ns = 400 * slice_ns;
		for (on = 0; on < 2; on++) {
			rnd = salt;
			sim_init(&sim, policy, nr_slots, slice_ns);
			sim_populate(&sim, &rnd, 16);
			always = sim.load[0].kind != JOBS;
			sim.load[0].kind = always ? HOG : JOBS;
			/* Its own arrivals are the same in both. */
			for (i = 1; i < sim.w.nr; i++)
				if (!on)
					sim.load[i].kind = IDLE;
				else if (!overruns)
					sim.load[i].over_ns = 0;
			if (!overruns)
				for (i = 1; i < sim.w.nr; i++)
					if (sim.load[i].kind == OVERRUNS ||
					    sim.load[i].kind == CHRONIC)
						sim.load[i].kind = HOG;
			sim.see = history_see;
			sim.data = &h[on];
			sim_run(&sim, ~0U, end_ns);
			sim_exit(&sim);
		}
		assert_true(h[0].nr < MAX_RUNS && h[1].nr < MAX_RUNS);
		assert_int_equal(h[0].debts_ns, 0);
		exact += !h[1].debts_ns;
		if (h[0].nr > 10)
			history_compare(&h[0], &h[1], always, end_ns);
	}
	check_that(exact > 50 && load - exact > 50, "%u", exact);
}

static void test_neighbours_are_not_seen(void **state)
{
	unseen(policies[0], test_seed() + 2);
	unseen(policies[1], test_seed() + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_share_in_every_interval),
		cmocka_unit_test(test_fixed_share_in_every_interval),
		cmocka_unit_test(test_t3_is_tight),
		cmocka_unit_test(test_neighbours_are_not_seen),
	};

	/* What walks over slots one by one does not come to an end here. */
	alarm(300);
	return cmocka_run_group_tests_name("slots_load", tests, NULL, NULL);
}
