/* SPDX-License-Identifier: GPL-2.0 */
/* The default EDID of a vGPU's display, until the user of the device sets another. Pure logic. */
#ifndef _VGPU_CORE_EDID_BUILD_H
#define _VGPU_CORE_EDID_BUILD_H

#include <linux/types.h>

#define VGPU_EDID_BLOCK		128
#define VGPU_EDID_BUILD_MAX	(2 * VGPU_EDID_BLOCK)

size_t vgpu_edid_build(u8 *edid, size_t room, u32 width, u32 height, u32 max_width,
		       u32 max_height, const char *name);

#endif /* _VGPU_CORE_EDID_BUILD_H */
