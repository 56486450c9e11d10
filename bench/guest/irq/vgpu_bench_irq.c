// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts for a program that drives a vGPU itself: vector 1 wakes who reads /dev/uio0. The
 * kernel cannot do less for an interrupt, so this is what the guest's driver is measured against.
 * It takes a function only if the driver_override of the function names it.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uio_driver.h>

static irqreturn_t bench_irq_handler(int irq, struct uio_info *info)
{
	return IRQ_HANDLED;
}

static int bench_irq_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct uio_info *info;
	int ret;

	info = devm_kzalloc(&pdev->dev, sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 2, 2, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	info->name = KBUILD_MODNAME;
	info->version = "1";
	info->irq = pci_irq_vector(pdev, 1);
	info->handler = bench_irq_handler;
	ret = uio_register_device(&pdev->dev, info);
	if (ret)
		pci_free_irq_vectors(pdev);
	else
		pci_set_drvdata(pdev, info);
	return ret;
}

static void bench_irq_remove(struct pci_dev *pdev)
{
	uio_unregister_device(pci_get_drvdata(pdev));
	pci_free_irq_vectors(pdev);
}

static struct pci_driver bench_irq_driver = {
	.name = KBUILD_MODNAME,
	.probe = bench_irq_probe,
	.remove = bench_irq_remove,
};
module_pci_driver(bench_irq_driver);

MODULE_DESCRIPTION("Interrupts of a vGPU for a program of the bench");
MODULE_LICENSE("GPL");
