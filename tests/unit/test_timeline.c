// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler as it is in the kernel (thread, timer, timelines, policies), on simulated engines
 * (race.h), under random interleavings (tasks.h).
 */
#include "policy_at.h"
#include "race.h"

static void one_user_step(struct race_user *user)
{
	unsigned int n;

	switch (sim_random(0, 34)) {
	case 0:
		if (race.hogs)
			user->deaf_ns = sim_one_in(2) ?
				sim_random(0, 2 * TIMEOUT_NS) :
				sim_random(TIMEOUT_NS, TIMEOUT_NS + 2 * MS);
		break;
	case 1:
		if (race.hogs)
			user->hung = sim_one_in(2);
		break;
	case 2:
		vgpu_entity_hold(&user->entity, VGPU_HOLD_STOPPED);
		sim_yield();
		vgpu_entity_unhold(&user->entity, VGPU_HOLD_STOPPED);
		break;
	case 3:
		race_hold_sync(user, VGPU_HOLD_STOPPED);
		if (sim_one_in(2))
			race_submit(user, sim_random(1, 500 * US));
		sim_sleep(sim_random(1, 300 * US));
		race_unhold(user, VGPU_HOLD_STOPPED);
		break;
	case 4:
		vgpu_entity_wake(&user->entity);
		break;
	case 5 ... 6:
		/* The work waits for memory, on which a run may stall. */
		user->dma = true;
		sim_sleep(sim_random(1, 2 * MS));
		user->dma = false;
		sim_yield();
		vgpu_entity_wake(&user->entity);
		break;
	case 7 ... 14:
		sim_sleep(sim_random(1, 100 * US));
		break;
	case 15:
		sim_sleep(sim_random(1, 30 * MS));
		break;
	case 16:
		race_submit(user, sim_random(1, race.light ? 100 * US : 20 * MS));
		break;
	case 17:
		/* The device is closed, and opened again. */
		mutex_lock(&user->state_lock);
		vgpu_entity_stop(&user->entity);
		mutex_unlock(&user->state_lock);
		user->held++;
		assert_false(user->started || user->queued);
		sim_sleep(sim_random(1, 300 * US));
		if (sim_one_in(2))
			race_submit(user, sim_random(1, 500 * US));
		vgpu_entity_start(&user->entity);
		race_unhold(user, VGPU_HOLD_STOPPED);
		break;
	case 18 ... 19:
		race_submit_frame(user, sim_now_ns() + sim_random(0, 20 * MS));
		break;
	case 20:
		race_submit_frame(user, sim_random(0, sim_now_ns()));
		break;
	case 21 ... 28:
		/* The user waits until its work is done, as most do. */
		race_submit(user, sim_random(1, 10 * US));
		for (n = 0; user->work_ns && n < 200; n++)
			sim_sleep(sim_random(0, 5 * US));
		break;
	case 29:
		/* While users come and go, and the host changes shares and settings. */
		assert_true(vgpu_entity_due(&user->entity) <= VGPU_PER_MILLE);
		break;
	default:
		race_submit(user, sim_random(1, race.light ? 10 * US : 300 * US));
	}
	vgpu_entity_account(&user->entity, 1, 64);
}

static int user_task(void *data)
{
	unsigned int i, n, index = (uintptr_t)data;
	struct race_user *user;

	for (i = sim_random(1, 3); i; i--) {
		user = race_user_open(index % NR_TIMELINES);
		race.user[index] = user;
		for (n = sim_random(1, 60); n; n--)
			one_user_step(user);
		/* The last one stays open: run_load() has it finish its work. */
		if (i > 1) {
			race.user[index] = NULL;
			race_user_close(user);
		}
	}
	return 0;
}

static void change_settings(void)
{
	struct vgpu_sched_params params;

	vgpu_sched_params_get(race.sched, &params);
	if (race.switches && sim_one_in(2))
		params.policy = race_watched(sim_policy(sim_random(0, 999))->name);
	if (sim_one_in(2))
		params.slice_ns = sim_random(1, 30) * MS;
	if (sim_one_in(4))
		params.window_ns = sim_random(300, 1000) * MS;
	if (sim_one_in(4))
		params.linger_us = sim_random(0, 200);
	if (sim_one_in(4))
		params.preempt_timeout_us = sim_random(1, 2) * TIMEOUT_US;
	assert_int_equal(race_set_params(&params), 0);
}

/* The host: holds the entities of users, reads their statistics, changes shares and settings. */
static int host_task(void *data)
{
	unsigned int n, hold = (uintptr_t)data;
	struct vgpu_timeline_stats stats;
	struct vgpu_entity_stats s;
	struct vgpu_share share;
	struct race_user *user;
	u64 seen_ns;

	for (n = 60; n; n--) {
		if (sim_one_in(race.switches ? 4 : 10)) {
			change_settings();
			continue;
		}
		sim_sleep(sim_random(1, 500 * US));
		user = race.user[sim_random(0, race.nr_users - 1)];
		if (!user || user->closing)
			continue;
		user->peers++;
		if (sim_one_in(4)) {
			share = race_random_share(user);
			vgpu_entity_set_share(&user->entity, &share);
		}
		vgpu_entity_stats(&user->entity, &s);
		seen_ns = s.busy_ns;
		if (sim_one_in(3)) {
			vgpu_entity_hold(&user->entity, hold);
			sim_sleep(sim_random(1, 200 * US));
		} else {
			race_hold_sync(user, hold);
			vgpu_entity_stats(&user->entity, &s);
			sim_sleep(sim_random(1, 2 * MS));
			user->held--;
		}
		/* Service, as it is read, never becomes less. */
		vgpu_entity_stats(&user->entity, &s);
		assert_true(s.busy_ns >= seen_ns && s.busy_ns <= sim_now_ns());
		assert_true(s.window_ns <= VGPU_WINDOW_MAX_NS);
		vgpu_timeline_stats(user->engine->tl, &stats);
		assert_true(stats.busy_ns <= stats.wall_ns);
		vgpu_entity_unhold(&user->entity, hold);
		if (sim_one_in(4))
			vgpu_entity_account_fault(&user->entity);
		user->peers--;
	}
	return 0;
}

/* The scheduler's thread resets an engine, and may wait for that: it wakes nobody meanwhile. */
static bool thread_waits(void)
{
	unsigned int i;

	for (i = 0; i < NR_TIMELINES; i++)
		if (race.engine[i].tl->resetting)
			return true;
	return false;
}

/* No wake-up is lost: an entity that could run is queued or runs within 2 ms. */
static int watchdog_task(void *data)
{
	struct race_user *user;
	unsigned int i;

	while (!race.watchdog_stop) {
		sim_sleep(500 * US);
		for (i = 0; i < race.nr_users; i++) {
			user = race.user[i];
			if (!user)
				continue;
			if (!race_user_due(user) || user->entity.hold || user->dma ||
			    user->entity.queued || thread_waits() ||
			    user->engine->tl->rq.running == &user->entity)
				user->lost_ns = 0;
			else if (!user->lost_ns)
				user->lost_ns = sim_now_ns();
			else
				check_that(sim_now_ns() - user->lost_ns < 2 * MS, "user %u", i);
		}
	}
	return 0;
}

static void run_load(u64 seed)
{
	struct task_struct *task[16], *host[2], *watchdog;
	struct vgpu_share share;
	unsigned int i;

	race_begin(seed, seed % 2 ? 20 * US : 0, (1 + seed / 2 % 10) * MS);
	race.nr_users = sim_random(1, 8);
	race.light = sim_one_in(2);
	race.poll_ns = sim_one_in(2) ? 50 * US : 0;
	race.throttle = sim_one_in(3);
	race.preempts = sim_one_in(3);
	race.lingers = sim_one_in(2);
	race.switches = sim_one_in(2);
	race.hogs = sim_one_in(3);
	for (i = 0; i < NR_TIMELINES; i++)
		race.engine[i].starve_ns = sim_one_in(3) ? 40 * MS : 0;

	for (i = 0; i < race.nr_users; i++)
		task[i] = sim_spawn(user_task, (void *)(uintptr_t)i, true);
	watchdog = sim_spawn(watchdog_task, NULL, true);
	host[0] = sim_spawn(host_task, (void *)RACE_HOLD, true);
	host[1] = sim_spawn(host_task, (void *)VGPU_HOLD_QUARANTINE, true);
	for (i = 0; i < race.nr_users; i++)
		sim_join(task[i]);
	sim_join(host[0]);
	sim_join(host[1]);
	/* With a cap the rest of the work would take long. */
	for (i = 0; i < race.nr_users; i++) {
		share = race_plain_share(race.user[i]);
		vgpu_entity_set_share(&race.user[i]->entity, &share);
	}
	race_drain();
	race.watchdog_stop = true;
	sim_join(watchdog);
	for (i = 0; i < race.nr_users; i++)
		race_user_close(race.user[i]);
	for (i = 0; i < NR_TIMELINES; i++) {
		/* An engine that was starved did not hang. */
		if (!race.hogs)
			check_that(!race.engine[i].resets && !race.engine[i].overruns,
				   "%u resets, %u overruns", race.engine[i].resets,
				   race.engine[i].overruns);
		/* An entity that could run did so as soon as the scheduler's thread could. */
		if (!race.throttle && !race.hogs && !race.switches)
			check_that(race.engine[i].max_gap_ns <= 1 * MS,
				   "idle for %llu ns with somebody queued",
				   race.engine[i].max_gap_ns);
	}
	race_end();
}

static void test_random_interleavings(void **state)
{
	u64 seed = test_seed();
	const char *one = getenv("VGPU_LOAD");
	unsigned int i, loads = 400;

	for (i = 0; i < loads; i++) {
		if (one && strtoul(one, NULL, 0) != i)
			continue;
		if (one)
			printf("# load %u\n", i);
		run_load(seed + i);
	}
}

/*
 * Users of two engines have work at about the same time, and one thread serves both. Nothing else
 * happens that would make up for a kick that the thread did not see.
 */
static int prompt_task(void *data)
{
	struct race_user *user = race_user_open((uintptr_t)data);
	u64 begin_ns = 10 * MS, submit_ns;
	unsigned int n;

	for (n = 0; n < 500; n++, begin_ns += 3 * MS) {
		sim_sleep(begin_ns - sim_now_ns() + sim_random(0, 15 * US));
		submit_ns = sim_now_ns();
		race_submit(user, 1 * US);
		while (user->work_ns) {
			check_that(sim_now_ns() - submit_ns < 1 * MS,
				   "engine %u, time %u",
				   (unsigned int)(uintptr_t)data, n);
			sim_sleep(20 * US);
		}
	}
	race_user_close(user);
	return 0;
}

static void test_prompt(void **state)
{
	struct task_struct *task[2];
	unsigned int i;

	race_begin(test_seed(), 20 * US, 2 * MS);
	race.poll_ns = 0;
	for (i = 0; i < 2; i++)
		task[i] = sim_spawn(prompt_task, (void *)(uintptr_t)i, true);
	for (i = 0; i < 2; i++)
		sim_join(task[i]);
	race_end();
}

/* Two users that always have work take turns, and the engine is never free. */
static void test_hand_over(void **state)
{
	struct vgpu_entity_stats s;
	struct race_user *user[2];
	u64 from_ns, busy_ns;
	unsigned int i;

	race_begin(1, 0, 2 * MS);
	for (i = 0; i < 2; i++)
		user[i] = race_user_open(0);
	from_ns = sim_now_ns();
	for (i = 0; i < 2; i++)
		race_submit(user[i], 100 * MS);
	race_drain();
	sim_sleep(1 * MS);
	busy_ns = race.engine[0].tl->busy_ns;
	/* The work, and what an engine needs to say that it has stopped. */
	check_that(busy_ns >= 200 * MS && busy_ns <= 203 * MS, "%llu", busy_ns);
	assert_int_equal(race.engine[0].free_ns - from_ns, busy_ns + race.engine[0].polled_ns);
	for (i = 0; i < 2; i++) {
		vgpu_entity_stats(&user[i]->entity, &s);
		check_that(s.switches >= 45 && s.switches <= 52, "%llu", s.switches);
		assert_int_equal(s.overruns, 0);
		assert_int_equal(s.resets, 0);
		check_that(s.max_wait_ns <= 3 * MS, "%llu", s.max_wait_ns);
		race_user_close(user[i]);
	}
	race_end();
}

static void test_slice_under_load(void **state)
{
	struct vgpu_entity_stats s;
	struct race_user *user[2];
	unsigned int i;
	u64 runs;

	race_begin(2, 0, 30 * MS);
	for (i = 0; i < 2; i++) {
		user[i] = race_user_open(0);
		race_submit(user[i], 10 * SEC);
	}
	sim_sleep(50 * MS);
	assert_int_equal(race_set_slice(1 * MS), 0);
	sim_sleep(40 * MS);
	runs = race.engine[0].tl->runs;
	sim_sleep(100 * MS);
	runs = race.engine[0].tl->runs - runs;
	check_that(runs >= 94 && runs <= 101, "%llu", runs);

	/* The slice is long again, and users are held in the middle of theirs. */
	assert_int_equal(race_set_slice(30 * MS), 0);
	sim_sleep(10 * MS);
	for (i = 0; i < 2; i++) {
		vgpu_entity_hold_sync(&user[i]->entity, RACE_HOLD);
		vgpu_entity_stats(&user[i]->entity, &s);
		assert_int_equal(s.resets, 0);
	}
	for (i = 0; i < 2; i++)
		race_user_close(user[i]);
	race_end();
}

/*
 * A user's work goes on for @deaf_ns after it was to stop, or for ever: that is counted as an
 * overrun, told to the engine as one longer than the timeout, or ended by a reset.
 */
static void one_deaf(u64 deaf_ns, bool hung, unsigned int overruns,
		     unsigned int told, unsigned int resets)
{
	struct race_user *user, *other;
	struct vgpu_entity_stats s;
	u64 from_ns;

	race_begin(deaf_ns + hung, 0, 2 * MS);
	user = race_user_open(0);
	other = race_user_open(0);
	user->deaf_ns = deaf_ns;
	user->hung = hung;
	from_ns = sim_now_ns();
	race_submit(user, 1 * MS);
	sim_sleep(100 * US);
	race_submit(other, 1 * MS);
	race_drain();
	vgpu_entity_stats(&user->entity, &s);
	check_that(s.overruns == overruns && s.resets == resets &&
		   race.engine[0].overruns == told,
		   "%llu ns: %llu overruns, %u told, %llu resets", deaf_ns,
		   s.overruns, race.engine[0].overruns, s.resets);
	assert_int_equal(s.faults, 0);
	if (resets) {
		/* The slice, the timeout, and 2 ms for grace, a look too early and the reset. */
		vgpu_entity_stats(&other->entity, &s);
		check_that(s.max_wait_ns < 2 * MS + TIMEOUT_NS + 2 * MS, "%llu", s.max_wait_ns);
		assert_true(sim_now_ns() - from_ns < 20 * MS);
	}
	race_user_close(user);
	race_user_close(other);
	race_end();
}

/*
 * A run that begins after the slice was made shorter is due before the time at which the thread
 * meant to look again.
 */
static void test_shorter_slice_is_kept(void **state)
{
	struct race_user *first, *hung;
	u64 from_ns;

	race_begin(8, 0, 30 * MS);
	first = race_user_open(0);
	hung = race_user_open(0);
	hung->hung = true;
	race_submit(first, 3 * MS);
	sim_sleep(1 * MS);
	race_submit(hung, 1 * MS);
	assert_int_equal(race_set_slice(1 * MS), 0);
	while (race.engine[0].running != &hung->entity)
		sim_sleep(10 * US);
	from_ns = sim_now_ns();
	race_drain();
	check_that(sim_now_ns() - from_ns < 1 * MS + TIMEOUT_NS + 4 * MS,
		   "%llu", sim_now_ns() - from_ns);
	assert_int_equal(race.engine[0].resets, 1);
	race_user_close(first);
	race_user_close(hung);
	race_end();
}

static void test_deaf(void **state)
{
	one_deaf(0, false, 0, 0, 0);
	one_deaf(2 * MS + 50 * US, false, 0, 0, 0);
	one_deaf(2 * MS + 200 * US, false, 1, 0, 0);
	one_deaf(2 * MS + 9 * MS, false, 1, 0, 0);
	one_deaf(2 * MS + 10 * MS + 300 * US, false, 1, 1, 0);
	one_deaf(100 * MS, false, 1, 0, 1);
	one_deaf(0, true, 1, 0, 1);
}

/* A user is held while its work hangs: race_hold_sync() returns after the timeout and a reset. */
static void test_hold_hung(void **state)
{
	struct race_user *user;
	u64 from_ns;

	race_begin(5, 0, 30 * MS);
	user = race_user_open(1);
	user->hung = true;
	race_submit(user, 1 * MS);
	sim_sleep(1 * MS);
	assert_ptr_equal(race.engine[1].running, &user->entity);
	from_ns = sim_now_ns();
	vgpu_entity_hold_sync(&user->entity, RACE_HOLD);
	check_that(sim_now_ns() - from_ns < TIMEOUT_NS + 2 * MS, "%llu", sim_now_ns() - from_ns);
	assert_int_equal(race.engine[1].resets, 1);
	vgpu_entity_unhold(&user->entity, RACE_HOLD);
	race_user_close(user);
	race_end();
}

/* An entity whose run ended with a stall runs again only when it is woken. */
static void test_stall(void **state)
{
	struct vgpu_entity_stats s;
	struct race_user *user;

	race_begin(6, 0, 2 * MS);
	user = race_user_open(0);
	user->dma = true;
	race_submit(user, 1 * MS);
	sim_sleep(50 * MS);
	vgpu_entity_stats(&user->entity, &s);
	assert_int_equal(s.stalls, 1);
	assert_int_equal(s.runs, 1);
	assert_int_equal(user->work_ns, 1 * MS);
	user->dma = false;
	vgpu_entity_wake(&user->entity);
	race_drain();
	race_user_close(user);
	race_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_over),
		cmocka_unit_test(test_slice_under_load),
		cmocka_unit_test(test_shorter_slice_is_kept),
		cmocka_unit_test(test_deaf),
		cmocka_unit_test(test_hold_hung),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_random_interleavings),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
