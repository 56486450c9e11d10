// SPDX-License-Identifier: GPL-2.0
/* See race.h. */
#include "race.h"

static void engine_run(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 deadline_ns)
{
	struct race_engine *e = race_engine_of(tl);

	lockdep_assert_held(&tl->lock);
	assert_null(e->run);
	assert_ptr_equal(e->running, entity);
	e->run = entity;
	e->deadline_ns = deadline_ns;
	wake_up_all(&e->wq);
}

static void engine_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct race_engine *e = race_engine_of(tl);

	lockdep_assert_held(&tl->lock);
	assert_ptr_equal(e->running, entity);
	assert_int_equal(e->stop_ns, 0);
	e->stop = true;
	e->stop_ns = sim_now_ns();
}

static void engine_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct race_engine *e = race_engine_of(tl);

	assert_int_equal(sim_current()->locks, 0);
	e->resets++;
	/* The engine may stop by itself before it hears of the reset. */
	sim_sleep(sim_random(0, 200 * US));
	e->reset = true;
	while (e->run || e->busy)
		sim_sleep(5 * US);
	e->reset = false;
	/* The reset takes its time. */
	sim_sleep(race.reset_ns + sim_random(0, 100 * US));
	assert_null(e->run);
}

static void engine_overrun(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 overrun_ns)
{
	lockdep_assert_held(&tl->lock);
	assert_true(overrun_ns > TIMEOUT_NS);
	race_engine_of(tl)->overruns++;
}

static u64 engine_ran_ns(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	return race_engine_of(tl)->ran_ns;
}

static const struct vgpu_timeline_ops engine_ops = {
	.run = engine_run,
	.preempt = engine_preempt,
	.reset = engine_reset,
	.overrun = engine_overrun,
	.ran_ns = engine_ran_ns,
};

static void engine_spend(struct race_engine *e, u64 ns)
{
	e->ran_ns += ns;
	if (e->starve_ns && sim_one_in(50))
		ns += sim_random(0, e->starve_ns);
	sim_sleep(ns);
}

/* engine_work() returns this instead of an enum vgpu_run_end when a reset took the run. */
#define ENGINE_WAS_RESET	(-1)

/* Drops all work of a user. */
static void forget_work(struct race_user *user)
{
	unsigned int i;

	race.unfinished -= user->work_ns > 0;
	user->work_ns = 0;
	for (i = 0; i < NR_FRAMES; i++) {
		race.unfinished -= user->frame_ns[i] > 0;
		user->frame_ns[i] = 0;
	}
}

/*
 * Frames whose time has come become work; for the others the entity is to be woken at their time.
 */
static void engine_frames(struct race_user *user)
{
	unsigned int i;

	for (i = 0; i < NR_FRAMES; i++) {
		if (!user->frame_ns[i])
			continue;
		if (user->frame_ns[i] > sim_now_ns()) {
			vgpu_entity_wake_at(&user->entity, user->frame_ns[i]);
			continue;
		}
		user->frame_ns[i] = 0;
		race.unfinished -= user->work_ns > 0;
		user->work_ns += 20 * US;
	}
}

/* The user has no work: looks for some for a moment. Return: whether to look again. */
static bool engine_poll(struct race_engine *e, u64 *empty_ns)
{
	u64 from_ns = sim_now_ns();

	if (from_ns >= e->deadline_ns)
		return false;
	switch (vgpu_timeline_poll(e->tl, *empty_ns)) {
	case VGPU_POLL_IDLE:
		if (*empty_ns >= race.poll_ns)
			return false;
		sim_sleep(5 * US);
		e->idle_ns += sim_now_ns() - from_ns;
		break;
	case VGPU_POLL_WAIT:
		sim_sleep(5 * US);
		e->idle_ns += sim_now_ns() - from_ns;
		break;
	case VGPU_POLL_LINGER:
		sim_sleep(5 * US);
		e->linger_ns += sim_now_ns() - from_ns;
		/* At most twice the setting, which tests set to 200 us and less. */
		assert_true(*empty_ns <= 2 * 200 * US || !e->tl->rq.nr_queued);
		break;
	default:
		return false;
	}
	e->ran_ns += 5 * US;
	*empty_ns += sim_now_ns() - from_ns;
	return true;
}

static int engine_work(struct race_engine *e, struct race_user *user)
{
	u64 chunk_ns, empty_ns = 0;

	user->awake = true;
	for (;;) {
		if (e->reset) {
			/* The channel faults, and drops its work. */
			forget_work(user);
			user->hung = false;
			user->deaf_ns = 0;
			return ENGINE_WAS_RESET;
		}
		if (user->hung || user->deaf_ns) {
			chunk_ns = user->deaf_ns ?
				   min(user->deaf_ns, 50 * US) : 50 * US;
			engine_spend(e, chunk_ns);
			user->deaf_ns -= min(user->deaf_ns, chunk_ns);
			continue;
		}
		if (user->dma)
			return VGPU_RUN_STALLED;
		engine_frames(user);
		if (user->work_ns && (e->stop || sim_now_ns() >= e->deadline_ns))
			return VGPU_RUN_PREEMPTED;
		if (user->work_ns) {
			chunk_ns = min(user->work_ns, sim_random(1, 50 * US));
			engine_spend(e, chunk_ns);
			/* The work may have been dropped meanwhile. */
			chunk_ns = min(user->work_ns, chunk_ns);
			user->work_ns -= chunk_ns;
			user->worked_ns += chunk_ns;
			if (chunk_ns && !user->work_ns)
				race.unfinished--;
			empty_ns = 0;
			continue;
		}
		if (engine_poll(e, &empty_ns))
			continue;
		user->awake = false;
		sim_yield();
		engine_frames(user);
		if (!user->work_ns)
			return VGPU_RUN_IDLE;
		user->awake = true;
	}
}

static int engine_task(void *data)
{
	struct race_engine *e = data;
	struct vgpu_entity *entity;
	u64 deadline_ns;

	for (;;) {
		wait_event(e->wq, e->run || e->exit);
		if (!e->run)
			return 0;
		e->busy = true;
		entity = e->run;
		while (entity) {
			e->end = engine_work(e, to_race_user(entity));
			e->stop = false;
			e->run = NULL;
			if (e->end == ENGINE_WAS_RESET) {
				e->idle_ns = 0;
				e->linger_ns = 0;
				break;
			}
			/* Much may happen between the end of the run and the report of it. */
			if (sim_one_in(2))
				sim_sleep(sim_random(0, 20 * US));
			entity = vgpu_timeline_done(e->tl, e->end, e->idle_ns, e->linger_ns,
						    &deadline_ns);
			if (entity) {
				assert_int_equal(to_race_user(entity)->held, 0);
				e->run = entity;
				e->deadline_ns = deadline_ns;
			}
		}
		e->busy = false;
	}
}

void race_submit(struct race_user *user, u64 work_ns)
{
	if (!user->work_ns)
		race.unfinished++;
	user->work_ns += work_ns;
	sim_yield();
	if (!user->awake || sim_one_in(8))
		vgpu_entity_wake(&user->entity);
}

void race_submit_frame(struct race_user *user, u64 due_ns)
{
	unsigned int i = sim_random(0, NR_FRAMES - 1);

	if (user->frame_ns[i])
		return;
	user->frame_ns[i] = max(due_ns, 1ULL);
	race.unfinished++;
	sim_yield();
	if (!user->awake || sim_one_in(8))
		vgpu_entity_wake(&user->entity);
}

/* Whether the user has something to do now. */
bool race_user_due(const struct race_user *user)
{
	unsigned int i;

	if (user->work_ns)
		return true;
	for (i = 0; i < NR_FRAMES; i++)
		if (user->frame_ns[i] && user->frame_ns[i] <= sim_now_ns())
			return true;
	return false;
}

void race_begin(u64 seed, u64 jitter_ns, u64 slice_ns)
{
	struct race_engine *e;
	unsigned int i;

	sim_begin(seed, jitter_ns);
	memset(&race, 0, sizeof(race));
	race.params = (struct vgpu_sched_params){
		.policy = race_watched("best_effort"),
		.slice_ns = slice_ns,
		.window_ns = 300 * MS,
		.preempt_timeout_us = TIMEOUT_US,
		.linger_us = VGPU_LINGER_US,
		.nr_slots = NR_SLOTS,
	};
	race.rqs_left = UINT_MAX;
	for (i = 0; i < NR_TIMELINES; i++) {
		e = &race.engine[i];
		init_waitqueue_head(&e->wq);
		e->free_ns = sim_now_ns();
		e->ready_ns = U64_MAX;
	}
	race.sched = vgpu_sched_create("test", NR_TIMELINES, &engine_ops, &race, NULL,
				       &race.params);
	assert_false(IS_ERR(race.sched));
	race.poll_ns = 50 * US;
	for (i = 0; i < NR_TIMELINES; i++) {
		e = &race.engine[i];
		e->tl = vgpu_sched_timeline(race.sched, i);
		/* Creating the thread took some time, in which there was no run. */
		e->free_ns = e->tl->created_ns;
		e->task = sim_spawn(engine_task, e, true);
		assert_ptr_equal(vgpu_timeline_data(e->tl), &race);
		assert_int_equal(vgpu_timeline_index(e->tl), i);
	}
}

int race_set_params(const struct vgpu_sched_params *params)
{
	int ret = vgpu_sched_params_set(race.sched, params);

	if (!ret)
		race.params = *params;
	return ret;
}

int race_set_slice(u64 slice_ns)
{
	struct vgpu_sched_params params;

	vgpu_sched_params_get(race.sched, &params);
	params.slice_ns = slice_ns;
	return race_set_params(&params);
}

/* A share without guarantee and cap. */
struct vgpu_share race_plain_share(const struct race_user *user)
{
	return (struct vgpu_share){
		.cap = VGPU_PER_MILLE,
		.weight = 1,
		.first_slot = user->place * NR_SLOTS / NR_PLACES,
		.nr_slots = NR_SLOTS / NR_PLACES,
	};
}

/* A share that the core would admit, and not so small that no work ever gets done. */
struct vgpu_share race_random_share(const struct race_user *user)
{
	struct vgpu_share share = race_plain_share(user);

	if (sim_one_in(2))
		share.cap = sim_random(250, VGPU_PER_MILLE);
	share.weight = sim_random(1, VGPU_WEIGHT_MAX);
	if (sim_one_in(2))
		share.guarantee = sim_random(0, VGPU_PER_MILLE / NR_PLACES);
	share.nr_slots = sim_random(1, share.nr_slots);
	return share;
}

void race_set_policy(const char *name)
{
	struct vgpu_sched_params params = race.params;

	params.policy = race_watched(name);
	assert_int_equal(race_set_params(&params), 0);
}

void race_set_share(struct race_user *user, u16 guarantee, u16 cap, u16 weight)
{
	struct vgpu_share share = race_plain_share(user);

	share.guarantee = guarantee;
	share.cap = cap;
	share.weight = weight;
	vgpu_entity_set_share(&user->entity, &share);
}

struct race_user *race_user_open(unsigned int engine)
{
	struct race_user *user = malloc(sizeof(*user));
	struct vgpu_share share;
	u8 id[VGPU_ENTITY_ID_LEN];

	assert_non_null(user);
	memset(user, 0x5a, sizeof(*user));
	memset((char *)user + sizeof(user->entity), 0, sizeof(*user) - sizeof(user->entity));
	user->engine = &race.engine[engine];
	memset(id, sim_random(0, 255), sizeof(id));
	while (race.placed & (1U << user->place))
		user->place++;
	assert_true(user->place < NR_PLACES);
	race.placed |= 1U << user->place;
	share = race_plain_share(user);
	vgpu_entity_init(&user->entity, user->engine->tl, id, &share);
	vgpu_entity_start(&user->entity);
	vgpu_entity_unhold(&user->entity, VGPU_HOLD_STOPPED);
	return user;
}

/* Checks what vgpu_entity_hold_sync() promises, which holds from its return to race_unhold(). */
void race_hold_sync(struct race_user *user, unsigned int hold)
{
	struct vgpu_timeline *tl = user->engine->tl;

	mutex_lock(&user->state_lock);
	vgpu_entity_hold_sync(&user->entity, hold);
	mutex_unlock(&user->state_lock);
	user->held++;
	assert_false(user->entity.queued);
	assert_ptr_not_equal(tl->rq.running, &user->entity);
	assert_ptr_not_equal(tl->resetting, &user->entity);
}

void race_unhold(struct race_user *user, unsigned int hold)
{
	user->held--;
	vgpu_entity_unhold(&user->entity, hold);
}

static u64 hist_sum(const struct vgpu_hist *hist)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < VGPU_HIST_BUCKETS; i++)
		sum += hist->count[i];
	return sum;
}

void race_user_close(struct race_user *user)
{
	struct vgpu_entity_stats s;

	user->closing = true;
	while (user->peers || user->dma)
		sim_sleep(10 * US);
	vgpu_entity_stop(&user->entity);
	assert_false(user->started || user->queued);
	forget_work(user);
	vgpu_entity_stats(&user->entity, &s);
	assert_true(s.busy_ns >= user->entity.stats.busy_ns);
	race.busy_ns += user->entity.stats.busy_ns;
	race.linger_ns += s.linger_ns;
	assert_int_equal(s.linger_ns, user->lingered_ns);
	race.runs += s.runs;
	race.resets += s.resets;
	check_that(s.busy_ns >= user->worked_ns + user->lingered_ns, "%llu < %llu", s.busy_ns,
		   user->worked_ns);
	assert_true(s.switches <= s.runs);
	assert_true(s.preemptions + s.stalls <= s.runs);
	assert_true(s.max_wait_ns <= s.wait_ns);
	assert_true(s.max_overrun_ns <= s.overrun_ns);
	assert_int_equal(hist_sum(&s.wait_hist), s.runs);
	assert_true(hist_sum(&s.overrun_hist) >= s.overruns);
	assert_true(hist_sum(&s.overrun_hist) <= s.runs);
	vgpu_entity_exit(&user->entity);
	assert_null(user->policy);
	race.placed &= ~(1U << user->place);
	memset(user, 0xa5, sizeof(*user));
	free(user);
}

void race_end(void)
{
	u64 busy_ns = 0, linger_ns = 0, runs = 0, resets = 0, wall_ns;
	struct vgpu_timeline_stats stats;
	struct vgpu_timeline *tl;
	struct race_engine *e;
	unsigned int i;

	for (i = 0; i < NR_TIMELINES; i++) {
		e = &race.engine[i];
		tl = e->tl;
		assert_null(tl->rq.running);
		assert_int_equal(tl->nr_entities, 0);
		assert_int_equal(tl->rq.nr_queued, 0);
		assert_true(list_empty(&tl->entities));
		assert_null(rb_first_cached(&tl->sleepers));
		assert_int_equal(vgpu_timeline_poll(tl, SEC), VGPU_POLL_IDLE);
		/* Service + idle = wall, to the ns. */
		vgpu_timeline_stats(tl, &stats);
		assert_int_equal(tl->busy_ns, e->charged_ns);
		assert_true(stats.busy_ns >= tl->busy_ns &&
			    stats.busy_ns <= stats.wall_ns);
		wall_ns = e->free_ns - tl->created_ns;
		check_that(e->charged_ns + e->polled_ns + e->gaps_ns == wall_ns,
			   "%llu + %llu + %llu, not %llu", e->charged_ns,
			   e->polled_ns, e->gaps_ns, wall_ns);
		assert_int_equal(tl->resets, e->resets);
		busy_ns += tl->busy_ns;
		linger_ns += tl->linger_ns;
		runs += tl->runs;
		resets += tl->resets;
		e->exit = true;
		wake_up_all(&e->wq);
		sim_join(e->task);
	}
	assert_int_equal(busy_ns, race.busy_ns);
	assert_int_equal(linger_ns, race.linger_ns);
	assert_int_equal(runs, race.runs);
	assert_int_equal(resets, race.resets);
	assert_int_equal(race.unfinished, 0);
	vgpu_sched_stop(race.sched);
	vgpu_sched_free(race.sched);
	assert_int_equal(race.rqs, 0);
	sim_end();
}

/* Waits until all work is done, without telling the scheduler anything more. */
void race_drain(void)
{
	u64 start_ns = sim_now_ns();

	while (race.unfinished) {
		check_that(sim_now_ns() - start_ns < 100 * SEC,
			   "%u users wait for ever", race.unfinished);
		sim_sleep(1 * MS);
	}
}
