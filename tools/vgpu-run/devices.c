// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include <libvgpu.h>

#include "devices.h"

static void print_name(const char *name, void *data)
{
	(void)data;
	puts(name);
}

void complete_devices(void)
{
	vgpu_dev_list(print_name, NULL);
}
