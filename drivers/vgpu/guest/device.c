// SPDX-License-Identifier: GPL-2.0
/* The function: its BARs, and what its registers say, which is checked once and then remembered. */
#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "device.h"

struct workqueue_struct *guest_wq;
struct workqueue_struct *guest_submit_wq;
struct workqueue_struct *guest_stop_wq;

int guest_work_init(void)
{
	/*
	 * Not unbound: the work of a scheduler queues itself several times for each job, and an
	 * unbound queue would wake a thread each time.
	 */
	guest_submit_wq = alloc_workqueue("vgpu_guest-submit", WQ_MEM_RECLAIM, 0);
	guest_stop_wq = alloc_workqueue("vgpu_guest-stop", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	guest_wq = alloc_workqueue("vgpu_guest", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (guest_submit_wq && guest_stop_wq && guest_wq)
		return 0;
	guest_work_fini();
	return -ENOMEM;
}

/* In this order, as each gives work to those behind it. */
void guest_work_fini(void)
{
	if (guest_stop_wq)
		destroy_workqueue(guest_stop_wq);
	if (guest_submit_wq)
		destroy_workqueue(guest_submit_wq);
	if (guest_wq)
		destroy_workqueue(guest_wq);
}

void guest_dev_get(struct guest_dev *gdev)
{
	drm_dev_get(&gdev->drm);
	__module_get(THIS_MODULE);
}

void guest_dev_put(struct guest_dev *gdev)
{
	drm_dev_put(&gdev->drm);
	module_put(THIS_MODULE);
}

void guest_dev_reset(struct guest_dev *gdev)
{
	writel(VGPU_HW_RESET_MAGIC, guest_reg(gdev, VGPU_HW_RESET));
}

static u32 engine_reg(u32 i)
{
	return i < 8 ? VGPU_HW_ENGINE(i) : VGPU_HW_ENGINE_8(i - 8);
}

/* The host may lie: nothing that it says here makes the driver leave its BARs or its arrays. */
static int dev_ask(struct guest_dev *gdev)
{
	struct pci_dev *pdev = to_pci_dev(gdev->drm.dev);
	u32 id = readl(guest_reg(gdev, VGPU_HW_ID));
	u32 version = readl(guest_reg(gdev, VGPU_HW_VERSION)), i;

	if (id != VGPU_HW_ID_MAGIC)
		return dev_err_probe(&pdev->dev, -ENODEV, "ID is %#x: no vGPU\n", id);
	if (version >> 16 != VGPU_HW_VERSION_CURRENT >> 16 || version < VGPU_HW_VERSION_1_2)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "version %u.%u of the hardware: 1.2 or a later 1.x is needed\n",
				     version >> 16, version & 0xffff);
	gdev->hw_version = version;
	gdev->channels = readl(guest_reg(gdev, VGPU_HW_CHANNELS));
	if (!gdev->channels || gdev->channels > VGPU_HW_MAX_CHANNELS ||
	    gdev->channels > pci_resource_len(pdev, VGPU_HW_BAR_CHANNELS) / VGPU_HW_PAGE_SIZE)
		return dev_err_probe(&pdev->dev, -EIO, "%u channels\n", gdev->channels);
	gdev->fb.bytes = readq(guest_reg(gdev, VGPU_HW_FB_SIZE));
	if (!gdev->fb.bytes || gdev->fb.bytes % VGPU_HW_PAGE_SIZE ||
	    gdev->fb.bytes > pci_resource_len(pdev, VGPU_HW_BAR_FB))
		return dev_err_probe(&pdev->dev, -EIO, "%llu bytes of framebuffer\n",
				     gdev->fb.bytes);
	if (gdev->fb_limit)
		gdev->fb.bytes = min(gdev->fb.bytes, gdev->fb_limit);
	gdev->nr_engines = readl(guest_reg(gdev, VGPU_HW_ENGINES));
	if (!gdev->nr_engines || gdev->nr_engines > VGPU_HW_MAX_ENGINES)
		return dev_err_probe(&pdev->dev, -EIO, "%u engines\n", gdev->nr_engines);
	for (i = 0; i < gdev->nr_engines; i++)
		gdev->engine[i] = readl(guest_reg(gdev, engine_reg(i)));
	guest_usage_init(gdev);
	return 0;
}

int guest_dev_init(struct guest_dev *gdev)
{
	struct pci_dev *pdev = to_pci_dev(gdev->drm.dev);
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = pcim_request_all_regions(pdev, GUEST_NAME);
	if (ret)
		return ret;
	if (pci_resource_len(pdev, VGPU_HW_BAR_REGS) < VGPU_HW_REGS_SIZE)
		return dev_err_probe(&pdev->dev, -EIO, "registers are too few\n");
	gdev->regs = pcim_iomap(pdev, VGPU_HW_BAR_REGS, 0);
	if (!gdev->regs)
		return -ENOMEM;
	ret = dev_ask(gdev);
	if (ret)
		return ret;
	gdev->pages = pcim_iomap(pdev, VGPU_HW_BAR_CHANNELS, 0);
	gdev->fb.phys = pci_resource_start(pdev, VGPU_HW_BAR_FB);
	gdev->fb.cpu = devm_ioremap_wc(&pdev->dev, gdev->fb.phys, gdev->fb.bytes);
	if (!gdev->pages || !gdev->fb.cpu)
		return -ENOMEM;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	ret = dma_set_mask_and_coherent(&pdev->dev,
					DMA_BIT_MASK(VGPU_HW_PTE_PAGE_BITS + PAGE_SHIFT));
	if (ret)
		return ret;
	guest_dev_reset(gdev);
	spin_lock_init(&gdev->channel_lock);
	ret = guest_fb_init(gdev);
	if (ret)
		return ret;
	pci_set_master(pdev);
	return 0;
}
