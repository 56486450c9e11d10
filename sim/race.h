/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated engines and their users for the scheduler as it is in the kernel, with its thread, as
 * concurrent tasks (tasks.h). Engines and policies are watched: at each call between them and the
 * timelines it is checked that the timelines keep their promises.
 */
#ifndef _VGPU_RACE_H
#define _VGPU_RACE_H

#include "vgpu_test.h"

#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "sched/timeline.h"
#include "tasks.h"

/* cmocka jumps to where the test began, which is on the stack of another task: abort instead. */
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
	check_that(__a == __b, "%s, %s: %lld, %lld", #a, #b, __a, __b);	\
} while (0)
#define assert_ptr_equal(a, b)		assert_true((a) == (b))
#define assert_ptr_not_equal(a, b)	assert_true((a) != (b))

#define NR_TIMELINES	2
#define NR_SLOTS	16
#define NR_PLACES	8
#define NR_FRAMES	3
#define TIMEOUT_US	10000
#define TIMEOUT_NS	(TIMEOUT_US * US)
#define RACE_HOLD	0x4	/* a reason to hold an entity that is none of the scheduler's own */

/**
 * struct race_user - a user of an engine
 * @entity:     what the scheduler sees of the user
 * @engine:     the engine
 * @index:      of the user in world.user
 * @place:      where its slots are, of NR_PLACES
 * @work_ns:    work that is to be done
 * @frame_ns:   when frames may be shown, each a piece of work; 0: none
 * @awake:      the engine looks for work by itself: the user need not wake the entity
 * @dma:        the work waits for memory
 * @deaf_ns:    for so much longer the engine hears no request to stop while it works for the user
 * @hung:       the engine never hears one while it works for the user
 * @state_lock: held by the task that waits until the entity is off the engine
 * @held:       number of race_hold_sync() calls that have returned and are not taken back
 * @peers:      number of tasks that are using the user now
 * @closing:    no further task may
 * @worked_ns:  work done so far
 * @lingered_ns: time for which the engine was kept for the user without work
 * @lost_ns:    since when the entity has been neither queued nor running, though it could run
 * @policy:     policy that has the entity, as that policy was told; NULL: none
 * @started:    the policy was told that the entity is started
 * @queued:     the policy was told that the entity is queued
 */
struct race_user {
	struct vgpu_entity entity;
	struct race_engine *engine;
	unsigned int index;
	unsigned int place;
	u64 work_ns;
	u64 frame_ns[NR_FRAMES];
	bool awake;
	bool dma;
	u64 deaf_ns;
	bool hung;
	struct mutex state_lock;	/* serialises who waits */
	unsigned int held;
	unsigned int peers;
	bool closing;
	u64 worked_ns;
	u64 lingered_ns;
	u64 lost_ns;
	const struct vgpu_sched_policy *policy;
	bool started;
	bool queued;
};

static inline struct race_user *to_race_user(struct vgpu_entity *entity)
{
	return container_of(entity, struct race_user, entity);
}

/**
 * struct race_run - a run that ended, as the policy and the engine saw it
 * @user:     its user
 * @start_ns: when the policy chose it
 * @end_ns:   when the policy was told of its end
 * @ran_ns:   service
 */
struct race_run {
	struct race_user *user;
	u64 start_ns;
	u64 end_ns;
	u64 ran_ns;
};

/**
 * struct race_engine - a simulated engine
 * @tl:       timeline of the engine
 * @task:     task that is the engine
 * @wq:       on which that waits for a run
 * @run:      entity whose run is not finished; NULL: none
 * @deadline_ns: deadline of the run
 * @stop:     the engine is to stop the run
 * @reset:    the engine is to drop the run
 * @busy:     the task is at the run
 * @exit:     the task is to end
 * @ran_ns:   time that the engine had a processor to work on
 * @end:      how the run that is being reported ended
 * @idle_ns:  of that run, looked for work while no other entity could have had the engine
 * @linger_ns: of that run, looked for work while another entity could have
 * @starve_ns: the engine's processor may be away for so long at a time
 * @resets:   number of resets that were asked for
 * @overruns: number of overruns that were reported
 * @stop_ns:  when the engine was asked to stop; 0: it was not
 * @running:  entity whose run it is, as the policy saw it, like all that follows; NULL: none
 * @start_ns: when the run began
 * @waited_ns: how long its entity had waited before that
 * @pick:     what the policy answered when it chose the run
 * @free_ns:  since when there is no run
 * @gaps_ns:  sum of times between runs
 * @polled_ns: sum of times in runs that were not charged
 * @charged_ns: sum of service
 * @ready_ns: since when an entity has been queued and there is no run; U64_MAX: no such time
 * @max_gap_ns: longest time from that to a run
 * @throttled: the policy chose no entity when it was asked last
 */
struct race_engine {
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
	int end;
	u64 idle_ns;
	u64 linger_ns;
	u64 starve_ns;
	unsigned int resets;
	unsigned int overruns;

	u64 stop_ns;
	const struct vgpu_entity *running;
	u64 start_ns;
	u64 waited_ns;
	struct vgpu_pick pick;
	u64 free_ns;
	u64 gaps_ns;
	u64 polled_ns;
	u64 charged_ns;
	u64 ready_ns;
	u64 max_gap_ns;
	bool throttled;
};

/**
 * struct race_world - the GPU under test, and what is to happen on it
 * @sched:      scheduler of the GPU
 * @params:     parameters that were set last
 * @engine:     the engines
 * @user:       by index; NULL: closed
 * @nr_users:   number of users that a test has
 * @placed:     mask of the places that are taken
 * @throttle:   at times the policy chooses no entity until some time
 * @preempts:   at times the policy preempts
 * @lingers:    at times the policy lets an engine wait for its entity
 * @pick_nobody: the policy chooses no entity until something happens
 * @pick_linger_ns: the policy always lets engines wait for so long
 * @pick_exclusive: the policy always says that no other entity may run
 * @switches:   at times the policy is changed
 * @light:      there is little work, so that engines sleep often
 * @poll_ns:    an engine looks for work for so long before it reports that it is idle
 * @reset_ns:   a reset takes so much longer
 * @hogs:       at times engines are deaf or hang
 * @watchdog_stop: the test's watchdog is to end
 * @unfinished: number of users with work, and of frames that were not shown yet
 * @busy_ns:    service of users that are closed
 * @linger_ns:  lingering for users that are closed
 * @runs:       runs of users that are closed
 * @resets:     resets that hit users that are closed
 * @rqs:        number of run queues that are set up
 * @rqs_left:   how many more can be set up before setting up fails
 * @run:        gets runs that have ended
 * @nr_runs:    number of runs in @run
 * @max_runs:   room of @run; further runs are not kept
 */
struct race_world {
	struct vgpu_sched *sched;
	struct vgpu_sched_params params;
	struct race_engine engine[NR_TIMELINES];
	struct race_user *user[16];
	unsigned int nr_users;
	unsigned int placed;
	bool throttle;
	bool preempts;
	bool lingers;
	bool pick_nobody;
	u64 pick_linger_ns;
	bool pick_exclusive;
	bool switches;
	bool light;
	u64 poll_ns;
	u64 reset_ns;
	bool hogs;
	bool watchdog_stop;
	unsigned int unfinished;
	u64 busy_ns;
	u64 linger_ns;
	u64 runs;
	u64 resets;
	unsigned int rqs;
	unsigned int rqs_left;
	struct race_run *run;
	unsigned int nr_runs;
	unsigned int max_runs;
};

extern struct race_world race;

static inline struct race_engine *race_engine_of(const struct vgpu_timeline *tl)
{
	return &race.engine[vgpu_timeline_index(tl)];
}

/* race_watch.c: the watched policy of that name */
const struct vgpu_sched_policy *race_watched(const char *name);
void race_submit(struct race_user *user, u64 work_ns);
void race_submit_frame(struct race_user *user, u64 due_ns);
bool race_user_due(const struct race_user *user);
struct vgpu_share race_plain_share(const struct race_user *user);
struct vgpu_share race_random_share(const struct race_user *user);
int race_set_params(const struct vgpu_sched_params *params);
int race_set_slice(u64 slice_ns);
void race_set_policy(const char *name);
void race_set_share(struct race_user *user, u16 guarantee, u16 cap, u16 weight);
void race_begin(u64 seed, u64 jitter_ns, u64 slice_ns);
void race_end(void);
void race_drain(void);
struct race_user *race_user_open(unsigned int engine);
void race_user_close(struct race_user *user);
void race_hold_sync(struct race_user *user, unsigned int hold);
void race_unhold(struct race_user *user, unsigned int hold);

#endif /* _VGPU_RACE_H */
