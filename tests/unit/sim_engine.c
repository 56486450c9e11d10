// SPDX-License-Identifier: GPL-2.0
/* See sim_engine.h. */
#include "sim_engine.h"

struct world t;

struct user *to_user(struct vgpu_entity *entity)
{
	return container_of(entity, struct user, entity);
}

static struct engine *to_engine(struct vgpu_timeline *tl)
{
	return &t.engine[vgpu_timeline_index(tl)];
}

static struct engine *rq_engine(struct vgpu_rq *rq)
{
	return to_engine(container_of(rq, struct vgpu_timeline, rq));
}

/* The policy: best_effort, watched. */

static const struct vgpu_sched_policy *real = &vgpu_policy_best_effort;

static int watch_rq_init(struct vgpu_rq *rq)
{
	return real->rq_init(rq);
}

static void watch_rq_exit(struct vgpu_rq *rq)
{
	real->rq_exit(rq);
}

static void watch_init(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	real->init(rq, entity);
}

static void watch_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	struct engine *e = rq_engine(rq);

	assert_false(entity->queued);
	assert_ptr_not_equal(rq->running, entity);
	assert_ptr_not_equal(e->tl->resetting, entity);
	real->exit(rq, entity);
}

static bool watch_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			  u64 now_ns)
{
	struct engine *e = rq_engine(rq);

	assert_true(entity->queued && entity->has_work && !entity->hold);
	assert_int_equal(to_user(entity)->held, 0);
	assert_int_equal(now_ns, sim_now_ns());
	if (!e->running && e->ready_ns == U64_MAX)
		e->ready_ns = now_ns;
	real->enqueue(rq, entity, now_ns);
	return t.preempts && sim_one_in(3);
}

static void watch_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			  u64 now_ns)
{
	assert_true(entity->queued && entity->hold);
	if (rq->nr_queued == 1)
		rq_engine(rq)->ready_ns = U64_MAX;
	real->dequeue(rq, entity, now_ns);
}

static struct vgpu_entity *watch_pick(struct vgpu_rq *rq, u64 now_ns,
				      u64 *slice_ns, u64 *until_ns)
{
	struct engine *e = rq_engine(rq);
	struct vgpu_entity *entity;

	assert_null(rq->running);
	assert_null(e->running);
	assert_null(e->tl->resetting);
	assert_true(rq->nr_queued > 0);
	if (t.throttle && sim_one_in(4)) {
		*until_ns = now_ns + sim_random(0, 3 * MS);
		e->ready_ns = U64_MAX;
		e->throttled = true;
		return NULL;
	}
	entity = real->pick(rq, now_ns, slice_ns, until_ns);
	assert_non_null(entity);
	assert_int_equal(to_user(entity)->held, 0);
	assert_int_equal(entity->hold, 0);
	if (e->ready_ns != U64_MAX)
		e->max_gap_ns = max(e->max_gap_ns, now_ns - e->ready_ns);
	e->ready_ns = U64_MAX;
	e->throttled = false;
	e->gaps_ns += now_ns - e->free_ns;
	e->start_ns = now_ns;
	e->running = entity;
	return entity;
}

static void watch_charge(struct vgpu_rq *rq, struct vgpu_entity *entity,
			 u64 ran_ns, u64 now_ns)
{
	struct engine *e = rq_engine(rq);

	assert_ptr_equal(e->running, entity);
	check_that(ran_ns + e->idle_ns == now_ns - e->start_ns,
		   "%llu + %llu, not %llu", ran_ns, e->idle_ns,
		   now_ns - e->start_ns);
	e->charged_ns += ran_ns;
	e->polled_ns += e->idle_ns;
	e->idle_ns = 0;
	e->free_ns = now_ns;
	e->running = NULL;
	e->ready_ns = rq->nr_queued ? now_ns : U64_MAX;
	real->charge(rq, entity, ran_ns, now_ns);
}

static const struct vgpu_sched_policy watch = {
	.name = "watched",
	.rq_init = watch_rq_init,
	.rq_exit = watch_rq_exit,
	.init = watch_init,
	.exit = watch_exit,
	.enqueue = watch_enqueue,
	.dequeue = watch_dequeue,
	.pick = watch_pick,
	.charge = watch_charge,
};

/* The engines. */

static void engine_run(struct vgpu_timeline *tl, struct vgpu_entity *entity,
		       u64 deadline_ns)
{
	struct engine *e = to_engine(tl);

	lockdep_assert_held(&tl->lock);
	assert_null(e->run);
	assert_ptr_equal(e->running, entity);
	e->run = entity;
	e->deadline_ns = deadline_ns;
	wake_up_all(&e->wq);
}

static void engine_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct engine *e = to_engine(tl);

	lockdep_assert_held(&tl->lock);
	assert_ptr_equal(e->running, entity);
	e->stop = true;
}

static void engine_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct engine *e = to_engine(tl);

	assert_int_equal(sim_current()->locks, 0);
	e->resets++;
	/* The engine may stop by itself before it hears of the reset. */
	sim_sleep(sim_random(0, 200 * US));
	e->reset = true;
	while (e->run || e->busy)
		sim_sleep(5 * US);
	e->reset = false;
	/* The reset's own time. */
	sim_sleep(sim_random(0, 100 * US));
	assert_null(e->run);
}

static void engine_overrun(struct vgpu_timeline *tl, struct vgpu_entity *entity,
			   u64 overrun_ns)
{
	lockdep_assert_held(&tl->lock);
	assert_true(overrun_ns > TIMEOUT_NS);
	to_engine(tl)->overruns++;
}

static u64 engine_ran_ns(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	return to_engine(tl)->ran_ns;
}

static const struct vgpu_timeline_ops engine_ops = {
	.run = engine_run,
	.preempt = engine_preempt,
	.reset = engine_reset,
	.overrun = engine_overrun,
	.ran_ns = engine_ran_ns,
};

static void engine_spend(struct engine *e, u64 ns)
{
	e->ran_ns += ns;
	if (e->starve_ns && sim_one_in(50))
		ns += sim_random(0, e->starve_ns);
	sim_sleep(ns);
}

/* An engine's answer when its run was taken from it. */
#define ENGINE_WAS_RESET	(-1)

static int engine_work(struct engine *e, struct user *user, u64 *idle_ns)
{
	u64 chunk_ns;

	user->awake = true;
	*idle_ns = 0;
	for (;;) {
		if (e->reset) {
			/* Its channel faults: what it had to do is gone. */
			t.unfinished -= user->work_ns > 0;
			user->work_ns = 0;
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
			return VGPU_SCHED_STALLED;
		if (user->work_ns && (e->stop || sim_now_ns() >= e->deadline_ns))
			return VGPU_SCHED_PREEMPTED;
		if (user->work_ns) {
			chunk_ns = min(user->work_ns, sim_random(1, 50 * US));
			engine_spend(e, chunk_ns);
			/* It may have been thrown away meanwhile. */
			chunk_ns = min(user->work_ns, chunk_ns);
			user->work_ns -= chunk_ns;
			user->worked_ns += chunk_ns;
			if (chunk_ns && !user->work_ns)
				t.unfinished--;
			continue;
		}
		if (*idle_ns < t.poll_ns && !vgpu_timeline_wanted(e->tl)) {
			e->ran_ns += 5 * US;
			*idle_ns -= sim_now_ns();
			sim_sleep(5 * US);
			*idle_ns += sim_now_ns();
			continue;
		}
		user->awake = false;
		sim_yield();
		if (!user->work_ns)
			return VGPU_SCHED_IDLE;
		user->awake = true;
	}
}

static int engine_task(void *data)
{
	struct engine *e = data;
	struct vgpu_entity *entity;
	u64 idle_ns, deadline_ns;
	int end;

	for (;;) {
		wait_event(e->wq, e->run || e->exit);
		if (!e->run)
			return 0;
		e->busy = true;
		entity = e->run;
		while (entity) {
			end = engine_work(e, to_user(entity), &idle_ns);
			e->stop = false;
			e->run = NULL;
			if (end == ENGINE_WAS_RESET)
				break;
			e->idle_ns = idle_ns;
			/* Much may happen between deciding and saying it. */
			if (sim_one_in(2))
				sim_sleep(sim_random(0, 20 * US));
			entity = vgpu_timeline_done(e->tl, end, idle_ns,
						    &deadline_ns);
			if (entity) {
				assert_int_equal(to_user(entity)->held, 0);
				e->run = entity;
				e->deadline_ns = deadline_ns;
			}
		}
		e->busy = false;
	}
}

/* Users. */

void submit(struct user *user, u64 work_ns)
{
	if (!user->work_ns)
		t.unfinished++;
	user->work_ns += work_ns;
	sim_yield();
	if (!user->awake || sim_one_in(8))
		vgpu_entity_wake(&user->entity);
}

void world_begin(u64 seed, u64 jitter_ns, u64 slice_ns)
{
	struct vgpu_sched_params params = {
		.policy = &watch,
		.slice_ns = slice_ns,
		.preempt_timeout_us = TIMEOUT_US,
	};
	struct engine *e;
	unsigned int i;

	sim_begin(seed, jitter_ns);
	memset(&t, 0, sizeof(t));
	for (i = 0; i < NR_TIMELINES; i++) {
		e = &t.engine[i];
		init_waitqueue_head(&e->wq);
		e->free_ns = sim_now_ns();
		e->ready_ns = U64_MAX;
	}
	t.sched = vgpu_sched_create("test", NR_TIMELINES, &engine_ops, &t,
				    &params);
	assert_false(IS_ERR(t.sched));
	t.poll_ns = 50 * US;
	for (i = 0; i < NR_TIMELINES; i++) {
		e = &t.engine[i];
		e->tl = vgpu_sched_timeline(t.sched, i);
		/* Nothing ran yet, and creating the thread took some time. */
		e->free_ns = e->tl->created_ns;
		e->task = sim_spawn(engine_task, e, true);
		assert_ptr_equal(vgpu_timeline_data(e->tl), &t);
		assert_int_equal(vgpu_timeline_index(e->tl), i);
	}
}

struct user *user_open(unsigned int engine)
{
	struct user *user = malloc(sizeof(*user));

	assert_non_null(user);
	memset(user, 0x5a, sizeof(*user));
	memset((char *)user + sizeof(user->entity), 0,
	       sizeof(*user) - sizeof(user->entity));
	user->engine = &t.engine[engine];
	assert_int_equal(vgpu_entity_init(&user->entity, user->engine->tl), 0);
	vgpu_entity_unhold(&user->entity, VGPU_HOLD_STOPPED);
	return user;
}

/* What hold_sync promises holds from its return until unhold. */
void hold_sync(struct user *user, unsigned int hold)
{
	struct vgpu_timeline *tl = user->engine->tl;

	vgpu_entity_hold_sync(&user->entity, hold);
	user->held++;
	assert_false(user->entity.queued);
	assert_ptr_not_equal(tl->rq.running, &user->entity);
	assert_ptr_not_equal(tl->resetting, &user->entity);
}

void unhold(struct user *user, unsigned int hold)
{
	user->held--;
	vgpu_entity_unhold(&user->entity, hold);
}

void user_close(struct user *user)
{
	struct vgpu_entity_stats s;

	user->closing = true;
	while (user->peers || user->dma)
		sim_sleep(10 * US);
	hold_sync(user, VGPU_HOLD_STOPPED);
	t.unfinished -= user->work_ns > 0;
	user->work_ns = 0;
	vgpu_entity_stats(&user->entity, &s);
	t.busy_ns += s.busy_ns;
	t.runs += s.runs;
	t.resets += s.resets;
	check_that(s.busy_ns >= user->worked_ns, "%llu < %llu", s.busy_ns,
		   user->worked_ns);
	assert_true(s.switches <= s.runs);
	assert_true(s.preemptions + s.stalls <= s.runs);
	assert_true(s.max_wait_ns <= s.wait_ns);
	assert_true(s.max_overrun_ns <= s.overrun_ns);
	vgpu_entity_exit(&user->entity);
	memset(user, 0xa5, sizeof(*user));
	free(user);
}

void world_end(void)
{
	u64 busy_ns = 0, runs = 0, resets = 0, wall_ns;
	struct vgpu_timeline *tl;
	struct engine *e;
	unsigned int i;

	for (i = 0; i < NR_TIMELINES; i++) {
		e = &t.engine[i];
		tl = e->tl;
		assert_null(tl->rq.running);
		assert_int_equal(tl->nr_entities, 0);
		assert_int_equal(tl->rq.nr_queued, 0);
		assert_false(vgpu_timeline_wanted(tl));
		/* Service + idle = wall, to the ns. */
		assert_int_equal(vgpu_timeline_busy_ns(tl), e->charged_ns);
		wall_ns = e->free_ns - tl->created_ns;
		check_that(e->charged_ns + e->polled_ns + e->gaps_ns == wall_ns,
			   "%llu + %llu + %llu, not %llu", e->charged_ns,
			   e->polled_ns, e->gaps_ns, wall_ns);
		assert_int_equal(tl->resets, e->resets);
		busy_ns += tl->busy_ns;
		runs += tl->runs;
		resets += tl->resets;
		e->exit = true;
		wake_up_all(&e->wq);
		sim_join(e->task);
	}
	assert_int_equal(busy_ns, t.busy_ns);
	assert_int_equal(runs, t.runs);
	assert_int_equal(resets, t.resets);
	assert_int_equal(t.unfinished, 0);
	vgpu_sched_destroy(t.sched);
	sim_end();
}

/* All that was submitted gets done, though nobody says anything any more. */
void world_drain(void)
{
	u64 start_ns = sim_now_ns();

	while (t.unfinished) {
		check_that(sim_now_ns() - start_ns < 100 * SEC,
			   "%u users wait for ever", t.unfinished);
		sim_sleep(1 * MS);
	}
}
