// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "sha256.h"

VGPU_KERNEL(sha256, "buf messages, buf digests")
{
	sha256_item(args, vgpu_global_id(0));
}
