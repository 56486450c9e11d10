/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libvgpu: a user-space driver for one vGPU, on the host through VFIO or
 * inside a VM through the function's PCI resource files. Both speak the
 * hardware ABI of <linux/vgpu_hw.h>.
 *
 * Functions return 0 (or a count) on success and a negative errno on error;
 * vgpu_dev_error() tells the rest. A device and its channels belong to one
 * thread at a time; different devices are independent.
 */
#ifndef LIBVGPU_H
#define LIBVGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/vgpu_hw.h>

#define VGPU_ERROR_LEN		256
#define VGPU_DEV_REGIONS	9	/* VFIO's PCI regions */
#define VGPU_REGION_AREAS	8
#define VGPU_REGION_CONFIG	7
#define VGPU_NO_VECTOR		(~0u)

struct vgpu_dev;
struct vgpu_transport;

/**
 * struct vgpu_area - a part of a region that can be mapped
 * @offset: where it starts in the region
 * @bytes:  how long it is
 */
struct vgpu_area {
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct vgpu_region - a BAR, the ROM or the configuration space
 * @bytes:    size as the bus sees it, 0: absent
 * @offset:   of its first byte in the device's file
 * @flags:    VFIO_REGION_INFO_FLAG_* (VFIO only)
 * @nr_areas: how many of @area are valid
 * @area:     what can be mapped
 */
struct vgpu_region {
	uint64_t bytes;
	uint64_t offset;
	uint32_t flags;
	unsigned int nr_areas;
	struct vgpu_area area[VGPU_REGION_AREAS];
};

/**
 * struct vgpu_dev - an open vGPU; fields are for reading
 * @transport:    how it is reached
 * @name:         UUID of the mdev, or PCI address
 * @error:        what went wrong last
 * @fd:           VFIO: the device
 * @container:    VFIO: the container
 * @group:        VFIO: the group
 * @region:       what the function has
 * @fb:           mapped framebuffer, @fb_bytes long
 * @fb_bytes:     framebuffer owned
 * @fb_next:      first byte that vgpu_fb_alloc() has not given away
 * @regs:         PCI only: mapped registers
 * @chan_pages:   mapped channel pages, 4 KiB per channel
 * @channels:     channels owned
 * @engines:      engines of the GPU
 * @engine:       per engine: class << 8 | instance
 * @vectors:      MSI-X vectors of the function
 * @irq_fds:      VFIO: one eventfd per enabled vector, else NULL
 * @irqs:         vectors enabled
 * @next_iova:    first I/O address that vgpu_buf_alloc() has not given away
 * @chan_used:    per channel: taken by vgpu_chan_create()
 * @config_fd:    PCI only: configuration space
 * @pagemap_fd:   PCI only: where the pages of a buffer are
 */
struct vgpu_dev {
	const struct vgpu_transport *transport;
	char name[64];
	char error[VGPU_ERROR_LEN];
	int fd;
	int container;
	int group;
	struct vgpu_region region[VGPU_DEV_REGIONS];
	uint8_t *fb;
	uint64_t fb_bytes;
	uint64_t fb_next;
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
	int pagemap_fd;
};

/**
 * struct vgpu_buf - guest memory that the device can reach
 * @dev:      the device
 * @ptr:      where the program sees it, page aligned
 * @bytes:    length, whole pages
 * @iova:     VFIO: address of the first byte for the device
 * @pages:    PCI: address of each page for the device, else NULL
 */
struct vgpu_buf {
	struct vgpu_dev *dev;
	void *ptr;
	size_t bytes;
	uint64_t iova;
	uint64_t *pages;
};

/**
 * struct vgpu_loc - a place that a packet can name
 * @buf:    guest memory, or NULL: framebuffer
 * @offset: byte in it
 */
struct vgpu_loc {
	const struct vgpu_buf *buf;
	uint64_t offset;
};

#define VGPU_FB(off)		((struct vgpu_loc){ NULL, (off) })
#define VGPU_SYS(b, off)	((struct vgpu_loc){ (b), (off) })

/**
 * enum vgpu_ring - where a channel's ring and signal word lie
 * @VGPU_RING_FB:  framebuffer
 * @VGPU_RING_SYS: guest memory
 */
enum vgpu_ring {
	VGPU_RING_FB,
	VGPU_RING_SYS,
};

/**
 * struct vgpu_chan - a channel; fields are for reading
 * @dev:         the device
 * @id:          number on the device
 * @engine:      index of the engine
 * @order:       log2 of the ring's packets
 * @where:       where ring and signal word lie
 * @vector:      MSI-X vector of its fences, or VGPU_NO_VECTOR
 * @page:        the channel page
 * @ring:        the packets
 * @ring_addr:   their address for the device
 * @signal:      the word that fences write
 * @signal_addr: its address for the device
 * @put:         packets submitted since enable
 * @fence:       value of the newest fence
 * @ring_buf:    ring in guest memory
 * @signal_buf:  signal word in guest memory
 */
struct vgpu_chan {
	struct vgpu_dev *dev;
	uint32_t id;
	uint32_t engine;
	uint32_t order;
	enum vgpu_ring where;
	uint32_t vector;
	struct vgpu_hw_channel *page;
	struct vgpu_hw_packet *ring;
	uint64_t ring_addr;
	uint64_t *signal;
	uint64_t signal_addr;
	uint64_t put;
	uint64_t fence;
	struct vgpu_buf ring_buf;
	struct vgpu_buf signal_buf;
};

/**
 * struct vgpu_fault - why a channel has stopped
 * @channel: its number
 * @code:    enum vgpu_hw_fault
 * @pos:     index of the packet
 * @addr:    the address that failed, where the code has one
 */
struct vgpu_fault {
	uint32_t channel;
	uint32_t code;
	uint64_t pos;
	uint64_t addr;
};

/* Devices */

/**
 * vgpu_dev_open_vfio() - open an mdev on the host
 * @devp: where the device goes
 * @uuid: name of the mdev
 *
 * Makes a container of its own with the type 1 v2 IOMMU, maps what the
 * regions' sparse areas allow, and sets memory decoding and bus mastering.
 *
 * Return: 0 or a negative errno, then vgpu_dev_error(NULL) tells more.
 */
int vgpu_dev_open_vfio(struct vgpu_dev **devp, const char *uuid);

/**
 * vgpu_dev_open_pci() - open a vGPU inside a VM
 * @devp:    where the device goes
 * @address: PCI address ("0000:00:04.0"), or NULL: the first vGPU
 *
 * Needs root, and no driver bound to the function. There are no interrupts.
 *
 * Return: 0 or a negative errno, then vgpu_dev_error(NULL) tells more.
 */
int vgpu_dev_open_pci(struct vgpu_dev **devp, const char *address);

/**
 * vgpu_dev_close() - give a device back
 * @dev: from an open function, or NULL
 *
 * Destroy its channels and free its buffers before.
 */
void vgpu_dev_close(struct vgpu_dev *dev);

/**
 * vgpu_dev_error() - text of the last error
 * @dev: the device, or NULL: of this thread's last failed open
 *
 * Return: a string without a newline; empty if there was none.
 */
const char *vgpu_dev_error(const struct vgpu_dev *dev);

/**
 * vgpu_dev_reset() - reset the function
 * @dev: the device
 *
 * Through VFIO the reset ioctl, in a VM the reset register. Channels are
 * disabled and memory reads zero after it; memory decoding and bus mastering
 * are set again.
 *
 * Return: 0 or a negative errno.
 */
int vgpu_dev_reset(struct vgpu_dev *dev);

/**
 * vgpu_dev_find_engine() - index of an engine
 * @dev:          the device
 * @engine_class: enum vgpu_hw_engine_class
 * @instance:     number within the class
 *
 * Return: the index, or -ENOENT.
 */
int vgpu_dev_find_engine(struct vgpu_dev *dev, uint32_t engine_class,
			 uint32_t instance);

/* Registers, regions, configuration space */

/**
 * vgpu_reg_read32() - read a register of BAR 2
 * @dev:    the device
 * @offset: from the start of the BAR
 * @value:  what was read
 *
 * Return: 0 or a negative errno.
 */
int vgpu_reg_read32(struct vgpu_dev *dev, uint64_t offset, uint32_t *value);

/**
 * vgpu_reg_read64() - read a 64-bit register of BAR 2
 * @dev:    the device
 * @offset: from the start of the BAR
 * @value:  what was read
 *
 * Return: 0 or a negative errno.
 */
int vgpu_reg_read64(struct vgpu_dev *dev, uint64_t offset, uint64_t *value);

/**
 * vgpu_reg_write32() - write a register of BAR 2
 * @dev:    the device
 * @offset: from the start of the BAR
 * @value:  what to write
 *
 * Return: 0 or a negative errno.
 */
int vgpu_reg_write32(struct vgpu_dev *dev, uint64_t offset, uint32_t value);

/**
 * vgpu_reg_write64() - write a 64-bit register of BAR 2
 * @dev:    the device
 * @offset: from the start of the BAR
 * @value:  what to write
 *
 * Return: 0 or a negative errno.
 */
int vgpu_reg_write64(struct vgpu_dev *dev, uint64_t offset, uint64_t value);

/**
 * vgpu_chan_reg() - offset of a channel's register in BAR 2
 * @id:  number of the channel
 * @reg: VGPU_HW_CHAN_*
 *
 * Return: the offset.
 */
static inline uint64_t vgpu_chan_reg(uint32_t id, uint32_t reg)
{
	return VGPU_HW_CHAN_BASE + (uint64_t)id * VGPU_HW_CHAN_STRIDE + reg;
}

/**
 * vgpu_region_read() - read a region through the device's file (VFIO only)
 * @dev:    the device
 * @index:  VFIO region index
 * @offset: in the region; not checked, so that a test can pass a wrong one
 * @buf:    where the bytes go
 * @count:  how many
 *
 * Return: bytes read or a negative errno.
 */
ssize_t vgpu_region_read(struct vgpu_dev *dev, unsigned int index,
			 uint64_t offset, void *buf, size_t count);

/**
 * vgpu_region_write() - write a region through the device's file (VFIO only)
 * @dev:    the device
 * @index:  VFIO region index
 * @offset: in the region; not checked, so that a test can pass a wrong one
 * @buf:    the bytes
 * @count:  how many
 *
 * Return: bytes written or a negative errno.
 */
ssize_t vgpu_region_write(struct vgpu_dev *dev, unsigned int index,
			  uint64_t offset, const void *buf, size_t count);

/**
 * vgpu_config_read() - read configuration space
 * @dev:    the device
 * @offset: first byte
 * @buf:    where the bytes go, little endian
 * @count:  how many
 *
 * Return: 0 or a negative errno.
 */
int vgpu_config_read(struct vgpu_dev *dev, unsigned int offset, void *buf,
		     size_t count);

/**
 * vgpu_config_write() - write configuration space
 * @dev:    the device
 * @offset: first byte
 * @buf:    the bytes, little endian
 * @count:  how many
 *
 * Return: 0 or a negative errno.
 */
int vgpu_config_write(struct vgpu_dev *dev, unsigned int offset,
		      const void *buf, size_t count);

/**
 * vgpu_dev_command() - set and clear bits of the PCI command register
 * @dev:   the device
 * @set:   bits to set
 * @clear: bits to clear
 *
 * Return: 0 or a negative errno.
 */
int vgpu_dev_command(struct vgpu_dev *dev, uint16_t set, uint16_t clear);

/* Interrupts (VFIO only) */

/**
 * vgpu_irq_enable() - connect the first MSI-X vectors with eventfds
 * @dev: the device
 * @nr:  how many
 *
 * Channels created later get a vector for their fences. Vector 0 says that a
 * channel has faulted.
 *
 * Return: 0 or a negative errno.
 */
int vgpu_irq_enable(struct vgpu_dev *dev, unsigned int nr);

/**
 * vgpu_irq_disable() - disconnect all vectors
 * @dev: the device
 *
 * Return: 0 or a negative errno.
 */
int vgpu_irq_disable(struct vgpu_dev *dev);

/**
 * vgpu_irq_wait() - wait for a vector
 * @dev:        the device
 * @vector:     which one
 * @timeout_ms: how long
 *
 * Return: how often it was raised since the last call, or a negative errno,
 * -ETIMEDOUT among them.
 */
int vgpu_irq_wait(struct vgpu_dev *dev, unsigned int vector, int timeout_ms);

/* Memory */

/**
 * vgpu_fb_alloc() - take a piece of framebuffer
 * @dev:    the device
 * @bytes:  how much
 * @align:  power of two
 * @offset: where it starts
 *
 * Nothing is given back but by vgpu_fb_release().
 *
 * Return: 0 or -ENOSPC.
 */
int vgpu_fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align,
		  uint64_t *offset);

/**
 * vgpu_fb_release() - give back everything from an offset on
 * @dev:    the device
 * @offset: from vgpu_fb_alloc()
 */
void vgpu_fb_release(struct vgpu_dev *dev, uint64_t offset);

/**
 * vgpu_buf_alloc() - allocate guest memory that the device can reach
 * @dev:   the device
 * @bytes: how much, rounded up to pages
 * @buf:   the buffer
 *
 * In a VM its pages are locked and looked up once: they must not move, so
 * memory compaction of locked pages (vm.compact_unevictable_allowed) should be
 * off.
 *
 * Return: 0 or a negative errno.
 */
int vgpu_buf_alloc(struct vgpu_dev *dev, size_t bytes, struct vgpu_buf *buf);

/**
 * vgpu_buf_free() - free what vgpu_buf_alloc() gave
 * @buf: the buffer; may be one that was never allocated, if it is all zero
 */
void vgpu_buf_free(struct vgpu_buf *buf);

/**
 * vgpu_buf_addr() - address of a byte for the device
 * @buf:    the buffer
 * @offset: the byte
 * @contig: if not NULL: bytes from there to the next jump of the address
 *
 * Return: the address.
 */
uint64_t vgpu_buf_addr(const struct vgpu_buf *buf, uint64_t offset,
		       uint64_t *contig);

/**
 * vgpu_dma_map() - map any memory for the device (VFIO only)
 * @dev:   the device
 * @ptr:   page aligned
 * @bytes: whole pages
 * @iova:  address for the device, page aligned
 *
 * Return: 0 or a negative errno.
 */
int vgpu_dma_map(struct vgpu_dev *dev, void *ptr, size_t bytes, uint64_t iova);

/**
 * vgpu_dma_unmap() - undo vgpu_dma_map()
 * @dev:   the device
 * @bytes: as mapped
 * @iova:  as mapped
 *
 * Return: 0 or a negative errno.
 */
int vgpu_dma_unmap(struct vgpu_dev *dev, size_t bytes, uint64_t iova);

/* Channels */

/**
 * vgpu_chan_create() - take a free channel, give it a ring and enable it
 * @dev:    the device
 * @engine: index of the engine
 * @where:  where the ring goes
 * @order:  log2 of the ring's packets
 * @chanp:  the channel
 *
 * Return: 0 or a negative errno, -ENOSPC if no channel or memory is left.
 */
int vgpu_chan_create(struct vgpu_dev *dev, uint32_t engine,
		     enum vgpu_ring where, uint32_t order,
		     struct vgpu_chan **chanp);

/**
 * vgpu_chan_destroy() - disable a channel and free it
 * @chan: the channel, or NULL
 *
 * Framebuffer that its ring took is not given back.
 */
void vgpu_chan_destroy(struct vgpu_chan *chan);

/**
 * vgpu_chan_enable() - enable a disabled channel from an empty ring
 * @chan: the channel
 *
 * After a fault: vgpu_chan_disable(), then this.
 *
 * Return: 0 or a negative errno.
 */
int vgpu_chan_enable(struct vgpu_chan *chan);

/**
 * vgpu_chan_disable() - stop a channel
 * @chan: the channel
 *
 * Returns when no engine works on it any more. What was queued is dropped.
 *
 * Return: 0 or a negative errno.
 */
int vgpu_chan_disable(struct vgpu_chan *chan);

/**
 * vgpu_chan_submit() - queue packets
 * @chan:    the channel
 * @packets: what to queue
 * @nr:      how many; may be more than the ring holds
 *
 * Waits for room (up to a minute without progress).
 *
 * Return: 0, -EIO if the channel has faulted, -ETIMEDOUT.
 */
int vgpu_chan_submit(struct vgpu_chan *chan,
		     const struct vgpu_hw_packet *packets, size_t nr);

/**
 * vgpu_chan_kick() - publish put and ring the doorbell if need be
 * @chan: the channel
 * @put:  new value of put
 *
 * The lower half of vgpu_chan_submit(), for those that write the ring
 * themselves.
 *
 * Return: 1 if the doorbell was rung, 0 if not, or a negative errno.
 */
int vgpu_chan_kick(struct vgpu_chan *chan, uint64_t put);

/**
 * vgpu_chan_get() - packets completed, from the channel page
 * @chan: the channel
 *
 * Return: the count since enable.
 */
uint64_t vgpu_chan_get(const struct vgpu_chan *chan);

/**
 * vgpu_chan_state() - enum vgpu_hw_state, from the channel page
 * @chan: the channel
 *
 * Return: the state.
 */
uint32_t vgpu_chan_state(const struct vgpu_chan *chan);

/**
 * vgpu_chan_wait() - wait for a fence
 * @chan:       the channel
 * @fence:      from vgpu_chan_fence()
 * @timeout_ms: how long
 *
 * Looks at the signal word for a while, then sleeps: on the fence's vector if
 * interrupts are enabled, else in growing steps.
 *
 * Return: 0, -EIO if the channel has faulted (vgpu_chan_fault() says why),
 * -ENODEV if it is disabled, -ETIMEDOUT.
 */
int vgpu_chan_wait(struct vgpu_chan *chan, uint64_t fence, int timeout_ms);

/**
 * vgpu_chan_wait_idle() - wait until all that was submitted has completed
 * @chan:       the channel
 * @timeout_ms: how long
 *
 * Needs no fence: looks at get.
 *
 * Return: as vgpu_chan_wait().
 */
int vgpu_chan_wait_idle(struct vgpu_chan *chan, int timeout_ms);

/**
 * vgpu_chan_wait_fault() - wait until the channel faults
 * @chan:       the channel
 * @timeout_ms: how long
 * @fault:      why it did
 *
 * Return: 0 or -ETIMEDOUT.
 */
int vgpu_chan_wait_fault(struct vgpu_chan *chan, int timeout_ms,
			 struct vgpu_fault *fault);

/**
 * vgpu_chan_fault() - read the channel's fault registers
 * @chan:  the channel
 * @fault: code VGPU_HW_FAULT_NONE: there is none
 *
 * Return: 0 or a negative errno.
 */
int vgpu_chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault);

/**
 * vgpu_fault_name() - a fault code in words
 * @code: enum vgpu_hw_fault
 *
 * Return: a constant string.
 */
const char *vgpu_fault_name(uint32_t code);

/* Work */

/**
 * vgpu_chan_nop() - queue a packet that does nothing
 * @chan: the channel
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_nop(struct vgpu_chan *chan);

/**
 * vgpu_chan_fence() - queue a fence on the channel's signal word
 * @chan:  the channel
 * @fence: for vgpu_chan_wait()
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_fence(struct vgpu_chan *chan, uint64_t *fence);

/**
 * vgpu_chan_fill() - queue a fill
 * @chan:  the channel
 * @dst:   where, 4-byte aligned
 * @value: 32-bit pattern
 * @bytes: how much, a multiple of 4
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_fill(struct vgpu_chan *chan, struct vgpu_loc dst, uint32_t value,
		   uint64_t bytes);

/**
 * vgpu_chan_copy() - queue a copy
 * @chan:  the channel
 * @dst:   to
 * @src:   from
 * @bytes: how much
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_copy(struct vgpu_chan *chan, struct vgpu_loc dst,
		   struct vgpu_loc src, uint64_t bytes);

/**
 * vgpu_chan_copy2d() - queue a copy of a rectangle
 * @chan:      the channel
 * @dst:       to
 * @dst_pitch: bytes from row to row
 * @src:       from
 * @src_pitch: bytes from row to row
 * @width:     bytes per row
 * @rows:      rows
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_copy2d(struct vgpu_chan *chan, struct vgpu_loc dst,
		     uint32_t dst_pitch, struct vgpu_loc src,
		     uint32_t src_pitch, uint64_t width, uint32_t rows);

/**
 * vgpu_chan_present() - queue a flip to a surface in framebuffer
 * @chan:   a channel of a gr engine
 * @offset: the surface
 * @width:  pixels per row
 * @height: rows
 * @pitch:  bytes per row
 *
 * Return: as vgpu_chan_submit().
 */
int vgpu_chan_present(struct vgpu_chan *chan, uint64_t offset, uint32_t width,
		      uint32_t height, uint32_t pitch);

#endif /* LIBVGPU_H */
