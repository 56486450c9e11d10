/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels of a vGPU.
 *
 * States of a channel. An enabled channel is in one of these states: on its queue's ready
 * list; paced (its frame is not due yet, or a request could not be allocated); stalled (it waits
 * for guest memory or for pages); sleeping; faulted; or busy (the engine's thread has taken it,
 * and alone uses its execution state, or has units use it that help). A channel that the thread has
 * only borrowed, for a section, is busy and on the ready list. A thread that disables a channel
 * sets the channel's @stop, waits until the channel is not busy, and owns it from then on.
 */
#ifndef _VGPU_SOFT_CHANNEL_H
#define _VGPU_SOFT_CHANNEL_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/vgpu.h>

#include "exec.h"

struct page;
struct seq_file;
struct soft_queues;

/**
 * struct soft_channel - a channel of a vGPU
 * @queues:    queues of the vGPU; constant
 * @index:     number of the channel in its vGPU; constant
 * @ctrl:      the CTRL register as the guest wrote it; protected by queue_lock
 * @root:      the ROOT register likewise
 * @ring:      the RING register likewise
 * @state:     enum vgpu_hw_state; this and all fields up to @moved_ns are protected by queue_lock
 * @busy:      the engine's thread has taken the channel off its queue, or borrowed it
 * @stalled:   the channel waits for @dma
 * @paced:     the channel waits for @due_ns: @link is on the queue's paced list
 * @stop:      the channel is being disabled, and its engine must leave it (the engine's thread also
 *             reads it without the lock)
 * @dma_done:  @dma has completed
 * @fault_code: why the channel faulted; VGPU_HW_FAULT_NONE: it has not since it was enabled
 * @fault_pos: index of the packet that faulted
 * @fault_addr: address that failed; 0: the fault has no address
 * @fault_pc:  program counter of a program that faulted, else 0
 * @fault_id:  global id of the work-item that faulted, else 0
 * @link:      on the ready list or the paced list of the channel's queue, or empty
 * @waiting:   likewise on the queue's list of stalled channels
 * @enabled_ns: when the channel was enabled last; 0: not since the vGPU was opened
 * @enabling:  how often the channel was enabled: names the present enabling, or the last one
 * @service_ns: service since the vGPU was opened, see turn.h
 * @before_ns: the part of @service_ns of earlier enablings
 * @told_ns:   what the guest was shown since the channel was enabled
 * @moved_ns:  what the channel got since it was enabled, before the vGPU was moved to this host
 * @engine:    number of the engine that the channel is bound to. This and the next six fields
 *             are set when the guest enables the channel, and constant until it is disabled
 * @space:     the address space, as in VGPU_HW_CHAN_ROOT; 0: none, addresses are physical
 * @ring_addr: address of the ring
 * @ring_mask: number of packets in the ring, less 1
 * @ring_sys:  the ring is in guest memory
 * @page:      the channel page, with a reference
 * @hw:        content of @page
 * @get:       packets completed. While the channel is busy, this and all following fields but
 *             @dma belong to the engine's thread
 * @put:       put as last read from the channel page, in [get, get + size of the ring]
 * @empty_ns:  time since which the engine has found no packet; 0: it found one last time
 * @due_ns:    when to ask again whether a frame may be shown, or for memory
 * @dma:       request to guest memory, or for pages, that is under way, or NULL; protected by
 *             queue_lock
 * @view:      how the unit that works on the channel looks at memory; valid while it does
 * @exec:      how far the packet at @get has come
 */
struct soft_channel {
	struct soft_queues *queues;
	u32 index;

	u32 ctrl;
	u64 root;
	u64 ring;
	enum vgpu_hw_state state;
	bool busy;
	bool stalled;
	bool paced;
	bool stop;
	bool dma_done;
	enum vgpu_hw_fault fault_code;
	u64 fault_pos;
	u64 fault_addr;
	u64 fault_pc;
	u32 fault_id[3];
	struct list_head link;
	struct list_head waiting;
	u64 enabled_ns;
	u32 enabling;
	u64 service_ns;
	u64 before_ns;
	u64 told_ns;
	u64 moved_ns;

	unsigned int engine;
	u32 space;
	u64 ring_addr;
	u32 ring_mask;
	bool ring_sys;
	struct page *page;
	struct vgpu_hw_channel *hw;

	u64 get;
	u64 put;
	u64 empty_ns;
	u64 due_ns;
	struct vgpu_dma *dma;
	struct soft_view *view;
	struct soft_exec exec;
};

void soft_channel_show(struct soft_channel *ch, struct seq_file *m);
void soft_channel_write_ctrl(struct soft_channel *ch, u32 ctrl);
void soft_channel_doorbell(struct soft_channel *ch);
void soft_channel_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos);
void soft_channel_publish_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos);
void soft_channel_note_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos);
struct page *soft_channel_page(struct soft_channel *ch);
void soft_channel_stop_all(struct soft_queues *queues);
void soft_channel_restart(struct soft_queues *queues);

#endif /* _VGPU_SOFT_CHANNEL_H */
