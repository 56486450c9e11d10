/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))	/* of what is not negative */
#define round_up(x, y)		((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define round_down(x, y)	((x) & ~((__typeof__(x))((y) - 1)))
#define roundup(x, y)		(((x) + (y) - 1) / (y) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define ALIGN(x, a)		round_up(x, a)
#define ALIGN_DOWN(x, a)	round_down(x, a)
#define IS_ALIGNED(x, a)	(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define lower_32_bits(n)	((u32)(n))
#define might_sleep()		do { } while (0)

#ifndef PAGE_SIZE
#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define PAGE_ALIGN(x)	ALIGN(x, PAGE_SIZE)
#endif

#endif /* _SHIM_LINUX_KERNEL_H */
