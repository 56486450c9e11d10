// SPDX-License-Identifier: GPL-2.0
/*
 * Flights of a context: those of its dispatch, and spare ones for others. Where the engine has
 * several units the worker makes some, as far as there is memory and room for them.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/minmax.h>

#include "../queue/queues.h"
#include "context.h"
#include "flight.h"
#include "packet_types.h"
#include "work.h"

/*
 * So many are begun between two looks at flags: memory of their warps, which is in no cache, is
 * written to in 16 us at most for each.
 */
#define SOFT_GROW_MOST		2

static_assert(SOFT_UNITS_MAX <= SIMT_FLIGHTS);	/* soft_context_put_aside() */

/**
 * soft_context_flights() - compute how many flights are of use to a channel's packet
 * @ch: the channel
 * Context: any.
 * Return: one for each unit, if there are so many groups.
 */
unsigned int soft_context_flights(const struct soft_channel *ch)
{
	const struct soft_dispatch_operands *op = soft_dispatch_operands(&ch->exec.packet);
	unsigned int units = 1 + ch->queues->engine[ch->engine].team.nr, nr = 1, k;

	for (k = 0; k < 3; k++)
		nr = min(nr * min((op->grid[k] - 1) / op->group[k] + 1, units), units);
	return nr;
}

/* Adds a flight to those of a dispatch that has begun. Context: any; does not sleep. */
void soft_context_add(struct soft_context *context, struct soft_flight *flight)
{
	soft_flight_set(flight, context);
	simt_group_init(&flight->group, &context->dispatch);
	soft_flights_add(&context->flights, flight, false);
}

/**
 * soft_context_grow() - get closer to as many flights as units can work on
 * @ch: busy, with a dispatch that has begun, on which no helper works
 * Context: the engine's thread; does not sleep.
 * Return: whether there are more to be got.
 */
bool soft_context_grow(struct soft_channel *ch)
{
	struct soft_context *context = soft_context(ch);
	struct soft_flights *flights = &context->flights;
	unsigned int most = soft_context_flights(ch), i;
	struct soft_flight *flight;

	for (i = 0; flights->nr < most && simt_dispatch_left(&context->dispatch); i++) {
		flight = list_first_entry_or_null(&context->spare, struct soft_flight, link);
		if (!flight || i == SOFT_GROW_MOST)
			return flight;
		list_del(&flight->link);
		soft_context_add(context, flight);
	}
	return false;
}

/**
 * soft_context_idle() - keep the flights of a dispatch that has ended
 * @context: had a dispatch, or had none; its flights but for its own are spare now
 * Context: any; does not sleep.
 */
void soft_context_idle(struct soft_context *context)
{
	struct soft_flight *flight;

	list_for_each_entry(flight, &context->flights.all, all)
		if (flight != &context->own)
			list_add_tail(&flight->link, &context->spare);
	soft_flights_init(&context->flights);
}

/* Frees the flights of a context but for its own. May sleep. */
void soft_context_free_flights(struct soft_context *context)
{
	struct soft_flight *flight, *next;

	soft_context_idle(context);
	list_for_each_entry_safe(flight, next, &context->spare, link)
		soft_flight_free(context->compute, flight);
}

/**
 * soft_context_lacks() - tell whether flights are to be made for a context
 * @context: idle
 * @nr: how many it should have, its own with them
 * Context: any.
 * Return: whether it has fewer, and none was in vain just now.
 */
bool soft_context_lacks(const struct soft_context *context, unsigned int nr)
{
	return context->made < nr && !(context->lacks && time_before(jiffies, context->again));
}

/**
 * soft_context_fill() - make flights for a context
 * @context: belongs to the caller
 * @nr: how many it should have, its own with them
 * Context: sleeps; not in an engine's thread.
 * Return: -ENOMEM, or -EBUSY: other flights leave no room; or 0, also if that was so just now.
 */
int soft_context_fill(struct soft_context *context, unsigned int nr)
{
	struct soft_flight *flight;
	int ret = 0;

	while (soft_context_lacks(context, nr)) {
		flight = soft_flight_alloc(context->compute, &context->own.size, true, &ret);
		context->lacks = !flight;
		context->again = jiffies + SOFT_LACKS_JIFFIES;
		if (!flight)
			break;
		list_add_tail(&flight->link, &context->spare);
		context->made++;
	}
	return ret;
}
