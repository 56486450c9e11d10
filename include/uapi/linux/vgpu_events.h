/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu: events (read(2), poll(2), VGPU_IOC_EVENTS). Programs include
 * linux/vgpu.h, where the rules of all calls are.
 */
#ifndef _UAPI_LINUX_VGPU_EVENTS_H
#define _UAPI_LINUX_VGPU_EVENTS_H

#include <linux/types.h>
#include <linux/vgpu_channels.h>

enum vgpu_ctl_partition_event {
	VGPU_PARTITION_CREATED = 0,
	VGPU_PARTITION_REMOVED = 1,
	VGPU_PARTITION_ON = 2,		/* the GPU is to be divided; a and c: 0 */
	VGPU_PARTITION_OFF = 3,
};

/*
 * Events. read(2) gives whole records (EINVAL if the buffer holds none),
 * blocking unless O_NONBLOCK; poll(2) says POLLIN. A reader sees what happens
 * after its open, in the order in which it happened.
 *
 * An open file has records of 96 bytes, up to and with last_ns, until
 * VGPU_IOC_EVENTS sets another size for it: what the kernel does not know of a
 * larger record reads 0.
 *
 * The sources are each vGPU, each GPU, and for each GPU the vGPUs whose creation
 * was refused. The driver keeps 64 records of each source: no source's events
 * push out those of another. When there is no more room, the oldest record of the type
 * goes that would have the most. So the latest of each type stays, however often
 * others happen. Of vGPUs and GPUs that are gone, those of the 64 that went last
 * are kept.
 *
 * Of one type a source has at most 32 new records per s. What happens beyond is
 * counted in repeats of the newest record of its type, unless that is about
 * another vGPU, as those of refusals may be. Of RESET, FAULT and
 * ENGINE_RESET the record else stays as it was. Of the other types, which tell
 * of a change, it gets a, b and c of the last one and a new seq, and comes to
 * readers once more: they find each state that lasts. All that happens is
 * counted: a record stands for those from type_seq to type_seq + repeats of its
 * type and source. A reader that has read less of them before than type_seq has
 * missed the others, as it was too slow, or as they were counted in a record
 * after it had read that. Gaps in seq say that records were missed, or moved.
 */
enum vgpu_ctl_event_type {
	VGPU_EVENT_GPU_ADDED = 1,
	VGPU_EVENT_GPU_REMOVED = 2,
	VGPU_EVENT_CREATED = 3,
	VGPU_EVENT_REMOVED = 4,
	VGPU_EVENT_STARTED = 5,		/* a: pid of the process that opened it */
	VGPU_EVENT_STOPPED = 6,
	VGPU_EVENT_RESET = 7,		/* device reset */
	VGPU_EVENT_FAULT = 8,		/* a: channel, b: enum vgpu_hw_fault, c: packet */
	VGPU_EVENT_ENGINE_RESET = 9,	/* a: engine */
	VGPU_EVENT_QUARANTINED = 10,	/* c: until_ns */
	VGPU_EVENT_RELEASED = 11,
	VGPU_EVENT_REFUSED = 12,	/* a: errno */
	/* A GPU's scheduler was set; a: VGPU_SCHED_*, b: partition (since 2.4). */
	VGPU_EVENT_SCHED = 13,
	VGPU_EVENT_SHARE = 14,		/* a: VGPU_SHARE_* */
	/* Since 2.3. a: enum vgpu_ctl_move, b: what it was before, c: bytes of the stream so far */
	VGPU_EVENT_MOVE = 15,
	/* Since 2.4. A GPU's. a: partition, b: enum vgpu_ctl_partition_event, c: slices */
	VGPU_EVENT_PARTITION = 16,
};

struct vgpu_ctl_event {
	__u64 seq;
	__u64 time_ns;			/* of the first that it stands for */
	__u32 type;			/* enum vgpu_ctl_event_type */
	__u32 gpu;
	__u8 uuid[VGPU_UUID_LEN];	/* all 0: about the GPU */
	__u32 a;
	__u32 b;
	__u64 c;
	__u32 source;			/* a number of the source, from 1 on */
	__u32 pad;
	__u64 source_seq;		/* events of the source before it, all that were counted */
	__u64 type_seq;			/* of these, those of its type */
	__u64 repeats;			/* how many more it stands for */
	__u64 last_ns;			/* of the last one */
};

/* In flags: read on from the oldest event that is kept, whatever was read. */
#define VGPU_EVENTS_KEPT	0x1

/* How an open file reads events: those from its open on, if no flag says otherwise. */
struct vgpu_ctl_events {
	__u32 size;
	__u32 flags;			/* VGPU_EVENTS_* */
	__u32 event_size;		/* in: of a record; 96 .. 4096, else EINVAL, E2BIG */
	__u32 known_size;		/* out: of a record that the kernel can fill */
	__u64 next_seq;			/* out: of the next event, if none is lost */
};

#endif /* _UAPI_LINUX_VGPU_EVENTS_H */
