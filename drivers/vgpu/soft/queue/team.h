/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Teams: the units of an engine that help the one that leads. They work on the leader's packet, and
 * on packets of other channels of the vGPU that the leader has taken for that, in the leader's
 * sections only: the leader opens a section, works on its packet itself, closes the section and
 * waits until all helpers have left. So outside of its sections an engine is one thread, and
 * whatever looks at the leader, or stops it, need not know of helpers.
 */
#ifndef _VGPU_SOFT_TEAM_H
#define _VGPU_SOFT_TEAM_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct soft_channel;
struct soft_engine;
struct soft_unit;

#define SOFT_UNITS_MAX		16

/**
 * struct soft_team - the helpers of an engine
 * @helper: the units; constant
 * @nr:     their number; constant
 * @lock:   protects the following fields up to @number. A leaf; helpers take it with preemption off
 * @ch:     channels whose packets are worked on in the open section, the leader's first
 * @nr_ch:  their number; 0: no section is open
 * @most:   how many helpers may join this section
 * @nr_on:  how many are at work in it
 * @joined: how many have joined it so far
 * @cpu:    processor of the leader when it opened the section; helpers read it without the lock
 *          too
 * @number: of the section; the leader increments it, and helpers read it without the lock too
 * @leave:  helpers are to leave the section before its end; read without a lock
 * @end_ns: when the section is to end, by ktime_get_ns(); constant while it is open
 * @fair_ns: a section that lasts until then is one that helpers had time to join. This and the
 *          following fields are the leader's
 * @missed: how many such sections in a row no helper has joined
 * @skip:   so many sections are not opened: helpers get no processor anyway
 * @helped: how often a helper has joined a section, in all
 * @beside: how often helpers have got on with another packet than the leader's, in all: counted
 *          once for each such packet in a section
 * @called: a packet beside the leader's has ended, and the leader is to go there
 */
struct soft_team {
	struct soft_unit *helper;
	unsigned int nr;
	raw_spinlock_t lock;
	struct soft_channel *ch[SOFT_UNITS_MAX];
	unsigned int nr_ch;
	unsigned int most;
	unsigned int nr_on;
	unsigned int joined;
	unsigned int cpu;
	u32 number;
	bool leave;
	u64 end_ns;
	u64 fair_ns;
	u32 missed;
	u32 skip;
	u64 helped;
	u64 beside;
	bool called;
};

int soft_team_init(struct soft_engine *engine, const char *gpu_name);
void soft_team_exit(struct soft_engine *engine);
unsigned int soft_team_ready(struct soft_engine *engine);
void soft_team_open(struct soft_engine *engine, struct soft_channel *const *ch, unsigned int nr_ch,
		    unsigned int most, u64 end_ns);
void soft_team_close(struct soft_engine *engine, bool leave);

#endif /* _VGPU_SOFT_TEAM_H */
