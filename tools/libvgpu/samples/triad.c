// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "triad.h"

VGPU_KERNEL(triad, "buf a, buf b, buf c, f32 factor")
{
	triad_item(args, vgpu_global_id(0));
}
