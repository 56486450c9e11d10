/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated engines and their users for the scheduler as it is in the kernel,
 * and best_effort watched: the policy's and the engines' side check at each call
 * that the timelines keep their promises.
 */
#ifndef _VGPU_SIM_ENGINE_H
#define _VGPU_SIM_ENGINE_H

#include "vgpu_test.h"

#include <linux/lockdep.h>

#include "sched/timeline.h"
#include "sim.h"

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

/**
 * struct world - the GPU under test, and what it does
 * @user:       by index; NULL while closed
 * @throttle:   the policy says "nobody, until" at times
 * @preempts:   the policy preempts at times
 * @hogs:       engines are deaf or hang at times
 * @light:      there is little work, so that engines sleep often
 * @poll_ns:    before an engine says that it is idle
 * @unfinished: users with work
 * @busy_ns:    of users that are closed, like the next two
 */
struct world {
	struct vgpu_sched *sched;
	struct engine engine[NR_TIMELINES];
	struct user *user[16];
	unsigned int nr_users;
	bool throttle;
	bool preempts;
	bool light;
	u64 poll_ns;
	bool hogs;
	bool watchdog_stop;
	unsigned int unfinished;
	u64 busy_ns;
	u64 runs;
	u64 resets;
};

extern struct world t;

struct user *to_user(struct vgpu_entity *entity);
void submit(struct user *user, u64 work_ns);
void world_begin(u64 seed, u64 jitter_ns, u64 slice_ns);
void world_end(void);
void world_drain(void);
struct user *user_open(unsigned int engine);
void user_close(struct user *user);
void hold_sync(struct user *user, unsigned int hold);
void unhold(struct user *user, unsigned int hold);

#endif /* _VGPU_SIM_ENGINE_H */
