// SPDX-License-Identifier: GPL-2.0
/*
 * Suspend to memory and hibernation of the guest. Buffers are saved, page tables are in the guest's
 * memory anyway, and queues that have no work lose nothing with their channels.
 */
#include <linux/pm.h>
#include <linux/suspend.h>

#include "bo.h"
#include "channel.h"
#include "device.h"
#include "evict.h"

static void reserve_take(struct guest_dev *gdev)
{
	u64 bytes = guest_shown_bytes(gdev);
	struct guest_bo *bo;

	if (!bytes)
		return;
	/* Without it there may be memory enough. */
	bo = guest_bo_create(gdev, bytes, DRM_VGPU_PLACEMENT_SYSTEM, 0, NULL);
	if (!IS_ERR(bo))
		gdev->pm_reserve = bo;
}

static void reserve_end(struct guest_dev *gdev)
{
	struct guest_bo *bo = gdev->pm_reserve;

	gdev->pm_reserve = NULL;
	if (bo)
		drm_gem_object_put(&bo->tbo.base);
}

static int save_buffers(struct guest_dev *gdev)
{
	int ret = guest_evict_all(gdev);

	if (ret)
		dev_err(gdev->drm.dev, "buffers cannot be saved: %d\n", ret);
	return ret ? -EBUSY : 0;
}

/*
 * What the monitor shows comes last, as it is seen where it is until the reset. Buffers that it has
 * shown no longer since the others were evicted are evicted now.
 */
static int save_shown(struct guest_dev *gdev)
{
	int ret;

	reserve_end(gdev);
	ret = guest_shown_save(gdev);
	if (!ret)
		return save_buffers(gdev);
	dev_err(gdev->drm.dev, "what the monitor shows cannot be saved: %d\n", ret);
	return -EBUSY;
}

/* Programs are frozen. Of the jobs that they have left, buffers wait for some seconds. */
static int dev_suspend(struct device *dev)
{
	struct guest_dev *gdev = dev_get_drvdata(dev);
	int ret;

	if (drm_dev_is_unplugged(&gdev->drm))
		return 0;
	flush_work(&gdev->recover);
	ret = save_buffers(gdev);
	if (ret)
		return ret;
	ret = guest_channel_leave_all(gdev);
	if (ret) {
		dev_err(dev, "jobs are under way\n");
		return ret;
	}
	ret = save_shown(gdev);
	if (ret) {
		guest_channel_return_all(gdev);
		return ret;
	}
	guest_dev_reset(gdev);
	guest_shown_forget(gdev);
	return 0;
}

/* The device may have been without power, or another kernel's. */
static int dev_resume(struct device *dev)
{
	struct guest_dev *gdev = dev_get_drvdata(dev);

	if (drm_dev_is_unplugged(&gdev->drm))
		return 0;
	if (!guest_dev_same(gdev)) {
		dev_err(dev, "another device is in the place of the one that was there\n");
		drm_dev_unplug(&gdev->drm);
		guest_recover_drop(gdev, -ENODEV);
		return -ENODEV;
	}
	guest_dev_reset(gdev);
	guest_recover_tell(gdev);
	return 0;
}

/*
 * A hibernation takes the memory for its image before it suspends devices, and what buffers need
 * then would be missing. So they are saved before that, while memory can be swapped out for them.
 * Programs still run, and guest_gate_enter() keeps them from taking the framebuffer again. What the
 * monitor shows stays where it is until the device is suspended; memory for that is taken now.
 */
static int pm_notify(struct notifier_block *nb, unsigned long event, void *unused)
{
	struct guest_dev *gdev = container_of(nb, struct guest_dev, pm_nb);
	int ret;

	if (event == PM_POST_HIBERNATION) {
		reserve_end(gdev);
		guest_gate_open(gdev);
	}
	if (event != PM_HIBERNATION_PREPARE || drm_dev_is_unplugged(&gdev->drm))
		return NOTIFY_DONE;
	ret = guest_gate_shut(gdev);
	if (!ret)
		ret = save_buffers(gdev);
	if (!ret)
		reserve_take(gdev);
	/* The one that has refused is not told of the end. */
	if (ret)
		guest_gate_open(gdev);
	if (drm_dev_is_unplugged(&gdev->drm))
		return NOTIFY_DONE;
	return notifier_from_errno(ret);
}

/* With the driver's end at the device nobody tells of a hibernation's end any more. */
static void pm_fini(void *data)
{
	struct guest_dev *gdev = data;

	unregister_pm_notifier(&gdev->pm_nb);
	reserve_end(gdev);
	guest_gate_open(gdev);
}

int guest_pm_init(struct guest_dev *gdev)
{
	int ret;

	guest_gate_init(gdev);
	gdev->pm_nb.notifier_call = pm_notify;
	ret = register_pm_notifier(&gdev->pm_nb);
	if (ret)
		return ret;
	return devm_add_action_or_reset(gdev->drm.dev, pm_fini, gdev);
}

/* Likewise before and after the image of a hibernation, and when that has been read. */
const struct dev_pm_ops guest_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(dev_suspend, dev_resume)
};
