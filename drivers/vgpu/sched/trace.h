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
 * An entity is queued: it has woken, or is runnable still after a run. preempt: the policy asks for
 * the running entity to make way.
 */
TRACE_EVENT(vgpu_sched_wake,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_entity *entity, bool woken, bool preempt,
		 u64 now_ns),
	TP_ARGS(tl, entity, woken, preempt, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(bool, woken)
		__field(bool, preempt)
		__field(unsigned int, queued)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__entry->woken = woken;
		__entry->preempt = preempt;
		__entry->queued = tl->rq.nr_queued;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb woken=%d preempt=%d queued=%u now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id, __entry->woken,
		  __entry->preempt, __entry->queued, __entry->now_ns)
);

/* An entity gets the engine; queued: how many others wait. */
TRACE_EVENT(vgpu_sched_pick,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__string(policy, tl->rq.policy->name)
		__field(u64, slice_ns)
		__field(u64, linger_ns)
		__field(bool, exclusive)
		__field(u64, waited_ns)
		__field(unsigned int, queued)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__assign_str(policy);
		__entry->slice_ns = tl->pick.slice_ns;
		__entry->linger_ns = tl->pick.linger_ns;
		__entry->exclusive = tl->pick.exclusive;
		__entry->waited_ns = tl->wait_ns;
		__entry->queued = tl->rq.nr_queued;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb policy=%s slice_ns=%llu linger_ns=%llu exclusive=%d waited_ns=%llu queued=%u now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id, __get_str(policy),
		  __entry->slice_ns, __entry->linger_ns, __entry->exclusive,
		  __entry->waited_ns, __entry->queued, __entry->now_ns)
);

/* The policy says that no queued entity may run until until_ns. */
TRACE_EVENT(vgpu_sched_none,
	TP_PROTO(const struct vgpu_timeline *tl, u64 now_ns),
	TP_ARGS(tl, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__field(unsigned int, queued)
		__field(u64, until_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		__entry->queued = tl->rq.nr_queued;
		__entry->until_ns = tl->until_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u queued=%u until_ns=%llu now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->queued,
		  __entry->until_ns, __entry->now_ns)
);

/* A run has ended; end is enum vgpu_ctl_switch_end. */
TRACE_EVENT(vgpu_sched_charge,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_ctl_switch *run, u64 overrun_ns, u64 now_ns),
	TP_ARGS(tl, run, overrun_ns, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(unsigned int, end)
		__field(u64, ran_ns)
		__field(u64, idle_ns)
		__field(u64, linger_ns)
		__field(u64, preempt_ns)
		__field(u64, overrun_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, run->uuid, sizeof(__entry->id));
		__entry->end = run->end;
		__entry->ran_ns = run->ran_ns;
		__entry->idle_ns = run->idle_ns;
		__entry->linger_ns = run->linger_ns;
		__entry->preempt_ns = run->preempt_ns;
		__entry->overrun_ns = overrun_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb end=%u ran_ns=%llu idle_ns=%llu linger_ns=%llu preempt_ns=%llu overrun_ns=%llu now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id, __entry->end,
		  __entry->ran_ns, __entry->idle_ns, __entry->linger_ns,
		  __entry->preempt_ns, __entry->overrun_ns, __entry->now_ns)
);

/* The running entity is asked to stop; why is enum vgpu_ctl_switch_end. */
TRACE_EVENT(vgpu_sched_preempt,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_entity *entity, unsigned int why,
		 u64 now_ns),
	TP_ARGS(tl, entity, why, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(unsigned int, why)
		__field(u64, ran_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__entry->why = why;
		__entry->ran_ns = now_ns - tl->start_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb why=%u ran_ns=%llu now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id, __entry->why,
		  __entry->ran_ns, __entry->now_ns)
);

/* An entity was started, stopped, held (VGPU_HOLD_*), or a hold was taken back. */
TRACE_EVENT(vgpu_sched_state,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(bool, started)
		__field(unsigned int, hold)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__entry->started = entity->started;
		__entry->hold = entity->hold;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb started=%d hold=%#x now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id,
		  __entry->started, __entry->hold, __entry->now_ns)
);

/* An entity has a new share. */
TRACE_EVENT(vgpu_sched_share,
	TP_PROTO(const struct vgpu_timeline *tl,
		 const struct vgpu_entity *entity, u64 now_ns),
	TP_ARGS(tl, entity, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(u32, guarantee)
		__field(u32, cap)
		__field(u32, weight)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__entry->guarantee = entity->share.guarantee;
		__entry->cap = entity->share.cap;
		__entry->weight = entity->share.weight;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUb guarantee=%u cap=%u weight=%u now_ns=%llu",
		  __get_str(gpu), __entry->engine, __entry->id,
		  __entry->guarantee, __entry->cap, __entry->weight,
		  __entry->now_ns)
);

/* A timeline has new settings. */
TRACE_EVENT(vgpu_sched_set,
	TP_PROTO(const struct vgpu_timeline *tl, u64 now_ns),
	TP_ARGS(tl, now_ns),
	TP_STRUCT__entry(
		__string(gpu, tl->name)
		__field(unsigned int, engine)
		__string(policy, tl->rq.policy->name)
		__field(u64, slice_ns)
		__field(u64, linger_ns)
		__field(u64, window_ns)
		__field(u64, timeout_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = tl->index;
		__assign_str(policy);
		__entry->slice_ns = tl->rq.slice_ns;
		__entry->linger_ns = tl->rq.linger_ns;
		__entry->window_ns = tl->window_ns;
		__entry->timeout_ns = tl->timeout_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk("%s engine=%u policy=%s slice_ns=%llu linger_ns=%llu window_ns=%llu preempt_timeout_ns=%llu now_ns=%llu",
		  __get_str(gpu), __entry->engine, __get_str(policy),
		  __entry->slice_ns, __entry->linger_ns, __entry->window_ns,
		  __entry->timeout_ns, __entry->now_ns)
);

/* qos has picked an entity: its tags, and whether its guarantee is due. */
TRACE_EVENT(vgpu_qos,
	TP_PROTO(const struct vgpu_entity *entity),
	TP_ARGS(entity),
	TP_STRUCT__entry(
		__string(gpu, entity->tl->name)
		__field(unsigned int, engine)
		__array(u8, id, VGPU_ENTITY_ID_LEN)
		__field(u64, reserve_ns)
		__field(u64, limit_ns)
		__field(u64, start)
		__field(bool, reserved)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = entity->tl->index;
		memcpy(__entry->id, entity->id, sizeof(__entry->id));
		__entry->reserve_ns = vgpu_qos_of(entity)->reserve_ns;
		__entry->limit_ns = vgpu_qos_of(entity)->limit_ns;
		__entry->start = vgpu_qos_of(entity)->start;
		__entry->reserved = vgpu_qos_of(entity)->reserved;
	),
	TP_printk("%s engine=%u vgpu=%pUb reserve_ns=%llu limit_ns=%llu start=%llu reserved=%d",
		  __get_str(gpu), __entry->engine, __entry->id,
		  __entry->reserve_ns, __entry->limit_ns, __entry->start,
		  __entry->reserved)
);

#endif /* _VGPU_SCHED_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
