/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu: what a vGPU is for a move (VGPU_IOC_MIGRATION), and whether it can take
 * over the state of another one (VGPU_IOC_MIGRATION_CHECK), both since ABI 2.3. Programs include
 * linux/vgpu.h, where the rules of all calls are.
 */
#ifndef _UAPI_LINUX_VGPU_MIGRATION_H
#define _UAPI_LINUX_VGPU_MIGRATION_H

#include <linux/types.h>
#include <linux/vgpu_channels.h>

#define VGPU_STREAM_MAGIC	"vgpu\r\n\x1a\n"
#define VGPU_STREAM_ENGINES	16

/* In vga, of a type: its vGPUs can be either, a setting says which. */
#define VGPU_STREAM_VGA_ANY	(~0U)

/*
 * What a vGPU is for one that is to take over its state: the bytes that a host gives to another
 * one, little endian on all machines. They are also the data of the frame with which the stream of
 * a vGPU that moves begins, behind the 16 bytes of the frame's head
 * (Documentation/migration.rst).
 *
 * It grows at its end only, and 0 in a new member means what was so without it. Texts are followed
 * by zeros, and may fill their arrays.
 */
struct vgpu_stream_about {
	__u8 magic[8];			/* VGPU_STREAM_MAGIC, without the 0 */
	__le16 version;			/* of the stream that the driver makes, and reads */
	__le16 least;			/* the first version whose driver can read that */
	__le32 hw_version;		/* VGPU_HW_VERSION that the guest has read */
	__u8 board[32];
	__u8 type[32];			/* name of the vGPU's type */
	__le64 fb_bytes;
	__le32 channels;		/* of a type: that its vGPUs have at least */
	__le32 heads;
	__le32 max_width;		/* of a head's picture */
	__le32 max_height;
	__le32 vga;			/* 1: a VGA card; 0: not; of a type _VGA_ANY */
	__le32 engines;
	__le32 engine[VGPU_STREAM_ENGINES]; /* class << 8 | instance of each */
};

/* In flags of both calls: the type type_index of the GPU gpu, not the vGPU uuid. */
#define VGPU_MIGRATION_OF_TYPE	0x1

/* In can. */
#define VGPU_MIGRATION_STOP_COPY	0x1	/* moves while it stands still; can be saved */
#define VGPU_MIGRATION_PRE_COPY		0x2	/* most of it moves while its guest works */

/*
 * What a vGPU is, or a new one of a type would be. Of a vGPU that is not open, it is what the next
 * process to open it will find. A driver reads the streams of all versions from reads_from to
 * reads_to.
 *
 * ENODEV: no such GPU or vGPU; ENOENT: no such type.
 */
struct vgpu_ctl_migration {
	__u32 size;
	__u32 flags;			/* VGPU_MIGRATION_OF_TYPE */
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 gpu;			/* out, and in with the flag; likewise type_index */
	__u32 type_index;
	__u64 about;			/* in: where to put a struct vgpu_stream_about */
	__u32 about_bytes;		/* in: room there; out: bytes that there are */
	__u32 can;			/* out: VGPU_MIGRATION_*; 0: it cannot move */
	__u32 writes;			/* out: version of the streams that the driver makes */
	__u32 reads_from;		/* out */
	__u32 reads_to;			/* out */
	__u32 pad;
};

/*
 * Whether a vGPU, or a new one of a type, can take over the state of the vGPU that about tells of,
 * by the rules by which a stream is refused. If not, text names what differs. What can change any
 * time does not count: whether there is room, a process has the vGPU open, or it is quarantined.
 *
 * about may be longer than the structure above, and be any bytes: more than 1048576 of them are
 * E2BIG; what is too short to tell of a vGPU does not fit. Else as VGPU_IOC_MIGRATION.
 */
struct vgpu_ctl_migration_check {
	__u32 size;
	__u32 flags;			/* VGPU_MIGRATION_OF_TYPE */
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 gpu;			/* in: with the flag; likewise type_index */
	__u32 type_index;
	__u64 about;			/* in: a struct vgpu_stream_about, from elsewhere */
	__u32 about_bytes;		/* in */
	__u32 fits;			/* out: 1 or 0 */
	__u8 text[192];			/* out: what differs; VGPU_TEXT_LEN bytes */
};

#endif /* _UAPI_LINUX_VGPU_MIGRATION_H */
