// SPDX-License-Identifier: GPL-2.0
/*
 * vgpu_soft: a GPU in software, for any machine.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "soft.h"

static unsigned int gpus = 1;
module_param(gpus, uint, 0444);
MODULE_PARM_DESC(gpus, "Number of GPUs, 1..16 (1)");

static unsigned int fb_mb = 16384;
module_param(fb_mb, uint, 0444);
MODULE_PARM_DESC(fb_mb, "Framebuffer of a GPU in MiB, 1024..65536 in steps of 1024 (16384)");

static unsigned int channels = 256;
module_param(channels, uint, 0444);
MODULE_PARM_DESC(channels, "Channels of a GPU, one per GiB of framebuffer..1024 (256)");

static char *placement = "mixed";
module_param(placement, charp, 0444);
MODULE_PARM_DESC(placement, "Placement of framebuffer, mixed or homogeneous (mixed)");

static bool fb_reserve;
module_param(fb_reserve, bool, 0444);
MODULE_PARM_DESC(fb_reserve, "Back all framebuffer of a vGPU when it is created (0)");

static unsigned int poll_us = 50;
module_param(poll_us, uint, 0444);
MODULE_PARM_DESC(poll_us, "How long an engine polls empty channels before it sleeps, 0..1000 us (50)");

static char *engine_cpus = "";
module_param(engine_cpus, charp, 0444);
MODULE_PARM_DESC(engine_cpus, "CPUs for engines, as a list such as 0-3,6 (empty: all)");

static unsigned int vendor_id = VGPU_HW_VENDOR_ID;
module_param(vendor_id, uint, 0444);
MODULE_PARM_DESC(vendor_id, "PCI vendor of the GPUs, 1..0xfffe (0x1af4)");

static unsigned int device_id = VGPU_HW_GPU_DEVICE_ID;
module_param(device_id, uint, 0444);
MODULE_PARM_DESC(device_id, "PCI device of the GPUs, 0..0xffff (0x10f0)");

struct soft_config soft_config;	/* constant after module init */

/* One entry, from the parameters, and the end mark. */
static struct pci_device_id soft_ids[2];

static struct pci_driver soft_driver = {
	.name = KBUILD_MODNAME,
	.id_table = soft_ids,
	.probe = soft_gpu_probe,
	.remove = soft_gpu_remove,
};

static int soft_param_range(const char *name, unsigned int value,
			    unsigned int least, unsigned int most)
{
	if (value >= least && value <= most)
		return 0;
	pr_err("%s=%u: must be %u..%u\n", name, value, least, most);
	return -EINVAL;
}

static int soft_param_cpus(void)
{
	int ret;

	if (!*engine_cpus)
		return 0;
	ret = cpulist_parse(engine_cpus, &soft_config.cpus);
	if (ret) {
		pr_err("engine_cpus=%s: not a list of CPUs such as 0-3,6, or beyond CPU %u\n",
		       engine_cpus, nr_cpu_ids - 1);
		return ret;
	}
	if (!cpumask_intersects(&soft_config.cpus, cpu_online_mask)) {
		pr_err("engine_cpus=%s: none of these is online, these are: %*pbl\n",
		       engine_cpus, cpumask_pr_args(cpu_online_mask));
		return -EINVAL;
	}
	return 0;
}

static int soft_param_check(void)
{
	int ret;

	ret = soft_param_range("gpus", gpus, 1, SOFT_GPUS_MAX) ?:
	      soft_param_range("fb_mb", fb_mb, 1024, 65536) ?:
	      soft_param_range("channels", channels, fb_mb / 1024,
			       VGPU_HW_MAX_CHANNELS) ?:
	      soft_param_range("poll_us", poll_us, 0, 1000) ?:
	      soft_param_range("vendor_id", vendor_id, 1, 0xfffe) ?:
	      soft_param_range("device_id", device_id, 0, 0xffff) ?:
	      soft_param_cpus();
	if (ret)
		return ret;
	if (fb_mb % 1024) {
		pr_err("fb_mb=%u: must be a multiple of 1024\n", fb_mb);
		return -EINVAL;
	}

	if (!strcmp(placement, "mixed")) {
		soft_config.placement = VGPU_PLACEMENT_MIXED;
	} else if (!strcmp(placement, "homogeneous")) {
		soft_config.placement = VGPU_PLACEMENT_HOMOGENEOUS;
	} else {
		pr_err("placement=%s: must be mixed or homogeneous\n",
		       placement);
		return -EINVAL;
	}
	soft_config.fb_mb = fb_mb;
	soft_config.channels = channels;
	soft_config.fb_reserve = fb_reserve;
	soft_config.poll_ns = poll_us * (u64)NSEC_PER_USEC;
	return 0;
}

static int __init soft_init(void)
{
	int ret;

	/* BAR 4 has a page of memory per channel. */
	BUILD_BUG_ON(PAGE_SIZE != VGPU_HW_PAGE_SIZE);
	BUILD_BUG_ON(sizeof(struct vgpu_hw_packet) != 64);

	ret = soft_param_check();
	if (ret)
		return ret;

	ret = soft_rss_init();
	if (ret)
		return ret;
	soft_gpu_debugfs_init();
	soft_ids[0] = (struct pci_device_id) {
		PCI_DEVICE(vendor_id, device_id)
	};
	ret = pci_register_driver(&soft_driver);
	if (ret)
		goto err_debugfs;
	ret = soft_root_create(gpus, vendor_id, device_id);
	if (ret)
		goto err_driver;
	return 0;

err_driver:
	pci_unregister_driver(&soft_driver);
err_debugfs:
	soft_gpu_debugfs_exit();
	soft_rss_exit();
	return ret;
}

static void __exit soft_exit(void)
{
	/* Waits for users; the bus goes when nothing has to wait any more. */
	pci_unregister_driver(&soft_driver);
	soft_root_destroy();
	soft_gpu_debugfs_exit();
	soft_rss_exit();
}

module_init(soft_init);
module_exit(soft_exit);

MODULE_DESCRIPTION("Software GPU for vgpu");
MODULE_LICENSE("GPL");
