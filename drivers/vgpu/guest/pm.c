// SPDX-License-Identifier: GPL-2.0
/*
 * Suspend to memory and hibernation of the guest. Buffers are saved, page tables are in the guest's
 * memory anyway, and queues that have no work lose nothing with their channels.
 */
#include <linux/pm.h>

#include "channel.h"
#include "device.h"
#include "evict.h"

/* Programs are frozen. Of the jobs that they have left, buffers wait for some seconds. */
static int pm_suspend(struct device *dev)
{
	struct guest_dev *gdev = dev_get_drvdata(dev);
	int ret;

	if (drm_dev_is_unplugged(&gdev->drm))
		return 0;
	flush_work(&gdev->recover);
	ret = guest_evict_all(gdev);
	if (ret) {
		dev_err(dev, "buffers cannot be saved: %d\n", ret);
		return -EBUSY;
	}
	ret = guest_channel_leave_all(gdev);
	if (ret) {
		dev_err(dev, "jobs are under way\n");
		return ret;
	}
	guest_dev_reset(gdev);
	return 0;
}

/* The device may have been without power, or another kernel's. */
static int pm_resume(struct device *dev)
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

/* Likewise before and after the image of a hibernation, and when that has been read. */
const struct dev_pm_ops guest_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(pm_suspend, pm_resume)
};
