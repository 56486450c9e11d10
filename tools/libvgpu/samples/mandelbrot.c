// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "mandelbrot.h"

VGPU_KERNEL(mandelbrot, "buf pixels, u32 width, u32 limit, f32 left, f32 top, f32 step")
{
	mandelbrot_item(args, vgpu_global_id(0), vgpu_global_id(1));
}
