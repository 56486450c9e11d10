/* SPDX-License-Identifier: GPL-2.0 */
/* Several groups of a random program in flight, which one thread executes in turns. */
#ifndef FLIGHTS_H
#define FLIGHTS_H

#include "state_image.h"
#include "state_world.h"

/**
 * struct flights - a dispatch, and what executes groups of it
 * @dispatch: the dispatch
 * @nr:     of @group: groups in flight at most
 * @group:  each with memory
 * @begun:  which of them have a group in flight
 */
struct flights {
	struct simt_dispatch dispatch;
	u32 nr;
	struct simt_group group[STATE_GROUPS];
	u32 begun;
};

const struct simt_isa *flights_isa(u64 *seed);
void flights_begin(struct flights *flights, struct state_world *world, u32 nr, u64 *seed);
void flights_end(struct flights *flights);
struct state_flights flights_begun(struct flights *flights);
struct simt_group *flights_some(struct flights *flights, u64 *random);
enum simt_end flights_run(struct flights *flights, struct simt_group *group, u32 budget);

static inline bool flights_go_on(enum simt_end end)
{
	return end == SIMT_MORE || end == SIMT_WAIT;
}

#endif /* FLIGHTS_H */
