// SPDX-License-Identifier: GPL-2.0
/* Bus on the host: an mdev through VFIO's group and type 1 IOMMU. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "internal.h"

static int vfio_fail(struct vgpu_dev *dev, const char *what)
{
	int error = -errno;

	return vgpu_fail(dev, error, "%s: %s", what, strerror(-error));
}

static int vfio_open_group(struct vgpu_dev *dev)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[128], link[256], *number;
	ssize_t n;
	int tries;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group",
		 dev->name);
	n = strchr(dev->name, '/') ? -1 : readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return vgpu_fail(dev, -ENODEV, "no mdev has this UUID");
	link[n] = 0;
	number = strrchr(link, '/');
	snprintf(path, sizeof(path), "/dev/vfio/%.16s", number ? number + 1 : link);
	/* The node appears in devtmpfs a moment after the mdev. */
	for (tries = 0; ; tries++) {
		dev->group = open(path, O_RDWR | O_CLOEXEC);
		if (dev->group >= 0 || errno != ENOENT || tries == 100)
			break;
		usleep(10000);
	}
	if (dev->group < 0 && errno == EBUSY)
		return vgpu_fail(dev, -EBUSY, "another program has it open (%s)", path);
	if (dev->group < 0)
		return vfio_fail(dev, path);
	if (ioctl(dev->group, VFIO_GROUP_GET_STATUS, &status))
		return vfio_fail(dev, "VFIO_GROUP_GET_STATUS");
	if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return vgpu_fail(dev, -EBUSY, "%s is not viable", path);
	return 0;
}

static int vfio_open_container(struct vgpu_dev *dev)
{
	dev->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (dev->container < 0)
		return vfio_fail(dev, "/dev/vfio/vfio");
	if (ioctl(dev->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION)
		return vgpu_fail(dev, -EPROTO, "unknown VFIO API");
	if (ioctl(dev->container, VFIO_CHECK_EXTENSION,
		  VFIO_TYPE1v2_IOMMU) != 1)
		return vgpu_fail(dev, -ENODEV,
				 "no type 1 IOMMU (module vfio_iommu_type1)");
	if (ioctl(dev->group, VFIO_GROUP_SET_CONTAINER, &dev->container))
		return vfio_fail(dev, "VFIO_GROUP_SET_CONTAINER");
	if (ioctl(dev->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return vfio_fail(dev, "VFIO_SET_IOMMU");
	return 0;
}

static void vfio_add_area(struct vgpu_region *region, uint64_t offset,
			  uint64_t bytes)
{
	if (!bytes || region->nr_areas == VGPU_REGION_AREAS)
		return;
	region->area[region->nr_areas].offset = offset;
	region->area[region->nr_areas].bytes = bytes;
	region->nr_areas++;
}

static void vfio_parse_areas(struct vgpu_region *region,
			     const struct vfio_region_info *info, uint32_t bytes)
{
	const struct vfio_region_info_cap_sparse_mmap *sparse;
	const struct vfio_info_cap_header *cap;
	uint32_t at, i;

	if (!(info->flags & VFIO_REGION_INFO_FLAG_MMAP))
		return;
	at = info->flags & VFIO_REGION_INFO_FLAG_CAPS ? info->cap_offset : 0;
	while (at && at + sizeof(*sparse) <= bytes) {
		cap = (const void *)((const char *)info + at);
		if (cap->id == VFIO_REGION_INFO_CAP_SPARSE_MMAP) {
			sparse = (const void *)cap;
			for (i = 0; i < sparse->nr_areas &&
			     at + sizeof(*sparse) +
			     (i + 1) * sizeof(sparse->areas[0]) <= bytes; i++)
				vfio_add_area(region, sparse->areas[i].offset,
					      sparse->areas[i].size);
			return;
		}
		at = cap->next;
	}
	vfio_add_area(region, 0, info->size);
}

static int vfio_read_region(struct vgpu_dev *dev, unsigned int index)
{
	union {
		struct vfio_region_info info;
		char bytes[1024];
	} u;
	struct vgpu_region *region = &dev->region[index];

	memset(&u, 0, sizeof(u));
	u.info.argsz = sizeof(u);
	u.info.index = index;
	if (ioctl(dev->fd, VFIO_DEVICE_GET_REGION_INFO, &u.info)) {
		/* A driver may refuse to describe a region that its function does not have. */
		if (errno == EINVAL)
			return 0;
		return vfio_fail(dev, "VFIO_DEVICE_GET_REGION_INFO");
	}
	region->bytes = u.info.size;
	region->offset = u.info.offset;
	region->flags = u.info.flags;
	vfio_parse_areas(region, &u.info, sizeof(u));
	return 0;
}

/* Maps the first @bytes of a BAR, which must be within the first part that can be mapped. */
static int vfio_map(struct vgpu_dev *dev, unsigned int index, uint64_t bytes,
		    void **ptr)
{
	const struct vgpu_region *region = &dev->region[index];

	*ptr = NULL;
	if (!region->nr_areas || region->area[0].offset ||
	    region->area[0].bytes < bytes)
		return vgpu_fail(dev, -EPROTO,
				 "BAR %u: %llu bytes are to be mapped, %llu can be",
				 index, (unsigned long long)bytes,
				 (unsigned long long)(region->nr_areas ?
						      region->area[0].bytes : 0));
	*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd,
		    (off_t)region->offset);
	if (*ptr == MAP_FAILED) {
		*ptr = NULL;
		return vfio_fail(dev, "mmap of a BAR");
	}
	return 0;
}

static void vfio_close(struct vgpu_dev *dev)
{
	if (dev->irq_fds)
		vgpu_irq_disable(dev);
	if (dev->fd >= 0)
		close(dev->fd);
	if (dev->group >= 0)
		close(dev->group);
	if (dev->container >= 0)
		close(dev->container);
}

ssize_t vgpu_region_read(struct vgpu_dev *dev, unsigned int index,
			 uint64_t offset, void *buf, size_t count)
{
	ssize_t n;

	if (dev->fd < 0)
		return vgpu_fail(dev, -EOPNOTSUPP, "no regions of VFIO here");
	n = pread(dev->fd, buf, count, (off_t)(dev->region[index].offset + offset));
	return n < 0 ? -errno : n;
}

ssize_t vgpu_region_write(struct vgpu_dev *dev, unsigned int index,
			  uint64_t offset, const void *buf, size_t count)
{
	ssize_t n;

	if (dev->fd < 0)
		return vgpu_fail(dev, -EOPNOTSUPP, "no regions of VFIO here");
	n = pwrite(dev->fd, buf, count, (off_t)(dev->region[index].offset + offset));
	return n < 0 ? -errno : n;
}

static int vfio_rw(struct vgpu_dev *dev, unsigned int index, uint64_t offset,
		   void *buf, size_t count, bool write)
{
	ssize_t n = write ? vgpu_region_write(dev, index, offset, buf, count) :
		vgpu_region_read(dev, index, offset, buf, count);

	if (n == (ssize_t)count)
		return 0;
	return vgpu_fail(dev, n < 0 ? (int)n : -EIO,
			 "%s of %zu bytes at %#llx of region %u: %s",
			 write ? "write" : "read", count,
			 (unsigned long long)offset, index,
			 n < 0 ? strerror((int)-n) : "short");
}

static int vfio_reg_rw(struct vgpu_dev *dev, uint64_t offset, void *buf,
		       size_t count, bool write)
{
	return vfio_rw(dev, VFIO_PCI_BAR2_REGION_INDEX, offset, buf, count,
		       write);
}

static int vfio_config_rw(struct vgpu_dev *dev, unsigned int offset, void *buf,
			  size_t count, bool write)
{
	return vfio_rw(dev, VFIO_PCI_CONFIG_REGION_INDEX, offset, buf, count,
		       write);
}

int vgpu_dma_map(struct vgpu_dev *dev, void *ptr, size_t bytes, uint64_t iova)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)ptr,
		.iova = iova,
		.size = bytes,
	};

	if (dev->container < 0)
		return vgpu_fail(dev, -EOPNOTSUPP, "no I/O addresses of VFIO here");
	if (ioctl(dev->container, VFIO_IOMMU_MAP_DMA, &map))
		return vfio_fail(dev, "VFIO_IOMMU_MAP_DMA");
	return 0;
}

int vgpu_dma_unmap(struct vgpu_dev *dev, size_t bytes, uint64_t iova)
{
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = iova,
		.size = bytes,
	};

	if (dev->container < 0)
		return vgpu_fail(dev, -EOPNOTSUPP, "no I/O addresses of VFIO here");
	if (ioctl(dev->container, VFIO_IOMMU_UNMAP_DMA, &unmap))
		return vfio_fail(dev, "VFIO_IOMMU_UNMAP_DMA");
	return 0;
}

static int vfio_buf_map(struct vgpu_dev *dev, struct vgpu_buf *buf)
{
	int ret;

	buf->iova = dev->next_iova;
	ret = vgpu_dma_map(dev, buf->ptr, buf->bytes, buf->iova);
	if (!ret) /* A page behind each buffer stays unmapped, so that an overrun faults. */
		dev->next_iova += buf->bytes + VGPU_HW_PAGE_SIZE;
	return ret;
}

static void vfio_buf_unmap(struct vgpu_buf *buf)
{
	vgpu_dma_unmap(buf->dev, buf->bytes, buf->iova);
}

static int vfio_reset(struct vgpu_dev *dev)
{
	if (ioctl(dev->fd, VFIO_DEVICE_RESET))
		return vfio_fail(dev, "VFIO_DEVICE_RESET");
	return 0;
}

static const struct vgpu_bus vfio_bus = {
	.close = vfio_close,
	.map = vfio_map,
	.reg_rw = vfio_reg_rw,
	.config_rw = vfio_config_rw,
	.buf_map = vfio_buf_map,
	.buf_unmap = vfio_buf_unmap,
	.reset = vfio_reset,
	.irq_wait = vgpu_irq_wait,
};

int vgpu_irq_enable(struct vgpu_dev *dev, unsigned int nr)
{
	size_t bytes = sizeof(struct vfio_irq_set) + nr * sizeof(int32_t);
	struct vfio_irq_set *set;
	unsigned int i;
	int ret;

	if (dev->bus != &vfio_bus)
		return vgpu_fail(dev, -EOPNOTSUPP, "no interrupts here");
	if (!nr || nr > dev->vectors || dev->irq_fds)
		return vgpu_fail(dev, -EINVAL, "%u vectors of %u", nr,
				 dev->vectors);
	set = calloc(1, bytes);
	dev->irq_fds = calloc(nr, sizeof(int));
	if (!set || !dev->irq_fds) {
		free(set);
		free(dev->irq_fds);
		dev->irq_fds = NULL;
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	}
	set->argsz = (uint32_t)bytes;
	set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	set->index = VFIO_PCI_MSIX_IRQ_INDEX;
	set->count = nr;
	for (i = 0; i < nr; i++) {
		dev->irq_fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (dev->irq_fds[i] < 0) {
			ret = vfio_fail(dev, "eventfd");
			goto close_fds;
		}
		memcpy(set->data + i * sizeof(int32_t), &dev->irq_fds[i],
		       sizeof(int32_t));
	}
	if (ioctl(dev->fd, VFIO_DEVICE_SET_IRQS, set)) {
		ret = vfio_fail(dev, "VFIO_DEVICE_SET_IRQS");
		goto close_fds;
	}
	free(set);
	dev->irqs = nr;
	return 0;

close_fds:
	while (i--)
		close(dev->irq_fds[i]);
	free(dev->irq_fds);
	dev->irq_fds = NULL;
	free(set);
	return ret;
}

int vgpu_irq_disable(struct vgpu_dev *dev)
{
	struct vfio_irq_set set = {
		.argsz = sizeof(set),
		.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
	};
	unsigned int i;
	int ret = 0;

	if (!dev->irq_fds)
		return 0;
	if (ioctl(dev->fd, VFIO_DEVICE_SET_IRQS, &set))
		ret = vfio_fail(dev, "VFIO_DEVICE_SET_IRQS");
	for (i = 0; i < dev->irqs; i++)
		close(dev->irq_fds[i]);
	free(dev->irq_fds);
	dev->irq_fds = NULL;
	dev->irqs = 0;
	return ret;
}

int vgpu_irq_wait(struct vgpu_dev *dev, unsigned int vector, int timeout_ms)
{
	struct pollfd pfd = { .events = POLLIN };
	uint64_t count;

	if (vector >= dev->irqs)
		return vgpu_fail(dev, -EINVAL, "vector %u is not enabled",
				 vector);
	pfd.fd = dev->irq_fds[vector];
	if (poll(&pfd, 1, timeout_ms) < 0 && errno != EINTR)
		return vfio_fail(dev, "poll");
	if (read(pfd.fd, &count, sizeof(count)) != sizeof(count))
		return -ETIMEDOUT;
	return count > INT32_MAX ? INT32_MAX : (int)count;
}

int vgpu_dev_open_vfio(struct vgpu_dev **devp, const char *uuid)
{
	struct vgpu_dev *dev;
	unsigned int i;
	int ret;

	*devp = NULL;
	dev = vgpu_regs_new(&vfio_bus, uuid);
	if (!dev)
		return vgpu_fail(NULL, -ENOMEM, "out of memory");
	ret = vfio_open_group(dev);
	if (!ret)
		ret = vfio_open_container(dev);
	if (ret)
		return vgpu_dev_open_failed(dev, ret);
	dev->fd = ioctl(dev->group, VFIO_GROUP_GET_DEVICE_FD, uuid);
	if (dev->fd < 0) {
		ret = vfio_fail(dev, "VFIO_GROUP_GET_DEVICE_FD");
		return vgpu_dev_open_failed(dev, ret);
	}
	for (i = 0; i < VGPU_DEV_REGIONS; i++) {
		ret = vfio_read_region(dev, i);
		if (ret)
			return vgpu_dev_open_failed(dev, ret);
	}
	ret = vgpu_regs_open(dev);
	if (ret)
		return vgpu_dev_open_failed(dev, ret);
	*devp = dev;
	return 0;
}
