/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu: channels of a vGPU (VGPU_IOC_CHANNELS, since ABI 2.1). Programs include
 * linux/vgpu.h, where the rules of all calls are.
 *
 * The channels are those that the guest has enabled since the vGPU was opened, in the order of
 * their numbers. Of a vGPU that is not open there are none. A call gives as many as there is room
 * for, 256 at most; a reader that has count 0 has read all.
 *
 * Times are measured by the host. The sum of total_busy_ns is the service of the vGPU on all
 * engines since it was opened. The label of a channel, the name and version of the driver, and the
 * OS, are what the guest writes there (struct vgpu_hw_label, VGPU_HW_GUEST_INFO): any bytes, and
 * never more than the guest's word. A label may change while its channel is enabled; a channel that
 * is disabled has none.
 */
#ifndef _UAPI_LINUX_VGPU_CHANNELS_H
#define _UAPI_LINUX_VGPU_CHANNELS_H

#include <linux/types.h>

/* Of all calls. */
#define VGPU_NAME_LEN		64
#define VGPU_TEXT_LEN		192
#define VGPU_ADDR_LEN		32
#define VGPU_MAX_ENGINES	32

#define VGPU_COMM_LEN		16
#define VGPU_UUID_LEN		16	/* big-endian (RFC 9562) byte order */

#define VGPU_CHANNEL_LABEL	0x1	/* in flags: the channel has a label */

struct vgpu_ctl_channel {
	__u32 channel;			/* its number in the vGPU */
	__u32 engine;			/* that it was bound to when it was enabled last */
	__u32 state;			/* enum vgpu_hw_state */
	__u32 flags;			/* VGPU_CHANNEL_LABEL */
	__u64 enabled_ns;		/* when it was enabled last */
	__u64 busy_ns;			/* service since then */
	__u64 total_busy_ns;		/* service since the vGPU was opened */
	/* The label; all 0 if there is none. */
	__u64 client;			/* channels of one client of the guest's driver */
	__u32 pid;			/* in the guest; likewise uid and comm */
	__u32 uid;
	__u8 comm[VGPU_COMM_LEN];
	__u64 reserved[4];
};

#define VGPU_GUEST_NAME_LEN	32
#define VGPU_GUEST_OS_LEN	64

struct vgpu_ctl_channels {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 count;			/* in: room; out: written */
	__u32 entry_size;		/* in: bytes of a struct vgpu_ctl_channel */
	__u64 entries;			/* in: struct vgpu_ctl_channel[] */
	__u32 first;			/* in: the least channel wanted */
	__u32 next;			/* out: first to go on with */
	__u64 now_ns;			/* out */
	__u8 driver_name[VGPU_GUEST_NAME_LEN]; /* out: of the guest's driver, "": not told */
	__u8 driver_version[VGPU_GUEST_NAME_LEN]; /* out, likewise */
	/* Since ABI 2.2. */
	__u8 os[VGPU_GUEST_OS_LEN];	/* out, likewise: the guest's kernel */
};

#endif /* _UAPI_LINUX_VGPU_CHANNELS_H */
