/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the loads of test_loads.c: C that gcc compiles both for the device and for this CPU, where
 * work-items are coroutines of load_cpu.c. A load finds its data by args->mem; what it leaves there
 * must not depend on the order of work-items, nor be an address.
 */
#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#define LOAD_ITEM	512		/* bytes of a work-item: the first half is random */
#define LOAD_SHARED	(256 * 1024)	/* then bytes of all: the second half is random */
#define LOAD_ITEMS	512		/* at most */
#define LOAD_BYTES	(LOAD_ITEMS * LOAD_ITEM + LOAD_SHARED)
#define LOAD_PRIVATE	8192

/* What a load is called with. */
struct load_args {
	u8 *mem;
};

/* In the device's section of loads, and in the CPU's table. */
struct load {
	char name[24];
	void (*run)(const struct load_args *args);
};

#define LOAD_ID			0
#define LOAD_LOCAL_ID		3
#define LOAD_GROUP_ID		6
#define LOAD_LOCAL_SIZE		9
#define LOAD_GLOBAL_SIZE	12
#define LOAD_NUM_GROUPS		15

#if defined(__riscv) && !defined(LOAD_CALLS)
#define load_csr(n) ({								\
	u64 value_;								\
										\
	__asm__ volatile("csrr %0, %1" : "=r"(value_) : "i"(0xcc0 + (n)));	\
	(u32)value_;								\
})
#define load_barrier()	__asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0" : : : "memory")
#define load_relax()	__asm__ volatile("" : : : "memory")
#else
u32 load_csr(int n);
void load_barrier(void);
void load_relax(void);	/* in loops that wait for another work-item */
#endif

#ifdef __riscv
#define LOAD_LOCAL	static __attribute__((section(".bss.vgpu.local")))
#define LOAD_TABLE	__attribute__((section(".vgpu.kernels"), used, aligned(32)))
#else
#define LOAD_LOCAL	static
#define LOAD_TABLE	__attribute__((section("loads"), used, aligned(32)))
#endif

#define LOAD(load_)								\
	void load_(const struct load_args *args);				\
	LOAD_TABLE static const struct load load_of_##load_ = { #load_, load_ };	\
	void load_(const struct load_args *args)

#define load_noinline	__attribute__((noinline))

/* A load of work-items that know nothing of each other. */
#define LOAD_ITEMS_DO(name)							\
	static load_noinline void name##_item(const u8 *in, u8 *out, u32 id);	\
	LOAD(name)								\
	{									\
		u32 id = load_csr(LOAD_ID);					\
		u8 *at = args->mem + (size_t)id * LOAD_ITEM;			\
										\
		name##_item(at, at + LOAD_ITEM / 2, id);			\
	}									\
	static load_noinline void name##_item(const u8 *in, u8 *out, u32 id)

/* Memory of all work-items: results, and input. */
static inline u8 *load_shared(const struct load_args *args)
{
	return args->mem + LOAD_ITEMS * LOAD_ITEM;
}

static inline const u8 *load_shared_in(const struct load_args *args)
{
	return load_shared(args) + LOAD_SHARED / 2;
}

static inline u64 load_get(const void *at)
{
	u64 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
}

static inline void load_put(void *at, u64 v)
{
	__builtin_memcpy(at, &v, sizeof(v));
}

static inline u64 load_mix(u64 a)
{
	a ^= a >> 31;
	a *= 0x7fb5d329728ea185ULL;
	a ^= a >> 27;
	a *= 0x81dadef4bc2dd44dULL;
	return a ^ a >> 33;
}

#endif /* LOAD_H */
