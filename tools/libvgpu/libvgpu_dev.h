/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: devices, their registers, regions, configuration space and interrupts. */
#ifndef LIBVGPU_DEV_H
#define LIBVGPU_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/vgpu_hw.h>

#define VGPU_ERROR_LEN		256
#define VGPU_DEV_REGIONS	11	/* of a PCI device in VFIO, and of its display */
#define VGPU_REGION_AREAS	8
#define VGPU_REGION_CONFIG	7
#define VGPU_NO_VECTOR		(~0u)

struct vgpu_bus;
struct vgpu_node;
struct vgpu_transport;

/**
 * struct vgpu_area - a part of a region that can be mapped
 * @offset: offset of its first byte in the region
 * @bytes:  length
 */
struct vgpu_area {
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct vgpu_region - a BAR, the ROM or the configuration space, as VFIO describes it
 * @bytes:    size that the bus sees; 0 if the function has no such region
 * @offset:   offset of its first byte in the file of the device
 * @flags:    VFIO_REGION_INFO_FLAG_*
 * @nr_areas: number of elements of @area in use
 * @area:     the parts that can be mapped
 */
struct vgpu_region {
	uint64_t bytes;
	uint64_t offset;
	uint32_t flags;
	unsigned int nr_areas;
	struct vgpu_area area[VGPU_REGION_AREAS];
};

/**
 * struct vgpu_dev - an open vGPU
 * @transport:    what works on the device
 * @bus:          where it has registers: the functions for VFIO or those for a virtual machine
 * @node:         where it has a render node: that, else NULL
 * @name:         UUID of the mdev, PCI address, or path of the render node
 * @error:        text of the last error
 * @fd:           VFIO: file of the device, else -1
 * @container:    VFIO: file of the container, else -1
 * @group:        VFIO: file of the IOMMU group, else -1
 * @region:       VFIO: the regions by VFIO's index
 * @fb:           the framebuffer, mapped; render node: only where vgpu_fb_alloc() has taken it
 * @fb_bytes:     framebuffer that the vGPU owns
 * @fb_next:      offset of the first byte that vgpu_fb_alloc() has not given away
 * @fb_claimed:   virtual machine: pages up to the end of what vgpu_fb_alloc() has taken last
 * @regs:         virtual machine: the registers, mapped; else NULL
 * @chan_pages:   the channel pages, mapped: 4 KiB per channel
 * @channels:     number of channels that the vGPU owns
 * @engines:      number of engines of the GPU
 * @engine:       of each engine class << 8 | instance, as its register says
 * @vectors:      number of MSI-X vectors of the function
 * @irq_fds:      an eventfd per vector between vgpu_irq_enable() and vgpu_irq_disable(), else NULL
 * @irqs:         number of elements of @irq_fds
 * @next_iova:    VFIO: first I/O address that vgpu_buf_alloc() has not given away
 * @chan_used:    of each channel whether vgpu_chan_create() has given it away
 * @config_fd:    virtual machine: configuration space, else -1
 * @lock_fd:      virtual machine: what channels and framebuffer are locked on, else -1
 * @pagemap_fd:   virtual machine: /proc/self/pagemap, which has the addresses of buffers, else -1
 */
struct vgpu_dev {
	const struct vgpu_transport *transport;
	const struct vgpu_bus *bus;
	struct vgpu_node *node;
	char name[64];
	char error[VGPU_ERROR_LEN];
	int fd;
	int container;
	int group;
	struct vgpu_region region[VGPU_DEV_REGIONS];
	uint8_t *fb;
	uint64_t fb_bytes;
	uint64_t fb_next;
	uint64_t fb_claimed;
	volatile uint8_t *regs;
	uint8_t *chan_pages;
	uint32_t channels;
	uint32_t engines;
	uint32_t engine[VGPU_HW_MAX_ENGINES];
	uint32_t vectors;
	int *irq_fds;
	unsigned int irqs;
	uint64_t next_iova;
	bool *chan_used;
	int config_fd;
	int lock_fd;
	int pagemap_fd;
};

/*
 * Opens the mdev with this UUID on the host: makes a container with a type 1 v2 IOMMU, maps
 * framebuffer and channel pages, and sets memory decoding and bus mastering. On error *@devp is
 * NULL, and vgpu_dev_error(NULL) has the text.
 */
int vgpu_dev_open_vfio(struct vgpu_dev **devp, const char *uuid);

/*
 * Opens a vGPU inside a virtual machine: the function at @address ("0000:00:04.0"), or the first
 * vGPU if @address is NULL. Needs root, and no driver bound to the function (-EBUSY). Such a device
 * has no interrupts. Several programs may have it open, and are given channels and framebuffer of
 * their own, if they see the same mount of sysfs. On error *@devp is NULL, and vgpu_dev_error(NULL)
 * has the text.
 */
int vgpu_dev_open_pci(struct vgpu_dev **devp, const char *address);

/*
 * Opens a vGPU inside a virtual machine by the render node of its driver, vgpu_guest: the node
 * @name ("renderD128", or a path), or the first one of that driver if @name is NULL. Needs no more
 * than to be in the node's group, render. The driver keeps the programs apart that have it open. An
 * access to framebuffer or to a buffer raises SIGBUS when the device is gone. There are no
 * registers, rings, interrupts or page tables: functions for these return -EOPNOTSUPP. On error
 * *@devp is NULL, and vgpu_dev_error(NULL) has the text.
 */
int vgpu_dev_open_node(struct vgpu_dev **devp, const char *name);

/*
 * Opens the mdev with the UUID @name on the host, or in a virtual machine the render node @name, or
 * the PCI function at the address @name, by its render node if it has one. NULL means the first
 * render node or, if there is none, the first PCI function or, if there is none, the only mdev.
 */
int vgpu_dev_open(struct vgpu_dev **devp, const char *name);

/* Calls @found, with @data, for each name that may be given to vgpu_dev_open() here. */
void vgpu_dev_list(void (*found)(const char *name, void *data), void *data);

/*
 * Closes and frees a device, or does nothing with NULL. Destroy its channels and free its buffers
 * before.
 */
void vgpu_dev_close(struct vgpu_dev *dev);

/*
 * Text of the last error of @dev or, with NULL, of the last open that failed in this thread. It has
 * no newline and is empty if there was no error.
 */
const char *vgpu_dev_error(const struct vgpu_dev *dev);

/*
 * Resets the function: by VFIO's reset ioctl, or by the reset register in a virtual machine. Then
 * all channels are disabled and the framebuffer reads zero. Memory decoding and bus mastering are
 * set again. On a render node, -EOPNOTSUPP: others use the device.
 */
int vgpu_dev_reset(struct vgpu_dev *dev);

/*
 * Index of the engine of class @engine_class (enum vgpu_hw_engine_class) with this number, or
 * -ENOENT.
 */
int vgpu_dev_find_engine(struct vgpu_dev *dev, uint32_t engine_class, uint32_t instance);

/* Registers: @offset is the byte offset in BAR 2. -EOPNOTSUPP on a render node. */
int vgpu_reg_read32(struct vgpu_dev *dev, uint64_t offset, uint32_t *value);
int vgpu_reg_read64(struct vgpu_dev *dev, uint64_t offset, uint64_t *value);
int vgpu_reg_write32(struct vgpu_dev *dev, uint64_t offset, uint32_t value);
int vgpu_reg_write64(struct vgpu_dev *dev, uint64_t offset, uint64_t value);

/* Offset in BAR 2 of the register @reg (VGPU_HW_CHAN_*) of channel @id. */
static inline uint64_t vgpu_chan_reg(uint32_t id, uint32_t reg)
{
	return VGPU_HW_CHAN_BASE + (uint64_t)id * VGPU_HW_CHAN_STRIDE + reg;
}

/*
 * Read and write @count bytes of VFIO's region @index through the file of the device; return the
 * number of bytes or a negative errno. @offset is not checked against the region's size, so a test
 * can pass a wrong one. VFIO only, elsewhere -EOPNOTSUPP.
 */
ssize_t vgpu_region_read(struct vgpu_dev *dev, unsigned int index, uint64_t offset, void *buf,
			 size_t count);
ssize_t vgpu_region_write(struct vgpu_dev *dev, unsigned int index, uint64_t offset,
			  const void *buf, size_t count);

/* Read and write configuration space; numbers in @buf are little endian. */
int vgpu_config_read(struct vgpu_dev *dev, unsigned int offset, void *buf, size_t count);
int vgpu_config_write(struct vgpu_dev *dev, unsigned int offset, const void *buf, size_t count);

/* Sets the bits @set and clears the bits @clear in the PCI command register. */
int vgpu_dev_command(struct vgpu_dev *dev, uint16_t set, uint16_t clear);

/*
 * Connects MSI-X vectors 0 to @nr - 1 with eventfds (VFIO only). Vector 0 is raised when a channel
 * faults. Channels that are created later share the other vectors for their fences.
 */
int vgpu_irq_enable(struct vgpu_dev *dev, unsigned int nr);
int vgpu_irq_disable(struct vgpu_dev *dev);

/*
 * Waits until @vector is raised, at most @timeout_ms. Returns how often it was raised since the
 * last call, or -ETIMEDOUT.
 */
int vgpu_irq_wait(struct vgpu_dev *dev, unsigned int vector, int timeout_ms);

#endif /* LIBVGPU_DEV_H */
