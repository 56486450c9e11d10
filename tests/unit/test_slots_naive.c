// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share against a grid that is walked slot by slot.
 */
#include <unistd.h>

#include "slots_world.h"

/*
 * The rules, walked slot by slot, for both policies: a cycle is a table of
 * owners.
 */
struct naive {
	int order[128];
	int table[128];
	unsigned int nr_order;
	unsigned int len, place;
	u64 begin_ns, slot_ns;
	u64 debt_ns[128];
	bool started[128];
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
		n->debt_ns[n->table[n->place]] +=
			now_ns - n->begin_ns - n->slot_ns;
		n->begin_ns = now_ns;
		n->place++;
	}
}

/* When the next of those that are queued can run; U64_MAX: none can. */
static u64 naive_next_ns(const struct naive *naive, const struct world *w,
			 u64 slice_ns, u64 now_ns)
{
	struct naive n = *naive;
	unsigned int slots;
	int owner;

	for (slots = 0; slots < 3000 && n.len && w->rq.nr_queued; slots++) {
		naive_advance(&n, slice_ns, now_ns);
		if (!n.len)
			break;
		owner = n.table[n.place];
		if (owner != NOBODY && w->entity[owner].queued)
			return now_ns;
		now_ns = n.begin_ns + n.slot_ns;
	}
	return U64_MAX;
}

static void like_naive(const struct vgpu_sched_policy *policy, u64 seed,
		       unsigned int loads)
{
	bool fixed = policy == &vgpu_policy_fixed_share;
	unsigned int load, step, nr, i, overruns;
	static struct naive n;
	static struct world w;
	u64 rnd = seed, until_ns, run_ns, done_ns = 0, next_ns, idle;
	u32 place[128][2], first, size, nr_slots;
	int running, owner;

	for (load = 0; load < loads; load++) {
		memset(&n, 0, sizeof(n));
		nr_slots = rnd_range(&rnd, 1, 24);
		nr = 0;
		for (first = 0; first < nr_slots; first += size) {
			size = rnd_range(&rnd, 1, nr_slots - first);
			place[nr][0] = first;
			place[nr][1] = size;
			nr += !rnd_one_in(&rnd, 4);
		}
		world_init(&w, policy, nr_slots, 1 * MS);
		w.now_ns += rnd_range(&rnd, 0, MS);
		if (fixed) {
			n.fixed = true;
			n.len = nr_slots;
			n.slot_ns = w.rq.slice_ns;
			n.begin_ns = w.now_ns;
			slots_seen(nr_slots, place, nr, n.table);
			if (!nr)
				n.len = 0;
		}
		for (i = 0; i < nr; i++)
			join(&w, place[i][0], place[i][1]);
		running = NOBODY;
		until_ns = 0;
		overruns = rnd_range(&rnd, 0, 3);
		idle = rnd_range(&rnd, 1, 6);
		for (step = 0; step < 400 && nr; step++) {
			/* Something happens, or what was to be waited for. */
			next_ns = w.now_ns + rnd_range(&rnd, 0, idle * MS);
			if (rnd_one_in(&rnd, 50))
				next_ns += rnd_range(&rnd, 0, 300 * MS);
			if (running != NOBODY)
				next_ns = min(next_ns, done_ns);
			else if (until_ns && !rnd_one_in(&rnd, 20))
				next_ns = min(next_ns, until_ns);
			if (rnd_one_in(&rnd, 5) && running == NOBODY &&
			    n.len && n.begin_ns + n.slot_ns > w.now_ns)
				next_ns = n.begin_ns + n.slot_ns - 1;
			if (running == NOBODY)
				w.now_ns = next_ns;
			naive_advance(&n, w.rq.slice_ns, next_ns);

			if (running != NOBODY && next_ns == done_ns) {
				ran(&w, running, done_ns - w.now_ns);
				naive_done(&n, w.now_ns);
				naive_advance(&n, w.rq.slice_ns, w.now_ns);
				if (!rnd_one_in(&rnd, 4))
					enqueue(&w, running);
				running = NOBODY;
			}

			i = rnd_range(&rnd, 0, nr - 1);
			if (running != NOBODY) {
				/* Nothing but its end. */
			} else if (!w.entity[i].started) {
				start(&w, i);
				if (!fixed)
					naive_start(&n, i, w.rq.slice_ns,
						    w.now_ns);
			} else if (w.entity[i].queued) {
				if (rnd_one_in(&rnd, 4))
					dequeue(&w, i);
			} else if (rnd_one_in(&rnd, 8)) {
				stop(&w, i);
				if (!fixed)
					naive_stop(&n, i, w.rq.slice_ns);
			} else {
				enqueue(&w, i);
			}
			/* The policy has to see when slices change. */
			if (running == NOBODY && rnd_one_in(&rnd, 10)) {
				vgpu_slots_advance(&w.rq, w.now_ns);
				naive_advance(&n, w.rq.slice_ns, w.now_ns);
				w.rq.slice_ns = rnd_range(&rnd, 1, 5) * MS / 2;
			}

			if (running != NOBODY)
				continue;
			naive_advance(&n, w.rq.slice_ns, w.now_ns);
			owner = n.len ? n.table[n.place] : NOBODY;
			if (owner != NOBODY && !w.entity[owner].queued)
				owner = NOBODY;
			next_ns = naive_next_ns(&n, &w, w.rq.slice_ns,
						w.now_ns);
			running = pick(&w, &until_ns);
			check_that(running == owner,
				   "load %u, step %u: %d, not %d", load, step,
				   running, owner);
			for (i = 0; i < nr; i++)
				check_that(w.entity[i].slots.debt_ns ==
					   n.debt_ns[i] || !w.rq.nr_queued,
					   "load %u, step %u: %u owes %llu, not %llu",
					   load, step, i,
					   w.entity[i].slots.debt_ns,
					   n.debt_ns[i]);
			if (running == NOBODY) {
				check_that((until_ns ?: U64_MAX) <= next_ns,
					   "until %llu, not %llu", until_ns,
					   next_ns);
				continue;
			}
			n.running = true;
			check_that(w.deadline_ns == n.begin_ns + n.slot_ns,
				   "%llu, not %llu", w.deadline_ns,
				   n.begin_ns + n.slot_ns);
			run_ns = rnd_range(&rnd, 0, w.deadline_ns - w.now_ns);
			if (!rnd_one_in(&rnd, 3))
				run_ns = w.deadline_ns - w.now_ns;
			if (overruns && rnd_one_in(&rnd, overruns))
				run_ns += rnd_range(&rnd, 0, 9 * MS);
			if (overruns && rnd_one_in(&rnd, 100))
				run_ns += rnd_range(&rnd, 0, 200 * MS);
			done_ns = w.now_ns + run_ns;
		}
		if (running != NOBODY)
			ran(&w, running, 0);
		world_exit(&w);
	}
}

static void test_equal_share_like_naive(void **state)
{
	like_naive(&vgpu_policy_equal_share, test_seed() + 4, 3000);
}

static void test_fixed_share_like_naive(void **state)
{
	like_naive(&vgpu_policy_fixed_share, test_seed() + 5, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_share_like_naive),
		cmocka_unit_test(test_fixed_share_like_naive),
	};

	/* What walks over slots one by one does not come to an end here. */
	alarm(300);
	return cmocka_run_group_tests_name("slots_naive", tests, NULL, NULL);
}
