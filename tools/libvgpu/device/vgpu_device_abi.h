/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program on the device and the program that runs it agree on. Needs no header but those of
 * a freestanding compiler; numbers that <linux/vgpu_hw.h> has, too, are compared in elf.c.
 */
#ifndef VGPU_DEVICE_ABI_H
#define VGPU_DEVICE_ABI_H

#include <stdint.h>

#define VGPU_DEVICE_CSR_GLOBAL_ID	0xcc0
#define VGPU_DEVICE_CSR_LOCAL_ID	0xcc3
#define VGPU_DEVICE_CSR_GROUP_ID	0xcc6
#define VGPU_DEVICE_CSR_LOCAL_SIZE	0xcc9
#define VGPU_DEVICE_CSR_GLOBAL_SIZE	0xccc
#define VGPU_DEVICE_CSR_NUM_GROUPS	0xccf

#define VGPU_DEVICE_INSN_BARRIER	0x0b

#define VGPU_DEVICE_KERNELS	".vgpu.kernels"	/* section of struct vgpu_device_kernel */
#define VGPU_DEVICE_NAME_LEN	64
#define VGPU_DEVICE_ARGS_LEN	256

/**
 * struct vgpu_device_kernel - describes a kernel in the ELF file of a program
 * @name:          ends with a 0
 * @args:          members of the argument block, separated by commas, each a type and a name:
 *                 u32, i32, f32, u64, i64, f64; buf: address of global memory; local: address of
 *                 work-group memory; log: address of a struct vgpu_device_log. Ends with a 0
 * @entry:         address of the first instruction
 * @private_bytes: private memory of a work-item
 * @args_bytes:    size of the argument block, as the compiler sees it
 */
struct vgpu_device_kernel {
	char name[VGPU_DEVICE_NAME_LEN];
	char args[VGPU_DEVICE_ARGS_LEN];
	uint64_t entry;
	uint32_t private_bytes;
	uint32_t args_bytes;
};

/*
 * A record of the log: a head, then the arguments of the format, a word each. Floats are doubles,
 * strings are addresses in the image.
 */
#define VGPU_DEVICE_LOG_VALID		0x1	/* written last */
#define VGPU_DEVICE_LOG_ARGS_SHIFT	8
#define VGPU_DEVICE_LOG_ARGS_MAX	8
#define VGPU_DEVICE_LOG_FORMAT_SHIFT	32	/* address of the format, in the image */

/**
 * struct vgpu_device_log - a ring of records that work-items write and the host prints
 * @head:  words reserved by work-items
 * @tail:  words read by the host
 * @lost:  records for which there was no room
 * @words: number of elements of @word, a power of two
 * @word:  word n of the log is element n & (@words - 1)
 */
struct vgpu_device_log {
	uint64_t head;
	uint64_t tail;
	uint64_t lost;
	uint64_t words;
	uint64_t word[];
};

#endif /* VGPU_DEVICE_ABI_H */
