/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#define __maybe_unused	__attribute__((__unused__))
#define __must_check	__attribute__((__warn_unused_result__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __packed	__attribute__((__packed__))
#define __aligned(x)	__attribute__((__aligned__(x)))
#undef __counted_by
#define __counted_by(x)
#define __user
#define __iomem
#define __init
#define __exit
#define __force
#define __bitwise
#define __acquires(x)
#define __releases(x)
#define fallthrough	__attribute__((__fallthrough__))
#define noinline	__attribute__((__noinline__))

/* What runs here is no kernel, with none of its options. */
#ifndef IS_ENABLED
#define IS_ENABLED(option)	0
#endif

#define barrier()	__asm__ __volatile__("" : : : "memory")

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#endif /* _SHIM_LINUX_COMPILER_H */
