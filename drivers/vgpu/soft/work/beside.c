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
	beside->taken = 1;
	beside->lacks = false;
}

/*
 * As the leader does before a section of its own. Returns how many units there is work for. A
 * dispatch that has not executed an instruction may have to begin anew: there is none for it.
 */
static unsigned int soft_beside_prepare(struct soft_channel *ch, u64 *before)
{
	struct soft_context *context = soft_context(ch);

	*before = soft_context_executed(context);
	if (!*before)
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
 * Context: the leader's thread, outside of a section; does not sleep.
 * Return: how many units the added ones have work for.
 */
unsigned int soft_beside_take(struct soft_beside *beside, struct soft_engine *engine,
			      unsigned int most)
{
	unsigned int units = 0, ready, i;

	beside->ready = READ_ONCE(engine->queues->queue[engine->index].nr_ready);
	if (beside->ready)
		beside->taken += soft_queue_borrow(engine, beside->ch + 1, most);
	for (i = 1; i < beside->taken && units < most; i++) {
		ready = soft_beside_prepare(beside->ch[i], &beside->before[beside->nr]);
		if (!ready)
			continue;
		units += ready;
		swap(beside->ch[beside->nr], beside->ch[i]);
		beside->nr++;
	}
	beside->lacks = units < most;
	return units;
}

/* Whether the leader has nothing to do for a dispatch that units are at work on. */
static bool soft_beside_alone(struct soft_channel *ch)
{
	struct soft_context *context = soft_context(ch);
	struct soft_flights *flights = &context->flights;
	bool alone;

	raw_spin_lock(&context->lock);
	alone = !soft_flights_wants(flights) && !soft_flights_ended(flights, &context->dispatch);
	raw_spin_unlock(&context->lock);
	return alone;
}

/**
 * soft_beside_stays() - tell whether a section may stay open
 * @beside: its dispatches, on which units are at work
 * @engine: the engine
 * Context: the leader's thread, between two pieces of its work; does not sleep.
 * Return: false if one has ended, has failed or wants a page, if a channel that was taken is being
 * disabled, or if another one may have work for units that had none when the section was opened.
 */
bool soft_beside_stays(const struct soft_beside *beside, const struct soft_engine *engine)
{
	unsigned int i;

	if (beside->lacks &&
	    READ_ONCE(engine->queues->queue[engine->index].nr_ready) != beside->ready)
		return false;
	for (i = 0; i < beside->taken; i++)
		if (READ_ONCE(beside->ch[i]->stop))
			return false;
	for (i = 0; i < beside->nr; i++)
		if (!soft_beside_alone(beside->ch[i]))
			return false;
	return true;
}

/* Gets the pages that helpers could not get, as far as that does not wait. */
static void soft_beside_back(struct soft_unit *unit, struct soft_flights *flights)
{
	struct soft_flight *flight;

	while (!soft_stop_told(unit->engine) && (flight = soft_flights_wants(flights)) &&
	       soft_space_back(&unit->view, &flight->want))
		soft_flights_resume_one(flights, flight);
}

/* Notes what units have done of a channel's dispatch. */
static void soft_beside_note(struct soft_unit *unit, struct soft_channel *ch, u64 before)
{
	struct soft_team *team = &unit->engine->team;
	struct soft_compute *compute = soft_compute(ch);
	struct soft_context *context = soft_context(ch);
	u64 done = soft_context_executed(context) - before;

	if (done)
		team->beside++;
	WRITE_ONCE(compute->insns, compute->insns + done);
	ch->exec.ended = soft_flights_ended(&context->flights, &context->dispatch);
	team->called |= ch->exec.ended;
	soft_beside_back(unit, &context->flights);
}

/**
 * soft_beside_give_back() - give back the channels that soft_beside_take() has taken, if any
 * @beside: the section is over
 * @unit: leads
 * Context: the leader's thread; does not sleep.
 */
void soft_beside_give_back(struct soft_beside *beside, struct soft_unit *unit)
{
	unsigned int i;

	for (i = 1; i < beside->nr; i++)
		soft_beside_note(unit, beside->ch[i], beside->before[i]);
	if (beside->taken > 1)
		soft_queue_give_back(unit->engine, beside->ch + 1, beside->taken - 1);
}
