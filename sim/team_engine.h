/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What soft/queue/team.c uses of the rest of an engine: for programs that include that file, and
 * are compiled with -D_VGPU_SOFT_QUEUES_H.
 */
#ifndef _SIM_TEAM_ENGINE_H
#define _SIM_TEAM_ENGINE_H

#include <linux/types.h>

#include "soft/queue/team.h"
#include "soft/queue/unit.h"

struct soft_packet_desc {
	void (*help)(struct soft_unit *unit, struct soft_channel *ch);
};

struct soft_channel {
	u32 space;
	struct {
		struct {
			const struct soft_packet_desc *desc;
		} packet;
	} exec;
};

struct soft_engine {
	struct soft_unit lead;
	struct soft_team team;
	const void *cpus;
	u64 runs;
};

#endif /* _SIM_TEAM_ENGINE_H */
