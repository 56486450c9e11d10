// SPDX-License-Identifier: GPL-2.0
/*
 * The flights of a dispatch (soft/work/flights.h): whatever two units do in whatever order, each
 * group begins once, is worked on by one unit at a time and is not lost; what is taken is what the
 * unit has worked on last, or what has waited for longest; nothing is taken after a fault, and it
 * is that of the first group.
 */
#include "vgpu_test.h"

#include <linux/bitops.h>

#include "soft/work/flights.h"

#define UNITS		2
#define FLIGHTS		3
#define GROUPS		4u
#define STEPS		7	/* of a sequence */

/* What a unit does: takes a flight, or gives back the one that it has. Both can resume. */
enum { TAKE, GIVE_MORE, GIVE_WANT, GIVE_WAIT, GIVE_DONE, GIVE_FAULT, RESUME, ACTS };

/* What a group has come to. */
enum fate { NOT_BEGUN, IN_FLIGHT, WANTS, ENDED, FAULTED };

/**
 * struct world - flights, and what they should be
 * @dispatch: its groups are in a row
 * @flights: the flights
 * @flight: these
 * @unit:   what the units have
 * @fate:   of groups
 * @of:     in flight or not, the group of a flight; GROUPS: none
 * @since:  when the flight got idle, or its group wanted a page
 * @by:     the unit that a flight had last; UNITS: none
 * @turn:   how many flights had got idle when the flight did
 * @turns:  how many have
 * @now:    counts
 * @held:   flights that units have
 * @faulted: some group has
 */
struct world {
	struct simt_dispatch dispatch;
	struct soft_flights flights;
	struct soft_flight flight[FLIGHTS];
	struct soft_flight *unit[UNITS];
	enum fate fate[GROUPS];
	u32 of[FLIGHTS];
	u32 since[FLIGHTS];
	u32 by[FLIGHTS];
	u32 turn[FLIGHTS];
	u32 turns;
	u32 now;
	u32 held;
	bool faulted;
};

static u32 taken, refused, complete, faults, own;

/* Nobody looks into them. */
static struct soft_unit {
	char unused;
} unit_of[UNITS], *const units[UNITS] = { &unit_of[0], &unit_of[1] };

/* @begun flights have begun already, with groups that are not the first ones to be handed out. */
static void world_init(struct world *w, u32 begun)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->dispatch.left = GROUPS;
	w->dispatch.given = begun;
	soft_flights_init(&w->flights);
	for (i = 0; i < FLIGHTS; i++) {
		w->flight[i].group.dispatch = &w->dispatch;
		w->of[i] = GROUPS;
		w->by[i] = UNITS;
		if (i < begun) {
			w->turn[i] = w->turns++;
			w->of[i] = i;
			w->fate[i] = IN_FLIGHT;
			w->flight[i].group.group_id[0] = i;
			w->since[i] = w->now++;
		}
		soft_flights_add(&w->flights, &w->flight[i], i < begun);
	}
}

static u32 number(const struct world *w, const struct soft_flight *flight)
{
	return flight - w->flight;
}

/* Flights whose group has that fate and has no unit, that which has waited for longest; or NULL. */
static const struct soft_flight *longest(const struct world *w, enum fate fate)
{
	const struct soft_flight *found = NULL;
	u32 i;

	for (i = 0; i < FLIGHTS; i++)
		if (w->of[i] < GROUPS && w->fate[w->of[i]] == fate && !(w->held >> i & 1) &&
		    (!found || w->since[i] < w->since[number(w, found)]))
			found = &w->flight[i];
	return found;
}

/* What a unit takes of what is idle: its own, if no other one has waited for much longer. */
static const struct soft_flight *next(const struct world *w, u32 unit)
{
	const struct soft_flight *first = longest(w, IN_FLIGHT), *own = NULL;
	u32 i;

	for (i = 0; i < FLIGHTS; i++)
		if (w->of[i] < GROUPS && w->fate[w->of[i]] == IN_FLIGHT && !(w->held >> i & 1) &&
		    w->by[i] == unit && (!own || w->since[i] < w->since[number(w, own)]))
			own = &w->flight[i];
	if (own && w->turn[number(w, own)] - w->turn[number(w, first)] < FLIGHTS)
		return own;
	return first;
}

static bool any_empty(const struct world *w)
{
	u32 i;

	for (i = 0; i < FLIGHTS; i++)
		if (w->of[i] == GROUPS && !(w->held >> i & 1))
			return true;
	return false;
}

/* How many flights have something to do, as no unit works. */
static u32 ready(const struct world *w)
{
	u32 idle = 0, empty = 0, i;

	for (i = 0; i < FLIGHTS; i++) {
		empty += w->of[i] == GROUPS;
		idle += w->of[i] < GROUPS && w->fate[w->of[i]] == IN_FLIGHT;
	}
	return idle + min(empty, (u32)(GROUPS - w->dispatch.given));
}

static void check_take(struct world *w, u32 unit)
{
	const struct soft_flight *idle = next(w, unit);
	struct soft_flight *flight = soft_flights_take(&w->flights, &w->dispatch, units[unit]);
	bool left = w->dispatch.given < GROUPS;
	u32 i;

	w->unit[unit] = flight;
	if (!flight) {
		refused++;
		check_that(w->faulted || (!idle && (!left || !any_empty(w))), "nothing is taken");
		return;
	}
	taken++;
	i = number(w, flight);
	check_that(!w->faulted && !(w->held >> i & 1), "flight %u is taken", i);
	w->held |= 1 << i;
	own += w->by[i] == unit;
	w->by[i] = unit;
	if (idle) {
		check_that(flight == idle && flight->begun, "flight %u, not %u", i,
			   number(w, idle));
		return;
	}
	check_that(left && w->of[i] == GROUPS && !flight->begun, "flight %u is not empty", i);
	/* As simt_dispatch_next() does. */
	w->of[i] = w->dispatch.given++;
	check_that(w->fate[w->of[i]] == NOT_BEGUN, "group %u begins again", w->of[i]);
	w->fate[w->of[i]] = IN_FLIGHT;
	flight->group.group_id[0] = w->of[i];
	flight->begun = true;
}

static void check_give(struct world *w, u32 unit, u32 act)
{
	static const enum simt_end ends[] = {
		[GIVE_MORE] = SIMT_MORE, [GIVE_WANT] = SIMT_WAIT, [GIVE_WAIT] = SIMT_WAIT,
		[GIVE_DONE] = SIMT_DONE, [GIVE_FAULT] = SIMT_FAULT,
	};
	static const enum fate fates[] = {
		[GIVE_MORE] = IN_FLIGHT, [GIVE_WANT] = WANTS, [GIVE_WAIT] = IN_FLIGHT,
		[GIVE_DONE] = ENDED, [GIVE_FAULT] = FAULTED,
	};
	struct soft_flight *flight = w->unit[unit];
	u32 i = number(w, flight);

	flight->want.bytes = act == GIVE_WANT;
	w->fate[w->of[i]] = fates[act];
	w->since[i] = w->now++;
	if (fates[act] == IN_FLIGHT)
		w->turn[i] = w->turns++;
	w->held &= ~(1 << i);
	w->unit[unit] = NULL;
	if (act == GIVE_DONE)
		w->of[i] = GROUPS;
	w->faulted = w->faulted || act == GIVE_FAULT;
	soft_flights_give(&w->flights, flight, ends[act]);
}

static void check_resume(struct world *w)
{
	struct soft_flight *flight;

	for (;;) {
		flight = (struct soft_flight *)longest(w, WANTS);
		if (!flight)
			break;
		w->fate[w->of[number(w, flight)]] = IN_FLIGHT;
		w->since[number(w, flight)] = w->now++;
		w->turn[number(w, flight)] = w->turns++;
	}
	soft_flights_resume(&w->flights);
}

/* What can be asked at any time. */
static void check_all(struct world *w)
{
	u32 ended = 0, first = GROUPS, i;

	for (i = 0; i < GROUPS; i++)
		ended += w->fate[i] == ENDED;
	for (i = GROUPS; i--;)
		if (w->fate[i] == FAULTED)
			first = i;
	check_that(soft_flights_done(&w->flights, &w->dispatch) == (ended == GROUPS),
		   "%u of %u groups have ended", ended, GROUPS);
	check_that(w->flights.fault ? w->flights.fault->group.group_id[0] == first :
				      first == GROUPS, "the fault of group %u", first);
	check_that(soft_flights_wants(&w->flights) == longest(w, WANTS), "who wants a page");
	check_that(w->flights.nr == FLIGHTS && w->flights.nr_on == hweight32(w->held),
		   "%u flights, %u have units", w->flights.nr, w->flights.nr_on);
	check_that(!w->faulted || !simt_dispatch_left(&w->dispatch), "groups begin after a fault");
	if (!w->held && !w->faulted)
		check_that(soft_flights_ready(&w->flights, &w->dispatch) == ready(w), "%u are ready",
			   soft_flights_ready(&w->flights, &w->dispatch));
	complete += ended == GROUPS;
	faults += first < GROUPS;
}

/* Returns whether the unit can do that. */
static bool act(struct world *w, u32 unit, u32 what)
{
	if (what == RESUME) {
		if (!longest(w, WANTS))
			return false;
		check_resume(w);
	} else if (what == TAKE) {
		if (w->unit[unit])
			return false;
		check_take(w, unit);
	} else {
		if (!w->unit[unit])
			return false;
		check_give(w, unit, what);
	}
	check_all(w);
	return true;
}

/* A copy of its own, with the links of its own lists, is too much: each sequence begins anew. */
static bool sequence(const u8 *steps, u32 nr, u32 begun)
{
	struct world w;
	u32 i;

	world_init(&w, begun);
	for (i = 0; i < nr; i++)
		if (!act(&w, steps[i] % UNITS, steps[i] / UNITS))
			return false;
	return true;
}

/* All sequences: one that cannot go on like that is not made longer. */
static void all_sequences(u32 begun)
{
	u8 steps[STEPS];
	u32 nr = 1;

	steps[0] = 0;
	while (nr) {
		if (sequence(steps, nr, begun) && nr < STEPS) {
			steps[nr++] = 0;
			continue;
		}
		while (nr && ++steps[nr - 1] == ACTS * UNITS)
			nr--;
	}
}

static void test_all(void **state)
{
	u32 begun;

	for (begun = 0; begun <= FLIGHTS; begun++)
		all_sequences(begun);
	check_that(taken > 1000 && refused > 1000 && faults > 1000 && own > 1000, "%u, %u, %u, %u",
		   taken, refused, faults, own);
}

/* Long ones, at random. */
static void test_long(void **state)
{
	u64 seed = test_seed();
	u32 n, i;

	complete = 0;
	for (n = 0; n < 20000; n++) {
		u32 most = n % 4 ? GIVE_DONE : GIVE_FAULT;
		struct world w;

		world_init(&w, random_next(&seed) % (FLIGHTS + 1));
		for (i = 0; i < 60; i++) {
			u32 what = random_range(&seed, TAKE, most);

			if (random_one_in(&seed, 8))
				what = RESUME;
			act(&w, random_next(&seed) % UNITS, what);
		}
	}
	check_that(complete > 1000, "%u", complete);
}

/* One unit goes round all that are in flight, which may wait for each other. */
static void test_turns(void **state)
{
	u32 seen[FLIGHTS] = {}, i, k;
	struct world w;

	world_init(&w, FLIGHTS);
	for (i = 1; i < 1000; i++) {
		act(&w, 0, TAKE);
		seen[number(&w, w.unit[0])] = i;
		act(&w, 0, GIVE_MORE);
		for (k = 0; k < FLIGHTS; k++)
			check_that(i - seen[k] <= FLIGHTS * FLIGHTS, "flight %u waits", k);
	}
}

static void test_executed(void **state)
{
	struct world w;
	u32 i;

	world_init(&w, 1);
	for (i = 0; i < FLIGHTS; i++)
		w.flight[i].group.executed = 10 + i;
	assert_int_equal(soft_flights_executed(&w.flights), 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
