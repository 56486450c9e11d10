/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of a dispatch that are in flight, and which of them a unit goes on with. Pure logic,
 * compiled in user space too. Allocates nothing and has no lock: calls for one dispatch must not
 * overlap (struct soft_context.lock).
 */
#ifndef _VGPU_SOFT_FLIGHTS_H
#define _VGPU_SOFT_FLIGHTS_H

#include <linux/list.h>
#include <linux/types.h>

#include "../memory/space.h"
#include "../simt/simt.h"

struct soft_context;
struct soft_unit;

/**
 * struct soft_context_size - what a flight has room for
 * @warps: bytes of warps
 * @data:  bytes of private and local memory
 */
struct soft_context_size {
	size_t warps;
	size_t data;
};

/* What a flight does. */
enum soft_flight_state {
	SOFT_FLIGHT_EMPTY,	/* it has no group */
	SOFT_FLIGHT_IDLE,	/* it has one that no unit works on */
	SOFT_FLIGHT_UNIT,	/* a unit works on it */
	SOFT_FLIGHT_WANT,	/* its group waits for a page */
	SOFT_FLIGHT_FAULT,	/* its group has faulted */
};

/**
 * struct soft_flight - a group in flight, and others of its dispatch after it
 * @mem:     what the program finds at its addresses
 * @group:   registers, position and all other state of the group
 * @context: of the dispatch
 * @unit:    works on it, or did so last
 * @all:     in struct soft_flights.all
 * @link:    in the list of its @state, unless that is SOFT_FLIGHT_UNIT or SOFT_FLIGHT_FAULT
 * @state:   what it does
 * @begun:   @group is in flight
 * @turn:    struct soft_flights.turns when it became idle last
 * @want:    with SIMT_WAIT, where the page is that the group waits for; its bytes are 0 if it waits
 *           for none, and only the section was to end
 * @end_ns:  when this section is to end, by ktime_get_ns()
 * @looks:   how often the program had to look for a page in this section
 * @piece:   see soft_lanes_section()
 * @size:    of @warps and @data; constant
 * @warps:   the interpreter's state, with pointers of the host in it: so it lies apart from @data
 * @data:    private and local memory
 */
struct soft_flight {
	struct simt_mem mem;
	struct simt_group group;
	struct soft_context *context;
	struct soft_unit *unit;
	struct list_head all;
	struct list_head link;
	enum soft_flight_state state;
	bool begun;
	u32 turn;
	struct soft_place want;
	u64 end_ns;
	u32 looks;
	u32 piece;
	struct soft_context_size size;
	void *warps;
	void *data;
};

/**
 * struct soft_flights - the flights of a dispatch
 * @all:    all of them
 * @empty:  those that have no group
 * @idle:   those that no unit works on, that which has waited for longest first; see
 *          soft_flights_take()
 * @want:   those that wait for pages, likewise
 * @nr:     length of @all
 * @nr_on:  how many have a unit
 * @turns:  how often flights have become idle
 * @fault:  of those that have faulted, that of the first group; NULL: none has. Then no flight is
 *          taken any more
 */
struct soft_flights {
	struct list_head all;
	struct list_head empty;
	struct list_head idle;
	struct list_head want;
	unsigned int nr;
	unsigned int nr_on;
	u32 turns;
	struct soft_flight *fault;
};

void soft_flights_init(struct soft_flights *flights);
void soft_flights_add(struct soft_flights *flights, struct soft_flight *flight, bool begun);
struct soft_flight *soft_flights_take(struct soft_flights *flights,
				      const struct simt_dispatch *dispatch,
				      struct soft_unit *unit);
void soft_flights_give(struct soft_flights *flights, struct soft_flight *flight,
		       enum simt_end end);
struct soft_flight *soft_flights_wants(struct soft_flights *flights);
void soft_flights_resume_one(struct soft_flights *flights, struct soft_flight *flight);
void soft_flights_resume(struct soft_flights *flights);
unsigned int soft_flights_ready(const struct soft_flights *flights,
				const struct simt_dispatch *dispatch);
bool soft_flights_done(const struct soft_flights *flights, const struct simt_dispatch *dispatch);
bool soft_flights_ended(const struct soft_flights *flights, const struct simt_dispatch *dispatch);
u64 soft_flights_executed(const struct soft_flights *flights);

#endif /* _VGPU_SOFT_FLIGHTS_H */
