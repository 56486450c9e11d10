// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/vfio.h>

#include "irqs.h"

int irqs_set(struct vgpu_dev *dev, uint32_t index, uint32_t flags, uint32_t start, uint32_t count,
	     const int32_t *fds, unsigned int nr_fds)
{
	union {
		struct vfio_irq_set set;
		char bytes[sizeof(struct vfio_irq_set) + IRQS_FDS * sizeof(int32_t)];
	} u = { .set = {
		.argsz = (uint32_t)(sizeof(u.set) + nr_fds * sizeof(*fds)),
		.flags = flags,
		.index = index,
		.start = start,
		.count = count,
	} };

	if (nr_fds > IRQS_FDS)
		return -E2BIG;
	if (nr_fds)
		memcpy(u.bytes + sizeof(u.set), fds, nr_fds * sizeof(*fds));
	return ioctl(dev->fd, VFIO_DEVICE_SET_IRQS, &u) ? -errno : 0;
}

int irqs_set_request(struct vgpu_dev *dev, int32_t fd)
{
	return irqs_set(dev, VFIO_PCI_REQ_IRQ_INDEX,
			VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, &fd, 1);
}
