// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "blur.h"

VGPU_KERNEL(blur, "buf from, buf to, i32 width, i32 height")
{
	blur_item(args, (int32_t)vgpu_global_id(0), (int32_t)vgpu_global_id(1));
}
