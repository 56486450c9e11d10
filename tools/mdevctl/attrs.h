/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes that can be set: what the driver makes of its own table of settings
 * (drivers/vgpu/core/settings/share_rules.c), which is compiled into the call-out. So whatever can
 * be written to in the group vgpu/ of an mdev is known here, with its limits, before there is such
 * an mdev.
 */
#ifndef VGPU_MDEVCTL_ATTRS_H
#define VGPU_MDEVCTL_ATTRS_H

#include <stdbool.h>

#include "config.h"
#include "core/settings/share_rules.h"

/* The group, as part of an attribute's name. */
#define ATTRS_GROUP	"vgpu/"

/**
 * struct attrs_room - where a vGPU is or will be: a partition, or a whole GPU
 * @size_gb:    framebuffer of its type in GiB
 * @region_gb:  framebuffer of the partition or the GPU in GiB
 * @guarantees: of the vGPUs that are there, per mille
 * @name:       as the driver names it in its messages
 * @none:       why a new vGPU has no place there now; "": it has one
 */
struct attrs_room {
	u32 size_gb;
	u32 region_gb;
	u32 guarantees;
	char name[VGPU_ADDR_LEN + 12];
	char none[CONFIG_WHY];
};

/*
 * Whether a new vGPU can be given the attributes of @config one after the other, as mdevctl does.
 * @room is NULL if nothing is known of the GPU. With @start the vGPU is to be started now, so it
 * must have a place, and its guarantee must fit: that which it begins with, and each that is set.
 * If it cannot, @why, of CONFIG_WHY bytes, says what is wrong.
 */
bool attrs_check(const struct config *config, const struct attrs_room *room, bool start,
		 char *why);

/* Makes one change of all attributes of @config; of two values for one, the last one counts. */
bool attrs_change(const struct config *config, struct vgpu_ctl_share *change, char *why);

/* Does @text, as sysfs has it, say the same of a setting as @change? */
bool attrs_same(const struct vgpu_setting *setting, const char *text,
		const struct vgpu_ctl_share *change);

/* The row of the setting that an attribute sets, or NULL. */
const struct vgpu_setting *attrs_find(const char *name);

#endif /* VGPU_MDEVCTL_ATTRS_H */
