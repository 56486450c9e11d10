/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a way to a vGPU does for the library: all that the files beside this one know of a device.
 * One is the registers and channel pages (regs.h), which VFIO and sysfs both reach. Where a kernel
 * driver has the device, its render node is another one (node.h): for each function there stands
 * what it does on such a node.
 *
 * Functions that return int set the error's text themselves (vgpu_fail()). A function may be called
 * by one thread at a time per device.
 */
#ifndef LIBVGPU_TRANSPORT_H
#define LIBVGPU_TRANSPORT_H

#include "libvgpu.h"

/**
 * struct vgpu_mem_ops - memory
 * @fb_alloc:   takes framebuffer, and lets the CPU reach it at vgpu_dev.fb + *@offset; @align is a
 *              power of two. @shown: for PRESENT, so it is in one piece, as it is anyway but on a
 *              render node. That makes buffer objects, and maps them there. vgpu_dev.fb is the
 *              beginning of a range that it has reserved, and offsets are its own names for what is
 *              in the range
 * @fb_release: gives back what begins at @offset or behind it. Render node: unmaps and closes these
 *              buffer objects; what an address space has mapped stays until that is unmapped
 * @buf_alloc:  sets buf->ptr to buf->bytes of zeroed memory, whole pages, that the device can
 *              reach, and buf->iova or buf->pages to its addresses. Render node: makes a buffer
 *              object in system memory, and maps it. Its address counts only on channels without an
 *              address space (&struct vgpu_chan_ops.create)
 * @buf_free:   undoes @buf_alloc
 */
struct vgpu_mem_ops {
	int (*fb_alloc)(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, bool shown,
			uint64_t *offset);
	void (*fb_release)(struct vgpu_dev *dev, uint64_t offset);
	int (*buf_alloc)(struct vgpu_dev *dev, struct vgpu_buf *buf);
	void (*buf_free)(struct vgpu_buf *buf);
};

/**
 * struct vgpu_space_ops - address spaces
 * @create:     sets space->root. Render node: makes a VM, whose handle that is
 * @destroy:    undoes @create; NULL: there is nothing to undo. Render node: destroys the VM
 * @map:        maps @bytes from @va on, whole pages that are in the address space, to a place, with
 *              VGPU_HW_PTE_*. Render node: VM_BIND of the buffer objects in that part of the
 *              framebuffer, or of that buffer
 * @unmap:      takes away what @map has mapped there. Render node: VM_UNBIND
 * @invalidate: returns when the device uses nothing any more that it knew of the address space
 *              before, programs included; @space is NULL for channels without one. Render node:
 *              does nothing, as the binds before it have invalidated what they changed. A program
 *              that was executed and is written over is known anew when it is mapped anew
 */
struct vgpu_space_ops {
	int (*create)(struct vgpu_space *space);
	void (*destroy)(struct vgpu_space *space);
	int (*map)(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		   uint32_t flags);
	int (*unmap)(struct vgpu_space *space, uint64_t va, uint64_t bytes);
	int (*invalidate)(struct vgpu_dev *dev, const struct vgpu_space *space);
};

/**
 * enum vgpu_wait - what is waited for
 * @VGPU_WAIT_FENCE: the fence with this value has passed
 * @VGPU_WAIT_GET:   so many packets are completed
 * @VGPU_WAIT_FAULT: the channel has faulted
 */
enum vgpu_wait {
	VGPU_WAIT_FENCE,
	VGPU_WAIT_GET,
	VGPU_WAIT_FAULT,
};

/**
 * struct vgpu_chan_ops - channels
 * @create:  makes the channel that engine, order, where and space of @chan describe, and enables
 *           it; sets chan->id. With an address space, what the channel needs there is at @va, in
 *           vgpu_chan_bytes(). Render node: makes a queue of that VM, whose handle is the id;
 *           without an address space, of a VM that each allocation is bound in: framebuffer at
 *           vgpu_global_address(), buffers at their addresses. The ring belongs to the driver: page
 *           and ring of @chan stay NULL
 * @destroy: undoes @create; no engine works on the channel any more. Render node: destroys the
 *           queue
 * @enable:  begins anew, with an empty ring; sets chan->put and chan->fence. Render node: makes
 *           another queue in place of one that is lost
 * @disable: drops what is not executed, and returns when no engine works on the channel any more.
 *           Render node: destroys the queue
 * @submit:  has packets executed, and counts them in chan->put; waits for room if need be. Render
 *           node: EXEC, which signals the point chan->put of the queue's timeline syncobj. Without
 *           an address space, addresses in packets become those of its VM before
 * @fence:   makes a value for VGPU_WAIT_FENCE that passes when all packets before are completed; it
 *           goes to *@fence, and is not less than those before. Render node: the point of the last
 *           EXEC
 * @get:     packets completed since the channel was enabled. Render node: what a query of the queue
 *           says
 * @state:   enum vgpu_hw_state. Render node: the same query; a queue that is lost has faulted
 * @fault:   why the channel has stopped. Render node: the same query
 * @wait:    waits until @what has come; @value says which. Returns what vgpu_chan_check() returns
 *           if it cannot come any more, or vgpu_chan_late() after @timeout_ms. Render node: waits
 *           for the point @value and asks whether the queue is lost, as points are signalled then,
 *           too: -ECANCELED, its job took too long; -ENODEV, the device was reset or is gone
 */
struct vgpu_chan_ops {
	int (*create)(struct vgpu_chan *chan, uint64_t va);
	void (*destroy)(struct vgpu_chan *chan);
	int (*enable)(struct vgpu_chan *chan);
	int (*disable)(struct vgpu_chan *chan);
	int (*submit)(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr);
	int (*fence)(struct vgpu_chan *chan, uint64_t *fence);
	uint64_t (*get)(const struct vgpu_chan *chan);
	uint32_t (*state)(const struct vgpu_chan *chan);
	int (*fault)(struct vgpu_chan *chan, struct vgpu_fault *fault);
	int (*wait)(struct vgpu_chan *chan, enum vgpu_wait what, uint64_t value, int timeout_ms);
};

/**
 * struct vgpu_transport - a way to a device
 * @mem:        memory
 * @space:      address spaces
 * @chan:       channels
 * @image_base: what the address of the image in a struct vgpu_hw_program is more than an offset in
 *              the framebuffer, for channels without an address space. Render node:
 *              VGPU_HW_VA_GLOBAL, as nobody translates what is in memory
 * @close:      undoes what open has done, also if it went only half of the way. Render node: unmaps
 *              the framebuffer's range, closes the node
 * @reset:      resets the device. Render node: refuses, as others use the device
 *
 * What opens a device sets name, channels, fb_bytes, engines, engine and vectors of struct
 * vgpu_dev, and refuses one that speaks another version. Render node: asks the driver for them;
 * vectors is 0.
 */
struct vgpu_transport {
	const struct vgpu_mem_ops *mem;
	const struct vgpu_space_ops *space;
	const struct vgpu_chan_ops *chan;
	uint64_t image_base;
	void (*close)(struct vgpu_dev *dev);
	int (*reset)(struct vgpu_dev *dev);
};

/* Returns 0 if the channel works, else the error with which a wait for it ends. */
int vgpu_chan_check(struct vgpu_chan *chan);

/* Sets the text of a channel that has faulted, returns -EIO. */
int vgpu_chan_faulted(struct vgpu_chan *chan, const struct vgpu_fault *fault);

/* Sets the text of a wait that took too long, returns -ETIMEDOUT. */
int vgpu_chan_late(struct vgpu_chan *chan, int timeout_ms);

#endif /* LIBVGPU_TRANSPORT_H */
