// SPDX-License-Identifier: GPL-2.0
/*
 * A device that has forgotten all that the driver has told it, as it was reset by somebody else.
 * The framebuffer reads 0 then, so no queue goes on as if nothing had happened; but page tables are
 * in the guest's memory, too, so address spaces stay, and new queues work in them.
 */
#include <drm/drm_managed.h>

#include "channel.h"
#include "device.h"
#include "queue.h"
#include "save.h"

void guest_recover_drop(struct guest_dev *gdev, int error)
{
	mutex_lock(&gdev->channel_mutex);
	guest_dev_drop(gdev);
	mutex_unlock(&gdev->channel_mutex);
	guest_queue_stop_old(gdev, error);
}

void guest_recover_tell(struct guest_dev *gdev)
{
	/* Another reset that comes after this is noticed. */
	guest_label_driver(gdev);
	guest_save_restore(gdev);
	guest_channel_return_all(gdev);
}

static void recover_work(struct work_struct *work)
{
	struct guest_dev *gdev = container_of(work, struct guest_dev, recover);
	bool cookie = dma_fence_begin_signalling();
	int idx;

	if (drm_dev_enter(&gdev->drm, &idx)) {
		dev_warn(gdev->drm.dev,
			 "the device was reset: all queues are lost, and all in its framebuffer\n");
		guest_queue_stop_old(gdev, -EIO);
		guest_shown_forget(gdev);
		guest_recover_tell(gdev);
		drm_dev_exit(idx);
	}
	dma_fence_end_signalling(cookie);
}

/* The guest resets the function, as by its file in sysfs. */
static void recover_prepare(struct pci_dev *pdev)
{
	guest_recover_drop(pci_get_drvdata(pdev), -EIO);
}

static void recover_done(struct pci_dev *pdev)
{
	struct guest_dev *gdev = pci_get_drvdata(pdev);

	queue_work(guest_stop_wq, &gdev->recover);
	flush_work(&gdev->recover);
}

const struct pci_error_handlers guest_recover_handlers = {
	.reset_prepare = recover_prepare,
	.reset_done = recover_done,
};

static void recover_fini(struct drm_device *drm, void *res)
{
	cancel_work_sync(&to_guest_dev(drm)->recover);
}

int guest_recover_init(struct guest_dev *gdev)
{
	INIT_WORK(&gdev->recover, recover_work);
	return drmm_add_action_or_reset(&gdev->drm, recover_fini, NULL);
}
