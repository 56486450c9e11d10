// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler as it is in the kernel (thread, timer, timelines, best_effort),
 * on simulated engines, under random interleavings (sim.h).
 */
#include "vgpu_test.h"

#include "sched/timeline.h"
#include "sim.h"

#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

/* cmocka's jump from where the test began; these hold in every thread. */
#undef fail
#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_int_equal
#undef assert_ptr_equal
#undef assert_ptr_not_equal
#define fail()			abort()
#define assert_true(cond)	check_that(cond, "at %llu", sim_now_ns())
#define assert_false(cond)	assert_true(!(cond))
#define assert_null(p)		assert_true(!(p))
#define assert_non_null(p)	assert_true(p)
#define assert_int_equal(a, b) do {					\
	s64 __a = (a), __b = (b);					\
									\
	check_that(__a == __b, #a " == " #b ": %lld, %lld", __a, __b);			\
} while (0)
#define assert_ptr_equal(a, b)		assert_true((a) == (b))
#define assert_ptr_not_equal(a, b)	assert_true((a) != (b))

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define NR_TIMELINES	2
#define TIMEOUT_US	10000
#define TIMEOUT_NS	(TIMEOUT_US * US)

/**
 * struct user - what has work for an engine, and its entity
 * @work_ns:    to be done
 * @awake:      the engine looks at its ring by itself, no wake needed
 * @dma:        its work waits for memory
 * @deaf_ns:    so much longer the engine hears no request to stop
 * @hung:       it never hears one
 * @held:       hold_sync() calls that have returned and are not taken back
 * @peers:      others that are using it now
 * @closing:    no new ones
 * @worked_ns:  done so far
 * @lost_ns:    since when it has been neither queued nor running, though it could
 */
struct user {
	struct vgpu_entity entity;
	struct engine *engine;
	unsigned int index;
	u64 work_ns;
	bool awake;
	bool dma;
	u64 deaf_ns;
	bool hung;
	unsigned int held;
	unsigned int peers;
	bool closing;
	u64 worked_ns;
	u64 lost_ns;
};

/**
 * struct engine - a simulated engine
 * @run:      what it was given and has not finished
 * @stop:     it is to stop that
 * @reset:    it is to drop that
 * @busy:     its task is at it
 * @ran_ns:   time it had to work
 * @idle_ns:  of the run it reports
 * @starve_ns: its processor may be away for so long at a time
 * @start_ns: as the policy saw it, like the next three
 * @free_ns:  since when nobody runs
 * @gaps_ns:  in which nobody ran
 * @polled_ns: within runs
 * @charged_ns: service
 */
struct engine {
	struct vgpu_timeline *tl;
	struct task_struct *task;
	wait_queue_head_t wq;
	struct vgpu_entity *run;
	u64 deadline_ns;
	bool stop;
	bool reset;
	bool busy;
	bool exit;
	u64 ran_ns;
	u64 idle_ns;
	u64 starve_ns;
	unsigned int resets;
	unsigned int overruns;

	const struct vgpu_entity *running;
	u64 start_ns;
	u64 free_ns;
	u64 gaps_ns;
	u64 polled_ns;
	u64 charged_ns;
	u64 ready_ns;
	u64 max_gap_ns;
	bool throttled;
};

static struct {
	struct vgpu_sched *sched;
	struct engine engine[NR_TIMELINES];
	struct user *user[16];
	unsigned int nr_users;
	bool throttle;		/* the policy says "nobody, until" at times */
	bool preempts;		/* the policy preempts at times */
	bool light;		/* little work, so that engines sleep often */
	u64 poll_ns;		/* before an engine says that it is idle */
	bool hogs;
	bool resetless;		/* what was held may not hang */
	bool watchdog_stop;
	unsigned int unfinished;
	u64 totals_busy_ns;
	u64 totals_runs;
	u64 totals_resets;
} t;

static struct user *to_user(struct vgpu_entity *entity)
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

static void submit(struct user *user, u64 work_ns)
{
	if (!user->work_ns)
		t.unfinished++;
	user->work_ns += work_ns;
	sim_yield();
	if (!user->awake || sim_one_in(8))
		vgpu_entity_wake(&user->entity);
}

static void world_begin(u64 seed, u64 jitter_ns, u64 slice_ns)
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

static struct user *user_open(unsigned int engine)
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
static void hold_sync(struct user *user, unsigned int hold)
{
	struct vgpu_timeline *tl = user->engine->tl;

	vgpu_entity_hold_sync(&user->entity, hold);
	user->held++;
	assert_false(user->entity.queued);
	assert_ptr_not_equal(tl->rq.running, &user->entity);
	assert_ptr_not_equal(tl->resetting, &user->entity);
}

static void unhold(struct user *user, unsigned int hold)
{
	user->held--;
	vgpu_entity_unhold(&user->entity, hold);
}

static void user_close(struct user *user)
{
	struct vgpu_entity_stats s;

	user->closing = true;
	while (user->peers || user->dma)
		sim_sleep(10 * US);
	hold_sync(user, VGPU_HOLD_STOPPED);
	t.unfinished -= user->work_ns > 0;
	user->work_ns = 0;
	vgpu_entity_stats(&user->entity, &s);
	t.totals_busy_ns += s.busy_ns;
	t.totals_runs += s.runs;
	t.totals_resets += s.resets;
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

static void world_end(void)
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
	assert_int_equal(busy_ns, t.totals_busy_ns);
	assert_int_equal(runs, t.totals_runs);
	assert_int_equal(resets, t.totals_resets);
	assert_int_equal(t.unfinished, 0);
	vgpu_sched_destroy(t.sched);
	sim_end();
}

/* All that was submitted gets done, though nobody says anything any more. */
static void world_drain(void)
{
	u64 start_ns = sim_now_ns();

	while (t.unfinished) {
		check_that(sim_now_ns() - start_ns < 100 * SEC,
			   "%u users wait for ever", t.unfinished);
		sim_sleep(1 * MS);
	}
}

static void one_user_step(struct user *user)
{
	unsigned int n;

	switch (sim_random(0, 30)) {
	case 0:
		if (t.hogs)
			user->deaf_ns = sim_one_in(2) ?
				sim_random(0, 2 * TIMEOUT_NS) :
				sim_random(TIMEOUT_NS, TIMEOUT_NS + 2 * MS);
		break;
	case 1:
		if (t.hogs && !t.resetless)
			user->hung = sim_one_in(2);
		break;
	case 2:
		vgpu_entity_hold(&user->entity, VGPU_HOLD_STOPPED);
		sim_yield();
		vgpu_entity_unhold(&user->entity, VGPU_HOLD_STOPPED);
		break;
	case 3:
		hold_sync(user, VGPU_HOLD_STOPPED);
		if (sim_one_in(2))
			submit(user, sim_random(1, 500 * US));
		sim_sleep(sim_random(1, 300 * US));
		unhold(user, VGPU_HOLD_STOPPED);
		break;
	case 4:
		vgpu_entity_wake(&user->entity);
		break;
	case 5 ... 6:
		/* Memory that answers later: the engine may find it so. */
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
		submit(user, sim_random(1, t.light ? 100 * US : 20 * MS));
		break;
	case 17 ... 24:
		/* One that waits for its work, as most do. */
		submit(user, sim_random(1, 10 * US));
		for (n = 0; user->work_ns && n < 200; n++)
			sim_sleep(sim_random(0, 5 * US));
		break;
	default:
		submit(user, sim_random(1, t.light ? 10 * US : 300 * US));
	}
	vgpu_entity_account(&user->entity, 1, 64);
}

static int user_task(void *data)
{
	unsigned int i, n, index = (uintptr_t)data;
	struct user *user;

	for (i = sim_random(1, 3); i; i--) {
		user = user_open(index % NR_TIMELINES);
		t.user[index] = user;
		for (n = sim_random(1, 60); n; n--)
			one_user_step(user);
		/* The last one stays open, to be drained. */
		if (i > 1) {
			t.user[index] = NULL;
			user_close(user);
		}
	}
	return 0;
}

/* The host: holds others' entities, reads them, changes the slice. */
static int host_task(void *data)
{
	unsigned int n, hold = (uintptr_t)data;
	struct vgpu_entity_stats s;
	struct user *user;

	for (n = 60; n; n--) {
		if (sim_one_in(10)) {
			assert_int_equal(vgpu_sched_set_slice(t.sched,
					 sim_random(1, 30) * MS), 0);
			continue;
		}
		sim_sleep(sim_random(1, 500 * US));
		user = t.user[sim_random(0, t.nr_users - 1)];
		if (!user || user->closing)
			continue;
		user->peers++;
		if (sim_one_in(3)) {
			vgpu_entity_hold(&user->entity, hold);
			sim_sleep(sim_random(1, 200 * US));
		} else {
			hold_sync(user, hold);
			vgpu_entity_stats(&user->entity, &s);
			sim_sleep(sim_random(1, 2 * MS));
			user->held--;
		}
		vgpu_entity_unhold(&user->entity, hold);
		if (sim_one_in(4))
			vgpu_entity_account_fault(&user->entity);
		user->peers--;
	}
	return 0;
}

/* No wake-up is lost, not even until the next one. */
static int watchdog_task(void *data)
{
	struct user *user;
	unsigned int i;

	while (!t.watchdog_stop) {
		sim_sleep(500 * US);
		for (i = 0; i < t.nr_users; i++) {
			user = t.user[i];
			if (!user)
				continue;
			if (!user->work_ns || user->entity.hold || user->dma ||
			    user->entity.queued ||
			    user->engine->tl->rq.running == &user->entity)
				user->lost_ns = 0;
			else if (!user->lost_ns)
				user->lost_ns = sim_now_ns();
			else
				check_that(sim_now_ns() - user->lost_ns < 2 * MS,
					   "user %u", i);
		}
	}
	return 0;
}

static void run_load(u64 seed)
{
	struct task_struct *task[16], *host[2], *watchdog;
	unsigned int i;

	world_begin(seed, seed % 2 ? 20 * US : 0, (1 + seed / 2 % 10) * MS);
	t.nr_users = sim_random(1, 8);
	t.light = sim_one_in(2);
	t.poll_ns = sim_one_in(2) ? 50 * US : 0;
	t.throttle = sim_one_in(3);
	t.preempts = sim_one_in(3);
	t.hogs = sim_one_in(3);
	for (i = 0; i < NR_TIMELINES; i++)
		t.engine[i].starve_ns = sim_one_in(3) ? 40 * MS : 0;

	for (i = 0; i < t.nr_users; i++)
		task[i] = sim_spawn(user_task, (void *)(uintptr_t)i, true);
	watchdog = sim_spawn(watchdog_task, NULL, true);
	host[0] = sim_spawn(host_task, (void *)VGPU_HOLD_PAUSED, true);
	host[1] = sim_spawn(host_task, (void *)VGPU_HOLD_QUARANTINE, true);
	for (i = 0; i < t.nr_users; i++)
		sim_join(task[i]);
	sim_join(host[0]);
	sim_join(host[1]);
	world_drain();
	t.watchdog_stop = true;
	sim_join(watchdog);
	for (i = 0; i < t.nr_users; i++)
		user_close(t.user[i]);
	for (i = 0; i < NR_TIMELINES; i++) {
		/* An engine that was starved did not hang. */
		if (!t.hogs)
			check_that(!t.engine[i].resets && !t.engine[i].overruns,
				   "%u resets, %u overruns", t.engine[i].resets,
				   t.engine[i].overruns);
		/* Who could run did, as soon as the thread could. */
		if (!t.throttle && !t.hogs)
			check_that(t.engine[i].max_gap_ns <= 1 * MS,
				   "idle for %llu ns with somebody queued",
				   t.engine[i].max_gap_ns);
	}
	world_end();
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

/* Two that always have work take turns, and the engine is never free. */
static void test_hand_over(void **state)
{
	struct vgpu_entity_stats s;
	struct user *user[2];
	u64 from_ns, busy_ns;
	unsigned int i;

	world_begin(1, 0, 2 * MS);
	for (i = 0; i < 2; i++)
		user[i] = user_open(0);
	from_ns = sim_now_ns();
	for (i = 0; i < 2; i++)
		submit(user[i], 100 * MS);
	world_drain();
	sim_sleep(1 * MS);
	busy_ns = vgpu_timeline_busy_ns(t.engine[0].tl);
	/* The work, and what an engine needs to say that it has stopped. */
	check_that(busy_ns >= 200 * MS && busy_ns <= 203 * MS, "%llu", busy_ns);
	assert_int_equal(t.engine[0].free_ns - from_ns,
			 busy_ns + t.engine[0].polled_ns);
	for (i = 0; i < 2; i++) {
		vgpu_entity_stats(&user[i]->entity, &s);
		check_that(s.switches >= 45 && s.switches <= 52, "%llu",
			   s.switches);
		assert_int_equal(s.overruns, 0);
		assert_int_equal(s.resets, 0);
		check_that(s.max_wait_ns <= 3 * MS, "%llu", s.max_wait_ns);
		user_close(user[i]);
	}
	world_end();
}

static void test_slice_under_load(void **state)
{
	struct vgpu_sched_params params;
	struct vgpu_entity_stats s;
	struct user *user[2];
	unsigned int i;
	u64 runs;

	world_begin(2, 0, 30 * MS);
	for (i = 0; i < 2; i++) {
		user[i] = user_open(0);
		submit(user[i], 10 * SEC);
	}
	sim_sleep(50 * MS);
	assert_int_equal(vgpu_sched_set_slice(t.sched, 1 * MS - 1), -EINVAL);
	assert_int_equal(vgpu_sched_set_slice(t.sched, 30 * MS + 1), -EINVAL);
	vgpu_sched_params_get(t.sched, &params);
	assert_int_equal(params.slice_ns, 30 * MS);
	assert_int_equal(vgpu_sched_set_slice(t.sched, 1 * MS), 0);
	sim_sleep(40 * MS);
	runs = t.engine[0].tl->runs;
	sim_sleep(100 * MS);
	runs = t.engine[0].tl->runs - runs;
	check_that(runs >= 94 && runs <= 101, "%llu", runs);

	/* A long slice, a preemption within it, and work of another. */
	assert_int_equal(vgpu_sched_set_slice(t.sched, 30 * MS), 0);
	sim_sleep(10 * MS);
	for (i = 0; i < 2; i++) {
		vgpu_entity_hold_sync(&user[i]->entity, VGPU_HOLD_PAUSED);
		vgpu_entity_stats(&user[i]->entity, &s);
		assert_int_equal(s.resets, 0);
	}
	for (i = 0; i < 2; i++)
		user_close(user[i]);
	world_end();
}

/* Deaf for some time past its deadline: counted, told, or reset. */
static void one_deaf(u64 deaf_ns, bool hung, unsigned int overruns,
		     unsigned int told, unsigned int resets)
{
	struct user *user, *other;
	struct vgpu_entity_stats s;
	u64 from_ns;

	world_begin(deaf_ns + hung, 0, 2 * MS);
	user = user_open(0);
	other = user_open(0);
	user->deaf_ns = deaf_ns;
	user->hung = hung;
	from_ns = sim_now_ns();
	submit(user, 1 * MS);
	sim_sleep(100 * US);
	submit(other, 1 * MS);
	world_drain();
	vgpu_entity_stats(&user->entity, &s);
	check_that(s.overruns == overruns && s.resets == resets &&
		   t.engine[0].overruns == told,
		   "%llu ns: %llu overruns, %u told, %llu resets", deaf_ns,
		   s.overruns, t.engine[0].overruns, s.resets);
	assert_int_equal(s.faults, 0);
	if (resets) {
		/* Slice, grace, timeout, a look too early, the reset. */
		vgpu_entity_stats(&other->entity, &s);
		check_that(s.max_wait_ns < 2 * MS + TIMEOUT_NS + 2 * MS,
			   "%llu", s.max_wait_ns);
		assert_true(sim_now_ns() - from_ns < 20 * MS);
	}
	user_close(user);
	user_close(other);
	world_end();
}

/*
 * A run handed over under a slice made shorter is due before the thread meant
 * to look again.
 */
static void test_shorter_slice_is_kept(void **state)
{
	struct user *first, *hung;
	u64 from_ns;

	world_begin(8, 0, 30 * MS);
	first = user_open(0);
	hung = user_open(0);
	hung->hung = true;
	submit(first, 3 * MS);
	sim_sleep(1 * MS);
	submit(hung, 1 * MS);
	assert_int_equal(vgpu_sched_set_slice(t.sched, 1 * MS), 0);
	while (t.engine[0].running != &hung->entity)
		sim_sleep(10 * US);
	from_ns = sim_now_ns();
	world_drain();
	check_that(sim_now_ns() - from_ns < 1 * MS + TIMEOUT_NS + 4 * MS,
		   "%llu", sim_now_ns() - from_ns);
	assert_int_equal(t.engine[0].resets, 1);
	user_close(first);
	user_close(hung);
	world_end();
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

/* Held while it hangs: the waiter gets it back after timeout and reset. */
static void test_hold_hung(void **state)
{
	struct user *user;
	u64 from_ns;

	world_begin(5, 0, 30 * MS);
	user = user_open(1);
	user->hung = true;
	submit(user, 1 * MS);
	sim_sleep(1 * MS);
	assert_ptr_equal(t.engine[1].running, &user->entity);
	from_ns = sim_now_ns();
	vgpu_entity_hold_sync(&user->entity, VGPU_HOLD_PAUSED);
	check_that(sim_now_ns() - from_ns < TIMEOUT_NS + 2 * MS, "%llu",
		   sim_now_ns() - from_ns);
	assert_int_equal(t.engine[1].resets, 1);
	vgpu_entity_unhold(&user->entity, VGPU_HOLD_PAUSED);
	user_close(user);
	world_end();
}

/* What had a stall runs only when it is woken. */
static void test_stall(void **state)
{
	struct vgpu_entity_stats s;
	struct user *user;

	world_begin(6, 0, 2 * MS);
	user = user_open(0);
	user->dma = true;
	submit(user, 1 * MS);
	sim_sleep(50 * MS);
	vgpu_entity_stats(&user->entity, &s);
	assert_int_equal(s.stalls, 1);
	assert_int_equal(s.runs, 1);
	assert_int_equal(user->work_ns, 1 * MS);
	user->dma = false;
	vgpu_entity_wake(&user->entity);
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

	world_begin(7, 0, 2 * MS);
	user = user_open(0);
	user->index = 42;
	submit(user, 10 * MS);
	sim_sleep(5 * MS);
	m.file = open_memstream(&text, &len);
	vgpu_timeline_show(t.engine[0].tl, &m, show_name);
	vgpu_timeline_show(t.engine[1].tl, &m, show_name);
	fclose(m.file);
	assert_non_null(strstr(text, "policy: watched\nslice_ns: 2000000\n"));
	assert_non_null(strstr(text, "running: user42\n"));
	assert_non_null(strstr(text, "state: running\n"));
	assert_non_null(strstr(text, "running: none\nstate: idle\n"));
	free(text);
	world_drain();
	user_close(user);
	world_end();
}

static void test_create_refuses(void **state)
{
	struct vgpu_sched_params good = {
		.policy = &watch,
		.slice_ns = 2 * MS,
		.preempt_timeout_us = TIMEOUT_US,
	}, bad;

#define REFUSED(nr) \
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", nr, &engine_ops, \
						   NULL, &bad)), -EINVAL)
	bad = good;
	REFUSED(0);
	bad.policy = NULL;
	REFUSED(1);
	bad = good;
	bad.slice_ns = VGPU_SLICE_MIN_NS - 1;
	REFUSED(1);
	bad.slice_ns = VGPU_SLICE_MAX_NS + 1;
	REFUSED(1);
	bad = good;
	bad.preempt_timeout_us = 0;
	REFUSED(1);
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
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_create_refuses),
		cmocka_unit_test(test_random_interleavings),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
