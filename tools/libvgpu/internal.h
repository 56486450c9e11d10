/* SPDX-License-Identifier: GPL-2.0 */
/* What libvgpu's own files share. */
#ifndef LIBVGPU_INTERNAL_H
#define LIBVGPU_INTERNAL_H

#include "libvgpu.h"

#define VGPU_PCI_COMMAND	0x04
#define VGPU_PCI_COMMAND_MEMORY	0x0002
#define VGPU_PCI_COMMAND_MASTER	0x0004

/**
 * struct vgpu_transport - the functions by which a device is reached
 * @close:     undoes what open has done so far; descriptors not opened are -1, mappings not made
 *             NULL
 * @reg_rw:    reads or writes 4 or 8 bytes of BAR 2, little endian
 * @config_rw: reads or writes configuration space
 * @buf_map:   makes the memory at buf->ptr reachable for the device, and sets buf->iova or
 *             buf->pages
 * @buf_unmap: undoes @buf_map
 * @reset:     resets the function
 * @lock:      keeps @nr bytes from @first on, which stand for something, from other programs that
 *             have the device open; -EBUSY: one has some of them, and *@next is behind these
 * @unlock:    undoes @lock
 *
 * Where there are no other programs, there are no @lock and @unlock.
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
	int (*lock)(struct vgpu_dev *dev, uint64_t first, uint64_t nr, uint64_t *next);
	void (*unlock)(struct vgpu_dev *dev, uint64_t first, uint64_t nr);
};

/* Allocates a device that nothing is opened or mapped for yet. Returns NULL if memory is short. */
struct vgpu_dev *vgpu_dev_new(const struct vgpu_transport *transport, const char *name);

/* Reads what the registers say about the device. */
int vgpu_dev_probe(struct vgpu_dev *dev);

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

/* Take a channel, which stays as it is, from other programs, and give it back. */
int vgpu_claim_chan(struct vgpu_dev *dev, uint32_t id);
void vgpu_unclaim_chan(struct vgpu_dev *dev, uint32_t id);

/*
 * Take framebuffer from other programs: -EBUSY if they have some of it, of which one piece ends at
 * *@next; and give all from @start on back.
 */
int vgpu_claim_fb(struct vgpu_dev *dev, uint64_t start, uint64_t bytes, uint64_t *next);
void vgpu_unclaim_fb(struct vgpu_dev *dev, uint64_t start);

/*
 * Writes to the page of a channel that is not enabled which process has it, and to the registers
 * which driver this is, for the host to show; nothing where the device does not know of that.
 */
int vgpu_label_chan(struct vgpu_chan *chan);

/* CLOCK_MONOTONIC. */
uint64_t vgpu_now_ns(void);

#endif /* LIBVGPU_INTERNAL_H */
