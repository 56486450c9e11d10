// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort alone, in virtual time: what deficit round robin promises, under
 * random loads, and against a round robin that counts naively.
 */
#include <unistd.h>

#include "vgpu_test.h"

#include "sched/policy.h"

#define US		1000ULL
#define MS		(1000 * US)
#define MAX_ENTITIES	64

static const struct vgpu_sched_policy *policy = &vgpu_policy_best_effort;

/* A timeline, as little of it as a policy needs. */
struct world {
	struct vgpu_rq rq;
	struct vgpu_entity entity[MAX_ENTITIES];
	u64 service_ns[MAX_ENTITIES];
	u64 over_ns[MAX_ENTITIES];	/* largest */
	unsigned int nr;
	u64 now_ns;
};

static void world_init(struct world *w, unsigned int nr, u64 slice_ns)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->rq.policy = policy;
	w->rq.slice_ns = slice_ns;
	assert_int_equal(policy->rq_init(&w->rq), 0);
	w->nr = nr;
	w->now_ns = 12345;
	for (i = 0; i < nr; i++)
		policy->init(&w->rq, &w->entity[i], w->now_ns);
}

static void enqueue(struct world *w, unsigned int i)
{
	assert_false(w->entity[i].queued);
	w->entity[i].queued = true;
	w->entity[i].ready_ns = w->now_ns;
	w->rq.nr_queued++;
	assert_false(policy->enqueue(&w->rq, &w->entity[i], true, w->now_ns));
}

static void dequeue(struct world *w, unsigned int i)
{
	assert_true(w->entity[i].queued);
	policy->dequeue(&w->rq, &w->entity[i], w->now_ns);
	w->entity[i].queued = false;
	w->rq.nr_queued--;
}

/* Nobody is left out while somebody is queued, and slices are full. */
static int pick(struct world *w)
{
	struct vgpu_entity *entity;
	struct vgpu_pick pick = {};

	entity = policy->pick(&w->rq, w->now_ns, &pick);
	assert_int_equal(pick.until_ns, 0);
	assert_int_equal(pick.linger_ns, 0);
	assert_false(pick.exclusive);
	check_that(!entity == !w->rq.nr_queued, "%u queued", w->rq.nr_queued);
	if (!entity)
		return -1;
	assert_true(entity->queued);
	assert_int_equal(pick.slice_ns, w->rq.slice_ns);
	entity->queued = false;
	w->rq.nr_queued--;
	w->rq.running = entity;
	return entity - w->entity;
}

static void ran(struct world *w, unsigned int i, u64 ran_ns)
{
	w->now_ns += ran_ns;
	w->rq.running = NULL;
	w->service_ns[i] += ran_ns;
	if (ran_ns > w->rq.slice_ns)
		w->over_ns[i] = max(w->over_ns[i], ran_ns - w->rq.slice_ns);
	policy->charge(&w->rq, &w->entity[i], ran_ns, w->now_ns);
}

static void world_exit(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		if (w->entity[i].queued)
			dequeue(w, i);
		policy->exit(&w->rq, &w->entity[i]);
	}
	assert_int_equal(pick(w), -1);
	policy->rq_exit(&w->rq);
}

/*
 * Extremes over time of service_i - service_j: their distance is the largest
 * difference of the two services in any interval.
 */
struct extremes {
	s64 low[MAX_ENTITIES][MAX_ENTITIES];
	s64 high[MAX_ENTITIES][MAX_ENTITIES];
};

static void extremes_note(struct extremes *x, const struct world *w)
{
	unsigned int i, j;
	s64 ahead;

	for (i = 0; i < w->nr; i++) {
		for (j = 0; j < w->nr; j++) {
			ahead = w->service_ns[i] - w->service_ns[j];
			x->low[i][j] = min(x->low[i][j], ahead);
			x->high[i][j] = max(x->high[i][j], ahead);
		}
	}
}

/* How much of the bound was needed, per mille. */
static u64 extremes_check(const struct extremes *x, const struct world *w)
{
	unsigned int i, j;
	u64 bound, most = 0;
	s64 diff;

	for (i = 0; i < w->nr; i++) {
		for (j = 0; j < i; j++) {
			bound = 4 * w->rq.slice_ns + w->over_ns[i] +
				w->over_ns[j];
			diff = x->high[i][j] - x->low[i][j];
			check_that(diff <= (s64)bound, "%u, %u: %lld > %llu",
				   i, j, diff, bound);
			most = max(most, diff * 1000 / bound);
		}
	}
	return most;
}

/* How long an entity runs that could go on. */
static u64 random_run_ns(u64 *rnd, u64 slice_ns, unsigned int kind)
{
	switch (kind % 5) {
	case 0:
		return slice_ns;
	case 1:
		return slice_ns + rnd_range(rnd, 0, 50 * US);
	case 2:
		return slice_ns + rnd_range(rnd, 0, 2 * slice_ns);
	case 3:		/* ends early, goes on */
		return rnd_range(rnd, 20 * US, slice_ns);
	default:	/* all of it, and sometimes far too long */
		if (rnd_one_in(rnd, 20))
			return slice_ns * rnd_range(rnd, 2, 40);
		return rnd_range(rnd, 20 * US, slice_ns + slice_ns / 8);
	}
}

static void test_fair_in_every_interval(void **state)
{
	static struct extremes x;
	static struct world w;
	u64 rnd = test_seed(), most = 0;
	unsigned int load, turn, kind[MAX_ENTITIES];
	bool alike;
	int i;

	for (load = 0; load < 400; load++) {
		world_init(&w, rnd_range(&rnd, 2, 12),
			   rnd_range(&rnd, VGPU_SLICE_MIN_NS,
				     VGPU_SLICE_MAX_NS));
		memset(&x, 0, sizeof(x));
		alike = rnd_one_in(&rnd, 4);
		kind[0] = rnd_next(&rnd);
		for (i = 0; i < w.nr; i++) {
			kind[i] = alike ? kind[0] : rnd_next(&rnd);
			enqueue(&w, i);
		}
		for (turn = 0; turn < 2000; turn++) {
			i = pick(&w);
			ran(&w, i, random_run_ns(&rnd, w.rq.slice_ns, kind[i]));
			enqueue(&w, i);
			extremes_note(&x, &w);
		}
		most = max(most, extremes_check(&x, &w));
		world_exit(&w);
	}
	printf("# %llu per mille of the bound were used\n", most);
}

/*
 * The same where others come and go, are held and have debts: two that are
 * runnable all the time are not told apart by that.
 */
static void test_fair_beside_sleepers(void **state)
{
	static struct extremes x;
	static struct world w;
	unsigned int load, turn, kind[MAX_ENTITIES], nr;
	u64 rnd = test_seed() + 1;
	int i;

	for (load = 0; load < 400; load++) {
		world_init(&w, rnd_range(&rnd, 3, 12),
			   rnd_range(&rnd, VGPU_SLICE_MIN_NS,
				     VGPU_SLICE_MAX_NS));
		nr = w.nr;
		memset(&x, 0, sizeof(x));
		for (i = 0; i < w.nr; i++) {
			kind[i] = rnd_next(&rnd);
			if (i < 2)
				enqueue(&w, i);
		}
		for (turn = 0; turn < 3000; turn++) {
			i = pick(&w);
			ran(&w, i, random_run_ns(&rnd, w.rq.slice_ns, kind[i]));
			if (i < 2 || !rnd_one_in(&rnd, 3))
				enqueue(&w, i);
			for (i = 2; i < nr; i++) {
				if (!rnd_one_in(&rnd, 8) ||
				    &w.entity[i] == w.rq.running)
					continue;
				if (w.entity[i].queued)
					dequeue(&w, i);
				else
					enqueue(&w, i);
			}
			w.nr = 2;
			extremes_note(&x, &w);
			w.nr = nr;
		}
		w.nr = 2;
		extremes_check(&x, &w);
		w.nr = nr;
		world_exit(&w);
	}
}

/*
 * Rounds, counted naively: everybody gets a slice of credit in each, and whoever
 * has credit left then runs one slice.
 */
static void test_like_naive_rounds(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 2, round, over, seen, runs[MAX_ENTITIES];
	u64 policy_runs[MAX_ENTITIES], salt;
	s64 credit[MAX_ENTITIES];
	unsigned int load, picks;
	int i;

#define OVER(i, run) ({							\
	u64 __s = salt + (i) * 1000003ULL + (run) * 7919ULL;		\
	u64 __o = rnd_range(&__s, 0, 9) ? rnd_range(&__s, 0, 100 * US) : \
		rnd_range(&__s, 0, 12) * w.rq.slice_ns;			\
	__o; })

	for (load = 0; load < 300; load++) {
		world_init(&w, rnd_range(&rnd, 1, 10), 1 * MS);
		salt = rnd_next(&rnd);
		memset(runs, 0, sizeof(runs));
		memset(policy_runs, 0, sizeof(policy_runs));
		memset(credit, 0, sizeof(credit));
		for (i = 0; i < w.nr; i++)
			enqueue(&w, i);
		i = pick(&w);
		round = w.entity[i].drr.round;
		seen = round;
		for (picks = 0; picks < 1000; picks++) {
			/* All rounds that have ended. */
			while (seen < round) {
				for (int k = 0; k < w.nr; k++) {
					credit[k] += w.rq.slice_ns;
					if (credit[k] <= 0)
						continue;
					over = OVER(k, runs[k]);
					credit[k] -= w.rq.slice_ns + over;
					runs[k]++;
				}
				seen++;
				if (seen < round)
					continue;
				for (int k = 0; k < w.nr; k++)
					check_that(runs[k] == policy_runs[k],
						   "%d ran %llu, not %llu, by round %llu",
						   k, policy_runs[k], runs[k],
						   round);
			}
			ran(&w, i, w.rq.slice_ns + OVER(i, policy_runs[i]));
			policy_runs[i]++;
			enqueue(&w, i);
			i = pick(&w);
			round = w.entity[i].drr.round;
		}
		w.rq.running = NULL;
		world_exit(&w);
	}
}

static unsigned int runs_before(struct world *w, int hog, int until)
{
	unsigned int runs = 0;
	int i;

	while ((i = pick(w)) != until) {
		assert_int_equal(i, hog);
		ran(w, i, w->rq.slice_ns);
		enqueue(w, i);
		runs++;
		assert_true(runs < 1000);
	}
	return runs;
}

/*
 * Owes 3.5 slices: the other has its turn of this round, three alone, and the
 * first of the round after, as who comes back is last there.
 */
static void test_debtor_skips(void **state)
{
	static struct world w;
	int i;

	world_init(&w, 2, 2 * MS);
	enqueue(&w, 0);
	enqueue(&w, 1);
	i = pick(&w);
	assert_int_equal(i, 0);
	ran(&w, 0, 9 * MS);
	enqueue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 1 + 3 + 1);
	/* Half a slice is owed still: a full one is given, then one skipped. */
	ran(&w, 0, 2 * MS);
	enqueue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 1);
	ran(&w, 0, 3 * MS);
	enqueue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 2);
	w.rq.running = NULL;
	world_exit(&w);
}

static void test_sleep_sheds_no_debt(void **state)
{
	static struct world w;
	unsigned int n;
	int i;

	world_init(&w, 2, 2 * MS);
	enqueue(&w, 0);
	enqueue(&w, 1);
	i = pick(&w);
	assert_int_equal(i, 0);
	ran(&w, 0, 9 * MS);
	for (n = 0; n < 1000; n++) {
		assert_int_equal(pick(&w), 1);
		ran(&w, 1, 2 * MS);
		enqueue(&w, 1);
	}
	enqueue(&w, 0);
	n = runs_before(&w, 1, 0);
	check_that(n >= 3 && n <= 5, "%u", n);
	ran(&w, 0, 2 * MS + 100 * MS);
	/* Coming and going is not faster than waiting. */
	for (n = 0; n < 45; n++) {
		enqueue(&w, 0);
		assert_int_equal(pick(&w), 1);
		dequeue(&w, 0);
		ran(&w, 1, 2 * MS);
		enqueue(&w, 1);
	}
	check_that(w.entity[0].drr.deficit_ns <= -10 * (s64)MS, "%lld",
		   w.entity[0].drr.deficit_ns);
	world_exit(&w);
}

/*
 * Who overruns by more than a slice each time skips every other turn. A guest
 * that resets its device while it waits is taken off the queue and put back,
 * and gets no more by that.
 */
static void test_reset_sheds_no_debt(void **state)
{
	static struct world w;
	unsigned int n;
	int i;

	world_init(&w, 2, 2 * MS);
	enqueue(&w, 0);
	enqueue(&w, 1);
	for (n = 0; n < 1000; n++) {
		i = pick(&w);
		if (i && w.entity[0].queued) {
			dequeue(&w, 0);
			enqueue(&w, 0);
		}
		ran(&w, i, i ? 2 * MS : 4 * MS + 200 * US);
		enqueue(&w, i);
	}
	check_that(w.service_ns[0] < w.service_ns[1] + 20 * MS,
		   "%llu beside %llu", w.service_ns[0], w.service_ns[1]);
	w.rq.running = NULL;
	world_exit(&w);
}

static void test_sleep_banks_no_credit(void **state)
{
	static struct world w;
	unsigned int n, runs[2] = {};
	int i;

	world_init(&w, 2, 2 * MS);
	enqueue(&w, 0);
	assert_int_equal(pick(&w), 0);
	ran(&w, 0, 100 * US);
	enqueue(&w, 1);
	for (n = 0; n < 1000; n++) {
		assert_int_equal(pick(&w), 1);
		ran(&w, 1, 2 * MS);
		enqueue(&w, 1);
	}
	enqueue(&w, 0);
	for (n = 0; n < 20; n++) {
		i = pick(&w);
		ran(&w, i, 2 * MS);
		enqueue(&w, i);
		runs[i]++;
		check_that(runs[0] <= runs[1] + 1, "%u, %u", runs[0], runs[1]);
	}
	world_exit(&w);
}

/* A sleeper with short work has not to wait for more than the others' turns. */
static void test_nobody_starves(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 3, wait_ns, bound_ns, wake_ns[MAX_ENTITIES];
	unsigned int load, turn;
	int i, k;

	for (load = 0; load < 200; load++) {
		world_init(&w, rnd_range(&rnd, 2, 40), 1 * MS);
		for (i = 0; i < w.nr; i++)
			wake_ns[i] = w.now_ns + rnd_range(&rnd, 0, 20 * MS);
		/* Two rounds, in which what sleeps may come once more. */
		bound_ns = 3 * w.nr * (w.rq.slice_ns + 50 * US);
		for (turn = 0; turn < 4000; turn++) {
			for (k = 0; k < w.nr; k++)
				if (!w.entity[k].queued &&
				    wake_ns[k] <= w.now_ns)
					enqueue(&w, k);
			i = pick(&w);
			if (i < 0) {
				w.now_ns += 100 * US;
				continue;
			}
			wait_ns = w.now_ns - w.entity[i].ready_ns;
			check_that(wait_ns <= bound_ns, "%llu > %llu",
				   wait_ns, bound_ns);
			if (i % 2) {
				ran(&w, i, w.rq.slice_ns +
				    rnd_range(&rnd, 0, 50 * US));
				wake_ns[i] = w.now_ns;
			} else {
				ran(&w, i, rnd_range(&rnd, 20 * US,
						     200 * US));
				wake_ns[i] = w.now_ns +
					rnd_range(&rnd, 0, 10 * MS);
			}
		}
		world_exit(&w);
	}
}

/* Always woken, never does anything: costs the others little. */
static void test_storm(void **state)
{
	static struct world w;
	unsigned int turn, storm = 0;
	int i;

	world_init(&w, 3, 2 * MS);
	for (i = 0; i < 3; i++)
		enqueue(&w, i);
	for (turn = 0; turn < 100000; turn++) {
		i = pick(&w);
		storm += !i;
		ran(&w, i, i ? w.rq.slice_ns : 0);
		enqueue(&w, i);
	}
	check_that(storm <= 1 + (turn - storm) / 2 * (2 * MS / (20 * US) + 1),
		   "%u of %u", storm, turn);
	assert_true(w.service_ns[1] > 0 && w.service_ns[2] > 0);
	check_that(w.service_ns[1] - w.service_ns[2] + 4 * MS <= 8 * MS,
		   "%llu, %llu", w.service_ns[1], w.service_ns[2]);
	world_exit(&w);
}

/* Would never end if the rounds that all skip were gone through. */
static void test_endless_debts(void **state)
{
	static struct world w;
	unsigned int turn, n[3];
	int i;

	alarm(60);
	world_init(&w, 3, VGPU_SLICE_MIN_NS);
	for (i = 0; i < 3; i++)
		enqueue(&w, i);
	for (i = 0; i < 3; i++) {
		assert_int_equal(pick(&w), i);
		ran(&w, i, 1ULL << 60);
		enqueue(&w, i);
	}
	/* All owe the same: forgiven, they go on as if nothing had been. */
	memset(n, 0, sizeof(n));
	for (turn = 0; turn < 300; turn++) {
		i = pick(&w);
		n[i]++;
		ran(&w, i, w.rq.slice_ns);
		enqueue(&w, i);
	}
	for (i = 0; i < 3; i++)
		check_that(n[i] >= 99 && n[i] <= 101, "%d: %u", i, n[i]);

	/* One owes more than anybody can pay, and is alone. */
	for (turn = 0; turn < 20; turn++) {
		i = pick(&w);
		ran(&w, i, U64_MAX);
		enqueue(&w, i);
	}
	dequeue(&w, 1);
	dequeue(&w, 2);
	for (turn = 0; turn < 1000; turn++) {
		assert_int_equal(pick(&w), 0);
		ran(&w, 0, w.rq.slice_ns + 1);
		enqueue(&w, 0);
	}
	world_exit(&w);
	alarm(0);
}

static void test_slice_changes(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 4, from[MAX_ENTITIES], least, most;
	unsigned int load, turn;
	int i;

	for (load = 0; load < 200; load++) {
		world_init(&w, rnd_range(&rnd, 1, 20), 1 * MS);
		for (i = 0; i < w.nr; i++)
			enqueue(&w, i);
		for (turn = 0; turn < 3000; turn++) {
			if (rnd_one_in(&rnd, 10))
				w.rq.slice_ns = rnd_range(&rnd,
							  VGPU_SLICE_MIN_NS,
							  VGPU_SLICE_MAX_NS);
			i = pick(&w);
			ran(&w, i, random_run_ns(&rnd, w.rq.slice_ns, 4));
			enqueue(&w, i);
		}
		/* Once it is constant and debts are paid it is as if it always had been. */
		w.rq.slice_ns = 5 * MS;
		for (turn = 0; turn < 300 * w.nr; turn++) {
			i = pick(&w);
			ran(&w, i, w.rq.slice_ns);
			enqueue(&w, i);
		}
		memcpy(from, w.service_ns, sizeof(from));
		for (turn = 0; turn < 100 * w.nr; turn++) {
			i = pick(&w);
			ran(&w, i, w.rq.slice_ns);
			enqueue(&w, i);
		}
		least = U64_MAX;
		most = 0;
		for (i = 0; i < w.nr; i++) {
			least = min(least, w.service_ns[i] - from[i]);
			most = max(most, w.service_ns[i] - from[i]);
		}
		check_that(most - least <= 4 * 5 * MS, "%llu, %llu", least,
			   most);
		world_exit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fair_in_every_interval),
		cmocka_unit_test(test_fair_beside_sleepers),
		cmocka_unit_test(test_like_naive_rounds),
		cmocka_unit_test(test_debtor_skips),
		cmocka_unit_test(test_sleep_sheds_no_debt),
		cmocka_unit_test(test_reset_sheds_no_debt),
		cmocka_unit_test(test_sleep_banks_no_credit),
		cmocka_unit_test(test_nobody_starves),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_endless_debts),
		cmocka_unit_test(test_slice_changes),
	};

	return cmocka_run_group_tests_name("best_effort", tests, NULL, NULL);
}
