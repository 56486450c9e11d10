// SPDX-License-Identifier: GPL-2.0
/* Software GPUs as devices: probe and remove of the PCI function, and files in debugfs. */
#include <linux/debugfs.h>
#include <linux/slab.h>

#include "gpu.h"
#include "instance.h"
#include "../work/lanes.h"
#include "../work/natives.h"
#include "params.h"

static struct dentry *soft_debugfs;

/**
 * soft_gpu_debugfs_init() - make the directory of fault injection and measurement
 *
 * <debugfs>/vgpu_soft/<gpu>/programs_decoded: how many programs were decoded for the GPU's vGPUs.
 *
 * Files in <debugfs>/vgpu_soft/<gpu>/<engine>/:
 *
 * hang: enum vgpu_hw_packet_type: the next packet of this type that the engine begins ignores
 * deadline and preemption, and only an engine reset ends it. Reads 0 when such a packet has begun.
 *
 * hold_reset: if 1, an engine reset that ends a hang lasts until 0 is written; reads 2 once such a
 * reset has begun.
 *
 * switches, switch_ns, switch_hist: number of direct switches from one vGPU to another; total time
 * without work in these switches; histogram of these times: number of switches of less than 1 us,
 * 1 us, 2..3 us, 4..7 us and so on.
 *
 * section_hist, of gr: histogram of sections, in which a program runs without a look at flags and
 * clock: number of sections of less than 1 us, 1 us, 2..3 us, 4..7 us and so on. Only the unit that
 * leads counts them.
 *
 * helpers, helped, beside, of gr: number of units beside the one that leads; how often one of them
 * has taken part in a section, for 50 us at most; how often they have got on with another dispatch
 * than the leader's.
 *
 * ran_ns: engine time: for how long the engine could work so far, see soft_engine_ran_ns().
 *
 * The same files of a partition's engines are in <debugfs>/vgpu_soft/<gpu>/partition-N/<engine>/.
 *
 * And <debugfs>/vgpu_soft/simt: time per instruction of each interpreter of programs, in ps,
 * measured when the module was loaded, and the interpreter that was chosen.
 *
 * And <debugfs>/vgpu_soft/native: see soft_natives_debugfs().
 *
 * Context: module init.
 */
void soft_gpu_debugfs_init(void)
{
	soft_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	soft_lanes_debugfs(soft_debugfs);
	soft_natives_debugfs(soft_debugfs);
}

/* Undoes soft_gpu_debugfs_init(). No GPU is registered any more. */
void soft_gpu_debugfs_exit(void)
{
	debugfs_remove(soft_debugfs);
}

static void soft_gpu_debugfs_add(struct soft_gpu *gpu)
{
	struct dentry *dir = debugfs_create_dir(pci_name(gpu->pdev), soft_debugfs);

	gpu->part0.debugfs = dir;
	debugfs_create_atomic_t("programs_decoded", 0400, dir, &gpu->programs_decoded);
	soft_part_debugfs(&gpu->part0);
}

/* The probe of struct pci_driver. Refuses devices with the same IDs on other root buses. */
int soft_gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vgpu_gpu_info info = {
		.fb_bytes = (u64)soft_params.fb_mb << 20,
		.channels = soft_params.channels,
		.nr_engines = SOFT_ENGINES,
		.placement = soft_params.placement,
		.share_time = soft_params.share_time,
		.hw_version = VGPU_HW_VERSION_CURRENT,
	};
	struct soft_gpu *gpu;
	unsigned int i;
	int ret;

	if (!soft_root_owns(pdev))
		return -ENODEV;
	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return -ENOMEM;
	gpu->pdev = pdev;
	set_dev_node(&pdev->dev, soft_params.numa_node[PCI_SLOT(pdev->devfn)]);
	snprintf(gpu->board, sizeof(gpu->board), "SG%u", soft_params.fb_mb / 1024);
	info.board = gpu->board;
	memcpy(gpu->engine, soft_engine_desc, sizeof(gpu->engine));
	for (i = 0; i < SOFT_ENGINES; i++)
		if (gpu->engine[i].engine_class == VGPU_HW_ENGINE_GR)
			gpu->engine[i].units = soft_params.units;
	info.engines = gpu->engine;

	soft_part_place(&gpu->part0, PCI_SLOT(pdev->devfn), NULL);
	ret = soft_part_init(&gpu->part0, soft_params.units, pci_name(pdev));
	if (ret)
		goto err_free;
	soft_gpu_debugfs_add(gpu);
	pci_set_drvdata(pdev, gpu);
	gpu->vgpu = vgpu_register_gpu(&pdev->dev, &soft_instance_ops, &info, gpu);
	if (IS_ERR(gpu->vgpu)) {
		ret = PTR_ERR(gpu->vgpu);
		goto err_debugfs;
	}
	return 0;

err_debugfs:
	pci_set_drvdata(pdev, NULL);
	debugfs_remove(gpu->part0.debugfs);
	soft_part_exit(&gpu->part0);
err_free:
	kfree(gpu);
	return ret;
}

/* The remove of struct pci_driver. Sleeps until no vGPU of the GPU is open. */
void soft_gpu_remove(struct pci_dev *pdev)
{
	struct soft_gpu *gpu = pci_get_drvdata(pdev);

	vgpu_unregister_gpu(gpu->vgpu);
	debugfs_remove(gpu->part0.debugfs);
	soft_part_exit(&gpu->part0);
	pci_set_drvdata(pdev, NULL);
	kfree(gpu);
}
