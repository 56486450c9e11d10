// SPDX-License-Identifier: GPL-2.0
/* What compilers call in loads on the device. */
#include <vgpu_device.h>
