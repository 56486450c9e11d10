/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_DEBUGFS_H
#define _ENGINE_SHIM_LINUX_DEBUGFS_H

#include <linux/types.h>

struct debugfs_u32_array {
	u32 *array;
	u32 n_elements;
};

#endif /* _ENGINE_SHIM_LINUX_DEBUGFS_H */
