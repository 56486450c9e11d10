/* SPDX-License-Identifier: GPL-2.0 */
/* Software GPUs as devices. */
#ifndef _VGPU_SOFT_GPU_H
#define _VGPU_SOFT_GPU_H

#include <linux/atomic.h>
#include <linux/pci.h>
#include <linux/vgpu.h>

#include "part.h"

/**
 * struct soft_gpu - a software GPU
 * @pdev:    its PCI function
 * @vgpu:    the core's structure of the GPU
 * @board:   first part of its types' names
 * @programs_decoded: for all of its vGPUs
 * @engine:  its engines, as the core knows them
 * @part0:   partition 0
 */
struct soft_gpu {
	struct pci_dev *pdev;
	struct vgpu_gpu *vgpu;
	char board[VGPU_ADDR_LEN];
	atomic_t programs_decoded;
	struct vgpu_engine_desc engine[SOFT_ENGINES];
	struct soft_part part0;
};

static inline struct soft_gpu *soft_gpu(struct vgpu_gpu *vgpu)
{
	return vgpu_gpu_backend(vgpu);
}

/* gpu.c */
int soft_gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id);
void soft_gpu_remove(struct pci_dev *pdev);
void soft_gpu_debugfs_init(void);
void soft_gpu_debugfs_exit(void);

/* root.c */
int soft_root_create(unsigned int nr_gpus, u16 vendor, u16 device);
void soft_root_destroy(void);
bool soft_root_owns(const struct pci_dev *pdev);

#endif /* _VGPU_SOFT_GPU_H */
