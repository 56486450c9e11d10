/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <linux/kernel.h>

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned int __ffs64(unsigned long long x)
{
	return (unsigned int)__builtin_ctzll(x);
}

static inline unsigned long __fls(unsigned long x)
{
	return 63 - __builtin_clzl(x);
}

static inline unsigned int hweight32(unsigned int x)
{
	return __builtin_popcount(x);
}

#endif /* _SHIM_LINUX_BITOPS_H */
