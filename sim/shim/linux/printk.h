/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_PRINTK_H
#define _SHIM_LINUX_PRINTK_H

#include <stdio.h>

#define pr_err(...)	fprintf(stderr, __VA_ARGS__)
#define pr_warn(...)	fprintf(stderr, __VA_ARGS__)
#define pr_info(...)	fprintf(stderr, __VA_ARGS__)

/* Returns how much was written, not how much would have been. */
#define scnprintf(buf, size, ...) ({					\
	size_t __size = (size);						\
	int __len = snprintf(buf, __size, __VA_ARGS__);			\
									\
	!__size ? 0 : (size_t)__len < __size ? __len : (int)__size - 1;	\
})

#endif /* _SHIM_LINUX_PRINTK_H */
