/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatches beside the leader's: where one has fewer groups than there are units, other units go
 * on with dispatches of other channels of the vGPU, in the leader's section. They have begun before
 * that. Only the leader begins and ends dispatches: one whose work has ended is the next one of the
 * queue, and the leader goes to it.
 */
#ifndef _VGPU_SOFT_BESIDE_H
#define _VGPU_SOFT_BESIDE_H

#include <linux/types.h>

#include "../queue/team.h"

struct soft_channel;
struct soft_engine;
struct soft_unit;

/**
 * struct soft_beside - the dispatches of a section
 * @ch:     their channels, the leader's first; then those that nobody works on
 * @nr:     how many units may work on
 * @taken:  length of @ch
 * @lacks:  there are units for which they have no work
 * @ready:  struct soft_queue.nr_ready, when these were looked for
 * @before: by channel, how many instructions a dispatch beside the leader's had executed before
 */
struct soft_beside {
	struct soft_channel *ch[SOFT_UNITS_MAX];
	unsigned int nr;
	unsigned int taken;
	bool lacks;
	unsigned int ready;
	u64 before[SOFT_UNITS_MAX];
};

bool soft_beside_any(const struct soft_engine *engine);
void soft_beside_begin(struct soft_beside *beside, struct soft_channel *ch);
unsigned int soft_beside_take(struct soft_beside *beside, struct soft_engine *engine,
			      unsigned int most);
bool soft_beside_stays(const struct soft_beside *beside, const struct soft_engine *engine);
void soft_beside_give_back(struct soft_beside *beside, struct soft_unit *unit);

#endif /* _VGPU_SOFT_BESIDE_H */
