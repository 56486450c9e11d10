// SPDX-License-Identifier: GPL-2.0
/* vgpu.ko: begin and end of the module. */
#include <linux/module.h>

#include "core.h"
#include "../mdev/mdev.h"

static int __init vgpu_init(void)
{
	int ret;

	ret = vgpu_settings_check_params();
	if (ret)
		return ret;
	ret = vgpu_event_init();
	if (ret)
		return ret;
	ret = vgpu_sample_init();
	if (ret)
		goto err_event;
	vgpu_debugfs_init();
	vgpu_sysfs_init();
	ret = vgpu_mdev_init();
	if (ret)
		goto err_debugfs;
	/* Last: users may come as soon as the node is there. */
	ret = vgpu_control_init();
	if (ret)
		goto err_mdev;
	return 0;

err_mdev:
	vgpu_mdev_exit();
err_debugfs:
	vgpu_debugfs_exit();
	vgpu_sample_exit();
err_event:
	vgpu_event_exit();
	return ret;
}
module_init(vgpu_init);

static void __exit vgpu_exit(void)
{
	vgpu_control_exit();
	vgpu_mdev_exit();
	vgpu_debugfs_exit();
	vgpu_sample_exit();
	vgpu_event_exit();
}
module_exit(vgpu_exit);

MODULE_AUTHOR("The vgpu developers");
MODULE_DESCRIPTION("vGPU manager: types, scheduler and mdev front end");
MODULE_LICENSE("GPL");
MODULE_VERSION(VGPU_DRIVER_VERSION);
MODULE_SOFTDEP("pre: mdev vfio_iommu_type1");
