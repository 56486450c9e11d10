// SPDX-License-Identifier: GPL-2.0
/* vgpu_guest.ko: a DRM render driver for a vGPU in its VM. */
#include <linux/module.h>

#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/vgpu_drm.h>

#include "bo.h"
#include "channel.h"
#include "device.h"
#include "evict.h"
#include "follow.h"
#include "man.h"
#include "queue.h"
#include "save.h"
#include "time.h"
#include "tt.h"
#include "vm.h"

static unsigned int job_timeout_ms = 60000;
module_param(job_timeout_ms, uint, 0444);
MODULE_PARM_DESC(job_timeout_ms,
		 "A queue with a packet that takes longer on its engine is lost; 0: never (default: 60000)");

static unsigned int fb_limit_mb;
module_param(fb_limit_mb, uint, 0444);
MODULE_PARM_DESC(fb_limit_mb, "Use so many MiB of framebuffer, for tests; 0: all (default)");

static int dev_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_dev_query *args = data;
	struct guest_dev *gdev = to_guest_dev(drm);
	struct drm_vgpu_dev_info info = {
		.hw_version = gdev->hw_version,
		.page_size = VGPU_HW_PAGE_SIZE,
		.va_bits = GUEST_VA_BITS,
		.channels = gdev->channels,
		.nr_engines = gdev->nr_engines,
		.fb_bytes = gdev->fb.bytes,
		.fb_free = guest_fb_avail(gdev),
		.system_bytes = guest_man_limit(gdev),
		.system_free = guest_man_left(gdev),
	};
	int idx;

	if (args->pad)
		return -EINVAL;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	guest_usage_uuid(gdev, info.uuid);
	drm_dev_exit(idx);
	memcpy(info.engine, gdev->engine, sizeof(info.engine));
	memcpy(info.type, gdev->type, sizeof(info.type));
	if (args->pointer && copy_to_user(u64_to_user_ptr(args->pointer), &info,
					  min_t(size_t, args->size, sizeof(info))))
		return -EFAULT;
	args->size = sizeof(info);
	return 0;
}

static int drv_open(struct drm_device *drm, struct drm_file *file)
{
	struct guest_file *gfile;

	gfile = kzalloc(sizeof(*gfile), GFP_KERNEL_ACCOUNT);
	if (!gfile)
		return -ENOMEM;
	gfile->time = guest_time_create();
	if (!gfile->time) {
		kfree(gfile);
		return -ENOMEM;
	}
	xa_init_flags(&gfile->vms, XA_FLAGS_ALLOC1);
	xa_init_flags(&gfile->queues, XA_FLAGS_ALLOC1);
	file->driver_priv = gfile;
	return 0;
}

static void drv_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;

	guest_queue_close(file);
	guest_vm_close(file);
	guest_time_put(gfile->time);
	kfree(gfile);
}

static const struct drm_ioctl_desc drv_ioctls[] = {
	DRM_IOCTL_DEF_DRV(VGPU_DEV_QUERY, dev_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_VM_CREATE, guest_vm_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_VM_DESTROY, guest_vm_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_VM_BIND, guest_vm_bind_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_BO_CREATE, guest_bo_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_BO_MMAP_OFFSET, guest_bo_mmap_offset_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_QUEUE_CREATE, guest_queue_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_QUEUE_DESTROY, guest_queue_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_QUEUE_QUERY, guest_queue_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_EXEC, guest_exec_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VGPU_USAGE_QUERY, guest_usage_query_ioctl, DRM_RENDER_ALLOW),
};

static const struct file_operations drv_fops = {
	.owner = THIS_MODULE,
	DRM_GEM_FOPS,
	.show_fdinfo = drm_show_fdinfo,
};

static const struct drm_driver drv = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE |
			   DRIVER_GEM_GPUVA,
	.open = drv_open,
	.postclose = drv_postclose,
	.ioctls = drv_ioctls,
	.num_ioctls = ARRAY_SIZE(drv_ioctls),
	.fops = &drv_fops,
	.gem_prime_import_sg_table = guest_bo_import,
	.show_fdinfo = guest_fdinfo,
#ifdef CONFIG_DEBUG_FS
	.debugfs_init = guest_debugfs_init,
#endif
	.name = GUEST_NAME,
	.desc = "vGPU of the software GPU",
	GUEST_DRIVER_DATE
	.major = GUEST_MAJOR,
	.minor = GUEST_MINOR,
	.patchlevel = GUEST_PATCH,
};

static int drv_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct guest_dev *gdev;
	int ret;

	gdev = devm_drm_dev_alloc(&pdev->dev, &drv, struct guest_dev, drm);
	if (IS_ERR(gdev))
		return PTR_ERR(gdev);
	pci_set_drvdata(pdev, gdev);
	gdev->job_timeout = job_timeout_ms ? msecs_to_jiffies(job_timeout_ms) :
			    MAX_SCHEDULE_TIMEOUT;
	gdev->fb_limit = (u64)fb_limit_mb * SZ_1M;
	ret = guest_dev_init(gdev);
	if (ret)
		return ret;
	ret = guest_move_init(gdev);
	if (ret)
		return ret;
	ret = guest_evict_init(gdev);
	if (ret)
		return ret;
	ret = guest_shown_init(gdev);
	if (ret)
		return ret;
	ret = guest_follow_init(gdev);
	if (ret)
		return ret;
	ret = guest_save_init(gdev);
	if (ret)
		return ret;
	ret = guest_channel_init(gdev);
	if (ret)
		return ret;
	ret = guest_watch_init(gdev);
	if (ret)
		return ret;
	ret = guest_recover_init(gdev);
	if (ret)
		return ret;
	ret = guest_irq_init(gdev);
	if (ret)
		return ret;
	ret = guest_pm_init(gdev);
	if (ret)
		return ret;
	guest_label_driver(gdev);
	return drm_dev_register(&gdev->drm, 0);
}

static void drv_remove(struct pci_dev *pdev)
{
	struct guest_dev *gdev = pci_get_drvdata(pdev);

	/* It is unplugged already if a resume has found another one in its place. */
	if (!drm_dev_is_unplugged(&gdev->drm))
		drm_dev_unplug(&gdev->drm);
	/* From now on nobody else touches registers. A device that is gone drops the write. */
	guest_dev_reset(gdev);
	guest_recover_drop(gdev, -ENODEV);
	guest_shown_forget(gdev);
	guest_tt_leave(gdev);
}

/* Whatever the kernel does next with its memory, the device writes no more there. */
static void drv_shutdown(struct pci_dev *pdev)
{
	drv_remove(pdev);
}

static const struct pci_device_id drv_ids[] = {
	{ PCI_DEVICE(VGPU_HW_VENDOR_ID, VGPU_HW_DEVICE_ID) },
	{}
};
MODULE_DEVICE_TABLE(pci, drv_ids);

static struct pci_driver drv_pci = {
	.name = GUEST_NAME,
	.id_table = drv_ids,
	.probe = drv_probe,
	.remove = drv_remove,
	.shutdown = drv_shutdown,
	.err_handler = &guest_recover_handlers,
	.driver.pm = pm_sleep_ptr(&guest_pm_ops),
};

static int __init drv_init(void)
{
	int ret;

	ret = guest_work_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&drv_pci);
	if (ret)
		guest_work_fini();
	return ret;
}
module_init(drv_init);

/* Nothing that the module has made is left but for work and callbacks that are about to return. */
static void __exit drv_exit(void)
{
	pci_unregister_driver(&drv_pci);
	guest_work_fini();
	rcu_barrier();
}
module_exit(drv_exit);

MODULE_DESCRIPTION("DRM render driver of a vGPU in its VM");
MODULE_LICENSE("GPL");
/* MODULE_IMPORT_NS() takes another argument since 6.13. */
MODULE_INFO(import_ns, "DMA_BUF");
MODULE_VERSION(GUEST_VERSION);
