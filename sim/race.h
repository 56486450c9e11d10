/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated engines and their users for the scheduler as it is in the kernel,
 * and the policies watched: the policies' and the engines' side check at each
 * call that the timelines keep their promises.
 */
#ifndef _VGPU_RACE_H
#define _VGPU_RACE_H

#include "vgpu_test.h"

#include <linux/lockdep.h>

#include "sched/timeline.h"
#include "tasks.h"

/* cmocka's jump to where the test began, which is on another stack. */
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

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define NR_TIMELINES	2
#define NR_SLOTS	16
#define NR_PLACES	8
#define NR_FRAMES	3
#define TIMEOUT_US	10000
#define TIMEOUT_NS	(TIMEOUT_US * US)

/**
 * struct user - what has work for an engine, and its entity
 * @place:      where its slots are, of NR_PLACES
 * @work_ns:    to be done
 * @frame_ns:   when frames may be shown, each a piece of work; 0: none
 * @awake:      the engine looks at its ring by itself, no wake needed
 * @dma:        its work waits for memory
 * @deaf_ns:    so much longer the engine hears no request to stop
 * @hung:       it never hears one
 * @held:       hold_sync() calls that have returned and are not taken back
 * @peers:      others that are using it now
 * @closing:    no new ones
 * @worked_ns:  done so far
 * @lingered_ns: for which the engine was held for it
 * @lost_ns:    since when it has been neither queued nor running, though it could
 * @policy:     as that saw it, like the next two: whose it is
 * @started:    and was told so
 * @queued:     and is on the queue
 */
struct user {
	struct vgpu_entity entity;
	struct engine *engine;
	unsigned int index;
	unsigned int place;
	u64 work_ns;
	u64 frame_ns[NR_FRAMES];
	bool awake;
	bool dma;
	u64 deaf_ns;
	bool hung;
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

/**
 * struct run - a run that ended, as the policy and the engine saw it
 */
struct run {
	struct user *user;
	u64 start_ns;
	u64 end_ns;
	u64 ran_ns;
};

/**
 * struct engine - a simulated engine
 * @run:      what it was given and has not finished
 * @stop:     it is to stop that
 * @reset:    it is to drop that
 * @busy:     its task is at it
 * @ran_ns:   time it had to work
 * @end:      of the run it reports, like the next two
 * @idle_ns:  without work, nobody else could have had the engine
 * @linger_ns: and somebody could have
 * @starve_ns: its processor may be away for so long at a time
 * @stop_ns:  when it was asked to stop, 0: it was not
 * @start_ns: as the policy saw it, like all that follows
 * @waited_ns: before the present run, like the next
 * @pick:     what the policy said of it
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
 * struct world - the GPU under test, and what it does
 * @user:       by index; NULL while closed
 * @params:     the scheduler's, as set last
 * @placed:     places taken, a mask
 * @throttle:   the policy says "nobody, until" at times
 * @preempts:   the policy preempts at times
 * @switches:   the policy is changed at times
 * @lingers:    the policy lets engines wait at times
 * @pick_nobody: the policy says "nobody, until something happens"
 * @pick_linger_ns: and always so long
 * @pick_exclusive: and always says that nobody else may run
 * @hogs:       engines are deaf or hang at times
 * @light:      there is little work, so that engines sleep often
 * @poll_ns:    before an engine says that it is idle
 * @reset_ns:   a reset takes so much longer
 * @unfinished: users with work
 * @busy_ns:    of users that are closed, like the next three
 * @linger_ns:  for which engines were held for them
 * @rqs:        run queues set up
 * @rqs_left:   so many more can be; the next one fails
 * @run:        runs that have ended, if there is room for them
 */
struct world {
	struct vgpu_sched *sched;
	struct vgpu_sched_params params;
	struct engine engine[NR_TIMELINES];
	struct user *user[16];
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
	struct run *run;
	unsigned int nr_runs;
	unsigned int max_runs;
};

extern struct world t;

struct user *to_user(struct vgpu_entity *entity);

static inline struct engine *sim_engine_of(const struct vgpu_timeline *tl)
{
	return &t.engine[vgpu_timeline_index(tl)];
}

/* race_watch.c: a policy that is watched, by its name. */
const struct vgpu_sched_policy *watched(const char *name);
void submit(struct user *user, u64 work_ns);
void submit_frame(struct user *user, u64 due_ns);
bool user_due(const struct user *user);
struct vgpu_share plain_share(const struct user *user);
struct vgpu_share random_share(const struct user *user);
int set_params(const struct vgpu_sched_params *params);
int set_slice(u64 slice_ns);
void set_policy(const char *name);
void set_share(struct user *user, u16 guarantee, u16 cap, u16 weight);
void world_begin(u64 seed, u64 jitter_ns, u64 slice_ns);
void world_end(void);
void world_drain(void);
struct user *user_open(unsigned int engine);
void user_close(struct user *user);
void hold_sync(struct user *user, unsigned int hold);
void unhold(struct user *user, unsigned int hold);

#endif /* _VGPU_RACE_H */
