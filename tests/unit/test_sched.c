// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler promises to its users, one thing at a time: settings,
 * shares, wakes at a time, lingering, the log, windows. On simulated engines
 * (sim_engine.h).
 */
#include <linux/seq_file.h>

#include "sim_engine.h"

#define HOLD_OTHER	0x4

static void set_policy(const char *name)
{
	struct vgpu_sched_params params = t.params;

	params.policy = watched(name);
	assert_int_equal(set_params(&params), 0);
}

static void set_share(struct user *user, u16 guarantee, u16 cap, u16 weight)
{
	struct vgpu_share share = plain_share(user);

	share.guarantee = guarantee;
	share.cap = cap;
	share.weight = weight;
	vgpu_entity_set_share(&user->entity, &share);
}

static u64 busy_ns(struct user *user)
{
	struct vgpu_entity_stats s;

	vgpu_entity_stats(&user->entity, &s);
	return s.busy_ns;
}

static const struct vgpu_sched_params good = {
	.policy = &vgpu_policy_best_effort,
	.slice_ns = 2 * MS,
	.window_ns = 100 * MS,
	.preempt_timeout_us = TIMEOUT_US,
	.linger_us = 100,
	.nr_slots = 1,
};

/* What can be set and what not, with what is said. */
static void test_params_check(void **state)
{
	static const struct {
		u64 slice_ns;
		u64 window_ns;
		u32 timeout_us;
		u32 linger_us;
		int ret;
		const char *why;
	} row[] = {
		{ 1 * MS, 10 * MS, 1000, 0, 0, "" },
		{ 30 * MS, 1000 * MS, 1000000, 1000, 0, "" },
		{ 1041667, 100 * MS, 10000, 100, 0, "" },
		{ 1 * MS - 1, 100 * MS, 10000, 100, -ERANGE,
		  "slice 999999 ns: 1 .. 30 ms" },
		{ 31 * MS, 100 * MS, 10000, 100, -ERANGE,
		  "slice 31 ms: 1 .. 30 ms" },
		{ 0, 100 * MS, 10000, 100, -ERANGE, "slice 0 ms: 1 .. 30 ms" },
		{ U64_MAX, 100 * MS, 10000, 100, -ERANGE,
		  "slice 18446744073709551615 ns: 1 .. 30 ms" },
		{ 1 * MS, 10 * MS - 1, 10000, 100, -ERANGE,
		  "window 9999999 ns: 10 .. 1000 ms" },
		{ 1 * MS, 1001 * MS, 10000, 100, -ERANGE,
		  "window 1001 ms: 10 .. 1000 ms" },
		{ 10 * MS, 50 * MS, 10000, 100, -EINVAL,
		  "window 50 ms: at least 10 slices, 100 ms at a slice of 10 ms" },
		{ 10 * MS + 1, 100 * MS, 10000, 100, -EINVAL,
		  "window 100 ms: at least 10 slices, 100000010 ns at a slice of 10000001 ns" },
		{ 1 * MS, 100 * MS, 999, 100, -ERANGE,
		  "preemption timeout 999 us: 1000 .. 1000000 us" },
		{ 1 * MS, 100 * MS, 1000001, 100, -ERANGE,
		  "preemption timeout 1000001 us: 1000 .. 1000000 us" },
		{ 1 * MS, 100 * MS, 10000, 1001, -ERANGE,
		  "linger 1001 us: 0 .. 1000 us" },
	};
	struct vgpu_sched_params params;
	char why[VGPU_TEXT_LEN], few[8];
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		params = good;
		params.slice_ns = row[i].slice_ns;
		params.window_ns = row[i].window_ns;
		params.preempt_timeout_us = row[i].timeout_us;
		params.linger_us = row[i].linger_us;
		why[0] = 0;
		ret = vgpu_sched_params_check(&params, why, sizeof(why));
		check_that(ret == row[i].ret && !strcmp(why, row[i].why),
			   "row %u: %d, %s", i, ret, why);
		/* Little room, or none. */
		few[0] = 0;
		few[7] = 'x';
		assert_int_equal(vgpu_sched_params_check(&params, few, 7), ret);
		assert_true(few[7] == 'x' && strlen(few) < 7);
		assert_int_equal(vgpu_sched_params_check(&params, NULL, 0), ret);
	}
	params = good;
	params.policy = NULL;
	assert_int_equal(vgpu_sched_params_check(&params, why, sizeof(why)),
			 -EINVAL);
	assert_int_equal(strcmp(why, "no such policy"), 0);
	params = good;
	params.nr_slots = 0;
	assert_int_equal(vgpu_sched_params_check(&params, why, sizeof(why)),
			 -EINVAL);
}

static void test_policies(void **state)
{
	static const struct vgpu_sched_policy * const all[] = {
		&vgpu_policy_best_effort, &vgpu_policy_equal_share,
		&vgpu_policy_fixed_share, &vgpu_policy_qos,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		assert_ptr_equal(vgpu_sched_policy(all[i]->name), all[i]);
	assert_int_equal(strcmp(all[0]->name, "best_effort"), 0);
	assert_int_equal(strcmp(all[1]->name, "equal_share"), 0);
	assert_int_equal(strcmp(all[2]->name, "fixed_share"), 0);
	assert_int_equal(strcmp(all[3]->name, "qos"), 0);
	assert_null(vgpu_sched_policy("qo"));
	assert_null(vgpu_sched_policy("qos "));
	assert_null(vgpu_sched_policy(""));
}

static void test_create_refuses(void **state)
{
	static const struct vgpu_timeline_ops ops;
	struct vgpu_sched_params bad = good;

	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 0, &ops, NULL, &good)),
			 -EINVAL);
	bad.policy = NULL;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, &bad)),
			 -EINVAL);
	bad = good;
	bad.slice_ns = VGPU_SLICE_MAX_NS + 1;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, &bad)),
			 -ERANGE);
	bad = good;
	bad.preempt_timeout_us = 0;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, &bad)),
			 -ERANGE);
}

/* All of the timelines or none, wherever memory runs out. */
static void test_set_is_atomic(void **state)
{
	struct vgpu_sched_params params, now;
	struct user *user[NR_TIMELINES];
	unsigned int i, left;

	world_begin(1, 0, 2 * MS);
	assert_int_equal(strcmp(vgpu_sched_name(t.sched), "test"), 0);
	for (i = 0; i < NR_TIMELINES; i++) {
		user[i] = user_open(i);
		submit(user[i], 1 * SEC);
	}
	sim_sleep(5 * MS);
	for (left = 0; left <= NR_TIMELINES; left++) {
		params = t.params;
		params.policy = watched("qos");
		params.slice_ns = 10 * MS;
		params.linger_us = 7;
		t.rqs_left = left;
		assert_int_equal(set_params(&params), left < NR_TIMELINES ?
						      -ENOMEM : 0);
		vgpu_sched_params_get(t.sched, &now);
		assert_int_equal(memcmp(&now, &t.params, sizeof(now)), 0);
		for (i = 0; i < NR_TIMELINES; i++) {
			assert_ptr_equal(t.engine[i].tl->rq.policy,
					 t.params.policy);
			assert_int_equal(t.engine[i].tl->rq.slice_ns,
					 t.params.slice_ns);
			assert_int_equal(t.engine[i].tl->rq.linger_ns,
					 t.params.linger_us * US);
		}
	}
	/* The same policy again takes nothing. */
	t.rqs_left = 0;
	assert_int_equal(set_params(&t.params), 0);
	params = t.params;
	params.nr_slots++;
	assert_int_equal(set_params(&params), -EINVAL);
	params = t.params;
	params.window_ns = 50 * MS;
	assert_int_equal(set_params(&params), -EINVAL);
	vgpu_sched_params_get(t.sched, &now);
	assert_int_equal(memcmp(&now, &t.params, sizeof(now)), 0);
	world_drain();
	for (i = 0; i < NR_TIMELINES; i++)
		user_close(user[i]);
	world_end();
}

/* Four always busy, another policy every ms: all gets done, in turns. */
static void test_policy_storm(void **state)
{
	static const char * const name[] = {
		"best_effort", "equal_share", "fixed_share", "qos",
	};
	struct vgpu_entity_stats s;
	unsigned int i, n;
	struct user *user[4];
	u64 least = U64_MAX;

	world_begin(2, 0, 2 * MS);
	for (i = 0; i < 4; i++) {
		user[i] = user_open(0);
		set_share(user[i], 100 * i, VGPU_PER_MILLE, 1 + i);
		submit(user[i], 500 * MS);
	}
	for (n = 0; n < 400; n++) {
		sim_sleep(1 * MS);
		set_policy(name[n % 4]);
	}
	/* Nobody's turn is lost each time. */
	for (i = 0; i < 4; i++) {
		vgpu_entity_stats(&user[i]->entity, &s);
		least = min(least, s.busy_ns);
		assert_int_equal(s.overruns, 0);
	}
	check_that(least > 20 * MS, "%llu", least);
	set_policy("best_effort");
	world_drain();
	for (i = 0; i < 4; i++) {
		assert_int_equal(user[i]->worked_ns, 500 * MS);
		user_close(user[i]);
	}
	world_end();
}

/* Its last run, but @skip. */
static struct vgpu_ctl_switch last_but(struct user *user, unsigned int skip)
{
	static struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	unsigned int n;
	u64 total;

	n = vgpu_timeline_log(user->engine->tl, entry, VGPU_SCHED_LOG, &total);
	while (n--)
		if (!memcmp(entry[n].uuid, user->entity.id, sizeof(entry->uuid)) &&
		    !skip--)
			return entry[n];
	fail();
	return entry[0];
}

static struct vgpu_ctl_switch last_of(struct user *user)
{
	return last_but(user, 0);
}

/* Every way for a run to end, as the log has it. */
static void test_log_ends(void **state)
{
	struct vgpu_ctl_switch run;
	struct user *user, *other;
	u64 from_ns;

	world_begin(3, 0, 10 * MS);
	t.poll_ns = 0;
	user = user_open(0);
	other = user_open(0);
	check_that(memcmp(user->entity.id, other->entity.id, 16), "%d",
		   user->entity.id[0]);

	submit(user, 1 * MS);
	sim_sleep(5 * MS);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_IDLE);
	assert_int_equal(run.preempt_ns, 0);
	assert_true(run.ran_ns >= 1 * MS && run.ran_ns < 2 * MS);

	submit(user, 11 * MS);
	sim_sleep(10 * MS + 500 * US);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_SLICE);
	assert_int_equal(run.slice_ns, 10 * MS);
	assert_true(run.preempt_ns == run.ran_ns - run.slice_ns);
	sim_sleep(5 * MS);

	from_ns = sim_now_ns();
	submit(user, 5 * MS);
	sim_sleep(1 * MS);
	hold_sync(user, HOLD_OTHER);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_HELD);
	assert_true(run.time_ns >= from_ns && run.time_ns < from_ns + 1 * MS);
	assert_true(run.preempt_ns > 0 && run.preempt_ns < 100 * US);
	unhold(user, HOLD_OTHER);
	world_drain();
	sim_sleep(1 * MS);

	submit(user, 5 * MS);
	sim_sleep(1 * MS);
	user->dma = true;
	sim_sleep(1 * MS);
	assert_int_equal(last_of(user).end, VGPU_END_STALLED);
	user->dma = false;
	vgpu_entity_wake(&user->entity);
	world_drain();
	sim_sleep(1 * MS);

	submit(user, 5 * MS);
	sim_sleep(200 * US);
	set_policy("qos");
	sim_sleep(100 * US);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_CHANGED);
	assert_true(run.ran_ns < 500 * US);
	world_drain();
	sim_sleep(1 * MS);

	user->hung = true;
	submit(user, 1 * MS);
	sim_sleep(10 * MS + TIMEOUT_NS + 5 * MS);
	/* After it the engine looks once more. */
	assert_int_equal(last_of(user).end, VGPU_END_IDLE);
	run = last_but(user, 1);
	assert_int_equal(run.end, VGPU_END_RESET);
	assert_true(run.preempt_ns >= TIMEOUT_NS);

	user_close(user);
	user_close(other);
	world_end();
}

/* Who runs has half a ms before it makes way, then it does at once. */
static void one_preempted(u64 after_ns, u64 least_ns, u64 most_ns)
{
	struct vgpu_ctl_switch run;
	struct user *hog, *user;

	world_begin(4 + after_ns, 0, 20 * MS);
	set_policy("qos");
	hog = user_open(0);
	user = user_open(0);
	set_share(user, 500, VGPU_PER_MILLE, 1);
	set_share(hog, 0, VGPU_PER_MILLE, 1);
	sim_sleep(100 * MS);
	submit(hog, 30 * MS);
	while (!t.engine[0].running)
		sim_sleep(1 * US);
	sim_sleep(t.engine[0].start_ns + after_ns - sim_now_ns());
	submit(user, 100 * US);
	sim_sleep(5 * MS);
	run = last_of(hog);
	assert_int_equal(run.end, VGPU_END_PREEMPTED);
	check_that(run.ran_ns >= least_ns && run.ran_ns <= most_ns,
		   "woken after %llu ns: ran %llu", after_ns, run.ran_ns);
	assert_int_equal(user->work_ns, 0);
	world_drain();
	user_close(hog);
	user_close(user);
	world_end();
}

static void test_preempt_min(void **state)
{
	/* An engine looks every 50 us. */
	one_preempted(50 * US, 500 * US, 600 * US);
	one_preempted(450 * US, 500 * US, 600 * US);
	one_preempted(3 * MS, 3 * MS, 3 * MS + 100 * US);
}

/* Who was to have the engine is held before it has come to that. */
static void test_preempt_for_nobody(void **state)
{
	struct user *hog, *user;

	world_begin(5, 0, 20 * MS);
	set_policy("qos");
	hog = user_open(0);
	user = user_open(0);
	set_share(user, 500, VGPU_PER_MILLE, 1);
	set_share(hog, 0, VGPU_PER_MILLE, 1);
	submit(hog, 10 * MS);
	sim_sleep(100 * US);
	submit(user, 100 * US);
	sim_sleep(100 * US);
	assert_true(t.engine[0].tl->preempt_at_ns != U64_MAX);
	hold_sync(user, HOLD_OTHER);
	sim_sleep(5 * MS);
	assert_ptr_equal(t.engine[0].running, &hog->entity);
	assert_int_equal(t.engine[0].tl->preempts, 0);
	unhold(user, HOLD_OTHER);
	world_drain();
	user_close(hog);
	user_close(user);
	world_end();
}

static u64 runs_of(struct user *user)
{
	return user->entity.stats.runs;
}

static void test_wake_at(void **state)
{
	struct vgpu_entity_stats s;
	struct user *user;
	u64 runs, due_ns;

	world_begin(6, 0, 2 * MS);
	t.poll_ns = 0;
	user = user_open(0);
	sim_sleep(1 * MS);

	/* In the past: now. */
	vgpu_entity_wake_at(&user->entity, 0);
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 1);
	vgpu_entity_wake_at(&user->entity, sim_now_ns());
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 2);

	/* Not early, not late; a later time does not count. */
	due_ns = sim_now_ns() + 10 * MS;
	vgpu_entity_wake_at(&user->entity, due_ns + 5 * MS);
	vgpu_entity_wake_at(&user->entity, due_ns);
	vgpu_entity_wake_at(&user->entity, due_ns + 1);
	sim_sleep(due_ns - 1 - sim_now_ns());
	assert_int_equal(runs_of(user), 2);
	sim_sleep(50 * US);
	assert_int_equal(runs_of(user), 3);
	sim_sleep(20 * MS);
	assert_int_equal(runs_of(user), 3);

	/* A wake and a run before make no difference. */
	due_ns = sim_now_ns() + 10 * MS;
	vgpu_entity_wake_at(&user->entity, due_ns);
	vgpu_entity_wake(&user->entity);
	sim_sleep(5 * MS);
	assert_int_equal(runs_of(user), 4);
	sim_sleep(6 * MS);
	assert_int_equal(runs_of(user), 5);

	/* Held as it comes: it waits for the hold, and only then. */
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 1 * MS);
	hold_sync(user, HOLD_OTHER);
	sim_sleep(5 * MS);
	assert_int_equal(runs_of(user), 5);
	unhold(user, HOLD_OTHER);
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 6);

	/* Running as it comes: looked at once more. */
	submit(user, 500 * US);
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 300 * US);
	sim_sleep(1 * MS);
	runs = runs_of(user);
	assert_int_equal(runs, 8);

	/* Waiting is not counted, being late is. */
	vgpu_entity_stats(&user->entity, &s);
	check_that(s.max_wait_ns < 100 * US, "%llu", s.max_wait_ns);

	/* It leaves with one to come. */
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 1 * MS);
	user_close(user);
	assert_null(rb_first_cached(&t.engine[0].tl->sleepers));
	sim_sleep(5 * MS);
	world_end();
}

/* Many sleepers, each woken at its time, in whatever order they said so. */
static void test_many_sleepers(void **state)
{
	u64 due_ns[NR_PLACES], runs[NR_PLACES];
	struct user *user[NR_PLACES];
	unsigned int i, n;

	world_begin(test_seed(), 0, 2 * MS);
	t.poll_ns = 0;
	for (i = 0; i < NR_PLACES; i++) {
		user[i] = user_open(i % NR_TIMELINES);
		due_ns[i] = 0;
		runs[i] = 0;
	}
	for (n = 0; n < 5000; n++) {
		i = sim_random(0, NR_PLACES - 1);
		if (!due_ns[i]) {
			due_ns[i] = sim_now_ns() + sim_random(1, 3 * MS);
			vgpu_entity_wake_at(&user[i]->entity, due_ns[i]);
		}
		sim_sleep(sim_random(1, 200 * US));
		for (i = 0; i < NR_PLACES; i++) {
			if (!due_ns[i] || sim_now_ns() < due_ns[i]) {
				assert_int_equal(runs_of(user[i]), runs[i]);
			} else if (sim_now_ns() > due_ns[i] + 200 * US) {
				runs[i]++;
				assert_int_equal(runs_of(user[i]), runs[i]);
				due_ns[i] = 0;
			} else if (runs_of(user[i]) != runs[i]) {
				runs[i]++;
				assert_int_equal(runs_of(user[i]), runs[i]);
				due_ns[i] = 0;
			}
		}
	}
	for (i = 0; i < NR_PLACES; i++)
		user_close(user[i]);
	world_end();
}

/* A client with pauses keeps the engine through those that are short enough. */
static void one_linger(u64 linger_ns, bool exclusive, bool neighbour)
{
	struct vgpu_timeline_stats stats;
	struct vgpu_entity_stats s;
	struct user *user, *other = NULL;
	unsigned int n;

	world_begin(7, 0, 5 * MS);
	t.poll_ns = 100 * US;
	t.pick_linger_ns = linger_ns;
	t.pick_exclusive = exclusive;
	user = user_open(0);
	submit(user, 50 * US);
	if (neighbour) {
		other = user_open(0);
		submit(other, 1 * SEC);
	}
	for (n = 0; n < 10; n++) {
		while (user->work_ns)
			sim_sleep(5 * US);
		sim_sleep(40 * US);
		submit(user, 50 * US);
	}
	sim_sleep(10 * MS);
	vgpu_entity_stats(&user->entity, &s);
	vgpu_timeline_stats(user->engine->tl, &stats);
	assert_true(stats.linger_ns >= s.linger_ns);
	if (!neighbour || exclusive) {
		assert_int_equal(s.linger_ns, 0);
		/* A wake that was not needed makes a second one. */
		assert_true(s.runs <= 2);
	} else if (linger_ns) {
		/* The pauses, and one in vain. */
		assert_true(s.runs <= 2);
		check_that(s.linger_ns >= 350 * US + linger_ns &&
			   s.linger_ns <= 600 * US + linger_ns, "%llu",
			   s.linger_ns);
	} else {
		assert_true(s.runs > 5);
		assert_int_equal(s.linger_ns, 0);
	}
	user_close(user);
	if (other)
		user_close(other);
	world_end();
}

static void test_linger(void **state)
{
	one_linger(0, false, false);
	one_linger(0, false, true);
	one_linger(80 * US, false, false);
	one_linger(80 * US, false, true);
	one_linger(0, true, true);
	one_linger(80 * US, true, true);
}

/* A share that is changed while its entity may not run yet. */
static void test_share_lets_run(void **state)
{
	struct user *user, *hog;
	u64 from_ns;

	world_begin(8, 0, 2 * MS);
	set_policy("qos");
	user = user_open(0);
	set_share(user, 0, 1, 1);
	submit(user, 10 * SEC);
	sim_sleep(500 * MS);
	/* It has had its part of some time to come, and nobody else is there. */
	from_ns = busy_ns(user);
	sim_sleep(200 * MS);
	assert_int_equal(busy_ns(user), from_ns);
	assert_true(user->entity.queued);
	set_share(user, 0, VGPU_PER_MILLE, 1);
	sim_sleep(10 * MS);
	check_that(busy_ns(user) - from_ns >= 5 * MS, "%llu",
		   busy_ns(user) - from_ns);

	/* And back, as it runs and as it waits. */
	hog = user_open(0);
	submit(hog, 10 * SEC);
	set_share(user, 0, 1, 1);
	sim_sleep(100 * MS);
	from_ns = busy_ns(user);
	sim_sleep(100 * MS);
	check_that(busy_ns(user) - from_ns <= 5 * MS, "%llu",
		   busy_ns(user) - from_ns);
	set_share(user, 800, VGPU_PER_MILLE, 1);
	set_share(hog, 0, VGPU_PER_MILLE, 1);
	sim_sleep(100 * MS);
	from_ns = busy_ns(user);
	sim_sleep(1 * SEC);
	check_that(busy_ns(user) - from_ns >= 780 * MS, "%llu",
		   busy_ns(user) - from_ns);
	user_close(user);
	user_close(hog);
	world_end();
}

/* Who is started counts, idle or not; who stops does not. */
static void test_start_stop(void **state)
{
	struct user *user, *other;
	u64 from_ns;

	world_begin(9, 0, 2 * MS);
	set_policy("equal_share");
	user = user_open(0);
	other = user_open(0);
	submit(user, 10 * SEC);
	sim_sleep(50 * MS);
	from_ns = busy_ns(user);
	sim_sleep(200 * MS);
	check_that(busy_ns(user) - from_ns > 90 * MS &&
		   busy_ns(user) - from_ns < 110 * MS, "%llu",
		   busy_ns(user) - from_ns);
	vgpu_entity_stop(&other->entity);
	sim_sleep(20 * MS);
	from_ns = busy_ns(user);
	sim_sleep(200 * MS);
	check_that(busy_ns(user) - from_ns > 190 * MS, "%llu",
		   busy_ns(user) - from_ns);
	/* Twice is once. */
	vgpu_entity_stop(&other->entity);
	vgpu_entity_start(&other->entity);
	vgpu_entity_start(&other->entity);
	vgpu_entity_unhold(&other->entity, VGPU_HOLD_STOPPED);
	sim_sleep(20 * MS);
	from_ns = busy_ns(user);
	sim_sleep(200 * MS);
	check_that(busy_ns(user) - from_ns < 110 * MS, "%llu",
		   busy_ns(user) - from_ns);
	user_close(user);
	user_close(other);
	world_end();
}

/* Of @user's service, what lies in from .. to. */
static u64 service_between(struct user *user, u64 from_ns, u64 to_ns)
{
	struct engine *e = user->engine;
	u64 sum_ns = 0, a, b;
	unsigned int i;

	for (i = 0; i < t.nr_runs; i++) {
		if (t.run[i].user != user)
			continue;
		a = max(t.run[i].start_ns, from_ns);
		b = min(t.run[i].end_ns, to_ns);
		sum_ns += a < b ? b - a : 0;
	}
	if (e->running == &user->entity) {
		a = max(e->start_ns, from_ns);
		b = min(sim_now_ns(), to_ns);
		sum_ns += a < b ? b - a : 0;
	}
	return sum_ns;
}

/* Random loads, windows shorter and longer than runs, read at random times. */
static void test_windows(void **state)
{
	static struct run run[20000];
	struct vgpu_sched_params params;
	struct vgpu_entity_stats s;
	struct user *user[3];
	u64 window, begin_ns, whole = 0;
	unsigned int i, n, load;

	for (load = 0; load < 40; load++) {
		world_begin(test_seed() + load, 0, 1 * MS);
		t.poll_ns = 0;
		t.run = run;
		t.max_runs = ARRAY_SIZE(run);
		for (i = 0; i < 3; i++)
			user[i] = user_open(0);
		params = t.params;
		params.window_ns = sim_random(10 * MS, 40 * MS);
		assert_int_equal(set_params(&params), 0);
		begin_ns = sim_now_ns();
		for (n = 0; n < 200; n++) {
			i = sim_random(0, 2);
			if (sim_one_in(2))
				submit(user[i], sim_random(1, 3 * MS));
			if (sim_one_in(40))
				user[i]->deaf_ns = sim_random(1, 9 * MS);
			if (sim_one_in(20))
				sim_sleep(sim_random(1, 200 * MS));
			sim_sleep(sim_random(0, 2 * MS));
			i = sim_random(0, 2);
			vgpu_entity_stats(&user[i]->entity, &s);
			window = sim_now_ns() / params.window_ns;
			/* What was before the change does not count. */
			if ((window - 1) * params.window_ns < begin_ns)
				continue;
			whole = service_between(user[i],
						(window - 1) * params.window_ns,
						window * params.window_ns);
			check_that(s.window_ns == whole,
				   "load %u: %llu, not %llu, at %llu of %llu",
				   load, s.window_ns, whole, sim_now_ns(),
				   params.window_ns);
		}
		assert_true(t.nr_runs < t.max_runs);
		world_drain();
		for (i = 0; i < 3; i++)
			user_close(user[i]);
		world_end();
	}
}

/* Read as it runs: what counts is there, and adds up. */
static void test_stats_of_a_run(void **state)
{
	struct vgpu_timeline_stats a, b;
	struct user *user;
	u64 from_ns;

	world_begin(10, 0, 30 * MS);
	user = user_open(0);
	submit(user, 100 * MS);
	sim_sleep(5 * MS);
	vgpu_timeline_stats(t.engine[0].tl, &a);
	from_ns = sim_now_ns();
	sim_sleep(5 * MS);
	vgpu_timeline_stats(t.engine[0].tl, &b);
	assert_int_equal(b.wall_ns - a.wall_ns, sim_now_ns() - from_ns);
	assert_int_equal(b.busy_ns - a.busy_ns, sim_now_ns() - from_ns);
	assert_int_equal(b.runs, 1);
	assert_int_equal(busy_ns(user), b.busy_ns);
	world_drain();
	user_close(user);
	world_end();
}

static void show_name(struct seq_file *m, struct vgpu_entity *entity)
{
	seq_printf(m, "user%u", to_user(entity)->index);
}

static void test_show(void **state)
{
	struct seq_file m;
	struct user *user;
	size_t len;
	char *text;

	world_begin(11, 0, 2 * MS);
	user = user_open(0);
	user->index = 42;
	submit(user, 10 * MS);
	sim_sleep(5 * MS);
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 7 * MS);
	m.file = open_memstream(&text, &len);
	vgpu_timeline_show(t.engine[0].tl, &m, show_name);
	vgpu_timeline_show(t.engine[1].tl, &m, show_name);
	fclose(m.file);
	assert_non_null(strstr(text, "policy: best_effort\nslice_ns: 2000000\n"
				     "window_ns: 300000000\nlinger_ns: 100000\n"
				     "preempt_timeout_ns: 10000000\n"));
	assert_non_null(strstr(text, "next_wake_ns: 7000000\nsleepers: 1\n"));
	assert_non_null(strstr(text, "running: user42\n"));
	assert_non_null(strstr(text, "state: running\n"));
	assert_non_null(strstr(text, "sleepers: 0\n"));
	assert_non_null(strstr(text, "running: none\nstate: idle\n"));
	free(text);
	world_drain();

	/* Queued, but may not run. */
	set_policy("qos");
	set_share(user, 0, 1, 1);
	submit(user, 100 * MS);
	sim_sleep(50 * MS);
	m.file = open_memstream(&text, &len);
	vgpu_timeline_show(t.engine[0].tl, &m, show_name);
	fclose(m.file);
	assert_non_null(strstr(text, "queued: 1\n"));
	assert_non_null(strstr(text, "until_ns: "));
	assert_non_null(strstr(text, "state: throttled\n"));
	free(text);
	user_close(user);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params_check),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_create_refuses),
		cmocka_unit_test(test_set_is_atomic),
		cmocka_unit_test(test_policy_storm),
		cmocka_unit_test(test_log_ends),
		cmocka_unit_test(test_preempt_min),
		cmocka_unit_test(test_preempt_for_nobody),
		cmocka_unit_test(test_wake_at),
		cmocka_unit_test(test_many_sleepers),
		cmocka_unit_test(test_linger),
		cmocka_unit_test(test_share_lets_run),
		cmocka_unit_test(test_start_stop),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_stats_of_a_run),
		cmocka_unit_test(test_show),
	};

	return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
