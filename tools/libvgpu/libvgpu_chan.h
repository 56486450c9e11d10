/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: channels, from creation over submission to faults. */
#ifndef LIBVGPU_CHAN_H
#define LIBVGPU_CHAN_H

#include "libvgpu_mem.h"
#include "libvgpu_space.h"

/**
 * enum vgpu_ring - where the ring and the signal word of a channel lie
 * @VGPU_RING_FB:  in the framebuffer
 * @VGPU_RING_SYS: in memory of the program
 */
enum vgpu_ring {
	VGPU_RING_FB,
	VGPU_RING_SYS,
};

/**
 * struct vgpu_chan - a channel
 * @dev:         the device; it must stay open until vgpu_chan_destroy()
 * @id:          number of the channel on the device; render node: id of its queue
 * @engine:      index of the engine that executes its packets
 * @order:       the ring has room for 1 << @order packets
 * @where:       where @ring and @signal lie
 * @space:       the address space of all addresses that the device is given, or NULL
 * @vector:      MSI-X vector that fences raise, or VGPU_NO_VECTOR
 * @page:        the channel page, mapped; render node: NULL
 * @ring:        the ring; render node: NULL
 * @ring_addr:   address of the ring for the device
 * @signal:      the signal word, which fences write
 * @signal_addr: address of the signal word for the device
 * @put:         packets submitted since the channel was enabled
 * @fence:       value of the fence that was queued last
 * @ring_buf:    VGPU_RING_SYS: the memory of the ring
 * @signal_buf:  VGPU_RING_SYS: the memory of the signal word
 * @syncobj:     render node: handle of the timeline of its packets; 0: the channel is disabled
 * @done:        render node: packets known to be completed since the channel was enabled
 */
struct vgpu_chan {
	struct vgpu_dev *dev;
	uint32_t id;
	uint32_t engine;
	uint32_t order;
	enum vgpu_ring where;
	struct vgpu_space *space;
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
	uint32_t syncobj;
	uint64_t done;
};

/**
 * struct vgpu_fault - why a channel has stopped
 * @channel: number of the channel
 * @code:    enum vgpu_hw_fault
 * @pos:     index of the packet, counted since the channel was enabled
 * @addr:    the address that failed, for codes that have one
 * @pc:      of a program: address of the instruction, else 0
 * @id:      of a program: global id of the work-item
 */
struct vgpu_fault {
	uint32_t channel;
	uint32_t code;
	uint64_t pos;
	uint64_t addr;
	uint64_t pc;
	uint32_t id[3];
};

/*
 * Takes a free channel, gives it a ring of 1 << @order packets and enables it on the engine with
 * index @engine. Returns -EBUSY if all channels are in use, in a virtual machine also those that
 * other programs have, or -ENOSPC if no framebuffer is left. Where the device has labels (hardware
 * ABI 1.2), the host is told whose the channel is: pid, uid and name of this process. On a render
 * node more channels than the device has take turns, and @where has no effect, as the ring belongs
 * to the driver.
 */
int vgpu_chan_create(struct vgpu_dev *dev, uint32_t engine, enum vgpu_ring where, uint32_t order,
		     struct vgpu_chan **chanp);

/*
 * The same for a channel whose addresses are those of @space, which must stay until
 * vgpu_chan_destroy(). Its ring, in the framebuffer, is mapped at @va, and takes
 * vgpu_chan_bytes(@order) there.
 */
int vgpu_chan_create_in(struct vgpu_space *space, uint32_t engine, uint32_t order, uint64_t va,
			struct vgpu_chan **chanp);
uint64_t vgpu_chan_bytes(uint32_t order);

/*
 * Disables and frees a channel, or does nothing with NULL. Framebuffer that its ring took is not
 * given back to vgpu_fb_alloc().
 */
void vgpu_chan_destroy(struct vgpu_chan *chan);

/* Enables a disabled channel with an empty ring. After a fault disable the channel before. */
int vgpu_chan_enable(struct vgpu_chan *chan);

/*
 * Disables a channel; returns when no engine works on it any more. Packets in the ring are dropped.
 */
int vgpu_chan_disable(struct vgpu_chan *chan);

/*
 * Puts @nr packets into the ring and has them executed; they may be more than the ring holds. Waits
 * for room for up to a minute without progress. Returns -EIO if the channel has faulted, or
 * -ETIMEDOUT. On a render node it may also return what vgpu_chan_wait() does, -EPERM for a PRESENT
 * without CAP_SYS_ADMIN, or -EOPNOTSUPP for a packet that raises an interrupt.
 */
int vgpu_chan_submit(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr);

/*
 * Publishes the index @put and rings the doorbell if the channel asks for it: the second half of
 * vgpu_chan_submit(), for programs that write the ring themselves. Returns 1 if the doorbell was
 * rung, 0 if it was not needed; -EOPNOTSUPP on a render node.
 */
int vgpu_chan_kick(struct vgpu_chan *chan, uint64_t put);

/* Packets completed since the channel was enabled, from the channel page. */
uint64_t vgpu_chan_get(const struct vgpu_chan *chan);

/* State of the channel (enum vgpu_hw_state), from the channel page. */
uint32_t vgpu_chan_state(const struct vgpu_chan *chan);

/*
 * Waits until the signal word has reached @fence, a value from vgpu_chan_fence(): looks at it for a
 * while, then sleeps, for the vector of the fence if interrupts are enabled, else in growing steps.
 * Returns -EIO if the channel has faulted (vgpu_chan_fault() has the reason), -ENODEV if it is
 * disabled, or -ETIMEDOUT. On a render node the driver wakes the program, and may have ended the
 * channel: -ECANCELED, a packet took longer than the driver allows; -ENODEV, the device was reset
 * by its host, or is gone. Whatever the reason, vgpu_chan_enable() makes another channel of it.
 */
int vgpu_chan_wait(struct vgpu_chan *chan, uint64_t fence, int timeout_ms);

/* The same for all packets submitted so far; needs no fence, as it looks at vgpu_chan_get(). */
int vgpu_chan_wait_idle(struct vgpu_chan *chan, int timeout_ms);

/* Waits until the channel has faulted and tells why. */
int vgpu_chan_wait_fault(struct vgpu_chan *chan, int timeout_ms, struct vgpu_fault *fault);

/*
 * Reads the fault registers of the channel, and from its page what has no register; the code is
 * VGPU_HW_FAULT_NONE if it has not faulted.
 */
int vgpu_chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault);

#endif /* LIBVGPU_CHAN_H */
