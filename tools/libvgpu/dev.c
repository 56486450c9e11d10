// SPDX-License-Identifier: GPL-2.0
/* What both transports share: errors, identity, registers, configuration space. */
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/*
 * The text of the last open that failed in this thread: it has left no device to keep the text in.
 */
static _Thread_local char open_error[VGPU_ERROR_LEN];

uint64_t vgpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int vgpu_fail(struct vgpu_dev *dev, int error, const char *fmt, ...)
{
	char *to = dev ? dev->error : open_error;
	va_list ap;
	int n;

	n = snprintf(to, VGPU_ERROR_LEN, "%s%s", dev ? dev->name : "",
		     dev ? ": " : "");
	va_start(ap, fmt);
	vsnprintf(to + n, VGPU_ERROR_LEN - (size_t)n, fmt, ap);
	va_end(ap);
	return error;
}

const char *vgpu_dev_error(const struct vgpu_dev *dev)
{
	return dev ? dev->error : open_error;
}

struct vgpu_dev *vgpu_dev_new(const struct vgpu_transport *transport,
			      const char *name)
{
	struct vgpu_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->transport = transport;
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	dev->fd = -1;
	dev->container = -1;
	dev->group = -1;
	dev->config_fd = -1;
	dev->lock_fd = -1;
	dev->pagemap_fd = -1;
	dev->next_iova = 0x10000000;
	return dev;
}

int vgpu_dev_open_failed(struct vgpu_dev *dev, int error)
{
	memcpy(open_error, dev->error, sizeof(open_error));
	vgpu_dev_close(dev);
	return error;
}

void vgpu_dev_close(struct vgpu_dev *dev)
{
	if (!dev)
		return;
	dev->transport->close(dev);
	free(dev->chan_used);
	free(dev);
}

static int vgpu_dev_read_engines(struct vgpu_dev *dev)
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

int vgpu_dev_probe(struct vgpu_dev *dev)
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
		ret = vgpu_dev_read_engines(dev);
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

int vgpu_dev_reset(struct vgpu_dev *dev)
{
	int ret = dev->transport->reset(dev);

	if (ret)
		return ret;
	return vgpu_dev_command(dev, VGPU_PCI_COMMAND_MEMORY |
				VGPU_PCI_COMMAND_MASTER, 0);
}

int vgpu_dev_find_engine(struct vgpu_dev *dev, uint32_t engine_class,
			 uint32_t instance)
{
	uint32_t i;

	for (i = 0; i < dev->engines; i++)
		if (dev->engine[i] == (engine_class << 8 | instance))
			return (int)i;
	return vgpu_fail(dev, -ENOENT, "has no engine of class %u, instance %u",
			 engine_class, instance);
}

int vgpu_reg_read32(struct vgpu_dev *dev, uint64_t offset, uint32_t *value)
{
	uint32_t raw = 0;
	int ret;

	ret = dev->transport->reg_rw(dev, offset, &raw, sizeof(raw), false);
	*value = le32toh(raw);
	return ret;
}

int vgpu_reg_read64(struct vgpu_dev *dev, uint64_t offset, uint64_t *value)
{
	uint64_t raw = 0;
	int ret;

	ret = dev->transport->reg_rw(dev, offset, &raw, sizeof(raw), false);
	*value = le64toh(raw);
	return ret;
}

int vgpu_reg_write32(struct vgpu_dev *dev, uint64_t offset, uint32_t value)
{
	uint32_t raw = htole32(value);

	return dev->transport->reg_rw(dev, offset, &raw, sizeof(raw), true);
}

int vgpu_reg_write64(struct vgpu_dev *dev, uint64_t offset, uint64_t value)
{
	uint64_t raw = htole64(value);

	return dev->transport->reg_rw(dev, offset, &raw, sizeof(raw), true);
}

int vgpu_config_read(struct vgpu_dev *dev, unsigned int offset, void *buf,
		     size_t count)
{
	return dev->transport->config_rw(dev, offset, buf, count, false);
}

int vgpu_config_write(struct vgpu_dev *dev, unsigned int offset,
		      const void *buf, size_t count)
{
	return dev->transport->config_rw(dev, offset, (void *)buf, count, true);
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
