// SPDX-License-Identifier: GPL-2.0
/* The groups of a dispatch that are in flight: see flights.h. */
#include "flights.h"

/**
 * soft_flights_init() - set up the flights of a dispatch: it has none
 * @flights: the flights
 * Context: any; pure.
 */
void soft_flights_init(struct soft_flights *flights)
{
	INIT_LIST_HEAD(&flights->all);
	INIT_LIST_HEAD(&flights->empty);
	INIT_LIST_HEAD(&flights->idle);
	INIT_LIST_HEAD(&flights->want);
	flights->nr = 0;
	flights->nr_on = 0;
	flights->turns = 0;
	flights->fault = NULL;
}

static void soft_flights_put(struct soft_flight *flight, enum soft_flight_state state,
			     struct list_head *list)
{
	flight->state = state;
	list_add_tail(&flight->link, list);
}

static void soft_flights_idle(struct soft_flights *flights, struct soft_flight *flight)
{
	flight->turn = flights->turns++;
	soft_flights_put(flight, SOFT_FLIGHT_IDLE, &flights->idle);
}

/**
 * soft_flights_add() - add a flight
 * @flights: the flights
 * @flight: one whose group has its dispatch; it stays until soft_flights_init()
 * @begun: its group is in flight
 * Context: any; pure.
 */
void soft_flights_add(struct soft_flights *flights, struct soft_flight *flight, bool begun)
{
	flight->begun = begun;
	if (begun)
		soft_flights_idle(flights, flight);
	else
		soft_flights_put(flight, SOFT_FLIGHT_EMPTY, &flights->empty);
	list_add_tail(&flight->all, &flights->all);
	flights->nr++;
}

/*
 * The idle flight that a unit is to go on with, or NULL: the one that it has worked on last, whose
 * registers its caches have, unless another one has let as many turns pass as there are flights.
 */
static struct soft_flight *soft_flights_next(struct soft_flights *flights,
					     const struct soft_unit *unit)
{
	struct soft_flight *flight, *first;

	first = list_first_entry_or_null(&flights->idle, struct soft_flight, link);
	list_for_each_entry(flight, &flights->idle, link)
		if (flight->unit == unit)
			return flight->turn - first->turn < flights->nr ? flight : first;
	return first;
}

/**
 * soft_flights_take() - take a flight to work on
 * @flights: the flights
 * @dispatch: their dispatch
 * @unit: works on it until soft_flights_give()
 *
 * A group that has begun comes before one that has not. If the flight has no group, the caller asks
 * simt_dispatch_next() for one. If there is none any more, it gives the flight back as if a group
 * had ended.
 *
 * Context: any; pure.
 * Return: a flight; NULL: there is nothing that a unit can do now.
 */
struct soft_flight *soft_flights_take(struct soft_flights *flights,
				      const struct simt_dispatch *dispatch,
				      struct soft_unit *unit)
{
	struct soft_flight *flight;

	if (flights->fault)
		return NULL;
	flight = soft_flights_next(flights, unit);
	if (!flight && simt_dispatch_left(dispatch))
		flight = list_first_entry_or_null(&flights->empty, struct soft_flight, link);
	if (!flight)
		return NULL;
	list_del(&flight->link);
	flight->state = SOFT_FLIGHT_UNIT;
	flight->unit = unit;
	flights->nr_on++;
	return flight;
}

/* Faults of other groups may follow, of units that work on them yet. */
static void soft_flights_fail(struct soft_flights *flights, struct soft_flight *flight)
{
	flight->state = SOFT_FLIGHT_FAULT;
	if (!flights->fault ||
	    simt_id_before(flight->group.group_id, flights->fault->group.group_id))
		flights->fault = flight;
	simt_dispatch_close(flight->group.dispatch);
}

/**
 * soft_flights_give() - give a flight back
 * @flights: the flights
 * @flight: taken by soft_flights_take()
 * @end: how simt_group_run() has ended; SIMT_WAIT with a place in @flight->want: its group goes on
 *       after soft_flights_resume() only
 * Context: any; pure.
 */
void soft_flights_give(struct soft_flights *flights, struct soft_flight *flight,
		       enum simt_end end)
{
	flights->nr_on--;
	switch (end) {
	case SIMT_DONE:
		flight->begun = false;
		soft_flights_put(flight, SOFT_FLIGHT_EMPTY, &flights->empty);
		break;
	case SIMT_FAULT:
		soft_flights_fail(flights, flight);
		break;
	case SIMT_WAIT:
		if (flight->want.bytes) {
			soft_flights_put(flight, SOFT_FLIGHT_WANT, &flights->want);
			break;
		}
		fallthrough;
	case SIMT_MORE:
		soft_flights_idle(flights, flight);
		break;
	}
}

/* Returns the flight that has waited for a page for longest, or NULL. Context: any; pure. */
struct soft_flight *soft_flights_wants(struct soft_flights *flights)
{
	return list_first_entry_or_null(&flights->want, struct soft_flight, link);
}

/**
 * soft_flights_resume_one() - go on with one that waits for a page, which it looks for again
 * @flights: the flights
 * @flight: the one
 * Context: any; pure.
 */
void soft_flights_resume_one(struct soft_flights *flights, struct soft_flight *flight)
{
	list_del(&flight->link);
	soft_flights_idle(flights, flight);
}

/**
 * soft_flights_resume() - go on with those that wait for pages, which they look for again
 * @flights: the flights
 * Context: any; pure.
 */
void soft_flights_resume(struct soft_flights *flights)
{
	struct soft_flight *flight;

	while ((flight = soft_flights_wants(flights)))
		soft_flights_resume_one(flights, flight);
}

/**
 * soft_flights_ready() - count the flights that units can work on
 * @flights: the flights; no unit works on one
 * @dispatch: their dispatch
 * Context: any; pure.
 * Return: how many soft_flights_take() would give out, one after the other.
 */
unsigned int soft_flights_ready(const struct soft_flights *flights,
				const struct simt_dispatch *dispatch)
{
	u64 left = simt_dispatch_left(dispatch) ? dispatch->left - dispatch->given : 0;
	const struct soft_flight *flight;
	unsigned int nr = 0;

	list_for_each_entry(flight, &flights->idle, link)
		nr++;
	list_for_each_entry(flight, &flights->empty, link)
		if (left) {
			left--;
			nr++;
		}
	return nr;
}

/**
 * soft_flights_done() - tell whether a dispatch is complete
 * @flights: its flights
 * @dispatch: the dispatch
 * Context: any; pure.
 * Return: whether all of its groups have ended well.
 */
bool soft_flights_done(const struct soft_flights *flights, const struct simt_dispatch *dispatch)
{
	return !flights->nr_on && !flights->fault && list_empty(&flights->idle) &&
	       list_empty(&flights->want) && !simt_dispatch_left(dispatch);
}

/**
 * soft_flights_ended() - tell whether no unit can go on with a dispatch
 * @flights: its flights
 * @dispatch: the dispatch
 * Context: any; pure.
 * Return: whether it is complete, or has failed; the flights of other groups may be at work yet.
 */
bool soft_flights_ended(const struct soft_flights *flights, const struct simt_dispatch *dispatch)
{
	return flights->fault || soft_flights_done(flights, dispatch);
}

/**
 * soft_flights_executed() - count the instructions that groups of the flights have executed
 * @flights: the flights
 * Context: any; pure.
 * Return: struct simt_group.executed of all of them.
 */
u64 soft_flights_executed(const struct soft_flights *flights)
{
	const struct soft_flight *flight;
	u64 executed = 0;

	list_for_each_entry(flight, &flights->all, all)
		executed += flight->group.executed;
	return executed;
}
