// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "copy.h"

VGPU_KERNEL(copy, "buf to, buf from")
{
	copy_item(args, vgpu_global_id(0));
}
