// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "latency.h"

VGPU_KERNEL(latency, "buf next, buf end, u32 loads")
{
	latency_item(args, vgpu_global_id(0));
}
