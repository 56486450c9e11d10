/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernel versions, from 6.12 on. No other file depends on the version.
 */
#ifndef _VGPU_COMPAT_H
#define _VGPU_COMPAT_H

#include <linux/crc32.h>
#include <linux/hrtimer.h>
#include <linux/mm_types.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vfio.h>

#if KERNEL_VERSION(6, 15, 0) > LINUX_VERSION_CODE
#include <linux/crc32c.h>
#endif

/*
 * From 6.19 on, VFIO itself copies struct vfio_region_info and its capabilities, and gets their
 * content by an op of the driver. Earlier versions leave the whole ioctl to the driver.
 */
typedef int (*vgpu_region_info_fn)(struct vfio_device *vdev, struct vfio_region_info *info,
				   struct vfio_info_cap *caps);

#if KERNEL_VERSION(6, 19, 0) <= LINUX_VERSION_CODE
#define VGPU_HAVE_REGION_INFO_OP
static inline long vgpu_region_info_ioctl(struct vfio_device *vdev, void __user *arg,
					  vgpu_region_info_fn fn)
{
	return -ENOTTY;
}
#else
static inline long vgpu_region_info_ioctl(struct vfio_device *vdev, void __user *arg,
					  vgpu_region_info_fn fn)
{
	struct vfio_info_cap caps = {};
	struct vfio_region_info info;
	size_t minsz = offsetofend(struct vfio_region_info, offset);
	long ret;

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	info.cap_offset = 0;

	ret = fn(vdev, &info, &caps);
	if (ret)
		goto out;
	if (caps.size) {
		info.flags |= VFIO_REGION_INFO_FLAG_CAPS;
		if (info.argsz < minsz + caps.size) {
			info.argsz = minsz + caps.size;
		} else {
			vfio_info_cap_shift(&caps, minsz);
			if (copy_to_user(arg + minsz, caps.buf, caps.size)) {
				ret = -EFAULT;
				goto out;
			}
			info.cap_offset = minsz;
		}
	}
	if (copy_to_user(arg, &info, minsz))
		ret = -EFAULT;
out:
	kfree(caps.buf);
	return ret;
}
#endif

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * In versions before 6.15, what is in crc32.h knows none of the CPU's instructions for this; what
 * does is a module of its own, which a kernel need not have.
 */
static inline u32 vgpu_crc32c(u32 crc, const void *data, size_t length)
{
#if KERNEL_VERSION(6, 15, 0) > LINUX_VERSION_CODE && !IS_REACHABLE(CONFIG_LIBCRC32C)
	return __crc32c_le(crc, data, length);
#else
	return crc32c(crc, data, length);
#endif
}

/* For iova_bitmap_set(). */
#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
#define VGPU_IMPORT_IOMMUFD	MODULE_IMPORT_NS(IOMMUFD)
#else
#define VGPU_IMPORT_IOMMUFD	MODULE_IMPORT_NS("IOMMUFD")
#endif

#if KERNEL_VERSION(6, 18, 0) > LINUX_VERSION_CODE
static inline bool mm_flags_test(int flag, const struct mm_struct *mm)
{
	return test_bit(flag, &mm->flags);
}
#endif

#endif /* _VGPU_COMPAT_H */
