// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler promises to its users, one thing at a time: policies, shares, wakes at a time,
 * lingering, resets. On simulated engines (race.h).
 */
#include "policy_at.h"
#include "race.h"

static u64 busy_ns(struct race_user *user)
{
	struct vgpu_entity_stats s;

	vgpu_entity_stats(&user->entity, &s);
	return s.busy_ns;
}

/* The service that a user gets in the next @time_ns. */
static u64 gets_ns(struct race_user *user, u64 time_ns)
{
	u64 from_ns = busy_ns(user);

	sim_sleep(time_ns);
	return busy_ns(user) - from_ns;
}

/* With another policy every ms four busy users get all of their work done, in turns. */
static void test_policy_storm(void **state)
{
	struct vgpu_entity_stats s;
	unsigned int i, n;
	struct race_user *user[4];
	u64 least = U64_MAX;

	race_begin(2, 0, 2 * MS);
	for (i = 0; i < 4; i++) {
		user[i] = race_user_open(0);
		race_set_share(user[i], 100 * i, VGPU_PER_MILLE, 1 + i);
		race_submit(user[i], 500 * MS);
	}
	for (n = 0; n < 400; n++) {
		sim_sleep(1 * MS);
		race_set_policy(sim_policy(n)->name);
	}
	/* No user loses its turn each time. */
	for (i = 0; i < 4; i++) {
		vgpu_entity_stats(&user[i]->entity, &s);
		least = min(least, s.busy_ns);
		assert_int_equal(s.overruns, 0);
	}
	check_that(least > 20 * MS, "%llu", least);
	race_set_policy("best_effort");
	race_drain();
	for (i = 0; i < 4; i++) {
		assert_int_equal(user[i]->worked_ns, 500 * MS);
		race_user_close(user[i]);
	}
	race_end();
}

static u64 runs_of(struct race_user *user)
{
	return user->entity.stats.runs;
}

static void test_wake_at(void **state)
{
	struct vgpu_entity_stats s;
	struct race_user *user;
	u64 runs, due_ns;

	race_begin(6, 0, 2 * MS);
	race.poll_ns = 0;
	user = race_user_open(0);
	sim_sleep(1 * MS);

	/* A time in the past means now. */
	vgpu_entity_wake_at(&user->entity, 0);
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 1);
	vgpu_entity_wake_at(&user->entity, sim_now_ns());
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 2);

	/* The wake comes neither early nor late; a later time does not replace an earlier one. */
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

	/* A wake and a run before that time make no difference. */
	due_ns = sim_now_ns() + 10 * MS;
	vgpu_entity_wake_at(&user->entity, due_ns);
	vgpu_entity_wake(&user->entity);
	sim_sleep(5 * MS);
	assert_int_equal(runs_of(user), 4);
	sim_sleep(6 * MS);
	assert_int_equal(runs_of(user), 5);

	/* The entity is held when the time comes: it runs as soon as it is not. */
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 1 * MS);
	race_hold_sync(user, RACE_HOLD);
	sim_sleep(5 * MS);
	assert_int_equal(runs_of(user), 5);
	race_unhold(user, RACE_HOLD);
	sim_sleep(100 * US);
	assert_int_equal(runs_of(user), 6);

	/* The entity runs when the time comes: the engine looks at it once more. */
	race_submit(user, 500 * US);
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 300 * US);
	sim_sleep(1 * MS);
	runs = runs_of(user);
	assert_int_equal(runs, 8);

	/* Time until the wake does not count as waiting, time after it does. */
	vgpu_entity_stats(&user->entity, &s);
	check_that(s.max_wait_ns < 100 * US, "%llu", s.max_wait_ns);

	/* The entity leaves with a wake to come. */
	vgpu_entity_wake_at(&user->entity, sim_now_ns() + 1 * MS);
	race_user_close(user);
	assert_null(rb_first_cached(&race.engine[0].tl->sleepers));
	sim_sleep(5 * MS);
	race_end();
}

/* Many entities sleep, and each is woken at its time, in whatever order they asked for it. */
static void test_many_sleepers(void **state)
{
	u64 due_ns[NR_PLACES], runs[NR_PLACES];
	struct race_user *user[NR_PLACES];
	unsigned int i, n;

	race_begin(test_seed(), 0, 2 * MS);
	race.poll_ns = 0;
	for (i = 0; i < NR_PLACES; i++) {
		user[i] = race_user_open(i % NR_TIMELINES);
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
			if (due_ns[i] && sim_now_ns() >= due_ns[i] &&
			    (sim_now_ns() > due_ns[i] + 200 * US ||
			     runs_of(user[i]) != runs[i])) {
				runs[i]++;
				due_ns[i] = 0;
			}
			assert_int_equal(runs_of(user[i]), runs[i]);
		}
	}
	for (i = 0; i < NR_PLACES; i++)
		race_user_close(user[i]);
	race_end();
}

/* A user with pauses in its work keeps the engine through those that are short enough. */
static void one_linger(u64 linger_ns, bool exclusive, bool neighbour)
{
	struct vgpu_timeline_stats stats;
	struct vgpu_entity_stats s;
	struct race_user *user, *other = NULL;
	unsigned int n;

	race_begin(7, 0, 5 * MS);
	race.poll_ns = 100 * US;
	race.pick_linger_ns = linger_ns;
	race.pick_exclusive = exclusive;
	user = race_user_open(0);
	race_submit(user, 50 * US);
	if (neighbour) {
		other = race_user_open(0);
		race_submit(other, 1 * SEC);
	}
	for (n = 0; n < 10; n++) {
		while (user->work_ns)
			sim_sleep(5 * US);
		sim_sleep(40 * US);
		race_submit(user, 50 * US);
	}
	sim_sleep(10 * MS);
	vgpu_entity_stats(&user->entity, &s);
	vgpu_timeline_stats(user->engine->tl, &stats);
	assert_true(stats.linger_ns >= s.linger_ns);
	if (!neighbour || exclusive) {
		assert_int_equal(s.linger_ns, 0);
		/* A wake that was not needed makes a second run. */
		assert_true(s.runs <= 2);
	} else if (linger_ns) {
		/* The pauses, and one in vain. */
		assert_true(s.runs <= 2);
		check_that(s.linger_ns >= 350 * US + linger_ns &&
			   s.linger_ns <= 600 * US + linger_ns, "%llu", s.linger_ns);
	} else {
		assert_true(s.runs > 5);
		assert_int_equal(s.linger_ns, 0);
	}
	race_user_close(user);
	if (other)
		race_user_close(other);
	race_end();
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

/* A share is changed while its entity may not run yet. */
static void test_share_lets_run(void **state)
{
	struct race_user *user, *hog;
	u64 got_ns;

	race_begin(8, 0, 2 * MS);
	race_set_policy("qos");
	user = race_user_open(0);
	race_set_share(user, 0, 1, 1);
	race_submit(user, 10 * SEC);
	sim_sleep(500 * MS);
	/* The user has had its part of some time to come: it waits, though no other is there. */
	assert_int_equal(gets_ns(user, 200 * MS), 0);
	assert_true(user->entity.queued);
	race_set_share(user, 0, VGPU_PER_MILLE, 1);
	got_ns = gets_ns(user, 10 * MS);
	check_that(got_ns >= 5 * MS, "%llu", got_ns);

	/* The cap comes back while the user runs, and goes again while the user waits. */
	hog = race_user_open(0);
	race_submit(hog, 10 * SEC);
	race_set_share(user, 0, 1, 1);
	sim_sleep(100 * MS);
	got_ns = gets_ns(user, 100 * MS);
	check_that(got_ns <= 5 * MS, "%llu", got_ns);
	race_set_share(user, 800, VGPU_PER_MILLE, 1);
	race_set_share(hog, 0, VGPU_PER_MILLE, 1);
	sim_sleep(100 * MS);
	got_ns = gets_ns(user, 1 * SEC);
	check_that(got_ns >= 780 * MS, "%llu", got_ns);
	race_user_close(user);
	race_user_close(hog);
	race_end();
}

/* A policy that chose nobody until something happens is asked again after each of these events. */
static void test_asked_again(void **state)
{
	struct race_user *user, *other;
	unsigned int i;
	u64 from_ns;

	race_begin(12, 0, 2 * MS);
	user = race_user_open(0);
	other = race_user_open(0);
	for (i = 0; i < 6; i++) {
		race_drain();
		sim_sleep(1 * MS);
		race.pick_nobody = true;
		race_submit(user, 100 * US);
		sim_sleep(20 * MS);
		assert_int_equal(user->work_ns, 100 * US);
		race.pick_nobody = false;
		sim_sleep(20 * MS);
		assert_int_equal(user->work_ns, 100 * US);
		from_ns = user->worked_ns;
		switch (i) {
		case 0:
			vgpu_entity_stop(&other->entity);
			break;
		case 1:
			vgpu_entity_start(&other->entity);
			vgpu_entity_unhold(&other->entity, VGPU_HOLD_STOPPED);
			break;
		case 2:
			race_set_share(other, 0, 500, 2);
			break;
		case 3:
			assert_int_equal(race_set_slice(3 * MS), 0);
			break;
		case 4:
			race_set_policy("qos");
			break;
		default:
			race_submit(other, 100 * US);
		}
		sim_sleep(500 * US);
		check_that(user->worked_ns - from_ns == 100 * US,
			   "%u: %llu", i, user->worked_ns - from_ns);
	}
	race_user_close(user);
	race_user_close(other);
	race_end();
}

/* For equal_share each started entity counts, whether idle or not, and stopped ones do not. */
static void test_start_stop(void **state)
{
	struct race_user *user, *other;
	u64 got_ns;

	race_begin(9, 0, 2 * MS);
	race_set_policy("equal_share");
	user = race_user_open(0);
	other = race_user_open(0);
	race_submit(user, 10 * SEC);
	sim_sleep(50 * MS);
	got_ns = gets_ns(user, 200 * MS);
	check_that(got_ns > 90 * MS && got_ns < 110 * MS, "%llu", got_ns);
	vgpu_entity_stop(&other->entity);
	sim_sleep(20 * MS);
	got_ns = gets_ns(user, 200 * MS);
	check_that(got_ns > 190 * MS, "%llu", got_ns);
	/* Two starts count as one, and two stops, too. */
	vgpu_entity_stop(&other->entity);
	vgpu_entity_start(&other->entity);
	vgpu_entity_start(&other->entity);
	vgpu_entity_unhold(&other->entity, VGPU_HOLD_STOPPED);
	sim_sleep(20 * MS);
	got_ns = gets_ns(user, 200 * MS);
	check_that(got_ns < 110 * MS, "%llu", got_ns);
	race_user_close(user);
	race_user_close(other);
	race_end();
}

/*
 * One engine is reset, or @both at once, which takes 20 ms. A user of the other engine that falls
 * asleep after each piece of work has its next one begun as soon as ever; and the engines that were
 * reset work again. The user whose work hung @leaves before the reset is over, or later.
 */
static void one_reset(bool both, bool leaves)
{
	struct race_user *hung, *user, *other = NULL;
	u64 late_ns, most_ns = 0;
	unsigned int n;

	race_begin(test_seed(), 0, 2 * MS);
	race.poll_ns = 0;
	race.reset_ns = 20 * MS;
	hung = race_user_open(1);
	user = race_user_open(both ? 1 : 0);
	hung->hung = true;
	race_submit(hung, 100 * US);
	if (both) {
		other = race_user_open(0);
		other->hung = true;
		race_submit(other, 100 * US);
	}
	while (!race.engine[1].tl->resetting || (both && !race.engine[0].tl->resetting))
		sim_sleep(100 * US);
	assert_ptr_equal(race.engine[1].tl->resetting, &hung->entity);
	if (!both) {
		for (n = 0; n < 20; n++) {
			race_submit(user, 50 * US);
			for (late_ns = 0; user->work_ns; late_ns += 10 * US)
				sim_sleep(10 * US);
			most_ns = max(most_ns, late_ns);
			sim_sleep(500 * US);
			/* The reset is still under way. */
			assert_non_null(race.engine[1].tl->resetting);
		}
		check_that(most_ns <= 200 * US, "%llu", most_ns);
	}
	/* A user that leaves waits for the reset of its engine, and not for that of the other. */
	if (leaves) {
		race_user_close(hung);
		assert_null(race.engine[1].tl->resetting);
	}
	sim_sleep(50 * MS);
	assert_int_equal(race.engine[1].resets, 1);
	assert_int_equal(race.engine[0].resets, both);
	race_submit(user, 1 * MS);
	if (both)
		race_submit(other, 1 * MS);
	sim_sleep(5 * MS);
	assert_int_equal(race.unfinished, 0);
	if (!leaves)
		race_user_close(hung);
	race_user_close(user);
	if (both)
		race_user_close(other);
	race_end();
}

static void test_reset_of_another_engine(void **state)
{
	one_reset(false, false);
	one_reset(false, true);
	one_reset(true, false);
	one_reset(true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_storm),
		cmocka_unit_test(test_wake_at),
		cmocka_unit_test(test_many_sleepers),
		cmocka_unit_test(test_linger),
		cmocka_unit_test(test_share_lets_run),
		cmocka_unit_test(test_asked_again),
		cmocka_unit_test(test_start_stop),
		cmocka_unit_test(test_reset_of_another_engine),
	};

	return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
