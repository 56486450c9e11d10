/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A vGPU as a PCI function over VFIO: what all front ends have in common. A front end creates a
 * struct device in its own way (today as an mdev) and adds a vGPU to it.
 */
#ifndef _VGPU_VFIO_H
#define _VGPU_VFIO_H

#include <linux/uuid.h>

#include "device.h"

struct vgpu_vfio *vgpu_vfio_add(struct device *device, struct vgpu_gpu *gpu, unsigned int type,
				const guid_t *uuid);
void vgpu_vfio_remove(struct vgpu_vfio *dev);

#endif /* _VGPU_VFIO_H */
