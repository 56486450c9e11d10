/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _STATE_SHIM_LINUX_DEBUGFS_H
#define _STATE_SHIM_LINUX_DEBUGFS_H

#include_next <linux/debugfs.h>

#include <linux/atomic.h>

struct dentry;

/* Nobody here reads numbers. */
static inline void debugfs_create_atomic_t(const char *name, int mode, struct dentry *dir,
					   atomic_t *value)
{
	(void)value;
}

#endif /* _STATE_SHIM_LINUX_DEBUGFS_H */
