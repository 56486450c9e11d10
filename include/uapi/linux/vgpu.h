/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu.
 *
 * Every structure starts with its size, set by the caller, and grows at its
 * end only: the kernel reads what the caller has, takes the rest as 0, refuses
 * (E2BIG) bytes it does not know unless they are 0, and writes back as much as
 * the caller has room for. flags must be 0 where no flag is named (EINVAL).
 * Pointers travel as __u64, all layouts are the same for 32 and 64 bits.
 *
 * Reading needs permission on the node, changing needs CAP_SYS_ADMIN (EPERM).
 * Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef _UAPI_LINUX_VGPU_H
#define _UAPI_LINUX_VGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VGPU_ABI_MAJOR		1
#define VGPU_ABI_MINOR		0

#define VGPU_NAME_LEN		64
#define VGPU_TEXT_LEN		192
#define VGPU_ADDR_LEN		32
#define VGPU_MAX_ENGINES	8
#define VGPU_UUID_LEN		16	/* big-endian (RFC 9562) byte order */

struct vgpu_ctl_version {
	__u32 size;
	__u32 flags;
	__u32 abi_major;		/* out */
	__u32 abi_minor;		/* out */
	__u8 driver_version[VGPU_NAME_LEN]; /* out */
};

/*
 * Lists. ids: in, where to put count numbers; count: in, room; out, how many
 * there are. The first min(room, count) are written.
 */
struct vgpu_ctl_list {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in: VGPU_IOC_INSTANCES; ~0: of all GPUs */
	__u32 count;			/* in, out */
	__u64 ids;			/* in: GPUs: __u32[]; instances: __u8[][VGPU_UUID_LEN] */
};

enum vgpu_ctl_placement {
	VGPU_PLACEMENT_MIXED = 0,	/* sizes may be mixed */
	VGPU_PLACEMENT_HOMOGENEOUS = 1,	/* all vGPUs of the size of the first */
};

struct vgpu_ctl_engine {
	__u32 engine_class;		/* enum vgpu_hw_engine_class */
	__u32 instance;
	__u64 busy_ns;			/* service of all vGPUs, gone ones too */
	__u8 name[16];			/* "gr", "ce0", ... */
};

struct vgpu_ctl_gpu {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in: id */
	__u32 types;			/* number of types */
	__u32 instances;
	__u32 channels;
	__u32 channels_used;
	__u32 engines;
	__u64 fb_bytes;
	__u64 fb_used_bytes;		/* owned by instances */
	__u64 fb_backed_bytes;		/* backed by host pages */
	__u64 slice_ns;
	__u64 now_ns;			/* when this was read */
	__u64 registered_ns;
	__u32 placement;		/* enum vgpu_ctl_placement */
	__u32 preempt_timeout_us;
	__u8 address[VGPU_ADDR_LEN];	/* "f000:00:00.0" */
	__u8 board[VGPU_ADDR_LEN];	/* "SG16" */
	__u8 driver[VGPU_ADDR_LEN];	/* "vgpu_soft" */
	__u8 policy[VGPU_ADDR_LEN];	/* "best_effort" */
	struct vgpu_ctl_engine engine[VGPU_MAX_ENGINES];
};

struct vgpu_ctl_type {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 index;			/* in: 0 .. types - 1, else ENOENT */
	__u32 available;		/* further instances that fit now */
	__u32 max_instances;
	__u32 num_heads;
	__u32 max_width;
	__u32 max_height;
	__u32 frl_fps;			/* frame rate limit of the type, 0: none */
	__u32 channels;
	__u32 placement_size_gb;
	__u64 fb_bytes;
	__u8 name[VGPU_NAME_LEN];	/* "SG16-4Q" */
	__u8 id[VGPU_NAME_LEN];		/* "vgpu_soft-SG16-4Q", as in sysfs */
	__u8 edition[VGPU_NAME_LEN];	/* "vWS" */
};

enum vgpu_ctl_state {
	VGPU_STATE_CREATED = 0,		/* nobody has the device open */
	VGPU_STATE_STARTED = 1,
};

#define VGPU_INSTANCE_QUARANTINED	0x1

struct vgpu_ctl_instance_engine {
	__u64 busy_ns;			/* service: engine occupancy charged */
	__u64 wait_ns;			/* runnable, not running */
	__u64 max_wait_ns;
	__u64 runs;			/* times put on the engine */
	__u64 switches;			/* of these, after another vGPU */
	__u64 preemptions;		/* runs that ended with work left */
	__u64 overruns;			/* runs that ended past their deadline */
	__u64 overrun_ns;		/* sum */
	__u64 max_overrun_ns;
	__u64 stalls;			/* runs that ended waiting for guest memory */
	__u64 faults;
	__u64 resets;			/* engine resets */
	__u64 packets;			/* completed */
	__u64 bytes;			/* written by FILL and COPY */
};

struct vgpu_ctl_instance {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 gpu;
	__u32 type_index;
	__u32 state;			/* enum vgpu_ctl_state */
	__u32 status;			/* VGPU_INSTANCE_* */
	__u32 placement_gb;		/* where the framebuffer starts */
	__u32 first_channel;
	__u32 channels;
	__u32 engines;
	__u64 fb_bytes;
	__u64 fb_backed_bytes;
	__u64 created_ns;
	__u64 started_ns;		/* 0: not open */
	__u64 now_ns;
	__u64 frames;			/* PRESENT packets completed */
	__u64 faults;			/* channel faults, survive reset */
	__u64 interrupts;
	__u64 doorbells;
	__u64 resets;			/* device resets */
	__u64 dma_read_bytes;		/* guest memory read */
	__u64 dma_written_bytes;
	__u64 quarantine_until_ns;	/* 0: not quarantined */
	__u32 quarantines;		/* times so far */
	__s32 owner_pid;		/* who opened it, 0: nobody */
	__u8 type_name[VGPU_NAME_LEN];
	struct vgpu_ctl_instance_engine engine[VGPU_MAX_ENGINES];
};

/* Why the last attempt to create this UUID was refused; ENOENT: none known. */
struct vgpu_ctl_refusal {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__s32 error;			/* a positive errno */
	__u32 pad;
	__u64 time_ns;
	__u8 text[VGPU_TEXT_LEN];
};

/* Lift a quarantine (CAP_SYS_ADMIN). EINVAL if there is none. */
struct vgpu_ctl_instance_op {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
};

/*
 * read(2) gives whole records (EINVAL if the buffer holds none), blocking
 * unless O_NONBLOCK; poll(2) says POLLIN. A reader sees what happens after
 * its open. One too slow finds a gap in seq.
 */
enum vgpu_ctl_event_type {
	VGPU_EVENT_GPU_ADDED = 1,
	VGPU_EVENT_GPU_REMOVED = 2,
	VGPU_EVENT_CREATED = 3,
	VGPU_EVENT_REMOVED = 4,
	VGPU_EVENT_STARTED = 5,		/* a: pid of who opened it */
	VGPU_EVENT_STOPPED = 6,
	VGPU_EVENT_RESET = 7,		/* device reset */
	VGPU_EVENT_FAULT = 8,		/* a: channel, b: enum vgpu_hw_fault, c: packet */
	VGPU_EVENT_ENGINE_RESET = 9,	/* a: engine */
	VGPU_EVENT_QUARANTINED = 10,	/* c: until_ns */
	VGPU_EVENT_RELEASED = 11,
	VGPU_EVENT_REFUSED = 12,	/* a: errno */
};

struct vgpu_ctl_event {
	__u64 seq;
	__u64 time_ns;
	__u32 type;			/* enum vgpu_ctl_event_type */
	__u32 gpu;
	__u8 uuid[VGPU_UUID_LEN];	/* all 0: about the GPU */
	__u32 a;
	__u32 b;
	__u64 c;
};

#define VGPU_IOC_VERSION	_IOWR('g', 0xb0, struct vgpu_ctl_version)
#define VGPU_IOC_GPUS		_IOWR('g', 0xb1, struct vgpu_ctl_list)
#define VGPU_IOC_GPU		_IOWR('g', 0xb2, struct vgpu_ctl_gpu)
#define VGPU_IOC_TYPE		_IOWR('g', 0xb3, struct vgpu_ctl_type)
#define VGPU_IOC_INSTANCES	_IOWR('g', 0xb4, struct vgpu_ctl_list)
#define VGPU_IOC_INSTANCE	_IOWR('g', 0xb5, struct vgpu_ctl_instance)
#define VGPU_IOC_REFUSAL	_IOWR('g', 0xb6, struct vgpu_ctl_refusal)
#define VGPU_IOC_RELEASE	_IOWR('g', 0xb7, struct vgpu_ctl_instance_op)

#endif /* _UAPI_LINUX_VGPU_H */
