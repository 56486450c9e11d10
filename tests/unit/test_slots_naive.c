// SPDX-License-Identifier: GPL-2.0
/* equal_share and fixed_share against a model: a grid that is walked slot by slot. */

#include "slots_world.h"

#define NAIVE_MAX	32

/**
 * struct naive - the rules of the head of slots.c, for both policies
 * @order:    equal_share: the entities that have slots in this cycle, in the order of these, and
 *            those that have started since
 * @nr_order: how many
 * @table:    the owner of each slot of the cycle, or NOBODY
 * @len:      slots of the cycle; 0: there is no grid
 * @place:    the present slot, counted from the beginning of the cycle
 * @begin_ns: when it began
 * @slot_ns:  length of a slot in this cycle
 * @debt_ns:  what each entity owes
 * @started:  whether it is started
 * @dirty:    entities have started or stopped since the cycle began
 * @running:  the owner of the present slot runs
 * @fixed:    it is fixed_share
 */
struct naive {
	int order[NAIVE_MAX];
	unsigned int nr_order;
	int table[NAIVE_MAX];
	unsigned int len, place;
	u64 begin_ns, slot_ns;
	u64 debt_ns[NAIVE_MAX];
	bool started[NAIVE_MAX];
	bool dirty;
	bool running;
	bool fixed;
};

static void naive_cycle(struct naive *n, u64 slice_ns)
{
	unsigned int i, kept = 0;

	n->place = 0;
	n->slot_ns = slice_ns;
	if (n->fixed || !n->dirty)
		return;
	n->dirty = false;
	for (i = 0; i < n->nr_order; i++)
		if (n->started[n->order[i]])
			n->order[kept++] = n->order[i];
	n->nr_order = kept;
	n->len = kept;
	memcpy(n->table, n->order, sizeof(n->table));
}

static void naive_advance(struct naive *n, u64 slice_ns, u64 now_ns)
{
	int owner;

	while (!n->running && n->len) {
		if (n->place == n->len) {
			naive_cycle(n, slice_ns);
			continue;
		}
		owner = n->table[n->place];
		if (owner != NOBODY && n->debt_ns[owner] >= n->slot_ns) {
			n->debt_ns[owner] -= n->slot_ns;
			n->place++;
			continue;
		}
		if (now_ns < n->begin_ns + n->slot_ns)
			break;
		n->begin_ns += n->slot_ns;
		n->place++;
	}
}

static void naive_start(struct naive *n, int i, u64 slice_ns, u64 now_ns)
{
	unsigned int k;

	n->started[i] = true;
	n->dirty = true;
	for (k = 0; k < n->nr_order && n->order[k] != i; k++)
		;
	if (k == n->nr_order)
		n->order[n->nr_order++] = i;
	if (!n->len || (!n->running && !n->place && n->begin_ns == now_ns)) {
		n->begin_ns = now_ns;
		naive_cycle(n, slice_ns);
	}
}

static void naive_stop(struct naive *n, int i, u64 slice_ns)
{
	unsigned int k;

	n->started[i] = false;
	n->dirty = true;
	for (k = 0; k < n->nr_order; k++)
		if (n->started[n->order[k]])
			return;
	if (!n->running)
		naive_cycle(n, slice_ns);
}

static void naive_done(struct naive *n, u64 now_ns)
{
	n->running = false;
	if (now_ns > n->begin_ns + n->slot_ns) {
		n->debt_ns[n->table[n->place]] += now_ns - n->begin_ns - n->slot_ns;
		n->begin_ns = now_ns;
		n->place++;
	}
}

/* When the next of the entities that are queued can run; U64_MAX: none can. */
static u64 naive_next_ns(const struct naive *naive, const struct world *w)
{
	struct naive n = *naive;
	u64 now_ns = w->now_ns;
	unsigned int slots;
	int owner;

	for (slots = 0; slots < 3000 && n.len && w->rq.nr_queued; slots++) {
		naive_advance(&n, w->rq.slice_ns, now_ns);
		if (!n.len)
			break;
		owner = n.table[n.place];
		if (owner != NOBODY && w->entity[owner].queued)
			return now_ns;
		now_ns = n.begin_ns + n.slot_ns;
	}
	return U64_MAX;
}

static void naive_init(struct naive *n, const struct world *w, const struct vgpu_share *place,
		       unsigned int nr)
{
	memset(n, 0, sizeof(*n));
	if (w->rq.policy != &vgpu_policy_fixed_share)
		return;
	n->fixed = true;
	n->len = nr ? w->rq.nr_slots : 0;
	n->slot_ns = w->rq.slice_ns;
	n->begin_ns = w->now_ns;
	slots_seen(w->rq.nr_slots, place, nr, n->table);
}

/* If the engine is free, a random entity starts, stops, wakes or is taken off the queue. */
static void naive_any(struct naive *n, struct world *w, u64 *rnd)
{
	unsigned int i = random_range(rnd, 0, w->nr - 1);

	if (n->running)
		return;
	if (!w->entity[i].started) {
		world_start(w, i);
		if (!n->fixed)
			naive_start(n, i, w->rq.slice_ns, w->now_ns);
	} else if (w->entity[i].queued) {
		if (random_one_in(rnd, 4))
			world_dequeue(w, i);
	} else if (random_one_in(rnd, 8)) {
		world_stop(w, i);
		if (!n->fixed)
			naive_stop(n, i, w->rq.slice_ns);
	} else {
		world_wake(w, i);
	}
}

/* The policy picks as the model does. Returns the entity that runs then, or NOBODY. */
static int naive_pick(struct naive *n, struct world *w, unsigned int load, unsigned int step)
{
	unsigned int i;
	int who, owner;
	u64 next_ns;

	naive_advance(n, w->rq.slice_ns, w->now_ns);
	owner = n->len ? n->table[n->place] : NOBODY;
	if (owner != NOBODY && !w->entity[owner].queued)
		owner = NOBODY;
	next_ns = naive_next_ns(n, w);
	who = world_pick(w);
	check_that(who == owner, "load %u, step %u: %d, not %d", load, step, who, owner);
	for (i = 0; i < w->nr; i++) {
		u64 debt_ns = vgpu_slots_of(&w->entity[i])->debt_ns;

		check_that(debt_ns == n->debt_ns[i] || !w->rq.nr_queued,
			   "load %u, step %u: %u owes %llu, not %llu", load, step, i, debt_ns,
			   n->debt_ns[i]);
	}
	n->running = who != NOBODY;
	if (n->running)
		check_that(w->deadline_ns == n->begin_ns + n->slot_ns, "%llu, not %llu",
			   w->deadline_ns, n->begin_ns + n->slot_ns);
	else
		check_that((w->until_ns ?: U64_MAX) <= next_ns, "until %llu, not %llu",
			   w->until_ns, next_ns);
	return who;
}

static u64 random_run_ns(const struct world *w, unsigned int overruns, u64 *rnd)
{
	u64 run_ns = random_range(rnd, 0, w->deadline_ns - w->now_ns);

	if (!random_one_in(rnd, 3))
		run_ns = w->deadline_ns - w->now_ns;
	if (overruns && random_one_in(rnd, overruns))
		run_ns += random_range(rnd, 0, 9 * MS);
	if (overruns && random_one_in(rnd, 100))
		run_ns += random_range(rnd, 0, 200 * MS);
	return run_ns;
}

/* How many entities there are; @place has the slots of each, of @nr_slots, and has gaps. */
static unsigned int random_places(struct vgpu_share *place, u32 nr_slots, u64 *rnd)
{
	unsigned int nr = 0;
	u32 first, size;

	for (first = 0; first < nr_slots; first += size) {
		size = random_range(rnd, 1, nr_slots - first);
		place[nr].first_slot = first;
		place[nr].nr_slots = size;
		nr += !random_one_in(rnd, 4);
	}
	return nr;
}

/* One load: random events, one after the other, to the policy and to the model. */
static void one_like_naive(const struct vgpu_sched_policy *policy, u64 *rnd, unsigned int load)
{
	unsigned int step, nr, i, overruns;
	u64 done_ns = 0, next_ns, idle;
	struct vgpu_share place[NAIVE_MAX];
	u32 nr_slots;
	int running = NOBODY;
	static struct world w;
	static struct naive n;

	nr_slots = random_range(rnd, 1, 24);
	nr = random_places(place, nr_slots, rnd);
	slots_begin(&w, policy, nr_slots, 1 * MS);
	w.now_ns += random_range(rnd, 0, MS);
	naive_init(&n, &w, place, nr);
	for (i = 0; i < nr; i++)
		world_join(&w, place[i].first_slot, place[i].nr_slots);
	overruns = random_range(rnd, 0, 3);
	idle = random_range(rnd, 1, 6);
	for (step = 0; step < 400 && nr; step++) {
		/* Something happens, or the time comes that was waited for. */
		next_ns = w.now_ns + random_range(rnd, 0, idle * MS);
		if (random_one_in(rnd, 50))
			next_ns += random_range(rnd, 0, 300 * MS);
		if (n.running)
			next_ns = min(next_ns, done_ns);
		else if (w.until_ns && !random_one_in(rnd, 20))
			next_ns = min(next_ns, w.until_ns);
		if (random_one_in(rnd, 5) && !n.running && n.len &&
		    n.begin_ns + n.slot_ns > w.now_ns)
			next_ns = n.begin_ns + n.slot_ns - 1;
		if (!n.running)
			w.now_ns = next_ns;
		naive_advance(&n, w.rq.slice_ns, next_ns);

		if (n.running && next_ns == done_ns) {
			world_ran(&w, running, done_ns - w.now_ns);
			naive_done(&n, w.now_ns);
			naive_advance(&n, w.rq.slice_ns, w.now_ns);
			if (!random_one_in(rnd, 4))
				world_requeue(&w, running);
		}
		naive_any(&n, &w, rnd);
		if (n.running)
			continue;
		/* The policy has to see when slices change. */
		if (random_one_in(rnd, 10)) {
			vgpu_slots_advance(&w.rq, w.now_ns);
			naive_advance(&n, w.rq.slice_ns, w.now_ns);
			w.rq.slice_ns = random_range(rnd, 1, 5) * MS / 2;
		}
		running = naive_pick(&n, &w, load, step);
		if (n.running)
			done_ns = w.now_ns + random_run_ns(&w, overruns, rnd);
	}
	world_exit(&w);
}

static void like_naive(const struct vgpu_sched_policy *policy, u64 seed)
{
	unsigned int load;
	u64 rnd = seed;

	for (load = 0; load < 3000; load++)
		one_like_naive(policy, &rnd, load);
}

static void test_equal_share_like_naive(void **state)
{
	like_naive(&vgpu_policy_equal_share, test_seed() + 4);
}

static void test_fixed_share_like_naive(void **state)
{
	like_naive(&vgpu_policy_fixed_share, test_seed() + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_share_like_naive),
		cmocka_unit_test(test_fixed_share_like_naive),
	};

	/* A policy that walked over slots one by one would not come to an end here. */
	test_limit_cpu(300);
	return cmocka_run_group_tests_name("slots_naive", tests, NULL, NULL);
}
