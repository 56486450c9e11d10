/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Teams: the units of an engine that help the one that leads. They work on the leader's packet, and
 * on packets of other channels of the vGPU that the leader has taken for that, in the leader's
 * sections only: the leader opens a section, works on its packet itself, closes the section and
 * waits until all helpers have left. So outside of its sections an engine is one thread, and
 * whatever looks at the leader, or stops it, need not know of helpers.
 *
 * All of them work in pieces of SOFT_TEAM_PIECE_NS, so that others get the processor, but not in
 * step: a section stays open from one piece of the leader's to the next while nothing needs it to
 * be closed, and helpers leave it and join it again when they like. Once it is closed they leave as
 * soon as they can.
 */
#ifndef _VGPU_SOFT_TEAM_H
#define _VGPU_SOFT_TEAM_H

#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/types.h>

struct soft_channel;
struct soft_engine;
struct soft_unit;

#define SOFT_UNITS_MAX		16

/* A helper leaves a section after so long, and joins it again if it is still open. */
#define SOFT_TEAM_PIECE_NS	(50 * NSEC_PER_USEC)

/**
 * struct soft_team - the helpers of an engine
 * @helper: the units; constant
 * @nr:     their number; constant
 * @lock:   protects the following fields up to @end_ns. A leaf; helpers take it with preemption off
 * @ch:     channels whose packets are worked on in the open section, the leader's first
 * @nr_ch:  their number; 0: no section is open
 * @most:   how many helpers may join this section
 * @nr_on:  how many are at work in it
 * @joined: how often one has joined it so far
 * @seen:   @joined when the leader last looked
 * @cpu:    processor of the leader when it last looked; helpers read it without the lock too
 * @number: of times that the leader has called helpers; they read it without the lock too
 * @end_ns: when all are to have left, unless the leader moves it on, by ktime_get_ns()
 * @leave:  helpers are to leave the section at once; read and written without a lock
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
	unsigned int seen;
	unsigned int cpu;
	u32 number;
	u64 end_ns;
	bool leave;
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
bool soft_team_extend(struct soft_engine *engine, u64 end_ns);
void soft_team_close(struct soft_engine *engine);

#endif /* _VGPU_SOFT_TEAM_H */
