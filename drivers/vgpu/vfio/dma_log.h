/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of guest memory that a vGPU writes, which VFIO offers where the kernel has
 * CONFIG_IOMMUFD_DRIVER (struct vfio_log_ops). It is exact: a page is noted after it was written,
 * and only then. Elsewhere a user has the one of VFIO's container.
 */
#ifndef _VGPU_DMA_LOG_H
#define _VGPU_DMA_LOG_H

#include <linux/mutex.h>

#include "written.h"

struct vgpu_vfio;

/**
 * struct vgpu_dma_log - guest memory that a vGPU has written
 * @lock: protects the following; @on may be read without it. Not held over an access to user memory
 * @on:   writes are noted
 * @written: what was written since that was read last
 */
struct vgpu_dma_log {
	struct mutex lock;	/* on, written */
	bool on;
	struct vgpu_written written;
};

void vgpu_dma_log_init(struct vgpu_vfio *dev);
void vgpu_dma_log_setup(struct vgpu_vfio *dev);
void vgpu_dma_log_note(struct vgpu_vfio *dev, u64 addr, size_t len);
void vgpu_dma_log_close(struct vgpu_vfio *dev);
void vgpu_dma_log_exit(struct vgpu_vfio *dev);

#endif /* _VGPU_DMA_LOG_H */
