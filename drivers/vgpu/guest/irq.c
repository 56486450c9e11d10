// SPDX-License-Identifier: GPL-2.0
/* Interrupts: vector 0 tells that a channel has faulted, the others that packets are done. */
#include "device.h"
#include "queue.h"

static irqreturn_t irq_done(int irq, void *data)
{
	const struct guest_vector *vector = data;
	struct guest_dev *gdev = vector->gdev;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&gdev->channel_lock, flags);
	for (i = vector->index - 1; i < gdev->channels; i += gdev->nr_vectors - 1)
		if (gdev->channel[i])
			guest_queue_progress(gdev->channel[i]);
	spin_unlock_irqrestore(&gdev->channel_lock, flags);
	guest_move_wake(gdev);
	return IRQ_HANDLED;
}

/* In a thread, as registers are slow. Which channel it is, its page tells, not FAULT_CHANNEL. */
static irqreturn_t irq_fault(int irq, void *data)
{
	const struct guest_vector *vector = data;
	struct guest_dev *gdev = vector->gdev;
	unsigned long flags;
	int idx;
	u32 i;

	if (!drm_dev_enter(&gdev->drm, &idx))
		return IRQ_HANDLED;
	writel(VGPU_HW_INTR_FAULT, guest_reg(gdev, VGPU_HW_INTR));
	drm_dev_exit(idx);
	spin_lock_irqsave(&gdev->channel_lock, flags);
	for (i = 0; i < gdev->channels; i++)
		if (gdev->channel[i])
			guest_queue_look(gdev->channel[i]);
	spin_unlock_irqrestore(&gdev->channel_lock, flags);
	guest_move_wake(gdev);
	/* A fault may have been one too many for the host. */
	guest_watch_begin(gdev, true);
	return IRQ_HANDLED;
}

int guest_irq_init(struct guest_dev *gdev)
{
	struct pci_dev *pdev = to_pci_dev(gdev->drm.dev);
	unsigned int i;
	int ret;

	ret = pci_alloc_irq_vectors(pdev, 2, gdev->nr_vectors, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "no interrupts\n");
	gdev->nr_vectors = ret;
	for (i = 0; i < gdev->nr_vectors; i++) {
		gdev->vector[i] = (struct guest_vector){ .gdev = gdev, .index = i };
		ret = i ? devm_request_irq(&pdev->dev, pci_irq_vector(pdev, i), irq_done, 0,
					   GUEST_NAME, &gdev->vector[i]) :
			devm_request_threaded_irq(&pdev->dev, pci_irq_vector(pdev, i), NULL,
						  irq_fault, IRQF_ONESHOT, GUEST_NAME,
						  &gdev->vector[i]);
		if (ret)
			return dev_err_probe(&pdev->dev, ret, "interrupt %u\n", i);
	}
	return 0;
}
