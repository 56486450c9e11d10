// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI root bus of the software GPUs. Management software looks for the parents of mediated
 * devices on PCI, so the GPUs are PCI devices: in their own PCI domain or, if the kernel has no
 * domains, on their own bus.
 *
 * A GPU's function has no BARs, no capabilities and no interrupt. VMs use the vGPUs only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/pci.h>
#include <uapi/linux/vgpu_hw.h>

#include "gpu.h"
#include "params.h"

/* The first free number is used: it has four digits, and is far from the numbers of firmware. */
#define SOFT_DOMAIN_FIRST	0xf000
#define SOFT_DOMAIN_LAST	0xffff
#define SOFT_BUS_FIRST		0x56
#define SOFT_BUS_LAST		0xff

/**
 * struct soft_root - the root bus; allocated and freed with its host bridge
 * @sysdata: the architecture's part, which bus->sysdata points to
 * @busn:    the range of bus numbers, which has one number
 * @nr_gpus: number of GPUs, in the slots from 0
 * @vendor:  PCI vendor ID of the GPUs
 * @device:  PCI device ID of the GPUs
 * @command: PCI_COMMAND of each GPU
 * @line:    PCI_INTERRUPT_LINE of each GPU, for use by the system
 */
struct soft_root {
#ifdef CONFIG_X86
	struct pci_sysdata sysdata;
#endif
	struct resource busn;
	unsigned int nr_gpus;
	u16 vendor;
	u16 device;
	u16 command[SOFT_GPUS_MAX];
	u8 line[SOFT_GPUS_MAX];
};

/* Set and cleared by module init and exit only. */
static struct pci_host_bridge *soft_bridge;

static u32 soft_config_word(const struct soft_root *root, unsigned int slot, int where)
{
	switch (where) {
	case PCI_VENDOR_ID:
	case PCI_SUBSYSTEM_VENDOR_ID:
		return root->vendor | (u32)root->device << 16;
	case PCI_COMMAND:
		return root->command[slot];
	case PCI_CLASS_REVISION:
		return VGPU_HW_CLASS << 8;
	case PCI_INTERRUPT_LINE:
		return root->line[slot];
	default:	/* also BARs and ROM, which do not exist */
		return 0;
	}
}

static struct soft_root *soft_config_find(struct pci_bus *bus, unsigned int devfn)
{
	struct soft_root *root;

	if (!pci_is_root_bus(bus) || PCI_FUNC(devfn))
		return NULL;
	root = pci_host_bridge_priv(to_pci_host_bridge(bus->bridge));
	return PCI_SLOT(devfn) < root->nr_gpus ? root : NULL;
}

static int soft_config_read(struct pci_bus *bus, unsigned int devfn, int where,
			    int size, u32 *value)
{
	struct soft_root *root = soft_config_find(bus, devfn);
	u32 word;

	*value = ~0U;
	if (!root)
		return PCIBIOS_DEVICE_NOT_FOUND;
	word = soft_config_word(root, PCI_SLOT(devfn), where & ~3);
	word >>= 8 * (where & 3);
	*value = size == 4 ? word : word & ((1U << (8 * size)) - 1);
	return PCIBIOS_SUCCESSFUL;
}

static int soft_config_write(struct pci_bus *bus, unsigned int devfn,
			     int where, int size, u32 value)
{
	struct soft_root *root = soft_config_find(bus, devfn);
	unsigned int slot = PCI_SLOT(devfn);
	u32 word, mask;

	if (!root)
		return PCIBIOS_DEVICE_NOT_FOUND;
	mask = GENMASK(8 * size - 1, 0) << 8 * (where & 3);
	word = soft_config_word(root, slot, where & ~3) & ~mask;
	word |= value << 8 * (where & 3) & mask;
	switch (where & ~3) {
	case PCI_COMMAND:
		root->command[slot] = word & (PCI_COMMAND_IO | PCI_COMMAND_MEMORY |
					      PCI_COMMAND_MASTER | PCI_COMMAND_SERR |
					      PCI_COMMAND_INTX_DISABLE);
		break;
	case PCI_INTERRUPT_LINE:
		root->line[slot] = word;
		break;
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops soft_config_ops = {
	.read = soft_config_read,
	.write = soft_config_write,
};

/* Whether a PCI device is on this module's root bus, and so is a software GPU. */
bool soft_root_owns(const struct pci_dev *pdev)
{
	return pdev->bus->ops == &soft_config_ops;
}

#if defined(CONFIG_PCI_DOMAINS)
static void soft_root_set_domain(struct pci_host_bridge *bridge, struct soft_root *root, int domain)
{
#if defined(CONFIG_X86)
	root->sysdata.domain = domain;
#elif defined(CONFIG_PCI_DOMAINS_GENERIC)
	bridge->domain_nr = domain;
#else
#error "no way known to place a PCI root on this architecture"
#endif
}

static int soft_root_place(struct pci_host_bridge *bridge)
{
	struct soft_root *root = pci_host_bridge_priv(bridge);
	int domain;

	for (domain = SOFT_DOMAIN_FIRST; domain <= SOFT_DOMAIN_LAST; domain++) {
		if (pci_find_bus(domain, 0))
			continue;
		soft_root_set_domain(bridge, root, domain);
		bridge->busnr = 0;
		return 0;
	}
	pr_err("no PCI domain is free in %04x..%04x\n", SOFT_DOMAIN_FIRST, SOFT_DOMAIN_LAST);
	return -EBUSY;
}
#else
static int soft_root_place(struct pci_host_bridge *bridge)
{
	int bus;

	for (bus = SOFT_BUS_FIRST; bus <= SOFT_BUS_LAST; bus++) {
		if (pci_find_bus(0, bus))
			continue;
		bridge->busnr = bus;
		return 0;
	}
	pr_err("no PCI bus is free in %02x..%02x\n", SOFT_BUS_FIRST, SOFT_BUS_LAST);
	return -EBUSY;
}
#endif

/**
 * soft_root_create() - create the root bus and its GPUs
 * @nr_gpus: 1..SOFT_GPUS_MAX
 * @vendor: PCI vendor ID of the GPUs
 * @device: PCI device ID of the GPUs
 *
 * The GPUs' driver is registered already, so it has probed them when this returns.
 *
 * Context: module init; sleeps.
 * Return: 0 or -errno.
 */
int soft_root_create(unsigned int nr_gpus, u16 vendor, u16 device)
{
	struct pci_host_bridge *bridge;
	struct soft_root *root;
	int ret;

	bridge = pci_alloc_host_bridge(sizeof(*root));
	if (!bridge)
		return -ENOMEM;
	root = pci_host_bridge_priv(bridge);
	root->nr_gpus = nr_gpus;
	root->vendor = vendor;
	root->device = device;
#ifdef CONFIG_X86
	root->sysdata.node = NUMA_NO_NODE;
	bridge->sysdata = &root->sysdata;
#else
	bridge->sysdata = root;
#endif
	bridge->ops = &soft_config_ops;

	pci_lock_rescan_remove();
	ret = soft_root_place(bridge);
	if (ret)
		goto err_free;
	root->busn = (struct resource) {
		.name = KBUILD_MODNAME,
		.start = bridge->busnr,
		.end = bridge->busnr,
		.flags = IORESOURCE_BUS,
	};
	pci_add_resource(&bridge->windows, &root->busn);
	ret = pci_scan_root_bus_bridge(bridge);
	if (ret)
		goto err_free;
	pci_bus_add_devices(bridge->bus);
	pci_unlock_rescan_remove();
	soft_bridge = bridge;
	return 0;

err_free:
	pci_unlock_rescan_remove();
	pci_free_host_bridge(bridge);
	return ret;
}

/**
 * soft_root_destroy() - remove the root bus
 *
 * The GPUs' driver is already unregistered, so nothing waits for users of vGPUs under the rescan
 * lock.
 *
 * Context: module exit; sleeps.
 */
void soft_root_destroy(void)
{
	struct pci_host_bridge *bridge = soft_bridge;

	soft_bridge = NULL;
	pci_lock_rescan_remove();
	pci_stop_root_bus(bridge->bus);
	pci_remove_root_bus(bridge->bus);
	pci_unlock_rescan_remove();
	pci_free_host_bridge(bridge);
}
