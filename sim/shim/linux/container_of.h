/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CONTAINER_OF_H
#define _SHIM_LINUX_CONTAINER_OF_H

#include <stddef.h>

#define container_of(ptr, type, member) ({				\
	void *__of = (void *)(ptr);					\
									\
	(type *)(__of - offsetof(type, member));			\
})

#endif /* _SHIM_LINUX_CONTAINER_OF_H */
