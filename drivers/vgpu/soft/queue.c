// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: the channels of an instance that one engine is to look at, in turn.
 * The engine takes one, works on it and releases it; where it stands then says
 * where it goes.
 *
 * Sleeping must not lose work: the engine publishes SLEEPING, then a full
 * barrier, then reads put again; the submitter moves put, then a full barrier,
 * then reads the state. One of them sees the other. Both the engine's step and
 * the doorbell's are made under queue_lock, so that state and queue agree.
 */
#include "channel.h"
#include "gpu.h"
#include "instance.h"
#include "queue.h"

static struct soft_queue *soft_queue_of(struct soft_channel *ch)
{
	return &ch->inst->queue[ch->engine];
}

/**
 * soft_queue_publish() - a channel's new state, for the guest to see
 * @ch: the channel
 * @state: the state
 *
 * Context: any; queue_lock held.
 */
void soft_queue_publish(struct soft_channel *ch, enum vgpu_hw_state state)
{
	lockdep_assert_held(&ch->inst->queue_lock);
	ch->state = state;
	if (ch->hw)
		WRITE_ONCE(ch->hw->state, cpu_to_le32(state));
}

/**
 * soft_queue_add() - a channel is to be looked at
 * @ch: AWAKE, on no list
 *
 * Context: any; queue_lock held.
 */
void soft_queue_add(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->inst->queue_lock);
	list_add_tail(&ch->link, &queue->ready);
	WRITE_ONCE(queue->nr_ready, queue->nr_ready + 1);
}

/**
 * soft_queue_del() - a channel is not to be looked at
 * @ch: on the ready list, or on the paced one
 *
 * Context: any; queue_lock held.
 */
void soft_queue_del(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->inst->queue_lock);
	list_del_init(&ch->link);
	if (ch->paced)
		ch->paced = false;
	else
		WRITE_ONCE(queue->nr_ready, queue->nr_ready - 1);
}

static void soft_queue_pace(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->inst->queue_lock);
	ch->paced = true;
	list_add_tail(&ch->link, &queue->paced);
	WRITE_ONCE(queue->due_ns, min(queue->due_ns, ch->due_ns));
}

/**
 * soft_queue_stall() - a channel waits for guest memory, or does not any more
 * @ch: on no list
 * @stalled: which of the two; not what it is
 *
 * Context: any; queue_lock held.
 */
void soft_queue_stall(struct soft_channel *ch, bool stalled)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->inst->queue_lock);
	ch->stalled = stalled;
	WRITE_ONCE(queue->nr_stalled, queue->nr_stalled + (stalled ? 1 : -1));
}

/**
 * soft_queue_wake() - wake an engine that waits for guest memory during a turn
 * @inst: the vGPU whose channels or queues have changed
 * @engine: number of the engine
 *
 * Context: any; without queue_lock.
 */
void soft_queue_wake(struct soft_instance *inst, unsigned int engine)
{
	wait_queue_head_t *wake = &inst->gpu->engine[engine].wake;

	if (wq_has_sleeper(wake))
		wake_up(wake);
}

/**
 * soft_queue_announce() - say that an engine has something to do
 * @inst: a vGPU with a ready channel
 * @engine: number of the channel's engine
 *
 * Context: any; without queue_lock.
 */
void soft_queue_announce(struct soft_instance *inst, unsigned int engine)
{
	vgpu_work_ready(inst->vgpu, engine);
	soft_queue_wake(inst, engine);
}

/**
 * soft_queue_begin() - an engine begins a turn
 * @inst: whose turn
 * @engine: the engine
 *
 * Context: the engine's thread.
 * Return: false if the instance is being stopped: there is nothing to do.
 */
bool soft_queue_begin(struct soft_instance *inst, unsigned int engine)
{
	bool ok;

	spin_lock(&inst->queue_lock);
	ok = !inst->stopping;
	inst->queue[engine].in_turn = ok;
	spin_unlock(&inst->queue_lock);
	return ok;
}

/*
 * Publishes SLEEPING and looks at put once more. Returns false, and it is AWAKE
 * again, if something has come.
 */
static bool soft_queue_sleep(struct soft_channel *ch)
{
	soft_queue_publish(ch, VGPU_HW_STATE_SLEEPING);
	smp_mb();	/* pairs with the submitter's between put and state */
	if (le64_to_cpu(READ_ONCE(ch->hw->put)) == ch->get)
		return true;
	soft_queue_publish(ch, VGPU_HW_STATE_AWAKE);
	return false;
}

/**
 * soft_queue_end() - an engine ends a turn
 * @inst: whose turn it was; may be gone when this returns
 * @engine: the engine
 * @all_empty: nothing was found on any ready channel: they may sleep
 *
 * Context: the engine's thread.
 * Return: what is left to do.
 */
enum vgpu_run_end soft_queue_end(struct soft_instance *inst,
				 unsigned int engine, bool all_empty)
{
	struct soft_queue *queue = &inst->queue[engine];
	struct soft_channel *ch, *next;
	enum vgpu_run_end end;

	spin_lock(&inst->queue_lock);
	list_for_each_entry_safe(ch, next, &queue->ready, link) {
		if (!all_empty)
			break;
		if (ch->exec.step == SOFT_STEP_NEXT && !ch->dma_done &&
		    soft_queue_sleep(ch))
			soft_queue_del(ch);
	}
	if (!list_empty(&queue->ready))
		end = VGPU_RUN_PREEMPTED;
	else if (queue->nr_stalled)
		end = VGPU_RUN_STALLED;
	else
		end = VGPU_RUN_IDLE;
	queue->in_turn = false;
	/*
	 * Under the lock: who waits may free the instance once it has it. That
	 * also is why no barrier is needed: who looks too late for this to see
	 * it finds the turn ended.
	 */
	if (waitqueue_active(&inst->wait))
		wake_up_all(&inst->wait);
	spin_unlock(&inst->queue_lock);
	return end;
}

/* Frames that are due are asked for again, who waits longest first. */
static void soft_queue_promote(struct soft_queue *queue, u64 now_ns)
{
	struct soft_channel *ch, *next;
	u64 due_ns = U64_MAX;

	list_for_each_entry_safe(ch, next, &queue->paced, link) {
		if (ch->due_ns > now_ns) {
			due_ns = min(due_ns, ch->due_ns);
			continue;
		}
		soft_queue_del(ch);
		soft_queue_add(ch);
	}
	WRITE_ONCE(queue->due_ns, due_ns);
}

/**
 * soft_queue_take() - the next channel in turn
 * @inst: in a turn
 * @engine: of this engine
 * @now_ns: the time, perhaps some work ago
 *
 * Context: the engine's thread.
 * Return: the channel, busy until soft_queue_release(); NULL if none is ready.
 */
struct soft_channel *soft_queue_take(struct soft_instance *inst,
				     unsigned int engine, u64 now_ns)
{
	struct soft_queue *queue = &inst->queue[engine];
	struct soft_channel *ch;

	spin_lock(&inst->queue_lock);
	if (now_ns >= queue->due_ns)
		soft_queue_promote(queue, now_ns);
	ch = list_first_entry_or_null(&queue->ready, struct soft_channel, link);
	if (ch) {
		soft_queue_del(ch);
		ch->busy = true;
	}
	spin_unlock(&inst->queue_lock);
	return ch;
}

/**
 * soft_queue_release() - the engine is done with a channel for now
 * @ch: taken
 * @end: where it stands
 * @sleep: with SOFT_END_EMPTY: it may sleep
 *
 * Context: the engine's thread.
 */
void soft_queue_release(struct soft_channel *ch, enum soft_end end, bool sleep)
{
	struct soft_instance *inst = ch->inst;

	spin_lock(&inst->queue_lock);
	ch->busy = false;
	if (ch->stop) {
		wake_up_all(&inst->wait);
	} else if (end == SOFT_END_WAIT) {
		if (ch->dma_done)
			soft_queue_add(ch);
		else
			soft_queue_stall(ch, true);
	} else if (end == SOFT_END_PACED) {
		soft_queue_pace(ch);
	} else if (end != SOFT_END_FAULT &&
		   !(end == SOFT_END_EMPTY && sleep &&
		     soft_queue_sleep(ch))) {
		soft_queue_add(ch);
	}
	spin_unlock(&inst->queue_lock);
}
