// SPDX-License-Identifier: GPL-2.0
/*
 * Channels of a vGPU, and what its guest says of them and of itself, for the control node. What a
 * guest says is shown and otherwise not used.
 */
#include <linux/string.h>

#include "../core.h"

/* Copies the text of a guest up to its end, which may be missing, into zeroed @to. */
static void channel_copy_text(u8 *to, const u8 *from, size_t size)
{
	memcpy(to, from, strnlen((const char *)from, size));
}

static int channel_guest_info(struct vgpu_instance *instance, struct vgpu_ctl_channels *ctl)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;
	struct vgpu_hw_guest_info info = {};
	int ret = 0;

	BUILD_BUG_ON(sizeof(info.name) != sizeof(ctl->driver_name));
	BUILD_BUG_ON(sizeof(info.version) != sizeof(ctl->driver_version));
	BUILD_BUG_ON(sizeof(info.os) != sizeof(ctl->os));
	raw_spin_lock(&instance->gpu->data_lock);
	if (instance->gone)
		ret = -ENODEV;
	else if (ops->guest_info)
		ops->guest_info(instance, &info);
	raw_spin_unlock(&instance->gpu->data_lock);
	channel_copy_text(ctl->driver_name, info.name, sizeof(info.name));
	channel_copy_text(ctl->driver_version, info.version, sizeof(info.version));
	channel_copy_text(ctl->os, info.os, sizeof(info.os));
	return ret;
}

/*
 * Returns 1 if @entry was filled in, else 0 or -errno. The lock keeps the back end's data alive: it
 * is held for one channel at a time, since engines take the back end's locks.
 */
static int channel_read(struct vgpu_instance *instance, u32 index, struct vgpu_ctl_channel *entry)
{
	int ret;

	raw_spin_lock(&instance->gpu->data_lock);
	if (instance->gone)
		ret = -ENODEV;
	else
		ret = instance->gpu->ops->channel(instance, index, entry);
	raw_spin_unlock(&instance->gpu->data_lock);
	return ret;
}

/**
 * vgpu_channel_list() - report channels of a vGPU
 * @instance: its GPU has been entered by vgpu_gpu_enter()
 * @ctl:      first is the least channel wanted; count, next and what follows now_ns are set
 * @entries:  struct vgpu_ctl_channel, as many as there is room for; filled in
 *
 * Context: process context; does not sleep.
 * Return: 0, or -ENODEV if the vGPU is being destroyed.
 */
int vgpu_channel_list(struct vgpu_instance *instance, struct vgpu_ctl_channels *ctl,
		      const struct vgpu_ctl_entries *entries)
{
	u32 end = instance->gpu->ops->channel ? instance->info.nr_channels : 0;
	int ret;

	ctl->count = 0;
	memset_startat(ctl, 0, driver_name);
	ret = channel_guest_info(instance, ctl);
	for (ctl->next = ctl->first; ctl->next < end && ctl->count < entries->nr; ctl->next++) {
		ret = channel_read(instance, ctl->next, vgpu_ctl_entry(entries, ctl->count));
		if (ret < 0)
			return ret;
		ctl->count += ret;
	}
	return min(ret, 0);
}
