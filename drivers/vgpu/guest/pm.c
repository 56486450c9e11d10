// SPDX-License-Identifier: GPL-2.0
/*
 * Suspend to memory and hibernation of the guest. Buffers are saved, page tables are in the guest's
 * memory anyway, and queues that have no work lose nothing with their channels.
 */
#include <linux/pm.h>
#include <linux/suspend.h>

#include "channel.h"
#include "device.h"
#include "evict.h"

static int save_buffers(struct guest_dev *gdev)
{
	int ret = guest_evict_all(gdev);

	if (ret)
		dev_err(gdev->drm.dev, "buffers cannot be saved: %d\n", ret);
	return ret ? -EBUSY : 0;
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
	guest_dev_reset(gdev);
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

static void pm_wake(void *data)
{
	struct guest_dev *gdev = data;

	WRITE_ONCE(gdev->asleep, false);
	wake_up_all(&gdev->awake);
}

/*
 * A hibernation takes the memory for its image before it suspends devices, and what buffers need
 * then would be missing. So they are saved before that, while memory can be swapped out for them.
 * Programs still run, and guest_pm_begin() keeps them from taking the framebuffer again.
 */
static int pm_notify(struct notifier_block *nb, unsigned long event, void *unused)
{
	struct guest_dev *gdev = container_of(nb, struct guest_dev, pm_nb);
	int ret;

	if (event == PM_POST_HIBERNATION)
		pm_wake(gdev);
	if (event != PM_HIBERNATION_PREPARE || drm_dev_is_unplugged(&gdev->drm))
		return NOTIFY_DONE;
	WRITE_ONCE(gdev->asleep, true);
	/* Who has not seen that is done now. */
	ret = down_write_killable(&gdev->asleep_sem);
	if (!ret) {
		up_write(&gdev->asleep_sem);
		ret = save_buffers(gdev);
	}
	/* The one that has refused is not told of the end. */
	if (ret)
		pm_wake(gdev);
	if (drm_dev_is_unplugged(&gdev->drm))
		return NOTIFY_DONE;
	return notifier_from_errno(ret);
}

int guest_pm_begin(struct guest_dev *gdev)
{
	for (;;) {
		if (wait_event_interruptible(gdev->awake, !READ_ONCE(gdev->asleep)) ||
		    down_read_interruptible(&gdev->asleep_sem))
			return -ERESTARTSYS;
		if (!READ_ONCE(gdev->asleep))
			return 0;
		up_read(&gdev->asleep_sem);
	}
}

void guest_pm_end(struct guest_dev *gdev)
{
	up_read(&gdev->asleep_sem);
}

/* With the driver's end at the device nobody tells of a hibernation's end any more. */
static void pm_fini(void *data)
{
	struct guest_dev *gdev = data;

	unregister_pm_notifier(&gdev->pm_nb);
	pm_wake(gdev);
}

int guest_pm_init(struct guest_dev *gdev)
{
	int ret;

	init_waitqueue_head(&gdev->awake);
	init_rwsem(&gdev->asleep_sem);
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
