// SPDX-License-Identifier: GPL-2.0
/* Dispatches beside the leader's: see beside.h. */
#include <linux/minmax.h>

#include "../queue/queues.h"
#include "beside.h"
#include "natives.h"
#include "work.h"

/**
 * soft_beside_any() - tell whether the queue may have dispatches for other units
 * @engine: in a run
 * Context: the leader's thread.
 * Return: whether channels are ready, whatever their packets are.
 */
bool soft_beside_any(const struct soft_engine *engine)
{
	return READ_ONCE(engine->queues->queue[engine->index].nr_ready);
}

/* Begins the list of a section's dispatches with that of @ch, which is the leader's. */
void soft_beside_begin(struct soft_beside *beside, struct soft_channel *ch)
{
	beside->ch[0] = ch;
	beside->nr = 1;
}

/* As the leader does before a section of its own. Returns how many units there is work for. */
static unsigned int soft_beside_prepare(struct soft_channel *ch, u64 *before)
{
	struct soft_context *context = soft_context(ch);

	*before = soft_context_executed(context);
	if (!*before || soft_flights_ended(&context->flights, &context->dispatch))
		return 0;
	context->dispatch.native = soft_natives_get(&soft_compute(ch)->programs, context->program);
	soft_flights_resume(&context->flights);
	return soft_flights_ready(&context->flights, &context->dispatch);
}

/**
 * soft_beside_take() - add dispatches of other channels to those of a section
 * @beside: from soft_beside_begin(); soft_beside_give_back() follows
 * @engine: in a run
 * @most: how many units have no work, below SOFT_UNITS_MAX
 *
 * One that has not executed an instruction may have to begin anew, and is left out.
 *
 * Context: the leader's thread, outside of a section; does not sleep.
 * Return: how many units the added ones have work for.
 */
unsigned int soft_beside_take(struct soft_beside *beside, struct soft_engine *engine,
			      unsigned int most)
{
	unsigned int nr = soft_queue_borrow(engine, beside->ch + 1, most), units = 0, i;

	for (i = 1; i <= nr; i++)
		units += soft_beside_prepare(beside->ch[i], &beside->before[i]);
	beside->nr = nr + 1;
	return units;
}

/* Notes what units have done of a channel's dispatch. Returns whether it needs the leader now. */
static bool soft_beside_note(struct soft_engine *engine, struct soft_channel *ch, u64 before)
{
	struct soft_compute *compute = soft_compute(ch);
	struct soft_context *context = soft_context(ch);
	u64 done = soft_context_executed(context) - before;

	if (!before)
		return false;
	if (done)
		engine->team.beside++;
	WRITE_ONCE(compute->insns, compute->insns + done);
	ch->exec.ended = soft_flights_ended(&context->flights, &context->dispatch);
	return ch->exec.ended || soft_flights_wants(&context->flights);
}

/**
 * soft_beside_give_back() - give back the channels that soft_beside_take() has taken, if any
 * @beside: the section is over
 * @engine: in a run
 *
 * Those that need the leader are the first ones of the queue.
 *
 * Context: the leader's thread; does not sleep.
 */
void soft_beside_give_back(struct soft_beside *beside, struct soft_engine *engine)
{
	unsigned int called = 1, i;

	if (beside->nr == 1)
		return;
	for (i = 1; i < beside->nr; i++)
		if (soft_beside_note(engine, beside->ch[i], beside->before[i]))
			swap(beside->ch[called++], beside->ch[i]);
	engine->team.called = called > 1;
	soft_queue_give_back(engine, beside->ch + 1, beside->nr - 1);
}
