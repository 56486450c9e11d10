/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transport over registers and channel pages, and the buses by which these are reached: VFIO
 * and, in a virtual machine, sysfs.
 */
#ifndef LIBVGPU_REGS_H
#define LIBVGPU_REGS_H

#include "transport.h"

#define VGPU_PCI_COMMAND	0x04
#define VGPU_PCI_COMMAND_MEMORY	0x0002
#define VGPU_PCI_COMMAND_MASTER	0x0004

/**
 * struct vgpu_bus - the functions by which a PCI function is reached
 * @close:     undoes what open has done so far; descriptors not opened are -1, mappings not made
 *             NULL
 * @map:       maps the first @bytes of a BAR
 * @reg_rw:    reads or writes 4 or 8 bytes of BAR 2, little endian
 * @config_rw: reads or writes configuration space
 * @buf_map:   makes the memory at buf->ptr reachable for the device, and sets buf->iova or
 *             buf->pages
 * @buf_unmap: undoes @buf_map
 * @reset:     resets the function
 * @irq_wait:  waits for an interrupt; see vgpu_irq_wait()
 * @lock:      keeps @nr bytes from @first on, which stand for something, from other programs that
 *             have the device open; -EBUSY: one has some of them, and *@next is behind these
 * @unlock:    undoes @lock
 *
 * Where there are no interrupts, there is no @irq_wait; where there are no other programs, no @lock
 * and no @unlock.
 */
struct vgpu_bus {
	void (*close)(struct vgpu_dev *dev);
	int (*map)(struct vgpu_dev *dev, unsigned int bar, uint64_t bytes, void **ptr);
	int (*reg_rw)(struct vgpu_dev *dev, uint64_t offset, void *buf,
		      size_t count, bool write);
	int (*config_rw)(struct vgpu_dev *dev, unsigned int offset, void *buf,
			 size_t count, bool write);
	int (*buf_map)(struct vgpu_dev *dev, struct vgpu_buf *buf);
	void (*buf_unmap)(struct vgpu_buf *buf);
	int (*reset)(struct vgpu_dev *dev);
	int (*irq_wait)(struct vgpu_dev *dev, unsigned int vector, int timeout_ms);
	int (*lock)(struct vgpu_dev *dev, uint64_t first, uint64_t nr, uint64_t *next);
	void (*unlock)(struct vgpu_dev *dev, uint64_t first, uint64_t nr);
};

/* Allocates a device that nothing is opened or mapped for yet. Returns NULL if memory is short. */
struct vgpu_dev *vgpu_regs_new(const struct vgpu_bus *bus, const char *name);

/*
 * Reads what the registers say about the device, and maps framebuffer and channel pages. A function
 * that is no vGPU is not made a bus master.
 */
int vgpu_regs_open(struct vgpu_dev *dev);

extern const struct vgpu_mem_ops vgpu_regs_mem;
extern const struct vgpu_space_ops vgpu_regs_space;
extern const struct vgpu_chan_ops vgpu_regs_chan;
extern const struct vgpu_transport vgpu_regs_transport;

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

/* Likewise, unless the page has a label: a reset of the device clears labels and registers. */
int vgpu_label_chan_again(struct vgpu_chan *chan);

#endif /* LIBVGPU_REGS_H */
