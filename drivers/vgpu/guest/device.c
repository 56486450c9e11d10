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
	guest_submit_wq = alloc_workqueue("vgpu_guest-submit", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
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

static u64 dev_bar_bytes(struct guest_dev *gdev, int bar)
{
	struct pci_dev *pdev = to_pci_dev(gdev->drm.dev);

	/* Ports are no memory: what maps them is no address. */
	return pci_resource_flags(pdev, bar) & IORESOURCE_MEM ? pci_resource_len(pdev, bar) : 0;
}

/* Of the registers, each is read once. */
static void dev_ask(struct guest_dev *gdev, struct guest_facts *facts)
{
	*facts = (struct guest_facts){
		.bar_regs = dev_bar_bytes(gdev, VGPU_HW_BAR_REGS),
		.bar_pages = dev_bar_bytes(gdev, VGPU_HW_BAR_CHANNELS),
		.bar_fb = dev_bar_bytes(gdev, VGPU_HW_BAR_FB),
		.id = readl(guest_reg(gdev, VGPU_HW_ID)),
		.version = readl(guest_reg(gdev, VGPU_HW_VERSION)),
		.channels = readl(guest_reg(gdev, VGPU_HW_CHANNELS)),
		.fb_bytes = readq(guest_reg(gdev, VGPU_HW_FB_SIZE)),
		.nr_engines = readl(guest_reg(gdev, VGPU_HW_ENGINES)),
		.vectors = readl(guest_reg(gdev, VGPU_HW_NR_VECTORS)),
	};
}

bool guest_dev_same(struct guest_dev *gdev)
{
	const struct guest_facts *was = &gdev->facts;
	struct guest_facts now;
	bool same;
	u32 i;

	dev_ask(gdev, &now);
	same = now.id == was->id && now.version == was->version &&
	       now.channels == was->channels && now.nr_engines == was->nr_engines &&
	       now.vectors == was->vectors && now.fb_bytes == was->fb_bytes;
	for (i = 0; same && i < gdev->nr_engines; i++)
		same = readl(guest_reg(gdev, engine_reg(i))) == gdev->engine[i];
	return same;
}

static int dev_learn(struct guest_dev *gdev)
{
	struct guest_facts facts;
	const char *wrong;
	u32 i;

	dev_ask(gdev, &facts);
	wrong = guest_facts_wrong(&facts);
	if (wrong)
		return dev_err_probe(gdev->drm.dev, -ENODEV,
				     "wrong %s: ID %#x, version %u.%u, %u channels, %u engines, %u interrupts, %llu bytes of framebuffer\n",
				     wrong, facts.id, facts.version >> 16, facts.version & 0xffff,
				     facts.channels, facts.nr_engines, facts.vectors,
				     facts.fb_bytes);
	gdev->facts = facts;
	gdev->hw_version = facts.version;
	gdev->channels = facts.channels;
	gdev->fb.bytes = facts.fb_bytes;
	if (gdev->fb_limit)
		gdev->fb.bytes = min(gdev->fb.bytes, gdev->fb_limit);
	gdev->nr_engines = facts.nr_engines;
	gdev->nr_vectors = min(facts.vectors, VGPU_HW_VECTORS);
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
	if (dev_bar_bytes(gdev, VGPU_HW_BAR_REGS) < VGPU_HW_REGS_SIZE)
		return dev_err_probe(&pdev->dev, -EIO, "registers are too few\n");
	gdev->regs = pcim_iomap(pdev, VGPU_HW_BAR_REGS, 0);
	if (!gdev->regs)
		return -ENOMEM;
	ret = dev_learn(gdev);
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
