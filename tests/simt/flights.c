// SPDX-License-Identifier: GPL-2.0
/* Several groups of a random program in flight: see flights.h. */
#include <string.h>

#include "flights.h"
#include "random.h"
#include "simt_host.h"

/* Some interpreter that this CPU can run. */
const struct simt_isa *flights_isa(u64 *seed)
{
	const struct simt_isa *isa;

	do {
		isa = simt_host_isa(random_range(seed, 0, 2));
	} while (!isa);
	return isa;
}

/* Local and private memory have no defined content, so both runs get the same one. */
void flights_begin(struct flights *flights, struct state_world *world, u32 nr, u64 *seed)
{
	struct simt_dispatch *dispatch = &flights->dispatch;
	u64 garbage = random_next(seed);
	u32 i;

	state_world_dispatch(world, dispatch, &flights->group[0]);
	/* When lanes begin to run alone is not part of the state. */
	dispatch->alone = U32_MAX;
	simt_dispatch_begin(dispatch);
	flights->nr = nr;
	flights->begun = 0;
	for (i = 0; i < nr; i++) {
		struct simt_group *group = &flights->group[i];

		*group = flights->group[0];
		state_memory(group, &garbage);
		memset(group->local, 0x11, dispatch->local_bytes);
		memset(group->private, 0x22,
		       simt_private_bytes(dispatch->group, dispatch->private_bytes));
		simt_group_init(group, dispatch);
	}
}

void flights_end(struct flights *flights)
{
	u32 i;

	for (i = 0; i < flights->nr; i++)
		state_memory_free(&flights->group[i]);
}

struct state_flights flights_begun(struct flights *flights)
{
	struct state_flights to = { .executed = flights->dispatch.executed };
	u32 i;

	for (i = 0; i < flights->nr; i++) {
		to.executed += flights->group[i].executed;
		if (flights->begun >> i & 1)
			to.group[to.nr++] = &flights->group[i];
	}
	return to;
}

/* Some group that is in flight, or is now; NULL: the dispatch is complete. */
struct simt_group *flights_some(struct flights *flights, u64 *random)
{
	u32 first = random_range(random, 0, flights->nr - 1), i, k;

	for (k = 0; k < flights->nr; k++) {
		i = (first + k) % flights->nr;
		if (!(flights->begun >> i & 1) &&
		    simt_dispatch_next(&flights->dispatch, &flights->group[i]))
			flights->begun |= 1 << i;
		if (flights->begun >> i & 1)
			return &flights->group[i];
	}
	return NULL;
}

/* Runs a group for a while; it may become another one, or none. */
enum simt_end flights_run(struct flights *flights, struct simt_group *group, u32 budget)
{
	enum simt_end end = simt_group_run(group, budget);

	simt_tlb_flush(group->tlb);
	if (end != SIMT_DONE)
		return end;
	flights->begun &= ~(1 << (group - flights->group));
	return SIMT_MORE;
}
