// SPDX-License-Identifier: GPL-2.0
/* vgpu_soft.ko: software GPUs, for any machine. */
#include <linux/module.h>
#include <linux/pci.h>
#include <uapi/linux/vgpu_hw.h>

#include "gpu.h"
#include "../work/lanes.h"
#include "../work/natives.h"
#include "params.h"
#include "../memory/rss.h"
#include "../memory/store.h"

/* One entry, set from the parameters, and the end of the table. */
static struct pci_device_id soft_ids[2];

static struct pci_driver soft_driver = {
	.name = KBUILD_MODNAME,
	.id_table = soft_ids,
	.probe = soft_gpu_probe,
	.remove = soft_gpu_remove,
};

static int __init soft_init(void)
{
	int ret;

	/* BAR 4 has a page of host memory for each channel. */
	BUILD_BUG_ON(PAGE_SIZE != VGPU_HW_PAGE_SIZE);
	BUILD_BUG_ON(sizeof(struct vgpu_hw_packet) != 64);
	BUILD_BUG_ON(sizeof(struct vgpu_hw_program) != 64);

	ret = soft_params_check();
	if (ret)
		return ret;

	ret = soft_lanes_init(soft_params.simt);
	if (ret)
		return ret;

	ret = soft_natives_init();
	if (ret)
		return ret;
	ret = soft_store_start();
	if (ret)
		goto err_natives;
	ret = soft_rss_start();
	if (ret)
		goto err_store;
	soft_gpu_debugfs_init();
	soft_ids[0] =
		(struct pci_device_id){ PCI_DEVICE(soft_params.vendor_id, soft_params.device_id) };
	ret = pci_register_driver(&soft_driver);
	if (ret)
		goto err_debugfs;
	ret = soft_root_create(soft_params.nr_gpus, soft_params.vendor_id, soft_params.device_id);
	if (ret)
		goto err_driver;
	return 0;

err_driver:
	pci_unregister_driver(&soft_driver);
err_debugfs:
	soft_gpu_debugfs_exit();
	soft_rss_stop();
err_store:
	soft_store_stop();
err_natives:
	soft_natives_exit();
	return ret;
}

static void __exit soft_exit(void)
{
	/* This waits for users of vGPUs, so soft_root_destroy() need not wait. */
	pci_unregister_driver(&soft_driver);
	soft_root_destroy();
	soft_gpu_debugfs_exit();
	soft_rss_stop();
	soft_store_stop();
	soft_natives_exit();
}

module_init(soft_init);
module_exit(soft_exit);

MODULE_DESCRIPTION("Software GPU for vgpu");
MODULE_LICENSE("GPL");
