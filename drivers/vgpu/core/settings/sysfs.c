// SPDX-License-Identifier: GPL-2.0
/*
 * sysfs attributes of settings, made from the rows of a table; and the group vgpu/ of a physical
 * function with the settings of a GPU. Documentation/ABI/testing/sysfs-vgpu describes them.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "../core.h"

/**
 * vgpu_setting_attrs() - make the attributes of a table of settings
 * @table: the settings
 * @like: template of the attributes; only their names differ
 * @attrs: set, one for each row; has room for VGPU_SETTINGS_MAX
 * @list: attributes of the group, ending with NULL; the new ones are appended
 *
 * Called when the module loads.
 */
void vgpu_setting_attrs(const struct vgpu_setting *table, const struct device_attribute *like,
			struct vgpu_setting_attr *attrs, struct attribute **list)
{
	while (*list)
		list++;
	for (; table->name; table++, attrs++) {
		attrs->attr = *like;
		attrs->attr.attr.name = table->name;
		attrs->setting = table;
		*list++ = &attrs->attr.attr;
	}
}

/**
 * vgpu_setting_show() - write a setting as an attribute
 * @setting: row of the setting
 * @settings: the structure with the field
 * @buf: buffer of the attribute's show function
 *
 * Return: number of bytes written.
 */
ssize_t vgpu_setting_show(const struct vgpu_setting *setting, const void *settings, char *buf)
{
	u64 number;

	if (setting->type == VGPU_SETTING_TEXT)
		return sysfs_emit(buf, "%s\n", (const char *)settings + setting->offset);
	number = vgpu_setting_number(setting, settings);
	if (setting->other_name && number == setting->other)
		return sysfs_emit(buf, "%s\n", setting->other_name);
	return sysfs_emit(buf, "%llu\n", div_u64(number, setting->attr_unit ?: 1));
}

/**
 * vgpu_setting_store() - parse a setting that was written to an attribute
 * @setting: row of the setting
 * @settings: the structure with the field; a field for a text is zeroed
 * @buf: buffer of the attribute's store function
 *
 * Does not check whether the value is valid for the setting.
 *
 * Return: 0; -EINVAL for a text that is too long or has several lines, or if a number is expected
 * and @buf is not one; -ERANGE for a number that does not fit into the field.
 */
int vgpu_setting_store(const struct vgpu_setting *setting, void *settings, const char *buf)
{
	size_t len = strcspn(buf, "\n");
	u64 number;
	int ret;

	if (setting->type == VGPU_SETTING_TEXT) {
		if (len >= VGPU_ADDR_LEN || (buf[len] && buf[len + 1]))
			return -EINVAL;
		memcpy(settings + setting->offset, buf, len);
		return 0;
	}
	if (setting->other_name && sysfs_streq(buf, setting->other_name)) {
		vgpu_setting_set_number(setting, settings, setting->other);
		return 0;
	}
	ret = kstrtou64(buf, 0, &number);
	if (ret)
		return ret;
	if (check_mul_overflow(number, (u64)(setting->attr_unit ?: 1), &number) ||
	    (setting->other_name && number == setting->other) ||
	    !vgpu_setting_set_number(setting, settings, number))
		return -ERANGE;
	return 0;
}

static ssize_t gpu_setting_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find_device(dev);
	struct vgpu_ctl_sched ctl = {};
	int ret;

	if (!gpu)
		return -ENODEV;
	ret = vgpu_settings_get(&gpu->part0, &ctl);
	vgpu_gpu_put(gpu);
	return ret ?: vgpu_setting_show(vgpu_attr_setting(attr), &ctl, buf);
}

static ssize_t gpu_setting_store(struct device *dev, struct device_attribute *attr,
				 const char *buf, size_t count)
{
	const struct vgpu_setting *setting = vgpu_attr_setting(attr);
	struct vgpu_ctl_sched ctl = { .valid = setting->valid };
	struct vgpu_gpu *gpu;
	int ret = vgpu_setting_store(setting, &ctl, buf);

	if (ret)
		return ret;
	gpu = vgpu_gpu_find_device(dev);
	if (!gpu)
		return -ENODEV;
	mutex_lock(&gpu->lock);
	ret = vgpu_division_refuse(gpu, ctl.text, sizeof(ctl.text)) ?:
	      vgpu_settings_set(&gpu->part0, &ctl);
	mutex_unlock(&gpu->lock);
	if (ret && vgpu_gpu_may_log(gpu))
		dev_notice(dev, "vgpu: refused: %s\n", (char *)ctl.text);
	vgpu_gpu_put(gpu);
	return ret ?: count;
}

static ssize_t policies_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct vgpu_sched_policy *policy;
	unsigned int i;
	int len = 0;

	for (i = 0; (policy = vgpu_sched_policy_at(i)); i++)
		len += sysfs_emit_at(buf, len, "%s%s", i ? " " : "", policy->name);
	return len + sysfs_emit_at(buf, len, "\n");
}
static DEVICE_ATTR_RO(policies);

static DEVICE_ATTR_RW(gpu_setting);
static struct vgpu_setting_attr gpu_settings[VGPU_SETTINGS_MAX] __ro_after_init;

/* vgpu_sysfs_init() appends gpu_settings; NULL ends the list. */
static struct attribute *gpu_attrs[1 + VGPU_SETTINGS_MAX + 1] __ro_after_init = {
	&dev_attr_policies.attr,
};

static const struct attribute_group gpu_attr_group = {
	.name = "vgpu",
	.attrs = gpu_attrs,
};

/**
 * vgpu_sysfs_init() - make the attributes of GPUs
 *
 * Called when the module loads.
 */
void vgpu_sysfs_init(void)
{
	vgpu_setting_attrs(vgpu_gpu_settings, &dev_attr_gpu_setting, gpu_settings, gpu_attrs);
}

/**
 * vgpu_sysfs_add_gpu() - create the attributes of a GPU's settings
 * @gpu: in the registry, with its scheduler
 *
 * Return: 0 or -errno.
 */
int vgpu_sysfs_add_gpu(struct vgpu_gpu *gpu)
{
	return sysfs_create_group(&gpu->dev->kobj, &gpu_attr_group);
}

/**
 * vgpu_sysfs_remove_gpu() - undo vgpu_sysfs_add_gpu()
 * @gpu: the GPU; the caller holds neither its lock nor the registry's, since this waits for readers
 *       and writers of the attributes, which take both
 */
void vgpu_sysfs_remove_gpu(struct vgpu_gpu *gpu)
{
	sysfs_remove_group(&gpu->dev->kobj, &gpu_attr_group);
}
