/* SPDX-License-Identifier: GPL-2.0 */
/* Inside libvgpu: what a transport does, and helpers. */
#ifndef LIBVGPU_INTERNAL_H
#define LIBVGPU_INTERNAL_H

#include "libvgpu.h"

#define VGPU_PCI_COMMAND	0x04
#define VGPU_PCI_COMMAND_MEMORY	0x0002
#define VGPU_PCI_COMMAND_MASTER	0x0004

/**
 * struct vgpu_transport - how a device is reached
 * @close:      undo open; fields never set are -1 or NULL
 * @reg_rw:     4 or 8 bytes of BAR 2, little endian
 * @config_rw:  configuration space
 * @buf_map:    make buf->ptr reachable; sets iova or pages
 * @buf_unmap:  undo it
 * @reset:      reset the function
 */
struct vgpu_transport {
	void (*close)(struct vgpu_dev *dev);
	int (*reg_rw)(struct vgpu_dev *dev, uint64_t offset, void *buf,
		      size_t count, bool write);
	int (*config_rw)(struct vgpu_dev *dev, unsigned int offset, void *buf,
			 size_t count, bool write);
	int (*buf_map)(struct vgpu_dev *dev, struct vgpu_buf *buf);
	void (*buf_unmap)(struct vgpu_buf *buf);
	int (*reset)(struct vgpu_dev *dev);
};

struct vgpu_dev *vgpu_dev_new(const struct vgpu_transport *transport,
			      const char *name);
int vgpu_dev_probe(struct vgpu_dev *dev);
int vgpu_dev_open_failed(struct vgpu_dev *dev, int error);
__attribute__((format(printf, 3, 4)))
int vgpu_fail(struct vgpu_dev *dev, int error, const char *fmt, ...);
uint64_t vgpu_now_ns(void);

#endif /* LIBVGPU_INTERNAL_H */
