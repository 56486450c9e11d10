/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vgpu

#if !defined(_VGPU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VGPU_TRACE_H

#include <linux/tracepoint.h>
#include <linux/uuid.h>

/*
 * gpu: whose engine it is, as vgpu_partition_name() names it and vgpu_sched_* do, so that what two
 * partitions' engines of one number do can be told apart.
 */

/* An instance gets an engine, until deadline_ns. */
TRACE_EVENT(vgpu_switch,
	TP_PROTO(const char *gpu, unsigned int engine, const guid_t *uuid,
		 u64 deadline_ns),
	TP_ARGS(gpu, engine, uuid, deadline_ns),
	TP_STRUCT__entry(
		__string(gpu, gpu)
		__field(unsigned int, engine)
		__array(u8, uuid, 16)
		__field(u64, deadline_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = engine;
		memcpy(__entry->uuid, uuid, 16);
		__entry->deadline_ns = deadline_ns;
	),
	TP_printk("%s engine=%u vgpu=%pUl deadline_ns=%llu", __get_str(gpu),
		  __entry->engine, __entry->uuid, __entry->deadline_ns)
);

/* An engine is asked to stop before the deadline, or did not heed it. */
TRACE_EVENT(vgpu_preempt,
	TP_PROTO(const char *gpu, unsigned int engine, const guid_t *uuid),
	TP_ARGS(gpu, engine, uuid),
	TP_STRUCT__entry(
		__string(gpu, gpu)
		__field(unsigned int, engine)
		__array(u8, uuid, 16)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = engine;
		memcpy(__entry->uuid, uuid, 16);
	),
	TP_printk("%s engine=%u vgpu=%pUl", __get_str(gpu), __entry->engine,
		  __entry->uuid)
);

/* An engine is free again; end is enum vgpu_run_end. */
TRACE_EVENT(vgpu_run_end,
	TP_PROTO(const char *gpu, unsigned int engine, unsigned int end,
		 u64 idle_ns),
	TP_ARGS(gpu, engine, end, idle_ns),
	TP_STRUCT__entry(
		__string(gpu, gpu)
		__field(unsigned int, engine)
		__field(unsigned int, end)
		__field(u64, idle_ns)
	),
	TP_fast_assign(
		__assign_str(gpu);
		__entry->engine = engine;
		__entry->end = end;
		__entry->idle_ns = idle_ns;
	),
	TP_printk("%s engine=%u end=%u idle_ns=%llu", __get_str(gpu),
		  __entry->engine, __entry->end, __entry->idle_ns)
);

/* The engine saw put move. */
TRACE_EVENT(vgpu_submit,
	TP_PROTO(const guid_t *uuid, unsigned int engine, u32 channel, u64 put),
	TP_ARGS(uuid, engine, channel, put),
	TP_STRUCT__entry(
		__array(u8, uuid, 16)
		__field(unsigned int, engine)
		__field(u32, channel)
		__field(u64, put)
	),
	TP_fast_assign(
		memcpy(__entry->uuid, uuid, 16);
		__entry->engine = engine;
		__entry->channel = channel;
		__entry->put = put;
	),
	TP_printk("vgpu=%pUl engine=%u channel=%u put=%llu", __entry->uuid,
		  __entry->engine, __entry->channel, __entry->put)
);

TRACE_EVENT(vgpu_complete,
	TP_PROTO(const guid_t *uuid, unsigned int engine, u32 channel,
		 u64 index, u8 type, u64 bytes),
	TP_ARGS(uuid, engine, channel, index, type, bytes),
	TP_STRUCT__entry(
		__array(u8, uuid, 16)
		__field(unsigned int, engine)
		__field(u32, channel)
		__field(u64, index)
		__field(u8, type)
		__field(u64, bytes)
	),
	TP_fast_assign(
		memcpy(__entry->uuid, uuid, 16);
		__entry->engine = engine;
		__entry->channel = channel;
		__entry->index = index;
		__entry->type = type;
		__entry->bytes = bytes;
	),
	TP_printk("vgpu=%pUl engine=%u channel=%u packet=%llu type=%u bytes=%llu",
		  __entry->uuid, __entry->engine, __entry->channel,
		  __entry->index, __entry->type, __entry->bytes)
);

TRACE_EVENT(vgpu_fault,
	TP_PROTO(const guid_t *uuid, unsigned int engine, u32 channel,
		 unsigned int code, u64 index),
	TP_ARGS(uuid, engine, channel, code, index),
	TP_STRUCT__entry(
		__array(u8, uuid, 16)
		__field(unsigned int, engine)
		__field(u32, channel)
		__field(unsigned int, code)
		__field(u64, index)
	),
	TP_fast_assign(
		memcpy(__entry->uuid, uuid, 16);
		__entry->engine = engine;
		__entry->channel = channel;
		__entry->code = code;
		__entry->index = index;
	),
	TP_printk("vgpu=%pUl engine=%u channel=%u code=%u packet=%llu",
		  __entry->uuid, __entry->engine, __entry->channel,
		  __entry->code, __entry->index)
);

/* A move of a vGPU is in another phase, enum vgpu_ctl_move; bytes are those of the stream. */
TRACE_EVENT(vgpu_move,
	TP_PROTO(const guid_t *uuid, unsigned int phase, unsigned int was, u64 bytes),
	TP_ARGS(uuid, phase, was, bytes),
	TP_STRUCT__entry(
		__array(u8, uuid, 16)
		__field(unsigned int, phase)
		__field(unsigned int, was)
		__field(u64, bytes)
	),
	TP_fast_assign(
		memcpy(__entry->uuid, uuid, 16);
		__entry->phase = phase;
		__entry->was = was;
		__entry->bytes = bytes;
	),
	TP_printk("vgpu=%pUl phase=%u was=%u bytes=%llu", __entry->uuid,
		  __entry->phase, __entry->was, __entry->bytes)
);

#endif /* _VGPU_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
