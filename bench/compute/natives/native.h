/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of the rows compute_native_*: one file, compiled for the device and for the CPU. It
 * has item(in, out, id), what a work-item does with what all of them read and write, prepare(in),
 * by which the host fills that, and PROGRAM().
 */
#ifndef NATIVE_H
#define NATIVE_H

#include <stdint.h>

#ifdef __riscv
#include <vgpu_device.h>
#else
#include <samples.h>
#endif

/* What only the host does. */
#define HOST	static __attribute__((unused))

/* Numbers below that one, which are the same ones each time. */
static uint64_t native_random;

HOST uint32_t pick(uint32_t below)
{
	native_random ^= native_random << 13;
	native_random ^= native_random >> 7;
	native_random ^= native_random << 17;
	return (uint32_t)(native_random >> 32) % below;
}

/*
 * The program @program: @nr work-items write @out_bytes, a multiple of 64, of what was zero, and
 * read @in_bytes.
 */
#ifdef __riscv
#define PROGRAM(program, text, nr, in_bytes, out_bytes)				\
	struct program##_args {							\
		const void *in;							\
		void *out;							\
	};									\
										\
	VGPU_KERNEL(program, "buf in, buf out")					\
	{									\
		item(args->in, args->out, vgpu_global_id(0));			\
	}
#else
struct native_args {
	const void *in;
	void *out;
};

#define PROGRAM(program, text, nr, in_bytes, out_bytes)				\
	static void native_prepare(void *memory, uint64_t address, void *args)	\
	{									\
		*(struct native_args *)args = (struct native_args) {		\
			.in = (void *)(uintptr_t)(address + (out_bytes)),	\
			.out = (void *)(uintptr_t)address,			\
		};								\
		native_random = 88172645463325252ull;				\
		prepare((void *)((uint8_t *)memory + (out_bytes)));		\
	}									\
										\
	static void native_items(const void *args)				\
	{									\
		const struct native_args *native = args;			\
		uint32_t id;							\
										\
		for (id = 0; id < (nr); id++)					\
			item(native->in, native->out, id);			\
	}									\
										\
	_Static_assert((out_bytes) % 64 == 0, "a multiple of 64");		\
	const struct sample native_##program = {				\
		.name = #program,						\
		.brief = text,							\
		.grid = { nr, 1, 1 },						\
		.group = { (nr) < 256 ? (nr) : 256, 1, 1 },			\
		.bytes = (out_bytes) + (in_bytes),				\
		.clear_bytes = out_bytes,					\
		.prepare = native_prepare,					\
		.native = native_items,						\
	};
#endif

#endif /* NATIVE_H */
