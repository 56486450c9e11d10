/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function as vGPUs have it, for the tests of vfio/config.c and vfio/region.c. */
#ifndef _FUNCTION_TEST_H
#define _FUNCTION_TEST_H

#include "vgpu_test.h"

#include "vfio/config.h"
#include "vfio/region.h"

#define ROUNDS	200000

static const struct vgpu_function_desc typical = {
	.vendor_id = 0x1af4,
	.device_id = 0x10f1,
	.class = 0x030200,
	.region = {
		[0] = {
			.owned_bytes = 5ULL << 30,
			.flags = VGPU_REGION_MMAP | VGPU_REGION_64BIT | VGPU_REGION_PREFETCH,
		},
		[2] = { .owned_bytes = 0x20000 },
		[4] = {
			.owned_bytes = 12 * 4096,
			.flags = VGPU_REGION_MMAP | VGPU_REGION_64BIT,
		},
	},
	.vectors = 32,
	.msix_bar = 2,
	.msix_table = 0x2000,
	.msix_pba = 0x2800,
	.plane_bytes = 1280 * 1024 * 4,
};

#endif /* _FUNCTION_TEST_H */
