/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_PCI_H
#define _ENGINE_SHIM_LINUX_PCI_H

#include <linux/types.h>

struct pci_dev;
struct pci_device_id;

#endif /* _ENGINE_SHIM_LINUX_PCI_H */
