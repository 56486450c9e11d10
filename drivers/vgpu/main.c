// SPDX-License-Identifier: GPL-2.0
/* vgpu.ko: init and exit of the module, and the table of its front ends. */
#include <linux/module.h>

#include "compat.h"
#include "core/core.h"
#include "mdev/mdev.h"

/**
 * struct vgpu_front_part - a front end as a part of the module
 * @init: registers the front end with the core, by vgpu_front_register(), and with the kernel;
 *        returns 0 or -errno
 * @exit: undoes @init; called when no GPU is registered any more
 */
struct vgpu_front_part {
	int (*init)(void);
	void (*exit)(void);
};

/* A front end includes headers of vfio and of the core, and none of other front ends. */
static const struct vgpu_front_part vgpu_fronts[] = {
	{ .init = vgpu_mdev_init, .exit = vgpu_mdev_exit },
};

/* Unregisters the first @nr front ends, in reverse order. */
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
	/* The control node comes last: users may open it as soon as it exists. */
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
VGPU_IMPORT_IOMMUFD;
MODULE_SOFTDEP("pre: mdev vfio_iommu_type1");
