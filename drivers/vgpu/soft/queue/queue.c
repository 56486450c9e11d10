// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: the channels of a vGPU that wait for one engine, in round-robin order. The engine takes a
 * channel, works on it and releases it; the enum soft_end decides where the channel goes.
 *
 * Sleeping must not lose work. The engine publishes SLEEPING, makes a full barrier, then reads
 * put again; the submitter moves put, makes a full barrier, then reads the state. So at least
 * one of the two sees the other's write. Engine and doorbell do their parts under queue_lock, so
 * that state and queue agree.
 */
#include "../memory/memory.h"
#include "queues.h"

/* How many ready channels are looked at for packets that helpers can work on. */
#define SOFT_QUEUE_LOOKS	(2 * SOFT_UNITS_MAX)

static struct soft_queue *soft_queue_of(struct soft_channel *ch)
{
	return &ch->queues->queue[ch->engine];
}

/* Sets a channel's state, and shows it to the guest. With queue_lock held. */
void soft_queue_publish(struct soft_channel *ch, enum vgpu_hw_state state)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	ch->state = state;
	if (ch->hw)
		WRITE_ONCE(ch->hw->state, cpu_to_le32(state));
}

/* Puts a channel that is AWAKE and on no list on the ready list. With queue_lock held. */
void soft_queue_add(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->queues->queue_lock);
	list_add_tail(&ch->link, &queue->ready);
	WRITE_ONCE(queue->nr_ready, queue->nr_ready + 1);
}

/* Takes a channel off the ready list or the paced list. With queue_lock held. */
void soft_queue_del(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->queues->queue_lock);
	list_del_init(&ch->link);
	if (ch->paced)
		ch->paced = false;
	else
		WRITE_ONCE(queue->nr_ready, queue->nr_ready - 1);
}

static void soft_queue_pace(struct soft_channel *ch)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->queues->queue_lock);
	ch->paced = true;
	list_add_tail(&ch->link, &queue->paced);
	WRITE_ONCE(queue->due_ns, min(queue->due_ns, ch->due_ns));
}

/**
 * soft_queue_stall() - note that a channel begins or ends to wait for its request
 * @ch: on no list
 * @stalled: the channel begins to wait, else it ends; a change from what it was
 * Context: any; queue_lock held.
 */
void soft_queue_stall(struct soft_channel *ch, bool stalled)
{
	struct soft_queue *queue = soft_queue_of(ch);

	lockdep_assert_held(&ch->queues->queue_lock);
	ch->stalled = stalled;
	WRITE_ONCE(queue->nr_stalled, queue->nr_stalled + (stalled ? 1 : -1));
	if (stalled)
		list_add_tail(&ch->waiting, &queue->stalled);
	else
		list_del_init(&ch->waiting);
}

/**
 * soft_queue_unstall() - put a channel that waits for its request on the ready list
 * @ch: any channel
 * Context: any; queue_lock held.
 * Return: true if the channel waited: the caller must call soft_queue_announce() without the lock.
 */
bool soft_queue_unstall(struct soft_channel *ch)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	if (!ch->stalled)
		return false;
	soft_queue_stall(ch, false);
	soft_queue_add(ch);
	return true;
}

/* Wakes an engine that waits for guest memory of the vGPU during a run. Without queue_lock. */
void soft_queue_wake(struct soft_queues *queues, unsigned int engine)
{
	rcuwait_wake_up(&queues->engine[engine].lead.wake);
}

/* Tells core and engine that @queues have a ready channel. Without queue_lock. */
void soft_queue_announce(struct soft_queues *queues, unsigned int engine)
{
	vgpu_work_ready(queues->mem->vgpu, engine);
	soft_queue_wake(queues, engine);
}

/**
 * soft_queue_begin() - begin a run
 * @queues: queues of the vGPU that runs
 * @engine: number of the engine
 * Context: the engine's thread.
 * Return: false if the vGPU is being stopped: there is nothing to do.
 */
bool soft_queue_begin(struct soft_queues *queues, unsigned int engine)
{
	bool ok;

	raw_spin_lock(&queues->queue_lock);
	soft_turn_settle(queues, engine);
	ok = !queues->stopping;
	queues->queue[engine].in_run = ok;
	queues->engine[engine].lead.space_gen = queues->space_gen;
	raw_spin_unlock(&queues->queue_lock);
	return ok;
}

/*
 * Publishes SLEEPING and reads put once more. If put has moved, makes the channel AWAKE again and
 * returns false.
 */
static bool soft_queue_sleep(struct soft_channel *ch)
{
	soft_queue_publish(ch, VGPU_HW_STATE_SLEEPING);
	smp_mb();	/* pairs with the submitter's full barrier between put and state */
	if (le64_to_cpu(READ_ONCE(ch->hw->put)) == ch->get)
		return true;
	soft_queue_publish(ch, VGPU_HW_STATE_AWAKE);
	return false;
}

/**
 * soft_queue_end() - end a run
 * @engine: leaves the run; the vGPU's queues may have been freed when this returns
 * @all_empty: the engine has found no packet on any ready channel: they may sleep
 * Context: the engine's thread.
 * Return: enum vgpu_run_end: whether the vGPU has work left for the engine.
 */
enum vgpu_run_end soft_queue_end(struct soft_engine *engine, bool all_empty)
{
	struct soft_queues *queues = engine->queues;
	struct soft_queue *queue = &queues->queue[engine->index];
	struct soft_channel *ch, *next;
	enum vgpu_run_end end;

	raw_spin_lock(&queues->queue_lock);
	list_for_each_entry_safe(ch, next, &queue->ready, link) {
		if (!all_empty)
			break;
		if (ch->exec.step == SOFT_STEP_NEXT && !ch->dma_done && soft_queue_sleep(ch))
			soft_queue_del(ch);
	}
	if (!list_empty(&queue->ready))
		end = VGPU_RUN_PREEMPTED;
	else if (queue->nr_stalled)
		end = VGPU_RUN_STALLED;
	else
		end = VGPU_RUN_IDLE;
	queue->in_run = false;
	soft_turn_end_run(engine);
	/*
	 * Under the lock, since a waiting thread may free the vGPU as soon as it sees that the run
	 * has ended, and that thread takes the lock, too, to see that.
	 */
	rcuwait_wake_up(&queues->wait);
	raw_spin_unlock(&queues->queue_lock);
	return end;
}

/* Moves paced channels that are due to the ready list, in the order in which they came. */
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

/* Makes a ready channel busy, and takes it off the list. With queue_lock held. */
static void soft_queue_occupy(struct soft_channel *ch)
{
	soft_queue_del(ch);
	ch->busy = true;
	ch->exec.ended = false;
}

/**
 * soft_queue_take() - take the next ready channel
 * @queues: queues of the vGPU that runs
 * @engine: number of the engine
 * @now_ns: the time when the engine last read the clock
 * Context: the engine's thread.
 * Return: the channel, busy until soft_queue_release(); NULL if none is ready.
 */
struct soft_channel *soft_queue_take(struct soft_queues *queues, unsigned int engine, u64 now_ns)
{
	struct soft_queue *queue = &queues->queue[engine];
	struct soft_channel *ch;

	raw_spin_lock(&queues->queue_lock);
	if (now_ns >= queue->due_ns)
		soft_queue_promote(queue, now_ns);
	ch = list_first_entry_or_null(&queue->ready, struct soft_channel, link);
	if (ch)
		soft_queue_occupy(ch);
	raw_spin_unlock(&queues->queue_lock);
	return ch;
}

/**
 * soft_queue_take_ended() - take the next ready channel, if helpers have ended its packet
 * @queues: queues of the vGPU that runs
 *
 * Such channels come before all others: an engine goes to no other one before them.
 *
 * @engine: number of the engine
 * Context: the engine's thread.
 * Return: the channel, busy until soft_queue_release(), or NULL.
 */
struct soft_channel *soft_queue_take_ended(struct soft_queues *queues, unsigned int engine)
{
	struct soft_queue *queue = &queues->queue[engine];
	struct soft_channel *ch;

	raw_spin_lock(&queues->queue_lock);
	ch = list_first_entry_or_null(&queue->ready, struct soft_channel, link);
	if (ch && !ch->exec.ended)
		ch = NULL;
	if (ch)
		soft_queue_occupy(ch);
	raw_spin_unlock(&queues->queue_lock);
	return ch;
}

/**
 * soft_queue_borrow() - make ready channels busy whose packets helpers can work on
 * @engine: in a run, and at work on another channel
 * @chs: set to the channels, busy until soft_queue_give_back(), in the order of the queue
 * @most: how many at most
 *
 * They stay on the list, so that they keep their place: nobody takes one from there meanwhile, but
 * a thread that disables one takes it off.
 *
 * Context: the engine's thread.
 * Return: their number.
 */
unsigned int soft_queue_borrow(struct soft_engine *engine, struct soft_channel **chs,
			       unsigned int most)
{
	struct soft_queues *queues = engine->queues;
	unsigned int nr = 0, looks = SOFT_QUEUE_LOOKS;
	struct soft_channel *ch;

	raw_spin_lock(&queues->queue_lock);
	list_for_each_entry(ch, &queues->queue[engine->index].ready, link) {
		if (nr == most || !looks--)
			break;
		if (ch->exec.step != SOFT_STEP_BODY || !ch->exec.packet.desc->help || ch->dma)
			continue;
		ch->busy = true;
		ch->exec.ended = false;
		chs[nr++] = ch;
	}
	raw_spin_unlock(&queues->queue_lock);
	return nr;
}

/**
 * soft_queue_give_back() - end what soft_queue_borrow() has begun
 * @engine: the engine
 * @chs: the channels; those whose packets have ended are the next ones to be taken
 * @nr: their number
 * Context: the engine's thread.
 */
void soft_queue_give_back(struct soft_engine *engine, struct soft_channel *const *chs,
			  unsigned int nr)
{
	struct soft_queues *queues = engine->queues;
	unsigned int i;

	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < nr; i++) {
		struct soft_channel *ch = chs[i];

		ch->busy = false;
		if (ch->stop)
			rcuwait_wake_up(&queues->wait);
		else if (ch->exec.ended)
			list_move(&ch->link, &queues->queue[engine->index].ready);
	}
	raw_spin_unlock(&queues->queue_lock);
}

/**
 * soft_queue_release() - give back a channel
 * @engine: has worked on the channel
 * @ch: busy since soft_queue_take()
 * @end: how the engine leaves the channel
 * @sleep: with SOFT_END_EMPTY: the channel may sleep
 * Context: the engine's thread.
 */
void soft_queue_release(struct soft_engine *engine, struct soft_channel *ch, enum soft_end end,
			bool sleep)
{
	struct soft_queues *queues = ch->queues;

	raw_spin_lock(&queues->queue_lock);
	soft_turn_give_over(&engine->turns);
	soft_turn_tell(&engine->turns);
	ch->busy = false;
	if (ch->stop) {
		rcuwait_wake_up(&queues->wait);
	} else if (end == SOFT_END_WAIT) {
		if (ch->dma_done)
			soft_queue_add(ch);
		else
			soft_queue_stall(ch, true);
	} else if (end == SOFT_END_PACED) {
		soft_queue_pace(ch);
	} else if (end != SOFT_END_FAULT &&
		   !(end == SOFT_END_EMPTY && sleep && soft_queue_sleep(ch))) {
		soft_queue_add(ch);
	}
	raw_spin_unlock(&queues->queue_lock);
}
