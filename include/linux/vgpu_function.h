/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PCI function that a VM sees, as a back end describes it to a front end.
 * Apart from vgpu.h since the front end's pure files compile in user space.
 */
#ifndef _LINUX_VGPU_FUNCTION_H
#define _LINUX_VGPU_FUNCTION_H

#include <linux/types.h>

#define VGPU_REGION_MAX		6	/* BARs */

#define VGPU_REGION_MMAP	0x1	/* owned bytes may be mapped */
#define VGPU_REGION_64BIT	0x2	/* takes the next BAR too */
#define VGPU_REGION_PREFETCH	0x4

/**
 * struct vgpu_region_desc - a BAR of an instance's PCI function
 * @owned_bytes: what is behind it; 0: no such BAR. The BAR's size is this
 *               rounded up to a power of two, the tail reads all ones and
 *               drops writes
 * @flags:       VGPU_REGION_*
 */
struct vgpu_region_desc {
	u64 owned_bytes;
	u32 flags;
};

/**
 * struct vgpu_function_desc - the PCI function that a VM sees
 * @vendor_id: PCI vendor
 * @device_id: PCI device
 * @class:     24-bit class code
 * @region:    by BAR index
 * @vectors:   MSI-X vectors
 * @msix_bar:  BAR of table and PBA, not mapped there
 * @msix_table: offset of the table, page aligned
 * @msix_pba:  offset of the pending bits, in the table's page
 */
struct vgpu_function_desc {
	u16 vendor_id;
	u16 device_id;
	u32 class;
	struct vgpu_region_desc region[VGPU_REGION_MAX];
	u16 vectors;
	u8 msix_bar;
	u32 msix_table;
	u32 msix_pba;
};

#endif /* _LINUX_VGPU_FUNCTION_H */
