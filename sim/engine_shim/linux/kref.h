/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_KREF_H
#define _ENGINE_SHIM_LINUX_KREF_H

struct kref {
	int count;
};

#endif /* _ENGINE_SHIM_LINUX_KREF_H */
