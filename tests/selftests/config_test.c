// SPDX-License-Identifier: GPL-2.0
/* Configuration space: identity, BAR sizing, command, capabilities, widths. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "fixture.h"

static struct fx_vgpu v;

static uint32_t get(unsigned int offset, unsigned int bytes)
{
	uint32_t value = 0;

	FX_OK(v.dev, vgpu_config_read(v.dev, offset, &value, bytes));
	return le32toh(value);
}

static void put(unsigned int offset, unsigned int bytes, uint32_t value)
{
	uint32_t raw = htole32(value);

	FX_OK(v.dev, vgpu_config_write(v.dev, offset, &raw, bytes));
}

static void identity(void)
{
	fx_create_open(&v, fx_default_type());
	CHECK_EQ(get(PCI_VENDOR_ID, 2), VGPU_HW_VENDOR_ID);
	CHECK_EQ(get(PCI_DEVICE_ID, 2), VGPU_HW_DEVICE_ID);
	CHECK_EQ(get(PCI_CLASS_REVISION, 4) >> 8, VGPU_HW_CLASS);
	CHECK_EQ(get(PCI_HEADER_TYPE, 1), PCI_HEADER_TYPE_NORMAL);
	CHECK_EQ(get(PCI_INTERRUPT_PIN, 1), 0);
	put(PCI_VENDOR_ID, 4, 0x12345678);
	CHECK_EQ(get(PCI_VENDOR_ID, 2), VGPU_HW_VENDOR_ID, "is read only");
}

/* The size of a BAR as firmware finds it: writes ones, reads, writes back what was there. */
static uint64_t bar_size(unsigned int bar, uint32_t *type)
{
	unsigned int offset = PCI_BASE_ADDRESS_0 + 4 * bar;
	uint32_t low = get(offset, 4), high = 0;
	uint64_t mask;

	*type = low & 0xf;
	put(offset, 4, ~0u);
	mask = get(offset, 4);
	if (*type & PCI_BASE_ADDRESS_MEM_TYPE_64) {
		high = get(offset + 4, 4);
		put(offset + 4, 4, ~0u);
		mask |= (uint64_t)get(offset + 4, 4) << 32;
		put(offset + 4, 4, high);
	} else if (mask) {
		mask |= 0xffffffffull << 32;
	}
	put(offset, 4, low);
	CHECK_EQ(get(offset, 4), low, "BAR %u is not restored", bar);
	mask &= ~0xfull;
	return mask ? ~mask + 1 : 0;
}

static void bars(void)
{
	uint32_t type;

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(bar_size(VGPU_HW_BAR_FB, &type), v.dev->region[VGPU_HW_BAR_FB].bytes);
	CHECK_EQ(type, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	CHECK(v.dev->region[VGPU_HW_BAR_FB].bytes >= v.dev->fb_bytes, "small");
	CHECK_EQ(bar_size(VGPU_HW_BAR_REGS, &type), VGPU_HW_REGS_SIZE);
	CHECK_EQ(type, 0);
	CHECK_EQ(bar_size(VGPU_HW_BAR_CHANNELS, &type), v.dev->region[VGPU_HW_BAR_CHANNELS].bytes);
	CHECK_EQ(type & PCI_BASE_ADDRESS_MEM_TYPE_64, PCI_BASE_ADDRESS_MEM_TYPE_64);
	CHECK_EQ(bar_size(3, &type), 0);
	CHECK_EQ(v.dev->region[1].bytes, 0);
	CHECK_EQ(v.dev->region[3].bytes, 0);
	CHECK_EQ(v.dev->region[5].bytes, 0);
	put(PCI_ROM_ADDRESS, 4, ~0u);
	CHECK_EQ(get(PCI_ROM_ADDRESS, 4), 0, "there is no ROM");
}

/* A BAR keeps the address bits that are written, and ignores the bits below its size. */
static void bar_address(void)
{
	fx_create_open(&v, fx_default_type());
	put(PCI_BASE_ADDRESS_0 + 8, 4, 0xfebd1234);
	CHECK_EQ(get(PCI_BASE_ADDRESS_0 + 8, 4), 0xfebd1234 & ~(VGPU_HW_REGS_SIZE - 1));
	put(PCI_BASE_ADDRESS_0, 4, 0x7fffffff);
	put(PCI_BASE_ADDRESS_0 + 4, 4, 0x12);
	CHECK_EQ(get(PCI_BASE_ADDRESS_0 + 4, 4), 0x12);
	CHECK_EQ(get(PCI_BASE_ADDRESS_0, 4) & ~0xfu, 0x7fffffffu & ~(v.dev->region[0].bytes - 1));
}

static void command(void)
{
	uint16_t wanted = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(get(PCI_COMMAND, 2) & wanted, wanted, "libvgpu sets them");
	put(PCI_COMMAND, 2, 0);
	CHECK_EQ(get(PCI_COMMAND, 2), 0);
	put(PCI_COMMAND, 2, 0xffff);
	CHECK_EQ(get(PCI_COMMAND, 2) & wanted, wanted);
	CHECK_EQ(get(PCI_COMMAND, 2) & PCI_COMMAND_IO, 0, "has no ports");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(get(PCI_COMMAND, 2), wanted, "reset, then libvgpu");
	fx_close(&v);
	fx_open(&v);
	CHECK_EQ(get(PCI_COMMAND, 2), wanted);
}

static void capabilities(void)
{
	unsigned int msix;
	uint32_t flags;

	fx_create_open(&v, fx_default_type());
	msix = fx_find_cap(&v, PCI_CAP_ID_MSIX);
	CHECK(msix, "no MSI-X");
	flags = get(msix + PCI_MSIX_FLAGS, 2);
	CHECK_EQ((flags & PCI_MSIX_FLAGS_QSIZE) + 1, v.dev->vectors);
	CHECK_EQ(v.dev->vectors, VGPU_HW_VECTORS);
	CHECK_EQ(get(msix + PCI_MSIX_TABLE, 4), VGPU_HW_MSIX_TABLE | VGPU_HW_BAR_REGS);
	CHECK_EQ(get(msix + PCI_MSIX_PBA, 4), VGPU_HW_MSIX_PBA | VGPU_HW_BAR_REGS);
	CHECK(!fx_find_cap(&v, PCI_CAP_ID_MSI), "MSI beside MSI-X");
}

/* Reads of any width give the same bytes. */
static void widths(void)
{
	uint8_t whole[256], parts[256];
	unsigned int width, i;
	uint64_t raw;

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(v.dev->region[VGPU_REGION_CONFIG].bytes >= 256, 1);
	FX_OK(v.dev, vgpu_config_read(v.dev, 0, whole, sizeof(whole)));
	for (width = 1; width <= 8; width *= 2) {
		for (i = 0; i < sizeof(parts); i += width)
			FX_OK(v.dev, vgpu_config_read(v.dev, i, parts + i, width));
		CHECK(!memcmp(whole, parts, sizeof(whole)), "by %u bytes", width);
	}
	put(PCI_INTERRUPT_LINE, 1, 0x5a);
	CHECK_EQ(get(PCI_INTERRUPT_LINE, 1), 0x5a);
	put(PCI_CACHE_LINE_SIZE, 1, 0x10);
	CHECK_EQ(get(PCI_CACHE_LINE_SIZE, 1), 0x10);
	CHECK_EQ(get(PCI_INTERRUPT_LINE, 1), 0x5a);
	raw = htole64(0x00000000e0000000ull);
	FX_OK(v.dev, vgpu_config_write(v.dev, PCI_BASE_ADDRESS_4, &raw, 8));
	CHECK_EQ(get(PCI_BASE_ADDRESS_4, 4) & ~0xfu, 0xe0000000u);
	/* A write of one byte, as some firmware does. */
	put(PCI_BASE_ADDRESS_4 + 3, 1, 0xd0);
	CHECK_EQ(get(PCI_BASE_ADDRESS_4, 4) & ~0xfu, 0xd0000000u);
}

static void out_of_range(void)
{
	uint64_t end;
	uint32_t word = 0;

	fx_create_open(&v, fx_default_type());
	end = v.dev->region[VGPU_REGION_CONFIG].bytes;
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_REGION_CONFIG, end, &word, 4), -EINVAL);
	CHECK_EQ(vgpu_region_write(v.dev, VGPU_REGION_CONFIG, end, &word, 4), -EINVAL);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_REGION_CONFIG, end - 2, &word, 4), -EINVAL);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(identity),
	KTAP_TEST(bars),
	KTAP_TEST(bar_address),
	KTAP_TEST(command),
	KTAP_TEST(capabilities),
	KTAP_TEST(widths),
	KTAP_TEST(out_of_range),
};

KTAP_MAIN(tests, fx_cleanup)
