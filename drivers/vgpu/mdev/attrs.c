// SPDX-License-Identifier: GPL-2.0
/*
 * The group vgpu/ of an mdev: what it is, and what it is to get.
 * Documentation/ABI/testing/sysfs-vgpu describes the attributes.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "mdev.h"

static struct vgpu_instance *to_instance(struct device *device)
{
	struct vgpu_mdev *dev = dev_get_drvdata(device);

	return dev->instance;
}

static ssize_t vgpu_name_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_instance(device)->type->name);
}
static DEVICE_ATTR_RO(vgpu_name);

static ssize_t gpu_show(struct device *device, struct device_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%s\n", to_instance(device)->gpu->name);
}
static DEVICE_ATTR_RO(gpu);

static ssize_t state_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	struct vgpu_mdev *dev = dev_get_drvdata(device);

	return sysfs_emit(buf, "%s\n",
			  READ_ONCE(dev->opened) ? "started" : "created");
}
static DEVICE_ATTR_RO(state);

static ssize_t map_failures_show(struct device *device,
				 struct device_attribute *attr, char *buf)
{
	struct vgpu_mdev *dev = dev_get_drvdata(device);

	return sysfs_emit(buf, "%lld\n", atomic64_read(&dev->map_failures));
}
static DEVICE_ATTR_RO(map_failures);

static ssize_t frl_fps_show(struct device *device,
			    struct device_attribute *attr, char *buf)
{
	struct vgpu_ctl_share share;
	u32 fps;

	vgpu_shares_get(to_instance(device), &share, &fps);
	return sysfs_emit(buf, "%u\n", fps);
}
static DEVICE_ATTR_RO(frl_fps);

/**
 * struct vgpu_share_attr - a part of a vGPU's share as an attribute
 * @attr:   the driver core's
 * @valid:  VGPU_SHARE_*
 * @offset: within struct vgpu_ctl_share
 */
struct vgpu_share_attr {
	struct device_attribute attr;
	u32 valid;
	size_t offset;
};

static u32 *share_field(struct vgpu_ctl_share *share,
			struct device_attribute *attr)
{
	size_t offset = container_of(attr, struct vgpu_share_attr,
				     attr)->offset;

	return (u32 *)((char *)share + offset);
}

static ssize_t share_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	struct vgpu_ctl_share share;
	u32 value, fps;

	vgpu_shares_get(to_instance(device), &share, &fps);
	value = *share_field(&share, attr);
	if (value == VGPU_FRL_DEFAULT)
		return sysfs_emit(buf, "default\n");
	return sysfs_emit(buf, "%u\n", value);
}

static ssize_t share_store(struct device *device, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct vgpu_instance *instance = to_instance(device);
	u32 valid = container_of(attr, struct vgpu_share_attr, attr)->valid;
	struct vgpu_ctl_share share = { .valid = valid };
	char why[VGPU_TEXT_LEN] = "";
	unsigned int culprit;
	u32 value;
	int ret;

	if (valid == VGPU_SHARE_FRL && sysfs_streq(buf, "default")) {
		value = VGPU_FRL_DEFAULT;
	} else if (kstrtou32(buf, 0, &value) || value == VGPU_FRL_DEFAULT) {
		return vgpu_refuse(instance, -EINVAL, "%s: not a number that it can be",
				   attr->attr.name);
	}
	vgpu_uuid_export(share.uuid, &instance->uuid);
	*share_field(&share, attr) = value;
	ret = vgpu_shares_set(&share, 1, &culprit, why, sizeof(why));
	if (ret)
		return vgpu_refuse(instance, ret, "%s", why);
	return count;
}

#define SHARE_ATTR(name) __ATTR(name, 0644, share_show, share_store)
#define SHARE_FIELD(field) offsetof(struct vgpu_ctl_share, field)

static struct vgpu_share_attr share_attrs[] = {
	{ SHARE_ATTR(guarantee), VGPU_SHARE_GUARANTEE, SHARE_FIELD(guarantee) },
	{ SHARE_ATTR(cap), VGPU_SHARE_CAP, SHARE_FIELD(cap) },
	{ SHARE_ATTR(weight), VGPU_SHARE_WEIGHT, SHARE_FIELD(weight) },
	{ SHARE_ATTR(frl), VGPU_SHARE_FRL, SHARE_FIELD(frl) },
};

static struct attribute *vgpu_mdev_attrs[] = {
	&dev_attr_vgpu_name.attr,
	&dev_attr_gpu.attr,
	&dev_attr_state.attr,
	&dev_attr_map_failures.attr,
	&share_attrs[0].attr.attr,
	&share_attrs[1].attr.attr,
	&share_attrs[2].attr.attr,
	&share_attrs[3].attr.attr,
	&dev_attr_frl_fps.attr,
	NULL
};

static const struct attribute_group vgpu_mdev_attr_group = {
	.name = "vgpu",
	.attrs = vgpu_mdev_attrs,
};

const struct attribute_group *vgpu_mdev_attr_groups[] = {
	&vgpu_mdev_attr_group,
	NULL
};
