/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#define min(a, b) ({				\
	__typeof__(a) __min_a = (a);		\
	__typeof__(b) __min_b = (b);		\
	__min_a < __min_b ? __min_a : __min_b;	\
})
#define max(a, b) ({				\
	__typeof__(a) __max_a = (a);		\
	__typeof__(b) __max_b = (b);		\
	__max_a > __max_b ? __max_a : __max_b;	\
})
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define clamp(x, lo, hi)	min(max(x, lo), hi)
#define clamp_t(type, x, lo, hi) clamp((type)(x), (type)(lo), (type)(hi))
#define swap(a, b) do {				\
	__typeof__(a) __swap = (a);		\
						\
	(a) = (b);				\
	(b) = __swap;				\
} while (0)

#endif /* _SHIM_LINUX_MINMAX_H */
