/* SPDX-License-Identifier: GPL-2.0 */
/* The PCI root bus of the software GPUs. */
#ifndef _VGPU_SOFT_ROOT_H
#define _VGPU_SOFT_ROOT_H

#include <linux/types.h>

struct pci_dev;

int soft_root_create(unsigned int nr_gpus, u16 vendor, u16 device);
void soft_root_destroy(void);
bool soft_root_owns(const struct pci_dev *pdev);

#endif /* _VGPU_SOFT_ROOT_H */
