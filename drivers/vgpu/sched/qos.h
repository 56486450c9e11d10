/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside qos: the state of a run queue and of an entity, shared by qos.c (which moves the tags) and
 * qos_tree.c (the trees of queued entities, ordered by their tags).
 */
#ifndef _VGPU_QOS_H
#define _VGPU_QOS_H

#include <linux/build_bug.h>
#include <linux/math64.h>

#include "policy.h"

/**
 * struct vgpu_qos_entity - an entity under qos
 * @by_due:      in the tree qos->by_due while queued with a guarantee
 * @eligible_ns: key of @by_due: the time from which guarantee and cap let the entity run
 * @deadline_ns: the time by which the entity must have had its next slice of the guarantee
 * @min_deadline_ns: the least @deadline_ns in @by_due's subtree
 * @by_start:    in the tree qos->by_start while queued
 * @place:       key of @by_start: @start as it was when the entity was queued
 * @free_ns:     the time from which the cap lets the entity run: @limit_ns as it was then
 * @min_free_ns: the least @free_ns in @by_start's subtree
 * @reserve_ns:  reservation tag: when the guarantee is due next
 * @limit_ns:    limit tag: the cap does not let the entity run before this time. Without a cap the
 *               tag is unused and lies in the past
 * @start:       virtual start tag: the entity's place in the excess
 * @base_ns:     the time from which @deadline_ns was counted
 * @slice_ns:    the slice with which @deadline_ns was counted
 * @period_ns:   time in which the guarantee's rate gives service of @period_of_ns
 * @period_of_ns: see @period_ns; 0: @period_ns must be computed again
 * @end_ns:      when the entity's last run ended
 * @gap_ns:      minimum time for which the entity had been without work by then
 * @stay_ns:     average time that the engine lingers per run of the guarantee; 0 .. linger_us, the
 *               less the longer the last gap
 * @stayed_ns:   sum of @stay_ns over the runs of the guarantee: when it reaches linger_us in a run,
 *               the engine lingers in that run, and linger_us is subtracted
 * @reserved:    the current run is of the guarantee
 * @idled:       the engine was idle for a part of the entity's last run
 *
 * The trees' nodes and keys come first, as a search reads nothing else.
 */
struct vgpu_qos_entity {
	struct rb_node by_due;
	u64 eligible_ns;
	u64 deadline_ns;
	u64 min_deadline_ns;
	struct rb_node by_start;
	u64 place;
	u64 free_ns;
	u64 min_free_ns;
	u64 reserve_ns;
	u64 limit_ns;
	u64 start;
	u64 base_ns;
	u64 slice_ns;
	u64 period_ns;
	u64 period_of_ns;
	u64 end_ns;
	u32 gap_ns;
	u32 stay_ns;
	u32 stayed_ns;
	bool reserved;
	bool idled;
};

static_assert(sizeof(struct vgpu_qos_entity) <= VGPU_ENTITY_PART);

/**
 * struct vgpu_qos - a run queue under qos
 * @by_due:    queued entities that have a guarantee, by eligible_ns
 * @by_start:  all queued entities, by place
 * @now:       virtual time: the virtual start of the last run of the excess
 * @overrun_ns: p, the largest recent overrun
 * @counted_ns: the p in deadlines: at least @overrun_ns, at most the largest p so far
 * @last:      the entity that was picked last, while it is still in the trees, or NULL. Usually it
 *             is queued again at once; then at most one tree changes
 * @slice_ns:  the slice of the current run; 0: another policy began that run
 * @linger_ns: time for which the engine may linger in that run
 * @begin_ns:  when that run began
 */
struct vgpu_qos {
	struct rb_root_cached by_due;
	struct rb_root_cached by_start;
	u64 now;
	u64 overrun_ns;
	u64 counted_ns;
	struct vgpu_entity *last;
	u64 slice_ns;
	u64 linger_ns;
	u64 begin_ns;
};

static inline struct vgpu_qos_entity *vgpu_qos_of(const struct vgpu_entity *entity)
{
	return vgpu_entity_part(entity);
}

/* Whether tag @a is earlier than @b. Tags wrap around, like the clock. */
static inline bool vgpu_qos_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static inline u64 vgpu_qos_later(u64 a, u64 b)
{
	return vgpu_qos_before(a, b) ? b : a;
}

/* How long @service_ns lasts at a rate of @share per mille, or at that weight. */
static inline u64 vgpu_qos_span(u64 service_ns, u32 share)
{
	return div_u64(service_ns * VGPU_PER_MILLE, share);
}

/* qos_tree.c; but for init with the timeline's lock held */
void vgpu_qos_tree_init(struct vgpu_qos *qos);
void vgpu_qos_tree_init_entity(struct vgpu_entity *entity);
void vgpu_qos_tree_add(struct vgpu_qos *qos, struct vgpu_entity *entity, u64 now_ns);
void vgpu_qos_tree_remove(struct vgpu_qos *qos, struct vgpu_entity *entity);
void vgpu_qos_tree_recount(struct vgpu_qos *qos);
struct vgpu_entity *vgpu_qos_tree_pick(struct vgpu_qos *qos, u64 now_ns, bool *due);
u64 vgpu_qos_tree_next_free(struct vgpu_qos *qos);

#endif /* _VGPU_QOS_H */
