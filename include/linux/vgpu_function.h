/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PCI function that a VM sees, as a back end describes it to a front end. This is not part of
 * <linux/vgpu.h>, because the front end's files that use it are compiled in user space, too.
 */
#ifndef _LINUX_VGPU_FUNCTION_H
#define _LINUX_VGPU_FUNCTION_H

#include <linux/types.h>

#define VGPU_REGION_MAX		6	/* number of BARs */

#define VGPU_REGION_MMAP	0x1	/* owned bytes may be mapped */
#define VGPU_REGION_64BIT	0x2	/* also takes the next BAR */
#define VGPU_REGION_PREFETCH	0x4

/**
 * struct vgpu_region_desc - a BAR of an instance's PCI function
 * @owned_bytes: number of bytes that the back end serves; 0: no such BAR. The BAR's size is this
 *               number rounded up to a power of two; the rest reads all ones and drops writes
 * @flags:       VGPU_REGION_*
 */
struct vgpu_region_desc {
	u64 owned_bytes;
	u32 flags;
};

/**
 * struct vgpu_function_desc - the PCI function that a VM sees
 * @vendor_id: PCI vendor ID, also of the subsystem
 * @device_id: PCI device ID, also of the subsystem
 * @class:     class code, 24 bits
 * @region:    the BARs, by number
 * @vectors:   number of MSI-X vectors
 * @msix_bar:  BAR with the MSI-X table and pending bits; the front end serves that page
 * @msix_table: offset of the table in @msix_bar, a multiple of 4096
 * @msix_pba:  offset of the pending bits, in the same page as the table
 * @plane_bytes: bytes of the largest picture that the function's display can show, whole pages;
 *             0: the function has no display
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
	u64 plane_bytes;
};

#endif /* _LINUX_VGPU_FUNCTION_H */
