/* SPDX-License-Identifier: GPL-2.0 */
/* VFIO_DEVICE_SET_IRQS, in any form that VFIO has. */
#ifndef IRQS_H
#define IRQS_H

#include <stdint.h>

#include <libvgpu.h>

#define IRQS_FDS	4	/* the most that irqs_set() passes on */

/*
 * @index: VFIO_PCI_*_IRQ_INDEX; @flags: VFIO_IRQ_SET_*; @count: vectors from @start on;
 * @fds: @nr_fds eventfds, which need not be as many as @count. Returns 0 or a negative errno.
 */
int irqs_set(struct vgpu_dev *dev, uint32_t index, uint32_t flags, uint32_t start, uint32_t count,
	     const int32_t *fds, unsigned int nr_fds);

/* VFIO signals @fd when the administrator wants the device back. */
int irqs_set_request(struct vgpu_dev *dev, int32_t fd);

#endif /* IRQS_H */
