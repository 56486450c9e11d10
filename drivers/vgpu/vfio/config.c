// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI configuration space of a vGPU: a type 0 header with BARs that can be sized, then power
 * management, MSI-X and PCI Express. A table says which bits a write changes. It also makes the
 * sizing of BARs work, since the bits of a BAR below its size cannot be written.
 *
 * There is no expansion ROM (its BAR reads 0) and no interrupt pin. Monitors emulate BARs and
 * MSI-X themselves. They may write BARs and MSI-X here as well, which does no harm: interrupts
 * depend on VFIO_DEVICE_SET_IRQS and on bus mastering only.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif
#include <linux/nospec.h>
#include <linux/pci_regs.h>

#include "config.h"
#include "region.h"

/* Offsets of the capabilities. */
#define CONFIG_CAP_PM		0x40
#define CONFIG_CAP_MSIX		0x50
#define CONFIG_CAP_EXP		0x60

#define CONFIG_COMMAND_WRITABLE	(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | \
				 PCI_COMMAND_PARITY | PCI_COMMAND_SERR | \
				 PCI_COMMAND_INTX_DISABLE)

/* All features except extended tags, phantom functions and aux power, which are not supported. */
#define CONFIG_DEVCTL_WRITABLE	(PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | \
				 PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE | \
				 PCI_EXP_DEVCTL_RELAX_EN | \
				 PCI_EXP_DEVCTL_PAYLOAD | \
				 PCI_EXP_DEVCTL_NOSNOOP_EN | \
				 PCI_EXP_DEVCTL_READRQ)
#define CONFIG_DEVCTL_INITIAL	(PCI_EXP_DEVCTL_RELAX_EN | \
				 PCI_EXP_DEVCTL_NOSNOOP_EN | \
				 PCI_EXP_DEVCTL_READRQ_512B)
#define CONFIG_LNKCTL_WRITABLE	(PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | \
				 PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES)

#define CONFIG_LINK_SPEED	1	/* 2.5 GT/s */
#define CONFIG_LINK_WIDTH	1

static void config_put(u8 *bytes, u32 offset, u64 value, unsigned int len)
{
	while (len--) {
		bytes[offset++] = value;
		value >>= 8;
	}
}

static u32 config_get16(const u8 *bytes, u32 offset)
{
	return bytes[offset] | (u32)bytes[offset + 1] << 8;
}

static void config_init_bar(struct vgpu_config *config, unsigned int bar,
			    const struct vgpu_region_desc *desc)
{
	u32 offset = PCI_BASE_ADDRESS_0 + 4 * bar;
	unsigned int len = desc->flags & VGPU_REGION_64BIT ? 8 : 4;
	u64 size = vgpu_region_size(desc->owned_bytes);
	u32 type = PCI_BASE_ADDRESS_SPACE_MEMORY;

	if (len == 8)
		type |= PCI_BASE_ADDRESS_MEM_TYPE_64;
	if (desc->flags & VGPU_REGION_PREFETCH)
		type |= PCI_BASE_ADDRESS_MEM_PREFETCH;
	config_put(config->initial, offset, type, 4);
	config_put(config->writable, offset, ~(size - 1), len);
}

static void config_init_header(struct vgpu_config *config, const struct vgpu_function_desc *desc)
{
	u8 *initial = config->initial;
	u8 *writable = config->writable;
	unsigned int bar;

	config_put(initial, PCI_VENDOR_ID, desc->vendor_id, 2);
	config_put(initial, PCI_DEVICE_ID, desc->device_id, 2);
	config_put(writable, PCI_COMMAND, CONFIG_COMMAND_WRITABLE, 2);
	config_put(initial, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
	config_put(initial, PCI_CLASS_REVISION, (u64)desc->class << 8, 4);
	config_put(writable, PCI_CACHE_LINE_SIZE, 0xff, 1);
	config_put(initial, PCI_HEADER_TYPE, PCI_HEADER_TYPE_NORMAL, 1);
	config_put(initial, PCI_SUBSYSTEM_VENDOR_ID, desc->vendor_id, 2);
	config_put(initial, PCI_SUBSYSTEM_ID, desc->device_id, 2);
	config_put(initial, PCI_CAPABILITY_LIST, CONFIG_CAP_PM, 1);
	config_put(writable, PCI_INTERRUPT_LINE, 0xff, 1);
	for (bar = 0; bar < VGPU_REGION_MAX; bar++) {
		if (desc->region[bar].owned_bytes)
			config_init_bar(config, bar, &desc->region[bar]);
	}
}

static void config_init_pm(struct vgpu_config *config, u8 next)
{
	u8 *initial = config->initial;

	config_put(initial, CONFIG_CAP_PM + PCI_CAP_LIST_ID, PCI_CAP_ID_PM, 1);
	config_put(initial, CONFIG_CAP_PM + PCI_CAP_LIST_NEXT, next, 1);
	config_put(initial, CONFIG_CAP_PM + PCI_PM_PMC, 3, 2);	/* version */
	config_put(initial, CONFIG_CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET, 2);
	config_put(config->writable, CONFIG_CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK, 2);
}

static void config_init_msix(struct vgpu_config *config, u8 next,
			     const struct vgpu_function_desc *desc)
{
	u8 *initial = config->initial;

	config_put(initial, CONFIG_CAP_MSIX + PCI_CAP_LIST_ID, PCI_CAP_ID_MSIX, 1);
	config_put(initial, CONFIG_CAP_MSIX + PCI_CAP_LIST_NEXT, next, 1);
	config_put(initial, CONFIG_CAP_MSIX + PCI_MSIX_FLAGS, desc->vectors - 1, 2);
	config_put(initial, CONFIG_CAP_MSIX + PCI_MSIX_TABLE, desc->msix_table | desc->msix_bar, 4);
	config_put(initial, CONFIG_CAP_MSIX + PCI_MSIX_PBA, desc->msix_pba | desc->msix_bar, 4);
	config_put(config->writable, CONFIG_CAP_MSIX + PCI_MSIX_FLAGS,
		   PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL, 2);
}

static void config_init_exp(struct vgpu_config *config)
{
	u8 *initial = config->initial;
	u8 *writable = config->writable;
	u32 link = CONFIG_LINK_SPEED | CONFIG_LINK_WIDTH << 4;

	config_put(initial, CONFIG_CAP_EXP + PCI_CAP_LIST_ID, PCI_CAP_ID_EXP, 1);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 2);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_DEVCAP,
		   PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR, 4);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_DEVCTL, CONFIG_DEVCTL_INITIAL, 2);
	config_put(writable, CONFIG_CAP_EXP + PCI_EXP_DEVCTL, CONFIG_DEVCTL_WRITABLE, 2);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_LNKCAP, link, 4);
	config_put(writable, CONFIG_CAP_EXP + PCI_EXP_LNKCTL, CONFIG_LNKCTL_WRITABLE, 2);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_LNKSTA, link, 2);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_LNKCAP2, 1 << CONFIG_LINK_SPEED, 4);
	config_put(initial, CONFIG_CAP_EXP + PCI_EXP_LNKCTL2, CONFIG_LINK_SPEED, 2);
}

/**
 * vgpu_config_init() - set up the configuration space of a function
 * @config: set to the values after reset
 * @desc: description of the function, which vgpu_regions_init() has accepted
 */
void vgpu_config_init(struct vgpu_config *config, const struct vgpu_function_desc *desc)
{
	memset(config, 0, sizeof(*config));
	config_init_header(config, desc);
	if (desc->vectors) {
		config_init_pm(config, CONFIG_CAP_MSIX);
		config_init_msix(config, CONFIG_CAP_EXP, desc);
	} else {
		config_init_pm(config, CONFIG_CAP_EXP);
	}
	config_init_exp(config);
	vgpu_config_reset(config);
}

/* Resets all registers of a function; BARs lose their addresses. */
void vgpu_config_reset(struct vgpu_config *config)
{
	memcpy(config->space, config->initial, sizeof(config->space));
}

static unsigned int config_power_state(const struct vgpu_config *config)
{
	return config->space[CONFIG_CAP_PM + PCI_PM_CTRL] & PCI_PM_CTRL_STATE_MASK;
}

/**
 * vgpu_config_state() - tell what the function may do as configured
 * @config: the function's configuration
 *
 * Return: a mask of VGPU_CONFIG_MEMORY and VGPU_CONFIG_MASTER; 0 in D3.
 */
unsigned int vgpu_config_state(const struct vgpu_config *config)
{
	u32 command = config_get16(config->space, PCI_COMMAND);
	unsigned int state = 0;

	if (config_power_state(config))
		return 0;
	if (command & PCI_COMMAND_MEMORY)
		state |= VGPU_CONFIG_MEMORY;
	if (command & PCI_COMMAND_MASTER)
		state |= VGPU_CONFIG_MASTER;
	return state;
}

/**
 * vgpu_config_read() - read configuration space
 * @config: the function's configuration
 * @offset: any number
 * @buf: room for @len bytes
 * @len: any number of bytes; those beyond the configuration's head read 0
 */
void vgpu_config_read(const struct vgpu_config *config, u32 offset, void *buf, u32 len)
{
	u8 *to = buf;
	u32 at;

	for (; len; len--, offset++, to++) {
		*to = 0;
		if (offset < VGPU_CONFIG_HEAD) {
			at = array_index_nospec(offset, VGPU_CONFIG_HEAD);
			*to = config->space[at];
		}
	}
}

/**
 * vgpu_config_write() - write configuration space
 * @config: the function's configuration
 * @offset: any number
 * @buf: the bytes that are written
 * @len: any number of bytes; bits that cannot be written stay as they are
 *
 * Return: a mask of VGPU_CONFIG_RESET, if the caller must reset the function, and
 * VGPU_CONFIG_MASTER_ON, if bus mastering has been switched on.
 */
unsigned int vgpu_config_write(struct vgpu_config *config, u32 offset, const void *buf, u32 len)
{
	unsigned int was = vgpu_config_state(config);
	unsigned int power = config_power_state(config);
	const u32 flr_offset = CONFIG_CAP_EXP + PCI_EXP_DEVCTL + 1;
	unsigned int events = 0;
	const u8 *from = buf;
	u8 *power_reg;

	for (; len && offset < VGPU_CONFIG_HEAD; len--, offset++, from++) {
		u32 at = array_index_nospec(offset, VGPU_CONFIG_HEAD);
		u8 mask = config->writable[at];

		config->space[at] &= ~mask;
		config->space[at] |= *from & mask;
		if (offset == flr_offset && *from & (PCI_EXP_DEVCTL_BCR_FLR >> 8))
			events |= VGPU_CONFIG_RESET;
	}

	/* D1 and D2 are not supported: a write of either leaves the power state as it was. */
	if (config_power_state(config) % PCI_PM_CTRL_STATE_MASK) {
		power_reg = &config->space[CONFIG_CAP_PM + PCI_PM_CTRL];
		*power_reg &= ~PCI_PM_CTRL_STATE_MASK;
		*power_reg |= power;
	}

	if (vgpu_config_state(config) & ~was & VGPU_CONFIG_MASTER)
		events |= VGPU_CONFIG_MASTER_ON;
	return events;
}
