/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vGPUs of a software GPU.
 *
 * These threads meet here: the thread of each engine; threads of the VM (register accesses, page
 * faults); the vGPU's worker, which completes accesses to guest memory; and threads of the core,
 * which start, preempt and reset engines.
 *
 * States of a channel. An enabled channel is in one of these states: on its queue's ready
 * list; paced (its frame is not due yet, or a request could not be allocated); stalled (it waits
 * for guest memory or for pages); sleeping; faulted; or busy (the engine's thread has taken it,
 * and alone uses its execution state). A thread that disables a channel sets the channel's
 * @stop, waits until the channel is not busy, and owns it from then on.
 *
 * When memory may be touched. Pages leave a store in soft_store_drop() only. The core calls
 * drop_memory after instance_stop, so no engine is working for the vGPU, and @stopping keeps
 * engines and channels out until the pages are gone. So an engine uses pages without references
 * during a turn. The core's map_lock keeps page faults out, and the store's drop_lock keeps
 * trapped accesses and the worker out.
 *
 * Locks, outermost first; no function of the core is called under a spinlock here:
 *
 *   soft_instance.config_lock	writes that enable and disable channels, or invalidate
 *   soft_programs.reading	the worker, while it reads a page of a program's text
 *   soft_store.drop_lock	read: trapped access, worker; write: dropping
 *   soft_instance.queue_lock	spinlock: channel states, queues, interrupts
 *   soft_display.lock		spinlock: what the display shows
 *   soft_programs.lock		spinlock: decoded programs
 *   soft_compute.kept_lock	spinlock: contexts that channels keep, and the worker may take
 *   soft_rss_lock		raw spinlock: in which processes vGPUs are shown (rss.c)
 *
 * The core calls engine_run and engine_preempt with a timeline's lock held. They take no lock
 * but those of the engine's wait queues.
 */
#ifndef _VGPU_SOFT_INSTANCE_H
#define _VGPU_SOFT_INSTANCE_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vgpu.h>
#include <linux/wait.h>

#include "../queue/channel.h"
#include "../work/context.h"
#include "../queue/engine.h"
#include "../queue/queue.h"
#include "../memory/rss.h"
#include "../memory/store.h"
#include "../face/vga.h"

struct soft_gpu;

/* Where the picture of the first head comes from. */
enum soft_source {
	SOFT_SOURCE_NONE,
	SOFT_SOURCE_PRESENT,	/* the surface of the latest PRESENT */
	SOFT_SOURCE_VGA,	/* the mode that is set in the registers of the VGA card */
};

/**
 * struct soft_display - the display of a vGPU
 * @lock:     protects the following
 * @vga:      registers of the VGA card, which the vGPU may be set to be
 * @present:  surface of the latest PRESENT to the first head, if @source says so
 * @source:   which of both is the newer one
 */
struct soft_display {
	spinlock_t lock;		/* vga, present, source */
	struct soft_vga vga;
	struct vgpu_scanout present;
	enum soft_source source;
};

/**
 * struct soft_instance - a vGPU of a software GPU
 * @vgpu:     the vGPU as the core knows it
 * @gpu:      the software GPU
 * @info:     which part of the GPU is the vGPU's, and which memory cgroup is charged
 * @fb_bytes: length of the framebuffer partition
 * @fb:       BAR 0
 * @pages:    BAR 4
 * @display:  what the first head shows
 * @compute:  programs and contexts
 * @rss:      the process in whose resident set @fb is counted
 * @config_lock: serialises writes that enable and disable channels, and invalidations
 * @queue_lock: protects the states of channels, @queue, @stopping, @intr and @fault_channel
 * @wait:     threads wait here for engines to leave a channel or the vGPU, or to look at
 *            @space_gen
 * @space_gen: number of invalidations of address spaces so far; changes under both locks
 * @stopping: no turn begins and no channel is enabled: true from instance_stop to the end of
 *            drop_memory (also read without the lock)
 * @intr:     the VGPU_HW_INTR register
 * @fault_channel: the VGPU_HW_FAULT_CHANNEL register
 * @queue:    queues by number of the engine
 * @nr_channels: length of @channel
 * @channel:  channels by number
 */
struct soft_instance {
	struct vgpu_instance *vgpu;
	struct soft_gpu *gpu;
	const struct vgpu_instance_info *info;
	u64 fb_bytes;
	struct soft_store fb;
	struct soft_store pages;
	struct soft_display display;
	struct soft_compute compute;
	struct soft_rss rss;
	struct mutex config_lock;	/* enabling and disabling */
	spinlock_t queue_lock;		/* states and queues */
	wait_queue_head_t wait;
	u32 space_gen;
	bool stopping;
	u32 intr;
	u32 fault_channel;
	struct soft_queue queue[SOFT_ENGINES];
	u32 nr_channels;
	struct soft_channel channel[] __counted_by(nr_channels);
};

static inline struct soft_instance *soft_instance(struct vgpu_instance *vgpu)
{
	return vgpu_instance_backend(vgpu);
}

/**
 * soft_space_gen() - the generation of a vGPU's translations
 * @inst: the vGPU
 *
 * Translations carry struct soft_engine.space_gen, which is what this was when the engine last
 * looked at it. This itself may be newer than what translations come of.
 *
 * Context: any.
 * Return: a number that each invalidation changes.
 */
static inline u32 soft_space_gen(const struct soft_instance *inst)
{
	/* Pairs with soft_space_sync(). */
	return smp_load_acquire(&inst->space_gen);
}

/* instance.c */
extern const struct vgpu_gpu_ops soft_instance_ops;

/* admit.c */
u64 soft_admit_room(struct vgpu_gpu *vgpu);
int soft_admit(struct vgpu_instance *vgpu, const struct vgpu_instance_info *info,
	       const char *gpu_name);
void soft_admit_end(u64 fb_bytes);

/* display.c */
void soft_display_reset(struct soft_instance *inst);
void soft_display_rw(struct soft_instance *inst, u32 offset, void *buf, size_t count, bool write);
bool soft_display_scanout(struct vgpu_instance *vgpu, struct vgpu_scanout *scanout);

/* regs.c */
int soft_regs_rw(struct soft_instance *inst, u64 offset, void *buf, size_t count, bool write);

#endif /* _VGPU_SOFT_INSTANCE_H */
