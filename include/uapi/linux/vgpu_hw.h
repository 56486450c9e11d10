/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Hardware ABI of a vGPU of the software GPU: the content of the BARs of the PCI function that a VM
 * sees. The host driver, the guest and the tests share this file. The manual is
 * Documentation/hardware.rst.
 *
 * All values are little endian. Offsets and sizes are in bytes.
 */
#ifndef _UAPI_LINUX_VGPU_HW_H
#define _UAPI_LINUX_VGPU_HW_H

#include <linux/types.h>

#define VGPU_HW_VENDOR_ID		0x1af4
#define VGPU_HW_GPU_DEVICE_ID		0x10f0	/* the GPU on the host */
#define VGPU_HW_DEVICE_ID		0x10f1	/* a vGPU in a VM */
#define VGPU_HW_CLASS			0x030200

#define VGPU_HW_BAR_FB			0	/* the vGPU's framebuffer */
#define VGPU_HW_BAR_REGS		2	/* registers, trapped */
#define VGPU_HW_BAR_VGA			3	/* of a VGA card: BAR 2's first page again */
#define VGPU_HW_BAR_CHANNELS		4	/* one page per channel */

#define VGPU_HW_PAGE_SIZE		4096
#define VGPU_HW_REGS_SIZE		0x20000
#define VGPU_HW_MAX_CHANNELS		1024
#define VGPU_HW_MAX_ENGINES		32
#define VGPU_HW_VECTORS			32

/*
 * BAR 2. If the vGPU is a VGA card, the page at offset 0 has the registers of that card, see
 * VGPU_HW_VGA_EDID; else it reads all ones.
 */
#define VGPU_HW_DEV_BASE		0x1000
#define VGPU_HW_MSIX_TABLE		0x2000
#define VGPU_HW_MSIX_PBA		0x2800
#define VGPU_HW_USAGE_BASE		0x3000
#define VGPU_HW_CHAN_BASE		0x10000
#define VGPU_HW_CHAN_STRIDE		0x40

/*
 * Device registers, from VGPU_HW_DEV_BASE. They have 32 bits unless the comment says 64. A read
 * takes 1, 2, 4 or 8 bytes, naturally aligned; a write takes 4 bytes, or 8 bytes of a register of
 * 64 bits. Other accesses are refused and change nothing.
 */
#define VGPU_HW_ID			0x000	/* RO: VGPU_HW_ID_MAGIC */
#define   VGPU_HW_ID_MAGIC		0x55504756
#define VGPU_HW_VERSION			0x004	/* RO: major << 16 | minor */
#define   VGPU_HW_VERSION_1_0		0x00010000 /* no DISPATCH, no address spaces: */
						   /* no INVALIDATE, and ROOT takes only 0 */
#define   VGPU_HW_VERSION_1_1		0x00010001 /* no INVALIDATE_PAGES, no GUEST_INFO */
#define   VGPU_HW_VERSION_1_2		0x00010002 /* no UUID, TYPE and usage registers, no */
						   /* name of the OS in GUEST_INFO; */
						   /* service_ns of a channel reads 0 */
#define   VGPU_HW_VERSION_1_3		0x00010003
#define   VGPU_HW_VERSION_CURRENT	VGPU_HW_VERSION_1_3
#define VGPU_HW_STATUS			0x008	/* RO */
#define   VGPU_HW_STATUS_QUARANTINE	0x1	/* the host has put this vGPU in quarantine */
#define VGPU_HW_CHANNELS		0x00c	/* RO: channels owned */
#define VGPU_HW_FB_SIZE			0x010	/* RO, 64 bits: bytes owned */
#define VGPU_HW_ENGINES			0x018	/* RO: number of engines */
#define VGPU_HW_NR_VECTORS		0x01c	/* RO: MSI-X vectors */
#define VGPU_HW_ENGINE(i)		(0x020 + 4 * (i)) /* RO: class << 8 | instance; 0 .. 7 */
#define VGPU_HW_ENGINE_8(i)		(0x080 + 4 * (i)) /* likewise, engines 8 .. 31 */
#define VGPU_HW_INTR			0x040	/* RW1C: causes of vector 0 */
#define   VGPU_HW_INTR_FAULT		0x1	/* a channel has faulted */
#define   VGPU_HW_INTR_CAUSES		0x1	/* all of them */
#define VGPU_HW_FAULT_CHANNEL		0x044	/* RO: newest faulted channel, ~0: none */
#define VGPU_HW_RESET			0x048	/* WO: VGPU_HW_RESET_MAGIC resets the device */
#define   VGPU_HW_RESET_MAGIC		0x52535421
/*
 * A write makes the engines drop cached data of an address space: translations, none of which is in
 * use when the write returns, and decoded programs, which no dispatch uses that begins later. A
 * dispatch that has begun goes on with the instructions with which it began. The value is that of
 * VGPU_HW_CHAN_ROOT that names the address space; 0: that of the channels without a root.
 */
#define VGPU_HW_INVALIDATE		0x04c	/* WO */
/*
 * Since 1.2. Likewise, but decoded programs stay: for a change of mappings of which none was or
 * becomes executable, and that frees no page of a root table.
 */
#define VGPU_HW_INVALIDATE_PAGES	0x050	/* WO */
/*
 * Since 1.2. What the host shows of the guest's driver and, since 1.3, of its OS: struct
 * vgpu_hw_guest_info, written in units of 4 bytes. A reset clears it.
 */
#define VGPU_HW_GUEST_INFO(i)		(0x100 + 4 * (i)) /* RW; 0 .. 31; in 1.2: 0 .. 15 */
/*
 * Since 1.3. Which vGPU this is: its UUID, in the order of the bytes of its text, and the name of
 * its type, ended by 0.
 */
#define VGPU_HW_UUID(i)			(0x180 + 4 * (i)) /* RO; 0 .. 3 */
#define   VGPU_HW_UUID_BYTES		16
#define VGPU_HW_TYPE(i)			(0x1a0 + 4 * (i)) /* RO; 0 .. 7 */
#define   VGPU_HW_TYPE_BYTES		32

/*
 * Since 1.3. Usage registers, from VGPU_HW_USAGE_BASE: how much of the engines the vGPU gets, as
 * the host measures it. Accesses are as those of device registers. A share of an engine is the
 * difference of two reads of SERVICE divided by that of two reads of TIME.
 */
#define VGPU_HW_USAGE_TIME		0x000	/* RO, 64 bits: ns since the device was reset, or */
						/* came to its host */
#define VGPU_HW_USAGE_SERVICE(e)	(0x100 + 16 * (e)) /* RO, 64 bits: ns that engine e has */
						/* worked for the vGPU since it was reset */
/*
 * What the vGPU would get of engine e, per mille, if it always had work: by the host's policy, and
 * by what the other vGPUs have used of late.
 */
#define VGPU_HW_USAGE_DUE(e)		(0x108 + 16 * (e)) /* RO */

/*
 * Registers of channel c, from VGPU_HW_CHAN_BASE + c * VGPU_HW_CHAN_STRIDE.
 *
 * When ENABLE goes from 0 to 1, RING and the other fields of CTRL are latched, a fault is cleared,
 * and get is set to 0. The submitter sets put in the channel page to 0 before that. A write that
 * clears ENABLE drops the packets that have not completed, and returns when no engine works on the
 * channel any more.
 */
#define VGPU_HW_CHAN_CTRL		0x00	/* RW */
#define   VGPU_HW_CTRL_ENABLE		0x00000001
#define   VGPU_HW_CTRL_RING_SYS		0x00000002 /* ring in guest memory */
#define   VGPU_HW_CTRL_ENGINE_SHIFT	8
#define   VGPU_HW_CTRL_ENGINE_MASK	0x0000ff00
#define   VGPU_HW_CTRL_ORDER_SHIFT	16	/* log2 of the ring's packets */
#define   VGPU_HW_CTRL_ORDER_MASK	0x00ff0000
#define   VGPU_HW_CTRL_BITS		0x00ffff03 /* all of them */
#define VGPU_HW_CHAN_RING		0x08	/* RW, 64 bits: address, 64-byte aligned */
#define VGPU_HW_CHAN_STATE		0x10	/* RO: enum vgpu_hw_state */
#define VGPU_HW_CHAN_FAULT_CODE		0x14	/* RO: enum vgpu_hw_fault */
#define VGPU_HW_CHAN_FAULT_POS		0x18	/* RO, 64 bits: the packet's index */
#define VGPU_HW_CHAN_FAULT_ADDR		0x20	/* RO, 64 bits: the address that failed */
#define VGPU_HW_CHAN_DOORBELL		0x28	/* WO: any value wakes the channel */
#define VGPU_HW_CHAN_GET		0x30	/* RO, 64 bits: packets completed */
#define VGPU_HW_CHAN_ROOT		0x38	/* RW: address space, latched with RING; 0: none */
#define   VGPU_HW_ROOT_VALID		0x80000000
#define   VGPU_HW_ROOT_PAGE_MASK	0x7fffffff /* the root table's address / 4096 */

/*
 * Address spaces. Addresses of a channel without a root are offsets in the vGPU's framebuffer,
 * or guest physical addresses if a flag says so. Addresses of a channel with a root, in RING, in
 * packets and of programs, are all virtual, and the flags *_SYS are refused. Virtual addresses are
 * translated by tables in the framebuffer, in the format of RISC-V's Sv39: three levels of 512
 * entries of 64 bits, leaves of 4 KiB, 2 MiB and 1 GiB; a virtual address has 39 bits, sign
 * extended; a physical address is an offset in the framebuffer. Entry bits that are not named here
 * have no effect if the specification assigns them to software or status (U, G, A, D, bit 9); the
 * others must be 0. A leaf with SYS maps guest physical memory; only FILL and COPY can access it.
 */
#define VGPU_HW_PTE_V			0x001
#define VGPU_HW_PTE_R			0x002
#define VGPU_HW_PTE_W			0x004	/* not without R */
#define VGPU_HW_PTE_X			0x008	/* of a program's image */
#define VGPU_HW_PTE_SYS			0x100
#define VGPU_HW_PTE_PAGE_SHIFT		10	/* address / 4096, 44 bits */
#define VGPU_HW_PTE_PAGE_BITS		44
#define VGPU_HW_VA_BITS			39

#define VGPU_HW_RING_ORDER_MIN		4
#define VGPU_HW_RING_ORDER_MAX		16

enum vgpu_hw_state {
	VGPU_HW_STATE_DISABLED = 0,
	VGPU_HW_STATE_SLEEPING = 1,	/* ring the doorbell after moving put */
	VGPU_HW_STATE_AWAKE = 2,	/* the engine will read put without a doorbell */
	VGPU_HW_STATE_FAULTED = 3,	/* disable and enable the channel to use it again */
};

enum vgpu_hw_fault {
	VGPU_HW_FAULT_NONE = 0,
	VGPU_HW_FAULT_PACKET = 1,	/* type, flags or a field that must be 0 */
	VGPU_HW_FAULT_ADDRESS = 2,	/* outside of the vGPU's framebuffer, or wraps */
	VGPU_HW_FAULT_ALIGN = 3,	/* address or size not aligned as needed */
	VGPU_HW_FAULT_DMA = 4,		/* guest memory is not mapped, or not for this access */
	VGPU_HW_FAULT_RING = 5,		/* bad ring, or put beyond get + size */
	VGPU_HW_FAULT_MEMORY = 6,	/* the host could not back a page, also of guest memory */
	VGPU_HW_FAULT_RESET = 7,	/* the engine did not stop in time and was reset */
	VGPU_HW_FAULT_PAGE = 8,		/* no translation, or it does not allow the access */
	VGPU_HW_FAULT_GRID = 9,		/* DISPATCH: shape, or memory per work-group */
	VGPU_HW_FAULT_PROGRAM = 10,	/* DISPATCH: bad struct vgpu_hw_program */
	VGPU_HW_FAULT_ILLEGAL = 11,	/* illegal instruction, or pc outside the text */
	VGPU_HW_FAULT_STACK = 12,	/* a work-item exceeded its private memory */
	VGPU_HW_FAULT_END,		/* one more than the last code, so it grows */
};

/*
 * A vGPU whose setting vga is on is a VGA card: it has these IDs and, in the first page of BAR 2,
 * the registers of QEMU's standard VGA, for which every system has a driver: EDID, the VGA ports
 * 0x3c0 to 0x3df, and VBE DISPI with 16 bits for each index.
 */
#define VGPU_HW_VGA_VENDOR_ID		0x1234
#define VGPU_HW_VGA_DEVICE_ID		0x1111
#define VGPU_HW_VGA_CLASS		0x038000

#define VGPU_HW_VGA_EDID		0x000	/* RO */
#define VGPU_HW_VGA_EDID_SIZE		0x400
#define VGPU_HW_VGA_PORT(port)		(0x400 + (port) - 0x3c0)
#define   VGPU_HW_VGA_ATTRIBUTE		0x3c0	/* RW: writes are index and data in turns */
#define     VGPU_HW_VGA_LIT		0x20	/* of the index: the screen is not blank */
#define   VGPU_HW_VGA_STATUS1		0x3da	/* RO: a read makes the index the next write */
#define VGPU_HW_VGA_DISPI(index)	(0x500 + 2 * (index))
#define   VGPU_HW_DISPI_ID		0x0	/* 0xb0c0 to 0xb0c5 */
#define     VGPU_HW_DISPI_ID_FIRST	0xb0c0
#define     VGPU_HW_DISPI_ID_LAST	0xb0c5
#define   VGPU_HW_DISPI_XRES		0x1
#define   VGPU_HW_DISPI_YRES		0x2
#define   VGPU_HW_DISPI_BPP		0x3
#define   VGPU_HW_DISPI_ENABLE		0x4
#define     VGPU_HW_DISPI_ENABLED	0x01
#define     VGPU_HW_DISPI_GETCAPS	0x02	/* XRES, YRES, BPP read their largest values */
#define     VGPU_HW_DISPI_LFB		0x40	/* linear framebuffer */
#define     VGPU_HW_DISPI_NOCLEARMEM	0x80	/* no effect: memory is never cleared */
#define   VGPU_HW_DISPI_BANK		0x5
#define   VGPU_HW_DISPI_VIRT_WIDTH	0x6
#define   VGPU_HW_DISPI_VIRT_HEIGHT	0x7	/* RO */
#define   VGPU_HW_DISPI_X_OFFSET	0x8
#define   VGPU_HW_DISPI_Y_OFFSET	0x9
#define   VGPU_HW_DISPI_MEMORY_64K	0xa	/* RO: VBE memory in units of 64 KiB */
#define   VGPU_HW_DISPI_NR		0xb

/* VBE memory is the start of the framebuffer, at most this many bytes: drivers map all of it. */
#define VGPU_HW_VBE_BYTES_MAX		0x10000000

/*
 * A channel page (BAR 4). The submitter writes put. The engine writes the other fields, and never
 * reads them back. put and get count packets since the channel was enabled; the packet of index i
 * is at ring + (i & (size - 1)) * 64.
 *
 * To submit: write packets; write barrier; write put; full barrier; read state; write the doorbell
 * register if the state is not AWAKE.
 *
 * service_ns is written each time that the engine leaves the channel. It is final when a write that
 * clears ENABLE has returned.
 */
struct vgpu_hw_channel {
	__le64 put;
	__u8 pad0[56];
	__le64 get;
	__u8 pad1[56];
	__le32 state;
	__le32 fault_code;
	__le64 fault_pos;
	__le64 fault_addr;
	__le64 fault_pc;	/* of a program, else 0 */
	__le32 fault_id[3];	/* global id of the work-item, else 0 */
	__u8 pad2[4];
	__le64 service_ns;	/* since 1.3: what its engine has worked since it was enabled */
	__u8 pad3[8];
};

/**
 * struct vgpu_hw_guest_info - VGPU_HW_GUEST_INFO
 * @name:    of the driver, ended by 0 if it is shorter; all 0: the guest does not tell
 * @version: likewise
 * @os:      since 1.3: likewise, of the guest's kernel: its name and version
 */
struct vgpu_hw_guest_info {
	__u8 name[32];
	__u8 version[32];
	__u8 os[64];
};

/*
 * Since 1.2: the label of a channel, at this offset in the channel page. The submitter writes it
 * before it enables the channel. The host measures each channel's time, and shows it beside the
 * label; nothing else depends on it.
 */
#define VGPU_HW_LABEL			0x400
#define   VGPU_HW_LABEL_MAGIC		0x4c42414c

/**
 * struct vgpu_hw_label - whose a channel is
 * @magic:  VGPU_HW_LABEL_MAGIC; else the channel has no label
 * @pid:    process in the guest, as its kernel numbers it
 * @uid:    user in the guest
 * @pad:    0
 * @client: a number that the channels of one client of the guest's driver share
 * @comm:   name of the process, ended by 0 if it is shorter
 */
struct vgpu_hw_label {
	__le32 magic;
	__le32 pid;
	__le32 uid;
	__le32 pad;
	__le64 client;
	__u8 comm[16];
};

enum vgpu_hw_engine_class {
	VGPU_HW_ENGINE_GR = 0,
	VGPU_HW_ENGINE_CE = 1,
	VGPU_HW_ENGINE_ENC = 2,
	VGPU_HW_ENGINE_DEC = 3,
};

enum vgpu_hw_packet_type {
	VGPU_HW_PKT_NOP = 1,
	VGPU_HW_PKT_FENCE = 2,		/* must have SIGNAL or IRQ */
	VGPU_HW_PKT_FILL = 3,
	VGPU_HW_PKT_COPY = 4,
	VGPU_HW_PKT_PRESENT = 5,	/* gr only */
	VGPU_HW_PKT_DISPATCH = 6,	/* gr only */
	VGPU_HW_PKT_END,		/* one more than the last type, so it grows */
};

/* struct vgpu_hw_packet.flags: what happens when the packet has completed */
#define VGPU_HW_PKT_BARRIER		0x01	/* no effect: packets are in order anyway */
#define VGPU_HW_PKT_SIGNAL		0x02	/* write signal_value to signal_addr */
#define VGPU_HW_PKT_SIGNAL_SYS		0x04	/* signal_addr is guest memory */
#define VGPU_HW_PKT_IRQ			0x08	/* raise MSI-X vector, after the signal */
#define VGPU_HW_PKT_FLAGS		0x0f

/* struct vgpu_hw_packet.op_flags */
#define VGPU_HW_OP_DST_SYS		0x1	/* dst is guest memory */
#define VGPU_HW_OP_SRC_SYS		0x2	/* src is guest memory (COPY) */

#define VGPU_HW_FORMAT_XRGB8888		0x34325258 /* fourcc XR24 */

/**
 * struct vgpu_hw_packet - one command
 * @type:         enum vgpu_hw_packet_type
 * @flags:        VGPU_HW_PKT_*
 * @vector:       MSI-X vector with VGPU_HW_PKT_IRQ, else 0
 * @op_flags:     VGPU_HW_OP_*
 * @dst:          FILL, COPY: address of the destination; PRESENT: of the surface; DISPATCH: of a
 *                struct vgpu_hw_program
 * @src:          COPY: address of the source; DISPATCH: of the arguments, which the program gets
 *                in a0
 * @value:        FILL: 32-bit pattern; dst, width and dst_pitch are
 *                multiples of 4
 * @value_pad:    FILL: 0
 * @width:        FILL, COPY: bytes per row, at least 1
 * @rows:         FILL, COPY: rows, at least 1
 * @present_head: PRESENT: the display that shows the surface, below the type's number of heads
 * @pad:          0
 * @present_pad:  PRESENT: 0
 * @grid:         DISPATCH: work-items per dimension, each at least 1
 * @local_bytes:  DISPATCH: work-group memory, at most VGPU_HW_LOCAL_MAX; rounded up to a multiple
 *                of 8
 * @dst_pitch:    bytes from row to row, >= width; 0 when rows is 1
 * @src_pitch:    COPY: as @dst_pitch, for the source
 * @present_width:  PRESENT: pixels per row
 * @present_height: PRESENT: rows
 * @present_pitch:  PRESENT: bytes per row, >= 4 * present_width
 * @present_format: PRESENT: VGPU_HW_FORMAT_XRGB8888
 * @group:        DISPATCH: work-items of a work-group per dimension, each at least 1, product at
 *                most VGPU_HW_GROUP_MAX. Groups at the grid's far edges may have fewer
 * @group_pad:    DISPATCH: 0
 * @signal_addr:  with VGPU_HW_PKT_SIGNAL: address of the signal, 8-byte aligned; else 0
 * @signal_value: with VGPU_HW_PKT_SIGNAL: the value that is written to it; else 0
 *
 * Modelled on the packets of HSA's architected queuing language: 64 bytes, a
 * type and a barrier bit in the head, the completion signal at the end.
 * Fields that a type does not use must be 0. Where source and destination of
 * a COPY overlap, the destination's content is undefined.
 */
struct vgpu_hw_packet {
	__u8 type;
	__u8 flags;
	__le16 vector;
	__le32 op_flags;
	__le64 dst;
	union {
		__le64 src;
		struct {
			__le32 value;
			__le32 value_pad;
		};
		struct {
			__le32 present_width;
			__le32 present_height;
		};
	};
	union {
		struct {
			__le64 width;
			__le32 rows;
			__le32 pad;
		};
		struct {
			__le32 present_pitch;
			__le32 present_format;
			__le32 present_head;
			__le32 present_pad;
		};
		struct {
			__le32 grid[3];
			__le32 local_bytes;
		};
	};
	union {
		struct {
			__le32 dst_pitch;
			__le32 src_pitch;
		};
		struct {
			__le16 group[3];
			__le16 group_pad;
		};
	};
	__le64 signal_addr;
	__le64 signal_value;
};

/*
 * Programs: RISC-V code, RV64IMAFD with Zba, Zbb, Zbs and Zicond, see Documentation/isa.rst. A
 * work-item begins at the entry with the address of the arguments in a0, the end of its private
 * memory in sp and the end of the text in ra; it ends when it jumps there. All other registers
 * are 0. What a program finds at which address:
 */
#define VGPU_HW_VA_IMAGE		0x00010000ULL /* the image; not written */
#define VGPU_HW_VA_LOCAL		0x40000000ULL /* memory of the work-group */
#define VGPU_HW_VA_PRIVATE		0x60000000ULL /* memory of the work-item */
#define VGPU_HW_VA_GLOBAL		0x100000000ULL /* and up: the channel's address space, */
						/* without a root the offset in the framebuffer */
						/* plus this; a0 is the address as seen here */

#define VGPU_HW_IMAGE_MAX		0x01000000 /* bytes */
#define VGPU_HW_TEXT_MAX		0x00100000 /* bytes */
#define VGPU_HW_LOCAL_MAX		0x00010000 /* bytes */
#define VGPU_HW_PRIVATE_MAX		0x00010000 /* bytes */
#define VGPU_HW_PRIVATE_GROUP_MAX	0x00800000 /* bytes * work-items of a group */
#define VGPU_HW_GROUP_MAX		1024 /* work-items */

/* Read-only CSRs, one for each of three dimensions: */
#define VGPU_HW_CSR_GLOBAL_ID		0xcc0
#define VGPU_HW_CSR_LOCAL_ID		0xcc3
#define VGPU_HW_CSR_GROUP_ID		0xcc6
#define VGPU_HW_CSR_LOCAL_SIZE		0xcc9	/* of this group */
#define VGPU_HW_CSR_GLOBAL_SIZE		0xccc
#define VGPU_HW_CSR_NUM_GROUPS		0xccf

/* The instruction that waits for all work-items of the group that have not ended. */
#define VGPU_HW_INSN_BARRIER		0x0000000b

/**
 * struct vgpu_hw_program - a kernel of a program, as a DISPATCH finds it in memory
 * @magic:      VGPU_HW_PROGRAM_MAGIC
 * @image_bytes: text and constants, a multiple of 4, at most VGPU_HW_IMAGE_MAX
 * @text_bytes: how much of the image's beginning is instructions; a multiple of 4, at least 4, at
 *              most VGPU_HW_TEXT_MAX
 * @entry:      offset of the first instruction in the image, a multiple of 4
 * @image:      address of the image, a multiple of 4096
 * @private_bytes: private memory of a work-item, a multiple of 16, at most VGPU_HW_PRIVATE_MAX
 * @pad:        0
 *
 * Its address is a multiple of 64. It lies in framebuffer, as its image does. The text is read once
 * and decoded; what came of it may be used for every later dispatch with the same root, @image and
 * @text_bytes, until VGPU_HW_INVALIDATE or a reset. Constants are read when the program reads them.
 */
struct vgpu_hw_program {
	__le32 magic;
	__le32 image_bytes;
	__le32 text_bytes;
	__le32 entry;
	__le64 image;
	__le32 private_bytes;
	__le32 pad[9];
};

#define VGPU_HW_PROGRAM_MAGIC		0x564b5056

#endif /* _UAPI_LINUX_VGPU_HW_H */
