// SPDX-License-Identifier: GPL-2.0
/* Turns: service per channel, and the report of it with the label that the guest has written. */
#include <linux/minmax.h>
#include <linux/string.h>

#include "../memory/memory.h"
#include "queues.h"

static bool soft_turn_is(const struct soft_turn *turn, const struct soft_channel *ch)
{
	return turn->ch == ch && turn->enabling == ch->enabling;
}

/* Shows the guest what the channel has got since it was enabled, and @more_ns. */
static void soft_turn_show(const struct soft_turn *turn, u64 more_ns)
{
	struct soft_channel *ch = turn->ch;
	u64 ns = ch->service_ns - ch->before_ns + ch->moved_ns + more_ns;

	lockdep_assert_held(&ch->queues->queue_lock);
	if (ch->enabling != turn->enabling)
		return;
	/* What an older charge gives may come before the charge of what was told already. */
	ch->told_ns = max(ch->told_ns, ns);
	if (ch->hw)
		WRITE_ONCE(ch->hw->service_ns, cpu_to_le64(ch->told_ns));
}

static void soft_turn_give(const struct soft_turn *turn, u64 ns)
{
	struct soft_channel *ch = turn->ch;

	lockdep_assert_held(&ch->queues->queue_lock);
	ch->service_ns += ns;
	if (ch->enabling != turn->enabling)
		ch->before_ns += ns;
	soft_turn_show(turn, 0);
}

/**
 * soft_turn_ends() - tell whether work on a channel would end another turn
 * @turns: of the run
 * @ch: busy
 * Context: the engine's thread.
 * Return: true if soft_turn_next() or soft_turn_look() must know the time.
 */
bool soft_turn_ends(const struct soft_turns *turns, const struct soft_channel *ch)
{
	return turns->now.ch && !soft_turn_is(&turns->now, ch);
}

/* Begins a turn, and ends the one before, which has got what it had been given so far. */
static void soft_turn_begin(struct soft_turns *turns, struct soft_turn turn, u64 now_ns,
			    u64 idle_ns)
{
	u64 service_ns;

	if (turns->now.ch) {
		service_ns = now_ns - turns->begin_ns - idle_ns;
		turns->over = turns->now;
		turns->over_ns = service_ns - turns->given_ns;
		turns->given_ns = service_ns;
	}
	turns->now = turn;
}

/**
 * soft_turn_look() - begin the turn of a channel that had no packet, and end that of another one
 * @turns: of the run; the turn before has got its service
 * @ch: busy; nothing happens if it is its turn already
 * @now_ns: when the engine has begun to look
 * @idle_ns: time without work so far in the run
 *
 * soft_turn_give_over() follows, at the latest before the channel is not busy any more.
 *
 * Context: the engine's thread.
 */
void soft_turn_look(struct soft_turns *turns, struct soft_channel *ch, u64 now_ns, u64 idle_ns)
{
	const struct soft_turn turn = { .ch = ch, .enabling = ch->enabling };

	if (!soft_turn_is(&turns->now, ch))
		soft_turn_begin(turns, turn, now_ns, idle_ns);
}

/**
 * soft_turn_next() - begin the turn of a channel that has work, and end that of another one
 * @turns: of the run; the turn before has got its service
 * @ch: busy, or queue_lock is held; nothing ends if it is its turn already
 * @now_ns: when the turn begins
 * @idle_ns: time without work so far in the run
 *
 * soft_turn_give_over() follows, at the latest before the channel is not busy any more.
 *
 * Context: the engine's thread.
 */
void soft_turn_next(struct soft_turns *turns, struct soft_channel *ch, u64 now_ns, u64 idle_ns)
{
	soft_turn_look(turns, ch, now_ns, idle_ns);
	turns->worked = turns->now;
}

/**
 * soft_turn_idle() - go on with the turn of the channel that has worked last, if there is one
 * @turns: of the run, whose engine has found no packet on any channel
 * @now_ns: the time; no time without work has begun before it that is not in @idle_ns
 * @idle_ns: time without work so far in the run
 *
 * soft_turn_give_over() follows, as after soft_turn_look().
 *
 * Context: the engine's thread.
 */
void soft_turn_idle(struct soft_turns *turns, u64 now_ns, u64 idle_ns)
{
	const struct soft_turn *worked = &turns->worked;

	if (worked->ch && (turns->now.ch != worked->ch || turns->now.enabling != worked->enabling))
		soft_turn_begin(turns, *worked, now_ns, idle_ns);
}

/* Gives a turn that is over its service, if it has not got that. With queue_lock held. */
void soft_turn_give_over(struct soft_turns *turns)
{
	if (likely(!turns->over.ch))
		return;
	soft_turn_give(&turns->over, turns->over_ns);
	turns->over.ch = NULL;
}

/**
 * soft_turn_note() - note what the run has got so far, to tell the guest
 * @turns: of the run
 * @now_ns: the time; not before the turn began
 * @idle_ns: time without work up to then
 *
 * soft_turn_tell() follows, before another turn begins.
 *
 * Context: the engine's thread.
 */
void soft_turn_note(struct soft_turns *turns, u64 now_ns, u64 idle_ns)
{
	turns->ran_ns = now_ns - turns->begin_ns - idle_ns;
	turns->untold = true;
}

/* Shows the guest what the turn has got as of soft_turn_note(). With queue_lock held. */
void soft_turn_tell(struct soft_turns *turns)
{
	if (!turns->untold)
		return;
	turns->untold = false;
	if (turns->now.ch)
		soft_turn_show(&turns->now, turns->ran_ns - turns->given_ns);
}

/**
 * soft_turn_wait() - begin the turn of the channel that has waited for its request for longest
 * @engine: in a run; no channel is ready
 * @now_ns: the time
 * @idle_ns: time without work so far in the run
 * Context: the engine's thread; takes queue_lock.
 */
void soft_turn_wait(struct soft_engine *engine, u64 now_ns, u64 idle_ns)
{
	struct soft_queues *queues = engine->queues;
	struct soft_queue *queue = &queues->queue[engine->index];
	struct soft_channel *ch;

	raw_spin_lock(&queues->queue_lock);
	ch = list_first_entry_or_null(&queue->stalled, struct soft_channel, waiting);
	if (ch) {
		soft_turn_next(&engine->turns, ch, now_ns, idle_ns);
		soft_turn_give_over(&engine->turns);
	}
	raw_spin_unlock(&queues->queue_lock);
}

/*
 * Gives the last turn what is left of what the vGPU was charged for the runs that are over. The
 * charge of a run that has just ended may be missing; then there is less than nothing left, if
 * earlier turns of that run have got theirs. During a run there is nothing left, as this was called
 * when it began. With queue_lock held.
 */
void soft_turn_settle(struct soft_queues *queues, unsigned int engine)
{
	struct soft_queue *queue = &queues->queue[engine];
	s64 rest_ns;

	lockdep_assert_held(&queues->queue_lock);
	if (!queue->last.ch)
		return;
	rest_ns = vgpu_engine_charged_ns(queues->mem->vgpu, engine) - queue->given_ns;
	if (rest_ns <= 0)
		return;
	soft_turn_give(&queue->last, rest_ns);
	queue->given_ns += rest_ns;
}

/**
 * soft_turn_end_run() - keep a run's last turn until the run has been charged
 * @engine: leaves the run
 * Context: the engine's thread; queue_lock held.
 */
void soft_turn_end_run(struct soft_engine *engine)
{
	struct soft_queue *queue = &engine->queues->queue[engine->index];
	const struct soft_turn *now = &engine->turns.now;

	lockdep_assert_held(&engine->queues->queue_lock);
	soft_turn_tell(&engine->turns);
	if (!now->ch)
		return;
	/* What was left for the turn before has been given to it when the run began. */
	queue->last = *now;
	queue->given_ns += engine->turns.given_ns;
}

/* Begins a channel's time since it was enabled. With queue_lock held. */
void soft_turn_enable(struct soft_channel *ch, u64 now_ns)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	ch->enabled_ns = now_ns;
	ch->enabling++;
	ch->before_ns = ch->service_ns;
	ch->moved_ns = 0;
	ch->told_ns = 0;
	if (ch->hw)
		WRITE_ONCE(ch->hw->service_ns, cpu_to_le64(0));
}

static void soft_turn_settle_channel(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	unsigned int i;

	for (i = 0; i < SOFT_ENGINES; i++)
		if (queues->queue[i].last.ch == ch)
			soft_turn_settle(queues, i);
}

/**
 * soft_turn_told_ns() - tell what the guest is shown of an enabled channel's service
 * @ch: the channel
 *
 * Nothing goes on to be added to it until soft_queue_begin(), if all runs of the vGPU are charged.
 *
 * Context: any; queue_lock held.
 * Return: service since the channel was enabled, here or before the vGPU was moved here, in ns.
 */
u64 soft_turn_told_ns(struct soft_channel *ch)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	soft_turn_settle_channel(ch);
	return ch->service_ns - ch->before_ns + ch->moved_ns;
}

/* Has what the guest is shown of an enabled channel go on from @told_ns. With queue_lock held. */
void soft_turn_move(struct soft_channel *ch, u64 told_ns)
{
	const struct soft_turn turn = { .ch = ch, .enabling = ch->enabling };

	ch->moved_ns += told_ns - soft_turn_told_ns(ch);
	ch->told_ns = 0;
	soft_turn_show(&turn, 0);
}

/* Forgets which channels were enabled, and their service. No engine works for the vGPU. */
void soft_turn_forget(struct soft_queues *queues)
{
	struct soft_queue *queue;
	u32 i;

	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++) {
		queue = &queues->queue[i];
		queue->last.ch = NULL;
		queue->given_ns = vgpu_engine_charged_ns(queues->mem->vgpu, i);
	}
	for (i = 0; i < queues->nr_channels; i++) {
		queues->channel[i].enabled_ns = 0;
		queues->channel[i].service_ns = 0;
		queues->channel[i].before_ns = 0;
		queues->channel[i].moved_ns = 0;
	}
	raw_spin_unlock(&queues->queue_lock);
}

/* The guest may be changing the label: each word of it is read once, and then checked. */
static void soft_turn_label(const struct soft_channel *ch, struct vgpu_ctl_channel *out)
{
	const u64 *from = (const void *)ch->hw + VGPU_HW_LABEL;
	struct vgpu_hw_label label;
	u64 *to = (u64 *)&label;
	unsigned int i;

	BUILD_BUG_ON(sizeof(label) % 8 || sizeof(label.comm) != sizeof(out->comm));
	for (i = 0; i < sizeof(label) / 8; i++)
		to[i] = READ_ONCE(from[i]);
	if (le32_to_cpu(label.magic) != VGPU_HW_LABEL_MAGIC)
		return;
	out->flags |= VGPU_CHANNEL_LABEL;
	out->client = le64_to_cpu(label.client);
	out->pid = le32_to_cpu(label.pid);
	out->uid = le32_to_cpu(label.uid);
	memcpy(out->comm, label.comm, strnlen((const char *)label.comm, sizeof(label.comm)));
}

/**
 * soft_turn_report() - struct vgpu_gpu_ops.channel
 * @ch: the channel
 * @out: zeroed; filled in
 *
 * A channel that is disabled has no label.
 *
 * Context: any; takes queue_lock.
 * Return: false if the channel was not enabled since the vGPU was opened; @out is unchanged.
 */
bool soft_turn_report(struct soft_channel *ch, struct vgpu_ctl_channel *out)
{
	struct soft_queues *queues = ch->queues;

	raw_spin_lock(&queues->queue_lock);
	soft_turn_settle_channel(ch);
	if (ch->enabled_ns) {
		out->channel = ch->index;
		out->engine = ch->engine;
		out->state = ch->state;
		out->enabled_ns = ch->enabled_ns;
		out->total_busy_ns = ch->service_ns;
		out->busy_ns = out->total_busy_ns - ch->before_ns;
		if (ch->hw)
			soft_turn_label(ch, out);
	}
	raw_spin_unlock(&queues->queue_lock);
	return out->enabled_ns;
}
