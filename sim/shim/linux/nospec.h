/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_NOSPEC_H
#define _SHIM_LINUX_NOSPEC_H

#include <assert.h>

/*
 * It takes the place of no check, so the index has to be one that was checked;
 * the kernel's would make 0 of any other.
 */
#define array_index_nospec(index, size) ({				\
	__typeof__(index) __shim_index = (index);			\
									\
	assert(__shim_index < (size));					\
	__shim_index;							\
})

#endif
