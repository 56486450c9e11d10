// SPDX-License-Identifier: GPL-2.0
/*
 * The sysfs group vgpu/ of an mdev: the vGPU's properties and settings.
 * Documentation/ABI/testing/sysfs-vgpu describes the attributes.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "../vfio/vfio.h"
#include "mdev.h"

static struct vgpu_instance *to_instance(struct device *device)
{
	struct vgpu_vfio *dev = dev_get_drvdata(device);

	return dev->instance;
}

static ssize_t vgpu_name_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_instance(device)->type->name);
}
static DEVICE_ATTR_RO(vgpu_name);

static ssize_t gpu_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_instance(device)->gpu->name);
}
static DEVICE_ATTR_RO(gpu);

static ssize_t state_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct vgpu_vfio *dev = dev_get_drvdata(device);

	return sysfs_emit(buf, "%s\n", READ_ONCE(dev->map.opened) ? "started" : "created");
}
static DEVICE_ATTR_RO(state);

static ssize_t map_failures_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct vgpu_vfio *dev = dev_get_drvdata(device);

	return sysfs_emit(buf, "%lld\n", atomic64_read(&dev->map.failures));
}
static DEVICE_ATTR_RO(map_failures);

static ssize_t frl_fps_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", vgpu_shares_frl(to_instance(device)));
}
static DEVICE_ATTR_RO(frl_fps);

static ssize_t share_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct vgpu_instance *instance = to_instance(device);
	struct vgpu_ctl_share share;

	vgpu_shares_get(instance, &share);
	return vgpu_setting_show(vgpu_attr_setting(attr), &share, buf);
}

static ssize_t share_store(struct device *device, struct device_attribute *attr, const char *buf,
			   size_t count)
{
	struct vgpu_instance *instance = to_instance(device);
	const struct vgpu_setting *setting = vgpu_attr_setting(attr);
	struct vgpu_ctl_share share = { .valid = setting->valid };
	char why[VGPU_TEXT_LEN] = "";
	unsigned int culprit;
	int ret;

	if (vgpu_setting_store(setting, &share, buf))
		return vgpu_refuse(instance, -EINVAL, "%s: not a valid %s", setting->name,
				   setting->type == VGPU_SETTING_TEXT ? "text" : "number");
	vgpu_uuid_export(share.uuid, &instance->uuid);
	ret = vgpu_shares_set(&share, 1, &culprit, why, sizeof(why));
	if (ret)
		return vgpu_refuse(instance, ret, "%s", why);
	return count;
}

static DEVICE_ATTR_RW(share);
static struct vgpu_setting_attr share_attrs[VGPU_SETTINGS_MAX] __ro_after_init;

/* vgpu_mdev_attrs_init() appends share_attrs; NULL ends the list. */
static struct attribute *vgpu_mdev_attrs[5 + VGPU_SETTINGS_MAX + 1] __ro_after_init = {
	&dev_attr_vgpu_name.attr,    &dev_attr_gpu.attr,     &dev_attr_state.attr,
	&dev_attr_map_failures.attr, &dev_attr_frl_fps.attr,
};

static const struct attribute_group vgpu_mdev_attr_group = {
	.name = "vgpu",
	.attrs = vgpu_mdev_attrs,
};

const struct attribute_group *vgpu_mdev_attr_groups[] = {
	&vgpu_mdev_attr_group,
	NULL
};

/**
 * vgpu_mdev_attrs_init() - complete the list of an mdev's attributes
 *
 * Called when the module loads.
 */
void vgpu_mdev_attrs_init(void)
{
	vgpu_setting_attrs(vgpu_share_settings, &dev_attr_share, share_attrs, vgpu_mdev_attrs);
}
