// SPDX-License-Identifier: GPL-2.0
/* Numbers of the hardware ABI in words. */
#include <stddef.h>

#include <linux/vgpu_hw.h>

#include "libvgpu_names.h"

static const char * const fault_names[] = {
	[VGPU_HW_FAULT_NONE] = "none",
	[VGPU_HW_FAULT_PACKET] = "packet",
	[VGPU_HW_FAULT_ADDRESS] = "address",
	[VGPU_HW_FAULT_ALIGN] = "align",
	[VGPU_HW_FAULT_DMA] = "dma",
	[VGPU_HW_FAULT_RING] = "ring",
	[VGPU_HW_FAULT_MEMORY] = "memory",
	[VGPU_HW_FAULT_RESET] = "reset",
	[VGPU_HW_FAULT_PAGE] = "page",
	[VGPU_HW_FAULT_GRID] = "grid",
	[VGPU_HW_FAULT_PROGRAM] = "program",
	[VGPU_HW_FAULT_ILLEGAL] = "illegal",
	[VGPU_HW_FAULT_STACK] = "stack",
};

static const char * const class_names[] = {
	[VGPU_HW_ENGINE_GR] = "gr",
	[VGPU_HW_ENGINE_CE] = "ce",
	[VGPU_HW_ENGINE_ENC] = "enc",
	[VGPU_HW_ENGINE_DEC] = "dec",
};

const char *vgpu_name_of(const char * const *names, size_t nr, uint32_t number)
{
	return number < nr && names[number] ? names[number] : "unknown";
}

const char *vgpu_fault_name(uint32_t code)
{
	return VGPU_NAME_OF(fault_names, code);
}

const char *vgpu_engine_class_name(uint32_t engine_class)
{
	return VGPU_NAME_OF(class_names, engine_class);
}
