// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "sgemm.h"

VGPU_KERNEL(sgemm, "buf a, buf b, buf c, u32 nr")
{
	sgemm_item(args, vgpu_global_id(0), vgpu_global_id(1));
}
