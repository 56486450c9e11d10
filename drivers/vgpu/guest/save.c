// SPDX-License-Identifier: GPL-2.0
/* Page tables outlive the framebuffer: for suspend, and for a device that was reset. */
#include <drm/drm_managed.h>

#include "device.h"
#include "save.h"
#include "vm.h"

int guest_save_init(struct guest_dev *gdev)
{
	INIT_LIST_HEAD(&gdev->vms);
	return drmm_mutex_init(&gdev->drm, &gdev->vm_mutex);
}

void guest_save_restore(struct guest_dev *gdev)
{
	struct guest_vm *vm;
	int idx;

	guest_move_forget(gdev);
	if (!drm_dev_enter(&gdev->drm, &idx))
		return;
	mutex_lock(&gdev->vm_mutex);
	list_for_each_entry(vm, &gdev->vms, link) {
		mutex_lock(&vm->lock);
		if (vm->pt)
			guest_pt_restore(gdev, vm->pt);
		mutex_unlock(&vm->lock);
		cond_resched();
	}
	mutex_unlock(&gdev->vm_mutex);
	drm_dev_exit(idx);
}
