/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_NOSPEC_H
#define _SHIM_LINUX_NOSPEC_H

#include <assert.h>

/*
 * array_index_nospec() does not replace a check: the index has to be in range here, where the
 * kernel would make 0 of any other.
 */
#define array_index_nospec(index, size) ({				\
	__typeof__(index) __shim_index = (index);			\
									\
	assert(__shim_index < (size));					\
	__shim_index;							\
})

#endif
