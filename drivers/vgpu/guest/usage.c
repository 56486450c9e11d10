// SPDX-License-Identifier: GPL-2.0
/* What the host tells of the whole vGPU: who it is, what it uses of engines, what is its due. */
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include <drm/vgpu_drm.h>

#include "device.h"

static u8 __iomem *usage_reg(struct guest_dev *gdev, u32 reg)
{
	return gdev->regs + VGPU_HW_USAGE_BASE + reg;
}

static void usage_read_text(struct guest_dev *gdev, u32 reg, u8 *to, size_t bytes)
{
	size_t i;
	u32 word;

	for (i = 0; i < bytes; i += sizeof(word)) {
		word = readl(guest_reg(gdev, reg + i));
		put_unaligned_le32(word, to + i);
	}
}

void guest_usage_init(struct guest_dev *gdev)
{
	if (!guest_tells_usage(gdev))
		return;
	/* The host may have forgotten the end of the text. */
	usage_read_text(gdev, VGPU_HW_TYPE(0), gdev->type, sizeof(gdev->type));
	gdev->type[sizeof(gdev->type) - 1] = '\0';
}

void guest_usage_uuid(struct guest_dev *gdev, u8 *uuid)
{
	if (guest_tells_usage(gdev))
		usage_read_text(gdev, VGPU_HW_UUID(0), uuid, VGPU_HW_UUID_BYTES);
}

int guest_usage_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_usage_query *args = data;
	struct guest_dev *gdev = to_guest_dev(drm);
	struct drm_vgpu_usage usage = { .nr_engines = gdev->nr_engines };
	u32 i;
	int idx;

	if (args->pad)
		return -EINVAL;
	if (!guest_tells_usage(gdev))
		return -EOPNOTSUPP;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	usage.time_ns = readq(usage_reg(gdev, VGPU_HW_USAGE_TIME));
	for (i = 0; i < gdev->nr_engines; i++) {
		usage.engine[i].service_ns = readq(usage_reg(gdev, VGPU_HW_USAGE_SERVICE(i)));
		usage.engine[i].due_permille = readl(usage_reg(gdev, VGPU_HW_USAGE_DUE(i)));
	}
	drm_dev_exit(idx);
	if (args->pointer && copy_to_user(u64_to_user_ptr(args->pointer), &usage,
					  min_t(size_t, args->size, sizeof(usage))))
		return -EFAULT;
	args->size = sizeof(usage);
	return 0;
}
