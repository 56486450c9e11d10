/* SPDX-License-Identifier: GPL-2.0 */
/* What libvgpu's own files share. */
#ifndef LIBVGPU_INTERNAL_H
#define LIBVGPU_INTERNAL_H

#include "regs.h"
#include "transport.h"

/* Allocates a device that nothing is opened or mapped for yet. Returns NULL if memory is short. */
struct vgpu_dev *vgpu_dev_new(const struct vgpu_transport *transport, const char *name);

/*
 * Closes a device that could not be opened, keeps its error for vgpu_dev_error(NULL), returns
 * @error.
 */
int vgpu_dev_open_failed(struct vgpu_dev *dev, int error);

/*
 * Sets the text of the device's last error or, if @dev is NULL, of the last open. Returns @error.
 */
__attribute__((format(printf, 3, 4)))
int vgpu_fail(struct vgpu_dev *dev, int error, const char *fmt, ...);

#define VGPU_PCI_DEVICES	"/sys/bus/pci/devices"

/* Whether a PCI function may be a vGPU, as far as can be told without its registers. */
bool vgpu_pci_is_like_one(const char *address);

/* Writes to @path the render node of a PCI function, if it has one. */
bool vgpu_node_of(const char *address, char *path, size_t room);

/* Calls @found for each render node of the guest's driver that can be opened. */
void vgpu_node_list(void (*found)(const char *name, void *data), void *data);

/* CLOCK_MONOTONIC. */
uint64_t vgpu_now_ns(void);

#endif /* LIBVGPU_INTERNAL_H */
