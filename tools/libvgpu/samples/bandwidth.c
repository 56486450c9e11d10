// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "bandwidth.h"

VGPU_KERNEL(bandwidth, "buf words, buf xor")
{
	bandwidth_item(args, vgpu_global_id(0));
}
