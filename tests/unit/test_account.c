// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler says of runs, against what happened: how they ended, and the service in
 * windows. On simulated engines (race.h), which check each log entry.
 */
#include <linux/seq_file.h>

#include "race.h"

/* The log entry of a user's last run but @skip. */
static struct vgpu_ctl_switch last_but(struct race_user *user, unsigned int skip)
{
	static struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	unsigned int n;
	u64 total;

	n = vgpu_timeline_log(user->engine->tl, entry, VGPU_SCHED_LOG, &total);
	while (n--)
		if (!memcmp(entry[n].uuid, user->entity.id, sizeof(entry->uuid)) && !skip--)
			return entry[n];
	fail();
	return entry[0];
}

static struct vgpu_ctl_switch last_of(struct race_user *user)
{
	return last_but(user, 0);
}

/* Every way for a run to end, as the log has it. */
static void test_log_ends(void **state)
{
	struct vgpu_ctl_switch run;
	struct race_user *user, *other;
	u64 from_ns;

	race_begin(3, 0, 10 * MS);
	race.poll_ns = 0;
	user = race_user_open(0);
	other = race_user_open(0);
	check_that(memcmp(user->entity.id, other->entity.id, 16), "%d", user->entity.id[0]);

	race_submit(user, 1 * MS);
	sim_sleep(5 * MS);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_IDLE);
	assert_int_equal(run.preempt_ns, 0);
	assert_true(run.ran_ns >= 1 * MS && run.ran_ns < 2 * MS);

	race_submit(user, 11 * MS);
	sim_sleep(10 * MS + 500 * US);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_SLICE);
	assert_int_equal(run.slice_ns, 10 * MS);
	assert_true(run.preempt_ns == run.ran_ns - run.slice_ns);
	sim_sleep(5 * MS);

	from_ns = sim_now_ns();
	race_submit(user, 5 * MS);
	sim_sleep(1 * MS);
	race_hold_sync(user, RACE_HOLD);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_HELD);
	assert_true(run.time_ns >= from_ns && run.time_ns < from_ns + 1 * MS);
	assert_true(run.preempt_ns > 0 && run.preempt_ns < 100 * US);
	race_unhold(user, RACE_HOLD);
	race_drain();
	sim_sleep(1 * MS);

	race_submit(user, 5 * MS);
	sim_sleep(1 * MS);
	user->dma = true;
	sim_sleep(1 * MS);
	assert_int_equal(last_of(user).end, VGPU_END_STALLED);
	user->dma = false;
	vgpu_entity_wake(&user->entity);
	race_drain();
	sim_sleep(1 * MS);

	race_submit(user, 5 * MS);
	sim_sleep(200 * US);
	race_set_policy("qos");
	sim_sleep(100 * US);
	run = last_of(user);
	assert_int_equal(run.end, VGPU_END_CHANGED);
	assert_true(run.ran_ns < 500 * US);
	race_drain();
	sim_sleep(1 * MS);

	user->hung = true;
	race_submit(user, 1 * MS);
	sim_sleep(10 * MS + TIMEOUT_NS + 5 * MS);
	/* After the reset the engine looks once more. */
	assert_int_equal(last_of(user).end, VGPU_END_IDLE);
	run = last_but(user, 1);
	assert_int_equal(run.end, VGPU_END_RESET);
	assert_true(run.preempt_ns >= TIMEOUT_NS);

	race_user_close(user);
	race_user_close(other);
	race_end();
}

/*
 * A user with a guarantee wakes @after_ns after the beginning of another one's run: that run is
 * preempted, but not before it has lasted for half a ms. It ends after @least_ns .. @most_ns.
 */
static void one_preempted(u64 after_ns, u64 least_ns, u64 most_ns)
{
	struct vgpu_ctl_switch run;
	struct race_user *hog, *user;

	race_begin(4 + after_ns, 0, 20 * MS);
	race_set_policy("qos");
	hog = race_user_open(0);
	user = race_user_open(0);
	race_set_share(user, 500, VGPU_PER_MILLE, 1);
	race_set_share(hog, 0, VGPU_PER_MILLE, 1);
	sim_sleep(100 * MS);
	race_submit(hog, 30 * MS);
	while (!race.engine[0].running)
		sim_sleep(1 * US);
	sim_sleep(race.engine[0].start_ns + after_ns - sim_now_ns());
	race_submit(user, 100 * US);
	sim_sleep(5 * MS);
	run = last_of(hog);
	assert_int_equal(run.end, VGPU_END_PREEMPTED);
	check_that(run.ran_ns >= least_ns && run.ran_ns <= most_ns,
		   "woken after %llu ns: ran %llu", after_ns, run.ran_ns);
	assert_int_equal(user->work_ns, 0);
	race_drain();
	race_user_close(hog);
	race_user_close(user);
	race_end();
}

static void test_preempt_min(void **state)
{
	/* An engine looks every 50 us. */
	one_preempted(50 * US, 500 * US, 600 * US);
	one_preempted(450 * US, 500 * US, 600 * US);
	one_preempted(3 * MS, 3 * MS, 3 * MS + 100 * US);
}

/* The user for which another one was to be preempted is held before that happens. */
static void test_preempt_for_nobody(void **state)
{
	struct race_user *hog, *user;

	race_begin(5, 0, 20 * MS);
	race_set_policy("qos");
	hog = race_user_open(0);
	user = race_user_open(0);
	race_set_share(user, 500, VGPU_PER_MILLE, 1);
	race_set_share(hog, 0, VGPU_PER_MILLE, 1);
	race_submit(hog, 10 * MS);
	sim_sleep(100 * US);
	race_submit(user, 100 * US);
	sim_sleep(100 * US);
	assert_true(race.engine[0].tl->preempt_at_ns != U64_MAX);
	race_hold_sync(user, RACE_HOLD);
	sim_sleep(5 * MS);
	assert_ptr_equal(race.engine[0].running, &hog->entity);
	assert_int_equal(race.engine[0].tl->preempts, 0);
	race_unhold(user, RACE_HOLD);
	race_drain();
	race_user_close(hog);
	race_user_close(user);
	race_end();
}

/* The service of @user from @from_ns to @to_ns. */
static u64 service_between(struct race_user *user, u64 from_ns, u64 to_ns)
{
	struct race_engine *e = user->engine;
	u64 sum_ns = 0, a, b;
	unsigned int i;

	for (i = 0; i < race.nr_runs; i++) {
		if (race.run[i].user != user)
			continue;
		a = max(race.run[i].start_ns, from_ns);
		b = min(race.run[i].end_ns, to_ns);
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
	static struct race_run run[20000];
	struct vgpu_sched_params params;
	struct vgpu_entity_stats s;
	struct race_user *user[3];
	u64 window, begin_ns, whole = 0;
	unsigned int i, n, load;

	for (load = 0; load < 40; load++) {
		race_begin(test_seed() + load, 0, 1 * MS);
		race.poll_ns = 0;
		race.run = run;
		race.max_runs = ARRAY_SIZE(run);
		for (i = 0; i < 3; i++)
			user[i] = race_user_open(0);
		params = race.params;
		params.window_ns = sim_random(10 * MS, 40 * MS);
		assert_int_equal(race_set_params(&params), 0);
		begin_ns = sim_now_ns();
		for (n = 0; n < 200; n++) {
			i = sim_random(0, 2);
			if (sim_one_in(2))
				race_submit(user[i], sim_random(1, 3 * MS));
			if (sim_one_in(40))
				user[i]->deaf_ns = sim_random(1, 9 * MS);
			if (sim_one_in(20))
				sim_sleep(sim_random(1, 200 * MS));
			sim_sleep(sim_random(0, 2 * MS));
			i = sim_random(0, 2);
			vgpu_entity_stats(&user[i]->entity, &s);
			window = sim_now_ns() / params.window_ns;
			/* A window that began before its length was set is not looked at. */
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
		assert_true(race.nr_runs < race.max_runs);
		race_drain();
		for (i = 0; i < 3; i++)
			race_user_close(user[i]);
		race_end();
	}
}

/* Statistics that are read during a run have the run so far, and add up. */
static void test_stats_of_a_run(void **state)
{
	struct vgpu_timeline_stats a, b;
	struct vgpu_entity_stats s;
	struct race_user *user;
	u64 from_ns;

	race_begin(10, 0, 30 * MS);
	user = race_user_open(0);
	race_submit(user, 100 * MS);
	sim_sleep(5 * MS);
	vgpu_timeline_stats(race.engine[0].tl, &a);
	from_ns = sim_now_ns();
	sim_sleep(5 * MS);
	vgpu_timeline_stats(race.engine[0].tl, &b);
	assert_int_equal(b.wall_ns - a.wall_ns, sim_now_ns() - from_ns);
	assert_int_equal(b.busy_ns - a.busy_ns, sim_now_ns() - from_ns);
	assert_int_equal(b.runs, 1);
	vgpu_entity_stats(&user->entity, &s);
	assert_int_equal(s.busy_ns, b.busy_ns);
	race_drain();
	race_user_close(user);
	race_end();
}

/* Wall time stands still while the engine is held, whoever asks for it twice, and nothing else. */
static void test_stats_of_a_held_engine(void **state)
{
	struct vgpu_timeline_stats a, b;
	struct vgpu_timeline *tl;
	struct race_user *user;
	unsigned int i;

	race_begin(10, 0, 30 * MS);
	tl = race.engine[0].tl;
	vgpu_timeline_hold(tl, false);
	for (i = 0; i < 3; i++) {
		sim_sleep(5 * MS);
		vgpu_timeline_stats(tl, &a);
		vgpu_timeline_hold(tl, true);
		sim_sleep(7 * MS);
		vgpu_timeline_hold(tl, true);
		vgpu_timeline_stats(tl, &b);
		assert_int_equal(b.wall_ns, a.wall_ns);
		vgpu_timeline_hold(tl, false);
		vgpu_timeline_hold(tl, false);
		user = race_user_open(0);
		race_submit(user, 2 * MS);
		sim_sleep(5 * MS);
		vgpu_timeline_stats(tl, &b);
		assert_int_equal(b.wall_ns - a.wall_ns, 5 * MS);
		assert_true(b.busy_ns - a.busy_ns >= 2 * MS);
		race_drain();
		race_user_close(user);
	}
	race_end();
}

/*
 * The engine's processor is away for seconds, in which the engine cannot work: that is nobody's
 * fault, and the vGPU that has the engine is charged for all of it.
 */
static void test_processor_away(void **state)
{
	struct vgpu_entity_stats s;
	struct race_engine *e;
	struct race_user *user;

	race_begin(test_seed(), 0, 10 * MS);
	race.poll_ns = 0;
	user = race_user_open(0);
	e = user->engine;
	e->starve_ns = 1000 * MS;
	race_submit(user, 100 * MS);
	race_drain();
	sim_sleep(1 * MS);
	vgpu_entity_stats(&user->entity, &s);
	printf("# %llu ns of service, %llu ns of engine time\n", s.busy_ns, e->ran_ns);
	assert_true(e->ran_ns >= 100 * MS && e->ran_ns < 110 * MS);
	assert_true(s.busy_ns > 10 * e->ran_ns);
	/* Service and the time between runs add up to wall time: see watch_charge(). */
	assert_int_equal(s.busy_ns, e->charged_ns);
	assert_true(s.max_overrun_ns > 100 * MS);
	assert_int_equal(e->overruns, 0);
	assert_int_equal(e->resets, 0);
	race_user_close(user);
	race_end();
}

static void show_name(struct seq_file *m, struct vgpu_entity *entity)
{
	seq_printf(m, "user%u", to_race_user(entity)->index);
}

static void test_show(void **state)
{
	struct seq_file m;
	struct race_user *user;
	size_t len;
	char *text;

	race_begin(11, 0, 2 * MS);
	user = race_user_open(0);
	user->index = 42;
	race_submit(user, 10 * MS);
	sim_sleep(5 * MS);
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 7 * MS);
	m.file = open_memstream(&text, &len);
	vgpu_timeline_show(race.engine[0].tl, &m, show_name);
	vgpu_timeline_show(race.engine[1].tl, &m, show_name);
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
	race_drain();

	/* The entity is queued, but may not run. */
	race_set_policy("qos");
	race_set_share(user, 0, 1, 1);
	race_submit(user, 100 * MS);
	sim_sleep(50 * MS);
	m.file = open_memstream(&text, &len);
	vgpu_timeline_show(race.engine[0].tl, &m, show_name);
	fclose(m.file);
	assert_non_null(strstr(text, "queued: 1\n"));
	assert_non_null(strstr(text, "until_ns: "));
	assert_non_null(strstr(text, "state: throttled\n"));
	free(text);
	race_user_close(user);
	race_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_ends),
		cmocka_unit_test(test_preempt_min),
		cmocka_unit_test(test_preempt_for_nobody),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_stats_of_a_run),
		cmocka_unit_test(test_stats_of_a_held_engine),
		cmocka_unit_test(test_processor_away),
		cmocka_unit_test(test_show),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
