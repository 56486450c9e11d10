/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CONTAINER_OF_H
#define _SHIM_LINUX_CONTAINER_OF_H

#include <stddef.h>

#define container_of(ptr, type, member) ({				\
	const __typeof__(((type *)0)->member) *__of = (ptr);		\
									\
	(type *)((char *)__of - offsetof(type, member));		\
})

#endif /* _SHIM_LINUX_CONTAINER_OF_H */
