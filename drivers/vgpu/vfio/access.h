/* SPDX-License-Identifier: GPL-2.0 */
/* Accesses to the regions of a device's file. */
#ifndef _VGPU_ACCESS_H
#define _VGPU_ACCESS_H

#include <linux/types.h>

struct vgpu_vfio;

void vgpu_access_config_reset(struct vgpu_vfio *dev);
int vgpu_access_reset(struct vgpu_vfio *dev);
ssize_t vgpu_access_rw(struct vgpu_vfio *dev, char __user *user, size_t count, loff_t *ppos,
		       bool write);

#endif /* _VGPU_ACCESS_H */
