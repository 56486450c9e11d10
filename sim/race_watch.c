// SPDX-License-Identifier: GPL-2.0
/* See race.h: the policies, watched. */
#include "race.h"

struct race_world race;

static struct race_engine *rq_engine(struct vgpu_rq *rq)
{
	return race_engine_of(container_of(rq, struct vgpu_timeline, rq));
}

static bool all_zero(const void *part, size_t size)
{
	return !memchr_inv(part, 0, size);
}

/* A policy behind callbacks that check what the timeline asks of it and what it answers. */
struct watch {
	struct vgpu_sched_policy policy;
	const struct vgpu_sched_policy *real;
};

#define VGPU_POLICY(name) { .real = &vgpu_policy_##name },
static struct watch watches[] = {
#include "sched/policies.h"
};

#undef VGPU_POLICY

static const struct vgpu_sched_policy *real(const struct vgpu_rq *rq)
{
	return container_of(rq->policy, struct watch, policy)->real;
}

static int watch_rq_init(struct vgpu_rq *rq)
{
	int ret;

	assert_int_equal(sim_current()->locks, 0);
	sim_yield();
	if (!race.rqs_left)
		return -ENOMEM;
	race.rqs_left--;
	ret = real(rq)->rq_init ? real(rq)->rq_init(rq) : 0;
	race.rqs += !ret;
	return ret;
}

static void watch_rq_exit(struct vgpu_rq *rq)
{
	assert_int_equal(sim_current()->locks, 0);
	sim_yield();
	race.rqs--;
	if (real(rq)->rq_exit)
		real(rq)->rq_exit(rq);
}

static void watch_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct race_user *user = to_race_user(entity);

	assert_null(user->policy);
	assert_false(user->started || user->queued);
	assert_int_equal(now_ns, sim_now_ns());
	assert_true(all_zero(entity->part, sizeof(entity->part)));
	user->policy = rq->policy;
	real(rq)->init(rq, entity, now_ns);
}

static void watch_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_false(user->started || user->queued);
	user->policy = NULL;
	real(rq)->exit(rq, entity);
}

static void watch_start(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_true(entity->started && !user->started && !user->queued);
	assert_int_equal(now_ns, sim_now_ns());
	user->started = true;
	if (real(rq)->start)
		real(rq)->start(rq, entity, now_ns);
}

static void watch_stop(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_true(user->started && !user->queued);
	assert_int_equal(now_ns, sim_now_ns());
	/*
	 * If the entity itself is stopped, rather than taken from this policy, it is off the
	 * engine.
	 */
	if (!entity->started) {
		assert_ptr_not_equal(rq->running, entity);
		assert_ptr_not_equal(user->engine->tl->resetting, entity);
	}
	user->started = false;
	if (real(rq)->stop)
		real(rq)->stop(rq, entity, now_ns);
}

static bool watch_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct race_engine *e = rq_engine(rq);
	struct race_user *user = to_race_user(entity);
	bool preempt;

	assert_ptr_equal(user->policy, rq->policy);
	assert_true(user->started && !user->queued);
	assert_true(entity->queued && entity->has_work && !entity->hold);
	assert_ptr_not_equal(rq->running, entity);
	assert_int_equal(user->held, 0);
	assert_int_equal(now_ns, sim_now_ns());
	if (!e->running && e->ready_ns == U64_MAX)
		e->ready_ns = now_ns;
	user->queued = true;
	preempt = real(rq)->enqueue(rq, entity, woken, now_ns);
	return preempt || (race.preempts && sim_one_in(3));
}

static void watch_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_true(user->queued && entity->queued);
	assert_int_equal(now_ns, sim_now_ns());
	if (entity->hold && rq->nr_queued == 1)
		rq_engine(rq)->ready_ns = U64_MAX;
	user->queued = false;
	real(rq)->dequeue(rq, entity, now_ns);
}

static void watch_reshare(struct vgpu_rq *rq, struct vgpu_entity *entity,
			  const struct vgpu_share *share, u64 now_ns)
{
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_false(user->queued);
	assert_int_equal(now_ns, sim_now_ns());
	if (real(rq)->reshare)
		real(rq)->reshare(rq, entity, share, now_ns);
}

static struct vgpu_entity *watch_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct race_engine *e = rq_engine(rq);
	struct vgpu_entity *entity;

	assert_null(rq->running);
	assert_null(e->running);
	assert_null(e->tl->resetting);
	assert_true(rq->nr_queued > 0);
	assert_true(all_zero(pick, sizeof(*pick)));
	e->throttled = race.throttle && sim_one_in(4);
	if (race.pick_nobody) {
		e->throttled = true;
		e->ready_ns = U64_MAX;
		return NULL;
	}
	if (e->throttled) {
		pick->until_ns = now_ns + sim_random(0, 3 * MS);
		e->ready_ns = U64_MAX;
		return NULL;
	}
	entity = real(rq)->pick(rq, now_ns, pick);
	if (!entity) {
		assert_ptr_not_equal(real(rq), &vgpu_policy_best_effort);
		e->throttled = true;
		e->ready_ns = U64_MAX;
		return NULL;
	}
	if (race.pick_linger_ns)
		pick->linger_ns = race.pick_linger_ns;
	if (race.pick_exclusive)
		pick->exclusive = true;
	if (race.lingers && sim_one_in(2))
		pick->linger_ns = sim_random(0, 200 * US);
	if (race.lingers && sim_one_in(4))
		pick->exclusive = true;
	assert_true(pick->slice_ns > 0);
	assert_ptr_equal(to_race_user(entity)->policy, rq->policy);
	assert_true(to_race_user(entity)->queued);
	to_race_user(entity)->queued = false;
	assert_int_equal(to_race_user(entity)->held, 0);
	assert_int_equal(entity->hold, 0);
	if (e->ready_ns != U64_MAX)
		e->max_gap_ns = max(e->max_gap_ns, now_ns - e->ready_ns);
	e->ready_ns = U64_MAX;
	e->gaps_ns += now_ns - e->free_ns;
	e->start_ns = now_ns;
	e->waited_ns = now_ns - entity->ready_ns;
	e->pick = *pick;
	e->stop_ns = 0;
	e->running = entity;
	return entity;
}

/* Checks the entry that the log has of the run that has just ended. */
static void check_log(struct race_engine *e, u64 ran_ns, u64 now_ns)
{
	struct vgpu_sched_log *log = &e->tl->log;
	const struct vgpu_ctl_switch *entry;
	u64 deadline_ns = e->start_ns + e->pick.slice_ns, preempt_ns = 0;
	struct race_user *user = container_of(e->running, struct race_user, entity);
	u32 end;

	entry = &log->entry[(log->total - 1) % VGPU_SCHED_LOG];
	assert_int_equal(log->total, e->tl->runs);
	assert_int_equal(memcmp(entry->uuid, user->entity.id, 16), 0);
	assert_int_equal(entry->time_ns, e->start_ns);
	assert_int_equal(entry->wait_ns, e->waited_ns);
	assert_int_equal(entry->slice_ns, e->pick.slice_ns);
	assert_int_equal(entry->ran_ns, ran_ns);
	assert_int_equal(entry->idle_ns, e->idle_ns);
	assert_int_equal(entry->linger_ns, e->linger_ns);

	end = entry->end;
	if (e->tl->resetting) {
		assert_int_equal(end, VGPU_END_RESET);
	} else if (e->end == VGPU_RUN_IDLE) {
		assert_int_equal(end, VGPU_END_IDLE);
	} else if (e->end == VGPU_RUN_STALLED) {
		assert_int_equal(end, VGPU_END_STALLED);
	} else if (!e->stop_ns) {
		/* A request to stop the run before may have come too late and hit this one. */
		assert_int_equal(end, now_ns >= deadline_ns ?
				      VGPU_END_SLICE : VGPU_END_PREEMPTED);
	} else if (end == VGPU_END_SLICE) {
		assert_true(e->stop_ns > deadline_ns);
	} else if (end == VGPU_END_PREEMPTED) {
		assert_true(e->stop_ns - e->start_ns >= VGPU_PREEMPT_MIN_NS);
	} else {
		assert_true(end == VGPU_END_HELD || end == VGPU_END_CHANGED);
	}
	if (e->stop_ns)
		preempt_ns = now_ns - min(e->stop_ns, deadline_ns);
	else if (e->end == VGPU_RUN_PREEMPTED && now_ns >= deadline_ns)
		preempt_ns = now_ns - deadline_ns;
	assert_int_equal(entry->preempt_ns, preempt_ns);
}

static void watch_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	struct race_engine *e = rq_engine(rq);
	struct race_user *user = to_race_user(entity);

	assert_ptr_equal(user->policy, rq->policy);
	assert_false(user->queued);
	assert_ptr_equal(e->running, entity);
	check_that(ran_ns + e->idle_ns == now_ns - e->start_ns,
		   "%llu + %llu, not %llu", ran_ns, e->idle_ns, now_ns - e->start_ns);
	check_log(e, ran_ns, now_ns);
	if (race.nr_runs < race.max_runs)
		race.run[race.nr_runs++] = (struct race_run){
			user, e->start_ns, now_ns, ran_ns
		};
	user->lingered_ns += e->linger_ns;
	e->charged_ns += ran_ns;
	e->polled_ns += e->idle_ns;
	e->idle_ns = 0;
	e->linger_ns = 0;
	e->free_ns = now_ns;
	e->running = NULL;
	e->ready_ns = rq->nr_queued ? now_ns : U64_MAX;
	real(rq)->charge(rq, entity, ran_ns, now_ns);
}

static const struct vgpu_sched_policy watch_ops = {
	.rq_init = watch_rq_init,
	.rq_exit = watch_rq_exit,
	.init = watch_init,
	.exit = watch_exit,
	.start = watch_start,
	.stop = watch_stop,
	.enqueue = watch_enqueue,
	.dequeue = watch_dequeue,
	.pick = watch_pick,
	.charge = watch_charge,
	.reshare = watch_reshare,
};

const struct vgpu_sched_policy *race_watched(const char *name)
{
	const struct vgpu_sched_policy *policy = vgpu_sched_policy(name);
	unsigned int i;

	assert_non_null(policy);
	for (i = 0; watches[i].real != policy; i++)
		assert_true(i < ARRAY_SIZE(watches) - 1);
	watches[i].policy = watch_ops;
	watches[i].policy.name = policy->name;
	return &watches[i].policy;
}
