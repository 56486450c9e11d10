/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside sched: a timeline, shared by timeline.c (what happens on it),
 * entity.c (who wants to be on it) and sched.c (the thread that looks after it).
 */
#ifndef _VGPU_TIMELINE_H
#define _VGPU_TIMELINE_H

#include <linux/spinlock.h>
#include <linux/wait.h>

#include "sched.h"

/**
 * struct vgpu_timeline - one engine's order of service
 * @sched:      whose; constant
 * @index:      which; constant
 * @ops:        the engine; constant
 * @ops_data:   its owner's; constant
 * @timeout_ns: how long the engine has to stop once asked; constant
 * @lock:       protects all below and, but for their tl, the entities. Taken in
 *              any context but a non-maskable interrupt
 * @rq:         what the policy sees
 * @resetting:  the entity for which ops->reset is being called: the engine is
 *              not given anybody, whether or not that run has ended
 * @preempting: the running entity was asked to stop
 * @deadline_ns: of the running entity
 * @start_ns:   when it was put on the engine
 * @start_ran_ns: the engine's time then
 * @preempt_ran_ns: the engine's time at the last look since it was asked to stop
 * @preempt_due_ns: when to look again whether it did
 * @late_ns:    how long it has been able to work since it was asked
 * @until_ns:   nobody may run, though queued, until then; U64_MAX: until
 *              something happens
 * @check_ns:   the kthread looks again by itself then, if not before. Who makes
 *              something due earlier kicks it
 * @last:       the entity that ran last; NULL: none, or gone
 * @nr_entities: entities between init and exit
 * @stopped:    for those who wait for an entity to be off the engine
 * @created_ns: since when the times below count
 * @busy_ns:    service of all entities, gone ones too
 * @runs:       runs begun
 * @switches:   of these, of another entity than the one before
 * @preempts:   requests to stop
 * @resets:     engine resets
 */
struct vgpu_timeline {
	struct vgpu_sched *sched;
	unsigned int index;
	const struct vgpu_timeline_ops *ops;
	void *ops_data;
	u64 timeout_ns;

	spinlock_t lock;	/* all below, and the entities */
	struct vgpu_rq rq;
	struct vgpu_entity *resetting;
	bool preempting;
	u64 deadline_ns;
	u64 start_ns;
	u64 start_ran_ns;
	u64 preempt_ran_ns;
	u64 preempt_due_ns;
	u64 late_ns;
	u64 until_ns;
	u64 check_ns;
	const struct vgpu_entity *last;
	unsigned int nr_entities;
	wait_queue_head_t stopped;

	u64 created_ns;
	u64 busy_ns;
	u64 runs;
	u64 switches;
	u64 preempts;
	u64 resets;
};

/* timeline.c and entity.c, for each other; lock held */
bool vgpu_timeline_needs_kick(struct vgpu_timeline *tl);
void vgpu_timeline_preempt(struct vgpu_timeline *tl, u64 now_ns);
void vgpu_entity_enqueue(struct vgpu_entity *entity, u64 now_ns);
void vgpu_entity_unqueued(struct vgpu_entity *entity, u64 now_ns);

/* timeline.c, for sched.c */
int vgpu_timeline_init(struct vgpu_timeline *tl, struct vgpu_sched *sched,
		       unsigned int index, const struct vgpu_timeline_ops *ops,
		       void *ops_data, const struct vgpu_sched_params *params);
void vgpu_timeline_fini(struct vgpu_timeline *tl);
u64 vgpu_timeline_service(struct vgpu_timeline *tl);
void vgpu_timeline_set_slice(struct vgpu_timeline *tl, u64 slice_ns);

/* sched.c, for both */
void vgpu_sched_kick(struct vgpu_sched *sched);

#endif /* _VGPU_TIMELINE_H */
