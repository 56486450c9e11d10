/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's tracepoints: enough to rebuild every decision. now_ns is the time by which the
 * decision was made, CLOCK_MONOTONIC.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vgpu

#if !defined(_VGPU_SCHED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VGPU_SCHED_TRACE_H

#include <linux/tracepoint.h>

#include "qos.h"

/*
 * What all events begin with: the GPU or its partition, and the engine; and those of an entity the
 * vGPU, too.
 */
#define ENGINE_FIELDS(tl)	__string(gpu, (tl)->name) __field(unsigned int, engine)
#define ENGINE_ASSIGN(tl)	do { __assign_str(gpu); __entry->engine = (tl)->index; } while (0)
#define ENGINE_FORMAT		"%s engine=%u "
#define ENGINE_ARGS		__get_str(gpu), __entry->engine
#define ENTITY_FIELDS(tl)	ENGINE_FIELDS(tl) __array(u8, id, VGPU_ENTITY_ID_LEN)
#define ENTITY_ASSIGN(tl, uuid)	do {				\
	ENGINE_ASSIGN(tl);					\
	memcpy(__entry->id, uuid, sizeof(__entry->id));		\
} while (0)
#define ENTITY_FORMAT		ENGINE_FORMAT "vgpu=%pUb "
#define ENTITY_ARGS		ENGINE_ARGS, __entry->id

/*
 * An entity is queued: it has woken, or is runnable still after a run. preempt: the policy asks for
 * the running entity to make way.
 */
TRACE_EVENT(vgpu_sched_wake,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_entity *entity, bool woken,
		 bool preempt, u64 now_ns),
	TP_ARGS(tl, entity, woken, preempt, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__field(bool, woken) __field(bool, preempt) __field(unsigned int, queued)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, entity->id);
		__entry->woken = woken;
		__entry->preempt = preempt;
		__entry->queued = tl->rq.nr_queued;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "woken=%d preempt=%d queued=%u now_ns=%llu",
		  ENTITY_ARGS, __entry->woken, __entry->preempt, __entry->queued, __entry->now_ns)
);

/* An entity gets the engine; queued: how many others wait. */
TRACE_EVENT(vgpu_sched_pick,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__string(policy, tl->rq.policy->name) __field(u64, slice_ns) __field(u64, linger_ns)
		__field(bool, exclusive) __field(u64, waited_ns) __field(unsigned int, queued)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, entity->id);
		__assign_str(policy);
		__entry->slice_ns = tl->pick.slice_ns;
		__entry->linger_ns = tl->pick.linger_ns;
		__entry->exclusive = tl->pick.exclusive;
		__entry->waited_ns = tl->wait_ns;
		__entry->queued = tl->rq.nr_queued;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "policy=%s slice_ns=%llu linger_ns=%llu exclusive=%d waited_ns=%llu queued=%u now_ns=%llu",
		  ENTITY_ARGS, __get_str(policy),
		  __entry->slice_ns, __entry->linger_ns, __entry->exclusive,
		  __entry->waited_ns, __entry->queued, __entry->now_ns)
);

/* The policy says that no queued entity may run until until_ns. */
TRACE_EVENT(vgpu_sched_none,
	TP_PROTO(const struct vgpu_timeline *tl, u64 now_ns),
	TP_ARGS(tl, now_ns),
	TP_STRUCT__entry(
		ENGINE_FIELDS(tl)
		__field(unsigned int, queued) __field(u64, until_ns) __field(u64, now_ns)
	),
	TP_fast_assign(
		ENGINE_ASSIGN(tl);
		__entry->queued = tl->rq.nr_queued;
		__entry->until_ns = tl->until_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENGINE_FORMAT "queued=%u until_ns=%llu now_ns=%llu",
		  ENGINE_ARGS, __entry->queued, __entry->until_ns, __entry->now_ns)
);

/* A run has ended; end is enum vgpu_ctl_switch_end. */
TRACE_EVENT(vgpu_sched_charge,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_ctl_switch *run, u64 overrun_ns,
		 u64 now_ns),
	TP_ARGS(tl, run, overrun_ns, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__field(unsigned int, end) __field(u64, ran_ns) __field(u64, idle_ns)
		__field(u64, linger_ns) __field(u64, preempt_ns) __field(u64, overrun_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, run->uuid);
		__entry->end = run->end;
		__entry->ran_ns = run->ran_ns;
		__entry->idle_ns = run->idle_ns;
		__entry->linger_ns = run->linger_ns;
		__entry->preempt_ns = run->preempt_ns;
		__entry->overrun_ns = overrun_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "end=%u ran_ns=%llu idle_ns=%llu linger_ns=%llu preempt_ns=%llu overrun_ns=%llu now_ns=%llu",
		  ENTITY_ARGS, __entry->end, __entry->ran_ns, __entry->idle_ns, __entry->linger_ns,
		  __entry->preempt_ns, __entry->overrun_ns, __entry->now_ns)
);

/* The running entity is asked to stop; why is enum vgpu_ctl_switch_end. */
TRACE_EVENT(vgpu_sched_preempt,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_entity *entity, unsigned int why,
		 u64 now_ns),
	TP_ARGS(tl, entity, why, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__field(unsigned int, why) __field(u64, ran_ns) __field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, entity->id);
		__entry->why = why;
		__entry->ran_ns = now_ns - tl->start_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "why=%u ran_ns=%llu now_ns=%llu",
		  ENTITY_ARGS, __entry->why, __entry->ran_ns, __entry->now_ns)
);

/* An entity was started, stopped, held (VGPU_HOLD_*), or a hold was taken back. */
TRACE_EVENT(vgpu_sched_state,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__field(bool, started) __field(unsigned int, hold) __field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, entity->id);
		__entry->started = entity->started;
		__entry->hold = entity->hold;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "started=%d hold=%#x now_ns=%llu",
		  ENTITY_ARGS, __entry->started, __entry->hold, __entry->now_ns)
);

/* An entity has a new share. */
TRACE_EVENT(vgpu_sched_share,
	TP_PROTO(const struct vgpu_timeline *tl, const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		ENTITY_FIELDS(tl)
		__field(u32, guarantee) __field(u32, cap) __field(u32, weight) __field(u64, now_ns)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(tl, entity->id);
		__entry->guarantee = entity->share.guarantee;
		__entry->cap = entity->share.cap;
		__entry->weight = entity->share.weight;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENTITY_FORMAT "guarantee=%u cap=%u weight=%u now_ns=%llu",
		  ENTITY_ARGS, __entry->guarantee, __entry->cap, __entry->weight, __entry->now_ns)
);

/* A timeline has new settings. */
TRACE_EVENT(vgpu_sched_set,
	TP_PROTO(const struct vgpu_timeline *tl, u64 now_ns),
	TP_ARGS(tl, now_ns),
	TP_STRUCT__entry(
		ENGINE_FIELDS(tl)
		__string(policy, tl->rq.policy->name) __field(u64, slice_ns) __field(u64, linger_ns)
		__field(u64, window_ns) __field(u64, timeout_ns) __field(u64, now_ns)
	),
	TP_fast_assign(
		ENGINE_ASSIGN(tl);
		__assign_str(policy);
		__entry->slice_ns = tl->rq.slice_ns;
		__entry->linger_ns = tl->rq.linger_ns;
		__entry->window_ns = tl->window_ns;
		__entry->timeout_ns = tl->timeout_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk(ENGINE_FORMAT "policy=%s slice_ns=%llu linger_ns=%llu window_ns=%llu preempt_timeout_ns=%llu now_ns=%llu",
		  ENGINE_ARGS, __get_str(policy),
		  __entry->slice_ns, __entry->linger_ns, __entry->window_ns,
		  __entry->timeout_ns, __entry->now_ns)
);

/* qos has picked an entity: its tags, and whether its guarantee is due. */
TRACE_EVENT(vgpu_qos,
	TP_PROTO(const struct vgpu_entity *entity),
	TP_ARGS(entity),
	TP_STRUCT__entry(
		ENTITY_FIELDS(entity->tl)
		__field(u64, reserve_ns) __field(u64, limit_ns) __field(u64, start)
		__field(bool, reserved)
	),
	TP_fast_assign(
		ENTITY_ASSIGN(entity->tl, entity->id);
		__entry->reserve_ns = vgpu_qos_of(entity)->reserve_ns;
		__entry->limit_ns = vgpu_qos_of(entity)->limit_ns;
		__entry->start = vgpu_qos_of(entity)->start;
		__entry->reserved = vgpu_qos_of(entity)->reserved;
	),
	TP_printk(ENTITY_FORMAT "reserve_ns=%llu limit_ns=%llu start=%llu reserved=%d",
		  ENTITY_ARGS, __entry->reserve_ns, __entry->limit_ns, __entry->start,
		  __entry->reserved)
);

#endif /* _VGPU_SCHED_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
