// SPDX-License-Identifier: GPL-2.0
/*
 * The EDID of the monitor at a vGPU's first head. The user of the device may replace it; the guest
 * reads it through registers of the back end.
 */
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "../core.h"
#include "edid_build.h"

/* The monitor's default preferred mode. */
#define EDID_WIDTH	1280U
#define EDID_HEIGHT	800U

#define EDID_BLOCK	128U
#define EDID_EXTENSIONS	126	/* offset of the number of blocks that follow the first */

/**
 * vgpu_edid_reset() - plug in the default monitor of the instance's type
 * @instance: the instance
 *
 * Context: sleeps.
 */
void vgpu_edid_reset(struct vgpu_instance *instance)
{
	const struct vgpu_type *type = instance->type;
	struct vgpu_edid *edid = &instance->edid;

	mutex_lock(&edid->lock);
	memset(edid->blob, 0, sizeof(edid->blob));
	edid->size = vgpu_edid_build(edid->blob, sizeof(edid->blob),
				     min(EDID_WIDTH, type->max_width),
				     min(EDID_HEIGHT, type->max_height),
				     type->max_width, type->max_height, type->name);
	mutex_unlock(&edid->lock);
}

/* Whether @blob has the form of an EDID: header, number of blocks and their checksums. */
static bool edid_valid(const u8 *blob, u32 size)
{
	static const u8 header[8] = { 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00 };
	u32 i, end;
	u8 sum = 0;

	if (size < EDID_BLOCK || memcmp(blob, header, sizeof(header)) ||
	    size != (blob[EDID_EXTENSIONS] + 1U) * EDID_BLOCK)
		return false;
	for (i = 0, end = EDID_BLOCK; i < size && !sum; end += EDID_BLOCK)
		for (; i < end; i++)
			sum += blob[i];
	return !sum;
}

/**
 * vgpu_edid_set() - plug in another monitor, or none
 * @instance: the instance
 * @blob: EDID of the monitor
 * @size: bytes of @blob; 0: no monitor
 *
 * Each access by the guest reads the old EDID or the new one, never a mixture.
 *
 * Context: sleeps.
 * Return: 0, or -EINVAL if @blob is not an EDID; then the old one stays.
 */
int vgpu_edid_set(struct vgpu_instance *instance, const u8 *blob, u32 size)
{
	struct vgpu_edid *edid = &instance->edid;

	if (size > sizeof(edid->blob) || (size && !edid_valid(blob, size)))
		return -EINVAL;
	mutex_lock(&edid->lock);
	memset(edid->blob, 0, sizeof(edid->blob));
	memcpy(edid->blob, blob, size);
	edid->size = size;
	mutex_unlock(&edid->lock);
	return 0;
}

/**
 * vgpu_edid_read() - read the EDID of the monitor of a vGPU's first head
 * @instance: the instance
 * @offset: first byte, any number
 * @buf: set to the bytes; bytes beyond the EDID are 0
 * @count: bytes
 *
 * Context: sleeps.
 */
void vgpu_edid_read(struct vgpu_instance *instance, u32 offset, void *buf, size_t count)
{
	struct vgpu_edid *edid = &instance->edid;

	memset(buf, 0, count);
	mutex_lock(&edid->lock);
	if (offset < edid->size) {
		offset = array_index_nospec(offset, VGPU_EDID_MAX);
		memcpy(buf, edid->blob + offset, min_t(size_t, count, edid->size - offset));
	}
	mutex_unlock(&edid->lock);
}
EXPORT_SYMBOL_GPL(vgpu_edid_read);
