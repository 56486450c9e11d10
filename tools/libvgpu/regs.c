// SPDX-License-Identifier: GPL-2.0
/* The transport over registers: registers and configuration space, opening, closing, reset. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

static int reg_rw(struct vgpu_dev *dev, uint64_t offset, void *buf, size_t count, bool write)
{
	if (!dev->bus)
		return vgpu_fail(dev, -EOPNOTSUPP, "no registers here");
	return dev->bus->reg_rw(dev, offset, buf, count, write);
}

static int config_rw(struct vgpu_dev *dev, unsigned int offset, void *buf, size_t count, bool write)
{
	if (!dev->bus)
		return vgpu_fail(dev, -EOPNOTSUPP, "no configuration space here");
	return dev->bus->config_rw(dev, offset, buf, count, write);
}

int vgpu_reg_read32(struct vgpu_dev *dev, uint64_t offset, uint32_t *value)
{
	uint32_t raw = 0;
	int ret;

	ret = reg_rw(dev, offset, &raw, sizeof(raw), false);
	*value = le32toh(raw);
	return ret;
}

int vgpu_reg_read64(struct vgpu_dev *dev, uint64_t offset, uint64_t *value)
{
	uint64_t raw = 0;
	int ret;

	ret = reg_rw(dev, offset, &raw, sizeof(raw), false);
	*value = le64toh(raw);
	return ret;
}

int vgpu_reg_write32(struct vgpu_dev *dev, uint64_t offset, uint32_t value)
{
	uint32_t raw = htole32(value);

	return reg_rw(dev, offset, &raw, sizeof(raw), true);
}

int vgpu_reg_write64(struct vgpu_dev *dev, uint64_t offset, uint64_t value)
{
	uint64_t raw = htole64(value);

	return reg_rw(dev, offset, &raw, sizeof(raw), true);
}

int vgpu_config_read(struct vgpu_dev *dev, unsigned int offset, void *buf,
		     size_t count)
{
	return config_rw(dev, offset, buf, count, false);
}

int vgpu_config_write(struct vgpu_dev *dev, unsigned int offset,
		      const void *buf, size_t count)
{
	return config_rw(dev, offset, (void *)buf, count, true);
}

int vgpu_dev_command(struct vgpu_dev *dev, uint16_t set, uint16_t clear)
{
	uint16_t raw;
	int ret;

	ret = vgpu_config_read(dev, VGPU_PCI_COMMAND, &raw, sizeof(raw));
	if (ret)
		return ret;
	raw = htole16((uint16_t)((le16toh(raw) | set) & ~clear));
	return vgpu_config_write(dev, VGPU_PCI_COMMAND, &raw, sizeof(raw));
}

static int regs_read_engines(struct vgpu_dev *dev)
{
	uint32_t i;
	int ret;

	ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_ENGINES,
			      &dev->engines);
	if (ret)
		return ret;
	if (dev->engines > VGPU_HW_MAX_ENGINES)
		return vgpu_fail(dev, -EPROTO, "has %u engines, at most %u known",
				 dev->engines, VGPU_HW_MAX_ENGINES);
	for (i = 0; i < dev->engines; i++) {
		ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + (i < 8 ? VGPU_HW_ENGINE(i) :
				      VGPU_HW_ENGINE_8(i)), &dev->engine[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int regs_probe(struct vgpu_dev *dev)
{
	uint32_t id, version;
	int ret;

	ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_ID, &id);
	if (ret)
		return ret;
	if (id != VGPU_HW_ID_MAGIC)
		return vgpu_fail(dev, -ENODEV, "is no vGPU: id register %#x", id);
	ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_VERSION, &version);
	if (ret)
		return ret;
	if (version >> 16 != VGPU_HW_VERSION_CURRENT >> 16)
		return vgpu_fail(dev, -EPROTO,
				 "speaks hardware ABI %u.%u, this is for %u",
				 version >> 16, version & 0xffff,
				 VGPU_HW_VERSION_CURRENT >> 16);
	ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_CHANNELS,
			      &dev->channels);
	if (!ret)
		ret = vgpu_reg_read64(dev, VGPU_HW_DEV_BASE + VGPU_HW_FB_SIZE,
				      &dev->fb_bytes);
	if (!ret)
		ret = vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_NR_VECTORS,
				      &dev->vectors);
	if (!ret)
		ret = regs_read_engines(dev);
	if (ret)
		return ret;
	if (!dev->channels || dev->channels > VGPU_HW_MAX_CHANNELS)
		return vgpu_fail(dev, -EPROTO, "says it owns %u channels",
				 dev->channels);
	dev->chan_used = calloc(dev->channels, sizeof(*dev->chan_used));
	if (!dev->chan_used)
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	return 0;
}

struct vgpu_dev *vgpu_regs_new(const struct vgpu_bus *bus, const char *name)
{
	struct vgpu_dev *dev = vgpu_dev_new(&vgpu_regs_transport, name);

	if (dev)
		dev->bus = bus;
	return dev;
}

int vgpu_regs_open(struct vgpu_dev *dev)
{
	void *ptr;
	int ret;

	ret = vgpu_dev_command(dev, VGPU_PCI_COMMAND_MEMORY, 0);
	if (!ret)
		ret = regs_probe(dev);
	if (!ret)
		ret = vgpu_dev_command(dev, VGPU_PCI_COMMAND_MASTER, 0);
	if (!ret)
		ret = dev->bus->map(dev, VGPU_HW_BAR_FB, dev->fb_bytes, &ptr);
	if (ret)
		return ret;
	dev->fb = ptr;
	ret = dev->bus->map(dev, VGPU_HW_BAR_CHANNELS,
			    (uint64_t)dev->channels * VGPU_HW_PAGE_SIZE, &ptr);
	if (!ret)
		dev->chan_pages = ptr;
	return ret;
}

static void regs_close(struct vgpu_dev *dev)
{
	if (dev->fb)
		munmap(dev->fb, dev->fb_bytes);
	if (dev->chan_pages)
		munmap(dev->chan_pages, (size_t)dev->channels * VGPU_HW_PAGE_SIZE);
	dev->bus->close(dev);
	free(dev->chan_used);
}

static int regs_reset(struct vgpu_dev *dev)
{
	int ret = dev->bus->reset(dev);

	if (ret)
		return ret;
	return vgpu_dev_command(dev, VGPU_PCI_COMMAND_MEMORY | VGPU_PCI_COMMAND_MASTER, 0);
}

const struct vgpu_transport vgpu_regs_transport = {
	.mem = &vgpu_regs_mem,
	.space = &vgpu_regs_space,
	.chan = &vgpu_regs_chan,
	.close = regs_close,
	.reset = regs_reset,
};
