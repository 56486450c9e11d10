// SPDX-License-Identifier: GPL-2.0
/*
 * The EDID region of a vGPU: struct vfio_region_gfx_edid, and an EDID at VGPU_EDID_BLOB. The user
 * writes the EDID and its size while the link is down. The guest's EDID changes only when the user
 * writes the state of the link, so the guest never reads an EDID that is half written.
 */
#include <linux/nospec.h>
#include <linux/string.h>

#include "edid_region.h"

static_assert(sizeof(struct vfio_region_gfx_edid) <= VGPU_EDID_BLOB);
static_assert(VGPU_EDID_SIZE_MAX == VGPU_EDID_MAX);

/**
 * vgpu_edid_region_reset() - set the region to what the guest sees
 * @region: the region
 * @instance: its vGPU, which has just been opened, or loaded
 */
void vgpu_edid_region_reset(struct vgpu_edid_region *region, struct vgpu_instance *instance)
{
	const struct vgpu_type *type = instance->type;

	mutex_lock(&region->lock);
	vgpu_edid_read(instance, 0, region->blob, sizeof(region->blob));
	region->head = (struct vfio_region_gfx_edid) {
		.edid_offset = VGPU_EDID_BLOB,
		.edid_max_size = VGPU_EDID_SIZE_MAX,
		.edid_size = instance->edid.size,
		.max_xres = type->max_width,
		.max_yres = type->max_height,
		.link_state = instance->edid.size ? VFIO_DEVICE_GFX_LINK_STATE_UP :
						    VFIO_DEVICE_GFX_LINK_STATE_DOWN,
	};
	mutex_unlock(&region->lock);
}

static int edid_write_link(struct vgpu_edid_region *region, struct vgpu_instance *instance,
			   u32 state)
{
	int ret;

	lockdep_assert_held(&region->lock);
	if (state != VFIO_DEVICE_GFX_LINK_STATE_UP && state != VFIO_DEVICE_GFX_LINK_STATE_DOWN)
		return -EINVAL;
	if (state == VFIO_DEVICE_GFX_LINK_STATE_UP && !region->head.edid_size)
		return -EINVAL;
	/* Not while the state of the instance, of which the EDID is a part, is saved or built. */
	ret = down_read_killable(&instance->access_lock);
	if (ret)
		return ret;
	ret = vgpu_edid_set(instance, region->blob,
			    state == VFIO_DEVICE_GFX_LINK_STATE_UP ? region->head.edid_size : 0);
	up_read(&instance->access_lock);
	if (!ret)
		region->head.link_state = state;
	return ret;
}

static int edid_write_field(struct vgpu_edid_region *region, struct vgpu_instance *instance,
			    u32 offset, u32 value)
{
	switch (offset) {
	case offsetof(struct vfio_region_gfx_edid, edid_size):
		if (value > VGPU_EDID_SIZE_MAX)
			return -EINVAL;
		region->head.edid_size = value;
		return 0;
	case offsetof(struct vfio_region_gfx_edid, link_state):
		return edid_write_link(region, instance, value);
	default:	/* all other fields are read-only */
		return -EINVAL;
	}
}

/**
 * vgpu_edid_region_rw() - access the EDID region
 * @region: the region
 * @instance: its vGPU, which is open
 * @offset: offset in the region, naturally aligned
 * @buf: kernel memory
 * @len: 1, 2, 4 or 8 bytes, all in the region
 * @write: write the region, else read it
 *
 * A write to the structure writes one whole field. The bytes between the structure and the EDID
 * read 0. Sleeps.
 *
 * Return: 0; -EINVAL for a write of a read-only field, for an unknown link state, or for link state
 * "up" with an EDID that is not valid. A call that fails changes nothing.
 */
int vgpu_edid_region_rw(struct vgpu_edid_region *region, struct vgpu_instance *instance,
			u32 offset, void *buf, u32 len, bool write)
{
	u8 head[VGPU_EDID_BLOB] = {};
	int ret = 0;
	u32 value;

	if (offset > VGPU_EDID_BLOB + VGPU_EDID_SIZE_MAX - len)
		return -EINVAL;
	offset = array_index_nospec(offset, VGPU_EDID_BLOB + VGPU_EDID_SIZE_MAX);
	mutex_lock(&region->lock);
	if (offset >= VGPU_EDID_BLOB) {
		u8 *blob = region->blob + (offset - VGPU_EDID_BLOB);

		memcpy(write ? blob : buf, write ? buf : blob, len);
	} else if (!write) {
		memcpy(head, &region->head, sizeof(region->head));
		memcpy(buf, head + array_index_nospec(offset, VGPU_EDID_BLOB), len);
	} else if (len == sizeof(value)) {
		memcpy(&value, buf, sizeof(value));
		ret = edid_write_field(region, instance, offset, value);
	} else {
		ret = -EINVAL;
	}
	mutex_unlock(&region->lock);
	return ret;
}
