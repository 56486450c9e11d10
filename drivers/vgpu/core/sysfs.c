// SPDX-License-Identifier: GPL-2.0
/*
 * The group vgpu/ of a physical function: the GPU's settings, one attribute
 * each. Documentation/ABI/testing/sysfs-vgpu describes them.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "core.h"

/**
 * struct vgpu_gpu_attr - a setting as an attribute
 * @attr:   the driver core's
 * @valid:  VGPU_SCHED_*
 * @offset: of a number within struct vgpu_ctl_sched
 * @wide:   it has 64 bits, else 32
 * @unit:   how many of its units one of the attribute's is
 */
struct vgpu_gpu_attr {
	struct device_attribute attr;
	u32 valid;
	size_t offset;
	bool wide;
	u32 unit;
};

static const struct vgpu_gpu_attr *to_gpu_attr(struct device_attribute *attr)
{
	return container_of(attr, struct vgpu_gpu_attr, attr);
}

static int gpu_attr_get(struct device *dev, struct vgpu_ctl_sched *ctl)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find_device(dev);
	int ret;

	if (!gpu)
		return -ENODEV;
	ret = vgpu_settings_get(gpu, ctl);
	vgpu_gpu_put(gpu);
	return ret;
}

static int gpu_attr_set(struct device *dev, struct vgpu_ctl_sched *ctl)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find_device(dev);
	int ret;

	if (!gpu)
		return -ENODEV;
	ret = vgpu_settings_set(gpu, ctl);
	if (ret && vgpu_gpu_may_log(gpu))
		dev_notice(dev, "vgpu: refused: %s\n", (char *)ctl->text);
	vgpu_gpu_put(gpu);
	return ret;
}

static ssize_t number_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	const struct vgpu_gpu_attr *a = to_gpu_attr(attr);
	struct vgpu_ctl_sched ctl = {};
	const void *field = (char *)&ctl + a->offset;
	u64 value;
	int ret;

	ret = gpu_attr_get(dev, &ctl);
	if (ret)
		return ret;
	value = a->wide ? *(const u64 *)field : *(const u32 *)field;
	return sysfs_emit(buf, "%llu\n", value / a->unit);
}

static ssize_t number_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	const struct vgpu_gpu_attr *a = to_gpu_attr(attr);
	struct vgpu_ctl_sched ctl = { .valid = a->valid };
	void *field = (char *)&ctl + a->offset;
	u64 value;
	int ret;

	ret = kstrtou64(buf, 0, &value);
	if (ret)
		return ret;
	if (check_mul_overflow(value, (u64)a->unit, &value))
		return -ERANGE;
	if (!a->wide && value > U32_MAX)
		return -ERANGE;
	if (a->wide)
		*(u64 *)field = value;
	else
		*(u32 *)field = value;
	return gpu_attr_set(dev, &ctl) ?: count;
}

static ssize_t policy_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct vgpu_ctl_sched ctl = {};
	int ret;

	ret = gpu_attr_get(dev, &ctl);
	return ret ?: sysfs_emit(buf, "%s\n", (char *)ctl.policy);
}

static ssize_t policy_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	struct vgpu_ctl_sched ctl = { .valid = VGPU_SCHED_POLICY };
	size_t len = strcspn(buf, "\n");

	if (len >= sizeof(ctl.policy) || (buf[len] && buf[len + 1]))
		return -EINVAL;
	memcpy(ctl.policy, buf, len);
	return gpu_attr_set(dev, &ctl) ?: count;
}

static DEVICE_ATTR_RW(policy);

static ssize_t policies_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	const struct vgpu_sched_policy *policy;
	unsigned int i;
	int len = 0;

	for (i = 0; (policy = vgpu_sched_policy_at(i)); i++)
		len += sysfs_emit_at(buf, len, "%s%s", i ? " " : "", policy->name);
	return len + sysfs_emit_at(buf, len, "\n");
}

static DEVICE_ATTR_RO(policies);

#define NUMBER_ATTR(name) __ATTR(name, 0644, number_show, number_store)
#define CTL_FIELD(field) offsetof(struct vgpu_ctl_sched, field)

static struct vgpu_gpu_attr gpu_numbers[] = {
	{ NUMBER_ATTR(slice_ns), VGPU_SCHED_SLICE, CTL_FIELD(slice_ns), true, 1 },
	{ NUMBER_ATTR(frequency_hz), VGPU_SCHED_FREQUENCY,
	  CTL_FIELD(frequency_hz), false, 1 },
	{ NUMBER_ATTR(window_ms), VGPU_SCHED_WINDOW, CTL_FIELD(window_ns),
	  true, NSEC_PER_MSEC },
	{ NUMBER_ATTR(preempt_timeout_us), VGPU_SCHED_PREEMPT_TIMEOUT,
	  CTL_FIELD(preempt_timeout_us), false, 1 },
	{ NUMBER_ATTR(linger_us), VGPU_SCHED_LINGER, CTL_FIELD(linger_us),
	  false, 1 },
	{ NUMBER_ATTR(quarantine_faults), VGPU_SCHED_QUARANTINE_FAULTS,
	  CTL_FIELD(quarantine_faults), false, 1 },
	{ NUMBER_ATTR(quarantine_backoff_ms), VGPU_SCHED_QUARANTINE_BACKOFF,
	  CTL_FIELD(quarantine_backoff_ms), false, 1 },
};

static struct attribute *gpu_attrs[] = {
	&dev_attr_policy.attr,
	&dev_attr_policies.attr,
	&gpu_numbers[0].attr.attr,
	&gpu_numbers[1].attr.attr,
	&gpu_numbers[2].attr.attr,
	&gpu_numbers[3].attr.attr,
	&gpu_numbers[4].attr.attr,
	&gpu_numbers[5].attr.attr,
	&gpu_numbers[6].attr.attr,
	NULL
};

static_assert(ARRAY_SIZE(gpu_attrs) == ARRAY_SIZE(gpu_numbers) + 3);

static const struct attribute_group gpu_attr_group = {
	.name = "vgpu",
	.attrs = gpu_attrs,
};

/**
 * vgpu_sysfs_add_gpu() - show a GPU's settings
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
 * @gpu: waits for readers and writers, who take its lock and the registry's
 */
void vgpu_sysfs_remove_gpu(struct vgpu_gpu *gpu)
{
	sysfs_remove_group(&gpu->dev->kobj, &gpu_attr_group);
}
