// SPDX-License-Identifier: GPL-2.0
/*
 * Engines: the thread of the unit that leads does the runs that the core starts.
 *
 * A run ends in one of two ways. Either the engine's thread moves the state from RUNNING to
 * ENDING, and reports the end of the run; or soft_engine_reset() moves it from RUNNING to RESET,
 * and the thread does not report.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../memory/memory.h"
#include "queues.h"

/* Period in which an engine that waits for guest memory asks whether another vGPU waits. */
#define SOFT_STALL_NS		(200 * NSEC_PER_USEC)

/**
 * struct soft_run_times - an engine's account of a run
 * @idle_ns:   time in which the engine looked for work and found none
 * @linger_ns: likewise, but while another vGPU waited for the engine (VGPU_POLL_LINGER)
 * @empty_ns:  time since which no ready channel has had work; 0: one has work
 * @hold_ns:   time since which the engine has lingered; 0: it does not linger
 * @since_ns:  time since which there has been no work, if that time began in an earlier run; 0: it
 *             began in this run, or there is work
 * @stall_ns:  time since which all work has waited for guest memory; 0: some does not
 * @nr_empty:  number of channels without work that were looked at in a row
 * @over:      there is no work, and another vGPU waits for the engine
 */
struct soft_run_times {
	u64 idle_ns;
	u64 linger_ns;
	u64 empty_ns;
	u64 hold_ns;
	u64 since_ns;
	u64 stall_ns;
	unsigned int nr_empty;
	bool over;
};

/* Adds up the time without work, which has ended at @end_ns. */
static void soft_run_times_settle(struct soft_run_times *times, u64 end_ns)
{
	if (times->hold_ns) {
		times->linger_ns += end_ns - times->hold_ns;
		end_ns = times->hold_ns;
	}
	if (times->empty_ns)
		times->idle_ns += end_ns - times->empty_ns;
	times->empty_ns = 0;
	times->hold_ns = 0;
	times->since_ns = 0;
	times->nr_empty = 0;
}

static bool soft_engine_woken(struct soft_engine *engine, struct soft_queue *queue)
{
	return READ_ONCE(queue->nr_ready) || !READ_ONCE(queue->nr_stalled) ||
	       soft_stop_told(engine);
}

/*
 * Sleeps until the engine is woken, or for @timeout_ns. The timer expires in a hard interrupt: a
 * soft one of PREEMPT_RT would wait for locks whose holders may have been stopped.
 */
static void soft_engine_sleep(struct soft_engine *engine, struct soft_queue *queue, u64 timeout_ns)
{
	ktime_t timeout = ns_to_ktime(timeout_ns);

	prepare_to_rcuwait(&engine->lead.wake);
	/* A barrier; pairs with that of rcuwait_wake_up(). */
	set_current_state(TASK_IDLE);
	if (!soft_engine_woken(engine, queue))
		schedule_hrtimeout(&timeout, HRTIMER_MODE_REL_HARD);
	finish_rcuwait(&engine->lead.wake);
}

/*
 * Waits for guest memory, since no channel is ready. Returns false if the run must end: no channel
 * waits for guest memory either, the deadline has passed, or another vGPU waits for the engine.
 */
static bool soft_engine_wait(struct soft_engine *engine,
			     struct soft_queue *queue, struct soft_run_times *times)
{
	struct soft_unit *unit = &engine->lead;
	u64 now_ns = soft_stop_clock(unit), timeout_ns, due_ns;

	if (!READ_ONCE(queue->nr_stalled))
		return READ_ONCE(queue->nr_ready);
	if (unit->expired)
		return false;
	if (!times->stall_ns)
		times->stall_ns = now_ns;
	soft_turn_wait(engine, now_ns, times->idle_ns);
	due_ns = READ_ONCE(queue->due_ns);
	if (due_ns <= unit->real_ns)
		return true;
	timeout_ns = min3(engine->run.deadline_ns - now_ns, due_ns - unit->real_ns,
			  (u64)SOFT_STALL_NS);
	soft_engine_sleep(engine, queue, timeout_ns);
	soft_stop_resume(unit);
	now_ns = soft_stop_clock(unit);
	return soft_engine_woken(engine, queue) || due_ns <= unit->real_ns ||
	       vgpu_engine_poll(engine->part, engine->index,
				now_ns - times->stall_ns) != VGPU_POLL_STOP;
}

/* Called when the engine has found no packet on a channel, by a look that began at @from_ns. */
static void soft_engine_empty(struct soft_engine *engine, struct soft_queue *queue,
			      struct soft_channel *ch, struct soft_run_times *times, u64 from_ns)
{
	bool idle = ++times->nr_empty > READ_ONCE(queue->nr_ready), sleep;
	struct soft_unit *unit = &engine->lead;
	enum vgpu_poll poll = VGPU_POLL_IDLE;

	if (!times->empty_ns && !(idle && engine->turns.now.ch))
		soft_turn_look(&engine->turns, ch, from_ns, times->idle_ns);
	if (idle) {
		engine->left_ns = 0;
		soft_stop_clock(unit);
		if (!times->empty_ns) {
			times->empty_ns = unit->now_ns;
			soft_turn_idle(&engine->turns, unit->now_ns, times->idle_ns);
			soft_turn_note(&engine->turns, unit->now_ns, times->idle_ns);
		}
		poll = vgpu_engine_poll(engine->part, engine->index,
					unit->now_ns - (times->since_ns ?: times->empty_ns));
		/*
		 * End the run at once. If it ended only when the last channel is asleep, a guest
		 * that rings its doorbells all the time would keep the engine without being
		 * charged.
		 */
		times->over = poll == VGPU_POLL_STOP && !READ_ONCE(queue->nr_stalled);
		/* Another vGPU waits for the engine, which lingers or waits for guest memory. */
		if (!times->hold_ns && !times->over &&
		    (poll == VGPU_POLL_LINGER || poll == VGPU_POLL_STOP))
			times->hold_ns = unit->now_ns;
	}
	if (!ch->empty_ns)
		ch->empty_ns = unit->now_ns;
	sleep = poll == VGPU_POLL_STOP ||
		(poll == VGPU_POLL_IDLE && unit->now_ns - ch->empty_ns >= engine->poll_ns);
	soft_queue_release(engine, ch, SOFT_END_EMPTY, sleep);
	if (idle && !sleep) {
		cpu_relax();
		cond_resched();
	}
}

/*
 * Counts a switch. The engine has found the run's first packet, by a look at its channel that began
 * at @from_ns.
 */
static void soft_engine_switched(struct soft_engine *engine, u64 from_ns)
{
	u64 took_ns = from_ns - engine->left_ns;

	engine->left_ns = 0;
	engine->switches++;
	engine->switch_ns += took_ns;
	engine->switch_hist[min(fls64(took_ns / NSEC_PER_USEC), SOFT_HIST - 1)]++;
}

/* Works on a channel that was taken, and releases it. */
static void soft_engine_step(struct soft_engine *engine, struct soft_queue *queue,
			     struct soft_channel *ch, struct soft_run_times *times)
{
	struct soft_unit *unit = &engine->lead;
	struct soft_fault fault = {};
	enum soft_end end;
	u64 from_ns;

	if (engine->left_ns)
		soft_stop_clock(unit);
	else if (soft_turn_ends(&engine->turns, ch))
		soft_stop_time(unit);
	from_ns = unit->now_ns;
	end = soft_exec(engine, ch, &fault);
	if (end == SOFT_END_EMPTY) {
		soft_engine_empty(engine, queue, ch, times, from_ns);
		return;
	}
	if (engine->left_ns)
		soft_engine_switched(engine, from_ns);

	soft_run_times_settle(times, from_ns);
	soft_turn_next(&engine->turns, ch, from_ns, times->idle_ns);
	times->stall_ns = 0;
	ch->empty_ns = 0;
	if (end == SOFT_END_STOPPED && atomic_read(&engine->state) == SOFT_ENGINE_RESET) {
		fault.code = VGPU_HW_FAULT_RESET;
		end = SOFT_END_FAULT;
	}
	if (end == SOFT_END_FAULT)
		soft_channel_fault(ch, &fault, ch->get);
	/* Who disables the channel waits, and nothing is added to what the guest is told now. */
	if (READ_ONCE(ch->stop))
		soft_stop_time(unit);
	soft_turn_note(&engine->turns, unit->now_ns, times->idle_ns);
	soft_queue_release(engine, ch, end, false);
}

/*
 * Ends packets whose work helpers have ended: nothing but the end is missing, and nobody is to wait
 * for another run, or another slot, for that.
 */
static void soft_engine_end_packets(struct soft_engine *engine, struct soft_queue *queue,
				    struct soft_run_times *times)
{
	struct soft_channel *ch;

	while (engine->team.nr && (ch = soft_queue_take_ended(engine->queues, engine->index)))
		soft_engine_step(engine, queue, ch, times);
}

/* Between two channels. Returns false if the run must end. */
static bool soft_engine_goes_on(struct soft_engine *engine, struct soft_queue *queue,
				struct soft_run_times *times)
{
	struct soft_unit *unit = &engine->lead;

	if (!soft_stop_wanted(unit, NULL, SOFT_PACKET_WORK))
		return true;
	soft_engine_end_packets(engine, queue, times);
	if (unit->expired)
		return false;
	soft_rest(engine);
	return !soft_stop_told(engine);
}

static enum vgpu_run_end soft_engine_do_run(struct soft_engine *engine,
					    struct soft_run_times *times)
{
	struct soft_queues *queues = soft_queues(engine->run.instance);
	struct soft_queue *queue = &queues->queue[engine->index];
	struct soft_unit *unit = &engine->lead;
	struct soft_channel *ch;
	bool all_empty;
	u64 due_ns;

	memset(times, 0, sizeof(*times));
	times->since_ns = engine->since_ns;
	engine->since_ns = 0;
	engine->runs++;
	soft_unit_begin_run(unit, soft_stop_resume(unit));
	soft_turn_begin_run(&engine->turns, unit->now_ns);
	if (!soft_queue_begin(queues, engine->index))
		return VGPU_RUN_IDLE;
	engine->queues = queues;
	soft_invalidate_begin_run(unit);

	while (!times->over && soft_engine_goes_on(engine, queue, times)) {
		ch = soft_queue_take(queues, engine->index, unit->real_ns);
		if (ch) {
			soft_engine_step(engine, queue, ch, times);
			continue;
		}
		/* Waiting for guest memory is charged, and is not part of a switch. */
		soft_run_times_settle(times, unit->now_ns);
		engine->left_ns = 0;
		if (!soft_engine_wait(engine, queue, times))
			break;
	}

	engine->left_ns = soft_stop_clock(unit);
	/* A vGPU that may linger when its slice is over counts as one with work. */
	if (times->hold_ns && !times->over)
		engine->since_ns = times->since_ns ?: times->empty_ns;
	all_empty = times->over || (times->empty_ns && !times->hold_ns);
	soft_run_times_settle(times, unit->now_ns);
	soft_turn_note(&engine->turns, unit->now_ns, times->idle_ns);
	due_ns = READ_ONCE(queue->due_ns);
	if (due_ns != U64_MAX)
		vgpu_work_ready_at(queues->mem->vgpu, engine->index, due_ns);
	return soft_queue_end(engine, all_empty);
}

/*
 * Reports the end of a run, unless a reset has ended it. Returns true if the core has given the
 * engine its next run.
 */
static bool soft_engine_finish(struct soft_engine *engine, enum vgpu_run_end end,
			       const struct soft_run_times *times)
{
	struct vgpu_run next;
	bool more;

	WRITE_ONCE(engine->preempt, false);
	if (atomic_cmpxchg(&engine->state, SOFT_ENGINE_RUNNING,
			   SOFT_ENGINE_ENDING) != SOFT_ENGINE_RUNNING) {
		engine->left_ns = 0;
		engine->since_ns = 0;
		atomic_set_release(&engine->state, SOFT_ENGINE_IDLE);
		rcuwait_wake_up(&engine->idle);
		return false;
	}

	more = vgpu_engine_done(engine->part, engine->index, end,
				times->idle_ns, times->linger_ns, &next);
	if (!more || next.instance == engine->run.instance)
		engine->left_ns = 0;
	if (!more || next.instance != engine->run.instance)
		engine->since_ns = 0;
	if (more) {
		engine->run = next;
		atomic_set_release(&engine->state, SOFT_ENGINE_RUNNING);
	} else {
		/* Fails if soft_engine_run() has started a run since. */
		atomic_cmpxchg(&engine->state, SOFT_ENGINE_ENDING, SOFT_ENGINE_IDLE);
	}
	/* Pairs with rcuwait_wait_event(): its caller makes itself known, then reads the state. */
	smp_mb();
	if (rcuwait_active(&engine->idle))
		rcuwait_wake_up(&engine->idle);
	return more;
}

static bool soft_engine_started(struct soft_engine *engine)
{
	int state = atomic_read_acquire(&engine->state);

	return state == SOFT_ENGINE_RUNNING || state == SOFT_ENGINE_RESET;
}

static int soft_engine_thread(void *data)
{
	struct soft_unit *unit = data;
	struct soft_engine *engine = unit->engine;
	struct soft_run_times times;
	enum vgpu_run_end end;

	soft_unit_place(unit);
	for (;;) {
		rcuwait_wait_event(&unit->wake,
				   soft_engine_started(engine) || kthread_should_stop(), TASK_IDLE);
		if (!soft_engine_started(engine))
			return 0;
		do {
			/*
			 * A short run does not reach the other calls of this. Grace periods of
			 * RCU-tasks, for which tracers, probes and live patches wait, end when each
			 * thread has slept or has said so: no guest may hold them up.
			 */
			cond_resched_tasks_rcu_qs();
			soft_unit_pin(unit);
			end = soft_engine_do_run(engine, &times);
		} while (soft_engine_finish(engine, end, &times));
	}
}

/*
 * Sets up an engine, and starts its threads. Constant fields are set, all others are zero. May
 * sleep. Returns 0 or -errno.
 */
int soft_engine_init(struct soft_engine *engine, const char *gpu_name)
{
	int ret;

	atomic_set(&engine->state, SOFT_ENGINE_IDLE);
	rcuwait_init(&engine->idle);
	ret = soft_team_init(engine, gpu_name);
	if (ret)
		return ret;
	ret = soft_unit_start(&engine->lead, engine, 0, soft_engine_thread, gpu_name);
	if (ret)
		soft_team_exit(engine);
	return ret;
}

/* Stops the threads of an idle engine, for which the core calls no op any more. Sleeps. */
void soft_engine_exit(struct soft_engine *engine)
{
	soft_unit_stop(&engine->lead);
	soft_team_exit(engine);
}

/* struct vgpu_gpu_ops.engine_run, with the timeline's lock held. */
void soft_engine_run(struct soft_engine *engine, struct vgpu_partition *part,
		     const struct vgpu_run *run)
{
	engine->part = part;
	engine->run = *run;
	WRITE_ONCE(engine->preempt, false);
	atomic_set_release(&engine->state, SOFT_ENGINE_RUNNING);
	rcuwait_wake_up(&engine->lead.wake);
}

/*
 * struct vgpu_gpu_ops.engine_preempt, with the timeline's lock held. If the run is ending anyway,
 * the next run may be preempted instead: it then ends early, with its work saved.
 */
void soft_engine_preempt(struct soft_engine *engine)
{
	WRITE_ONCE(engine->preempt, true);
	/* For helpers; if the leader opens a section just now, it sees @preempt and tells them. */
	WRITE_ONCE(engine->team.leave, true);
	rcuwait_wake_up(&engine->lead.wake);
}

/* struct vgpu_gpu_ops.engine_reset. Sleeps until the thread has left its run. */
void soft_engine_reset(struct soft_engine *engine)
{
	int state;

	do {
		/* While the thread reports, wait: the core may give it another run. */
		rcuwait_wait_event(&engine->idle,
				   atomic_read_acquire(&engine->state) != SOFT_ENGINE_ENDING,
				   TASK_UNINTERRUPTIBLE);
		state = atomic_cmpxchg(&engine->state, SOFT_ENGINE_RUNNING, SOFT_ENGINE_RESET);
	} while (state == SOFT_ENGINE_ENDING);

	rcuwait_wake_up(&engine->lead.wake);
	rcuwait_wait_event(&engine->idle,
			   atomic_read_acquire(&engine->state) == SOFT_ENGINE_IDLE,
			   TASK_UNINTERRUPTIBLE);
}

/**
 * soft_engine_ran_ns() - struct vgpu_gpu_ops.engine_ran_ns
 * @engine: the engine
 *
 * The engine's thread updates this when it looks at the clock. A thread that does not look at the
 * clock would not see a reset either, so it does not matter if it seems to have had no time. The
 * thread's processor time cannot replace this: in a virtual machine it contains time that the host
 * gave to others.
 *
 * Context: any.
 * Return: for how long the engine could work so far, in ns.
 */
u64 soft_engine_ran_ns(const struct soft_engine *engine)
{
	return READ_ONCE(engine->lead.ran_ns);
}
