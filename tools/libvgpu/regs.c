// SPDX-License-Identifier: GPL-2.0
/* The transport over registers: registers and configuration space. */
#include <endian.h>
#include <errno.h>

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
