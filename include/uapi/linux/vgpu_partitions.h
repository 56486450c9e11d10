/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu: partitions of a GPU (since ABI 2.4). Programs include linux/vgpu.h,
 * where the rules of all calls are.
 *
 * A partition has a part of the GPU's framebuffer, engines, a scheduler and settings of its own.
 * Partition 0 is the whole GPU, and always there. The others exist while the mode is on, and then
 * vGPUs live in those only. A profile says how large a partition is: how many of
 * VGPU_PARTITION_SLICES slices of the units, and how many eighths of the framebuffer, it has. The
 * number of a partition is not used again as long as the GPU is there.
 *
 * Where the host has too few CPUs for the units, partitions share them in time, by fixed slots: a
 * partition has those of its slices, whatever others do, and in these all units. All that is told
 * of its engines is by a clock that stands still outside of its slots.
 *
 * VGPU_IOC_PROFILE, VGPU_IOC_PARTITIONS and VGPU_IOC_PARTITION read; the list has no partition 0.
 * VGPU_IOC_PARTITION_CREATE, _REMOVE and _MODE (CAP_SYS_ADMIN) change. EOPNOTSUPP: the GPU cannot
 * be divided, or the mode is off; EINVAL: no such profile, place or mode, or partition 0; ENOSPC:
 * the place is taken, or all are; ENOENT: no such partition; EBUSY: it has vGPUs, or the mode is in
 * use; ENODEV: no such GPU. text says why, and what would fit. After EFAULT there may be a new
 * partition, which VGPU_IOC_PARTITIONS lists.
 */
#ifndef _UAPI_LINUX_VGPU_PARTITIONS_H
#define _UAPI_LINUX_VGPU_PARTITIONS_H

#include <linux/types.h>
#include <linux/vgpu_channels.h>

#define VGPU_PARTITION_SLICES	7
#define VGPU_PARTITION_EIGHTHS	8
#define VGPU_PROFILE_NAME_LEN	16

struct vgpu_ctl_profile {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 index;			/* in: 0 .. profiles - 1, else ENOENT */
	__u32 slices;			/* of the units; no other profile has as many */
	__u32 eighths;			/* of the framebuffer */
	__u32 starts;			/* eighths at which it may start, a mask */
	__u32 fits;			/* of these: where partitions could be created now */
	__u64 fb_bytes;			/* 0: would not be whole GiB, the GPU has no such one */
	__u8 name[VGPU_PROFILE_NAME_LEN]; /* "3g" */
};

/* What an engine did: that of a partition, or those of this index of all partitions together. */
struct vgpu_ctl_stats_engine {
	__u64 busy_ns;			/* service of all vGPUs, gone ones too */
	__u64 gone_ns;			/* of busy_ns: of those that are gone */
	__u64 linger_ns;		/* of busy_ns: held without work */
	__u64 wall_ns;			/* of its clock, since it was there; a sum, too. That of */
					/* partition 0 stands still while the GPU is divided */
	__u64 runs;			/* vGPUs put on the engine */
	__u64 switches;			/* of these, after another vGPU */
	__u64 resets;			/* of the engine */
	__u32 units;			/* of a partition's engine; else 0 */
	__u32 pad;
	__u64 reserved[2];
};

struct vgpu_ctl_partition {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 partition;		/* in: its number, else ENOENT */
	__u32 slices;			/* of the units, or their time; of partition 0 all */
	__u32 eighths;			/* likewise of the framebuffer */
	__u32 start;			/* eighth at which it starts */
	__u32 instances;
	__u64 fb_start;			/* in the GPU's framebuffer, in bytes */
	__u64 fb_bytes;
	__u64 fb_used_bytes;		/* owned by instances */
	__u64 created_ns;
	__u64 now_ns;			/* when this was read */
	__u64 slice_ns;			/* of its scheduler */
	__u32 guarantee_sum;		/* per mille, of its vGPUs */
	__u32 due;			/* enum vgpu_ctl_due, its policy's */
	__u32 engines;
	__u32 shared_time;		/* 1: it shares CPUs in time */
	__u8 policy[VGPU_ADDR_LEN];
	__u8 profile[VGPU_PROFILE_NAME_LEN]; /* its name, "" of partition 0 */
	__u64 reserved[8];
	struct vgpu_ctl_stats_engine engine[VGPU_MAX_ENGINES];
};

#define VGPU_PARTITION_ANYWHERE	(~0U)	/* the driver picks the place */

struct vgpu_ctl_partition_create {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 profile;			/* in: its index */
	__u32 start;			/* in: eighth, or ANYWHERE; out: the eighth */
	__u32 partition;		/* out: its number */
	__u8 text[VGPU_TEXT_LEN];	/* out: why it was refused, also on failure */
};

struct vgpu_ctl_partition_remove {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 partition;		/* in */
	__u8 text[VGPU_TEXT_LEN];	/* as above */
};

enum vgpu_ctl_partition_mode {
	VGPU_PARTITION_MODE_OFF = 0,	/* vGPUs are on the whole GPU */
	VGPU_PARTITION_MODE_ON = 1,	/* vGPUs are in partitions */
};

struct vgpu_ctl_partition_set_mode {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 mode;			/* in: enum vgpu_ctl_partition_mode */
	__u8 text[VGPU_TEXT_LEN];	/* as above */
};

#endif /* _UAPI_LINUX_VGPU_PARTITIONS_H */
