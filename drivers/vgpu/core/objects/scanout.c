// SPDX-License-Identifier: GPL-2.0
/* The picture that an instance shows to the user of the device. */
#include <linux/bug.h>
#include <linux/minmax.h>

#include "../core.h"

/*
 * Whether a monitor of the type can show the picture, upright or rotated. Without a limit of the
 * sides, a guest could make the user of the device copy millions of rows of one pixel.
 */
static bool vgpu_instance_shows(const struct vgpu_instance *instance, const struct vgpu_scanout *s)
{
	const struct vgpu_instance_info *info = &instance->info;
	u32 side = max(info->max_width, info->max_height);

	return s->width && s->height && s->width <= side && s->height <= side &&
	       (u64)s->width * s->height <= (u64)info->max_width * info->max_height;
}

/**
 * vgpu_instance_scanout() - tell what the first head shows
 * @instance: open
 * @scanout: set if this returns true
 *
 * Context: sleeps.
 * Return: true if there is a picture, all of it in the instance's framebuffer, that a monitor of
 * the type can show.
 */
bool vgpu_instance_scanout(struct vgpu_instance *instance, struct vgpu_scanout *scanout)
{
	u64 fb_bytes = instance->info.fb_bytes, row, rest;

	if (!instance->gpu->ops->scanout(instance, scanout) ||
	    !vgpu_instance_shows(instance, scanout))
		return false;
	row = (u64)scanout->width * 4;
	rest = (u64)scanout->pitch * (scanout->height - 1);
	return !WARN_ON_ONCE(scanout->pitch < row || scanout->offset > fb_bytes ||
			     rest + row > fb_bytes - scanout->offset);
}
