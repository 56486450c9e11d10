// SPDX-License-Identifier: GPL-2.0
/* vgpu.ko: begin and end of the module, and the table of its front ends. */
#include <linux/module.h>

#include "core/core.h"
#include "mdev/mdev.h"

/**
 * struct vgpu_front_part - a front end as a part of the module
 * @init: registers the front end, by vgpu_front_register() and with what it needs of the kernel;
 *        returns 0 or -errno
 * @exit: undoes @init, when no GPU is left
 */
struct vgpu_front_part {
	int (*init)(void);
	void (*exit)(void);
};

/* Each knows drivers/vgpu/vfio and the core, and none of the others. */
static const struct vgpu_front_part vgpu_fronts[] = {
	{ .init = vgpu_mdev_init, .exit = vgpu_mdev_exit },
};

/* Ends the first @nr front ends, the last one first. */
static void vgpu_fronts_exit(unsigned int nr)
{
	while (nr--)
		vgpu_fronts[nr].exit();
}

static int __init vgpu_fronts_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(vgpu_fronts); i++) {
		ret = vgpu_fronts[i].init();
		if (ret) {
			vgpu_fronts_exit(i);
			return ret;
		}
	}
	return 0;
}

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
	ret = vgpu_fronts_init();
	if (ret)
		goto err_debugfs;
	/* Last: users may come as soon as the node is there. */
	ret = vgpu_control_init();
	if (ret)
		goto err_fronts;
	return 0;

err_fronts:
	vgpu_fronts_exit(ARRAY_SIZE(vgpu_fronts));
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
	vgpu_fronts_exit(ARRAY_SIZE(vgpu_fronts));
	vgpu_debugfs_exit();
	vgpu_sample_exit();
	vgpu_event_exit();
}
module_exit(vgpu_exit);

MODULE_AUTHOR("The vgpu developers");
MODULE_DESCRIPTION("vGPU manager: types, scheduler and front ends");
MODULE_LICENSE("GPL");
MODULE_VERSION(VGPU_DRIVER_VERSION);
MODULE_SOFTDEP("pre: mdev vfio_iommu_type1");
