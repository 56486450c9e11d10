/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For programs on the device, in C: declaring kernels, ids, work-group memory, barriers, a log.
 * Atomics are the compiler's __atomic_*() on 32 and 64 bits. Documentation/isa.rst has the command
 * lines for gcc and clang; vgpu.ld is the linker's script.
 *
 * Floats are many times slower where a program, any of its kernels, accesses fflags or fcsr, or
 * writes frm, be it to nearest even: see "Slow floats" there. fesetround() and its kind do.
 *
 *	struct scale_args {
 *		float *data;
 *		float factor;
 *	};
 *
 *	VGPU_KERNEL(scale, "buf data, f32 factor")
 *	{
 *		args->data[vgpu_global_id(0)] *= args->factor;
 *	}
 */
#ifndef VGPU_DEVICE_H
#define VGPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "vgpu_device_abi.h"

#ifndef __riscv
#error "vgpu_device.h is for programs on the device, which are RISC-V code"
#endif

/* Private memory of a work-item: its stack. A program that needs more defines it before. */
#ifndef VGPU_PRIVATE_BYTES
#define VGPU_PRIVATE_BYTES	1024
#endif

/*
 * The head of the kernel @name, whose arguments are struct @name_args, to which its parameter args
 * points; @types says the same to the host, see struct vgpu_device_kernel.
 */
#define VGPU_KERNEL(kernel, types)						\
	void kernel(const struct kernel##_args *args);				\
	static const struct vgpu_device_kernel vgpu_kernel_##kernel		\
	__attribute__((section(VGPU_DEVICE_KERNELS), used, aligned(8))) = {	\
		.name = #kernel,						\
		.args = types,							\
		.entry = (uintptr_t)kernel,					\
		.private_bytes = VGPU_PRIVATE_BYTES,				\
		.args_bytes = sizeof(struct kernel##_args),			\
	};									\
	void kernel(const struct kernel##_args *args)

/* For variables: they are in memory of the work-group, which nothing initializes. */
#define VGPU_LOCAL	static __attribute__((section(".bss.vgpu.local")))

#define VGPU_CSR(csr) ({						\
	uint64_t vgpu_value;						\
									\
	__asm__("csrr %0, %1" : "=r"(vgpu_value) : "i"(csr));		\
	(uint32_t)vgpu_value;						\
})

#define VGPU_CSR_OF(csr, dim) \
	((dim) == 0 ? VGPU_CSR(csr) : (dim) == 1 ? VGPU_CSR((csr) + 1) : VGPU_CSR((csr) + 2))

/* Of the work-item; @dim is 0, 1 or 2, best a constant. */
static inline uint32_t vgpu_global_id(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_GLOBAL_ID, dim);
}

static inline uint32_t vgpu_local_id(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_LOCAL_ID, dim);
}

static inline uint32_t vgpu_group_id(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_GROUP_ID, dim);
}

/* Of its group, which may be smaller at the grid's far edges. */
static inline uint32_t vgpu_local_size(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_LOCAL_SIZE, dim);
}

static inline uint32_t vgpu_global_size(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_GLOBAL_SIZE, dim);
}

static inline uint32_t vgpu_num_groups(unsigned int dim)
{
	return VGPU_CSR_OF(VGPU_DEVICE_CSR_NUM_GROUPS, dim);
}

/* Waits for all work-items of the group that have not ended. What they wrote is seen after it. */
static inline void vgpu_barrier(void)
{
	__asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0" : : : "memory");
}

/* One instruction each. */
static inline float vgpu_sqrtf(float x)
{
	float y;

	__asm__("fsqrt.s %0, %1" : "=f"(y) : "f"(x));
	return y;
}

static inline double vgpu_sqrt(double x)
{
	double y;

	__asm__("fsqrt.d %0, %1" : "=f"(y) : "f"(x));
	return y;
}

static inline float vgpu_fmaf(float x, float y, float z)
{
	float sum;

	__asm__("fmadd.s %0, %1, %2, %3" : "=f"(sum) : "f"(x), "f"(y), "f"(z));
	return sum;
}

static inline double vgpu_fma(double x, double y, double z)
{
	double sum;

	__asm__("fmadd.d %0, %1, %2, %3" : "=f"(sum) : "f"(x), "f"(y), "f"(z));
	return sum;
}

/*
 * What compilers call where a program copies, clears or compares objects; dropped where they do
 * not. The empty assembly keeps a loop from becoming a call of the function that it is in.
 */
__attribute__((weak)) void *memcpy(void *to, const void *from, size_t bytes)
{
	const unsigned char *src = from;
	unsigned char *dst = to;

	while (bytes--) {
		*dst++ = *src++;
		__asm__("" : "+r"(dst), "+r"(src));
	}
	return to;
}

__attribute__((weak)) void *memmove(void *to, const void *from, size_t bytes)
{
	const unsigned char *src = from;
	unsigned char *dst = to;
	size_t i;

	for (i = 0; i < bytes && dst < src; i++) {
		dst[i] = src[i];
		__asm__("" : "+r"(dst), "+r"(src));
	}
	for (i = bytes; i && dst > src; i--) {
		dst[i - 1] = src[i - 1];
		__asm__("" : "+r"(dst), "+r"(src));
	}
	return to;
}

__attribute__((weak)) int memcmp(const void *one, const void *other, size_t bytes)
{
	const unsigned char *a = one, *b = other;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
		__asm__("" : "+r"(a), "+r"(b));
	}
	return 0;
}

__attribute__((weak)) void *memset(void *to, int value, size_t bytes)
{
	unsigned char *dst = to;

	while (bytes--) {
		*dst++ = (unsigned char)value;
		__asm__("" : "+r"(dst));
	}
	return to;
}

/* ---- the log ---- */

static inline uint64_t vgpu_log_integer(uint64_t value)
{
	return value;
}

static inline uint64_t vgpu_log_double(double value)
{
	union {
		double value;
		uint64_t word;
	} u = { .value = value };

	return u.word;
}

static inline uint64_t vgpu_log_pointer(const volatile void *pointer)
{
	return (uintptr_t)pointer;
}

__attribute__((format(printf, 1, 2)))
static inline void vgpu_log_check(const char *format, ...)
{
	(void)format;
}

/* Appends a record of @nr arguments, if there is room. */
__attribute__((__noinline__, unused))
static void vgpu_log_write(struct vgpu_device_log *log, const char *format, const uint64_t *arg,
			   unsigned int nr)
{
	uint64_t at = __atomic_load_n(&log->head, __ATOMIC_ACQUIRE), tail;
	uint64_t mask = log->words - 1;
	unsigned int i;

	/*
	 * The tail is read after the head: what is full with this tail was full when it was read.
	 * It may have gone beyond a head that is old by now, which then is not exchanged.
	 */
	do {
		tail = __atomic_load_n(&log->tail, __ATOMIC_ACQUIRE);
		if ((int64_t)(at + nr - tail) > (int64_t)mask) {
			__atomic_fetch_add(&log->lost, 1, __ATOMIC_RELAXED);
			return;
		}
	} while (!__atomic_compare_exchange_n(&log->head, &at, at + nr + 1, true,
					      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	for (i = 0; i < nr; i++)
		log->word[(at + 1 + i) & mask] = arg[i];
	__atomic_store_n(&log->word[at & mask], VGPU_DEVICE_LOG_VALID |
			 (uint64_t)nr << VGPU_DEVICE_LOG_ARGS_SHIFT |
			 (uint64_t)(uintptr_t)format << VGPU_DEVICE_LOG_FORMAT_SHIFT,
			 __ATOMIC_RELEASE);
}

#define VGPU_LOG_IS(x, type)	__builtin_types_compatible_p(__typeof__((x) + 0), type)
#define VGPU_LOG_POINTER	5	/* of __builtin_classify_type() */
#define VGPU_LOG_WORD(x)	__builtin_choose_expr(				\
	VGPU_LOG_IS(x, float) || VGPU_LOG_IS(x, double), vgpu_log_double,	\
	__builtin_choose_expr(__builtin_classify_type(x) == VGPU_LOG_POINTER,	\
		vgpu_log_pointer, vgpu_log_integer))(x) +			\
	0 * sizeof(struct {							\
		_Static_assert(!VGPU_LOG_IS(x, long double),			\
			       "vgpu_printf: pass a double, not a long double"); \
		int none;							\
	}),
#define VGPU_LOG_0()
#define VGPU_LOG_1(x)		VGPU_LOG_WORD(x)
#define VGPU_LOG_2(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_1(__VA_ARGS__)
#define VGPU_LOG_3(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_2(__VA_ARGS__)
#define VGPU_LOG_4(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_3(__VA_ARGS__)
#define VGPU_LOG_5(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_4(__VA_ARGS__)
#define VGPU_LOG_6(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_5(__VA_ARGS__)
#define VGPU_LOG_7(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_6(__VA_ARGS__)
#define VGPU_LOG_8(x, ...)	VGPU_LOG_WORD(x) VGPU_LOG_7(__VA_ARGS__)
#define VGPU_LOG_MANY(...)	sizeof(struct {					\
		_Static_assert(0, "vgpu_printf: more than 8 arguments");		\
		int none;							\
	}),
#define VGPU_LOG_NTH(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, nth, ...) nth
#define VGPU_LOG_EACH(...) \
	VGPU_LOG_NTH(_, ##__VA_ARGS__, VGPU_LOG_MANY, VGPU_LOG_MANY, VGPU_LOG_MANY, \
		     VGPU_LOG_MANY, VGPU_LOG_8, VGPU_LOG_7, VGPU_LOG_6, VGPU_LOG_5, \
		     VGPU_LOG_4, VGPU_LOG_3, VGPU_LOG_2, VGPU_LOG_1, VGPU_LOG_0)(__VA_ARGS__)

/*
 * Has the host print something, as printf() would, with up to 8 arguments: the conversions d, i, u,
 * x, X, o, c, s, p, f, e, g and a, with flags, width, precision and lengths, also by stars, but no
 * long double, wide character or %n. Strings, as the format, are constants of the program. @log is
 * an argument of the kernel. If the log is full, the text is lost, and counted.
 */
#define vgpu_printf(log, format, ...)	do {						\
	const uint64_t vgpu_word[] = { VGPU_LOG_EACH(__VA_ARGS__) 0 };			\
											\
	if (0)										\
		vgpu_log_check(format, ##__VA_ARGS__);					\
	vgpu_log_write(log, format, vgpu_word, sizeof(vgpu_word) / 8 - 1);		\
} while (0)

#endif /* VGPU_DEVICE_H */
