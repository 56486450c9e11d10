/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contracts of the vGPU core: with a GPU's back end (struct vgpu_gpu_ops)
 * and with a front end (struct vgpu_front, struct vgpu_front_ops).
 *
 * Lock order, outermost first:
 *
 *   device lock of the parent or the mdev
 *   instance->state_lock		open, close, reset
 *   (VFIO container, mmap_lock)
 *   instance->map_lock			never held over a user copy, a DMA or a
 *					wait for an engine or a worker
 *   back end's locks
 *   timeline lock (spinlock)
 */
#ifndef _LINUX_VGPU_H
#define _LINUX_VGPU_H

#include <linux/bvec.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/uuid.h>
#include <linux/vgpu_function.h>
#include <linux/vgpu_run.h>
#include <uapi/linux/vgpu.h>
#include <uapi/linux/vgpu_hw.h>

struct device;
struct module;
struct page;
struct seq_file;
struct vgpu_gpu;
struct vgpu_instance;

/**
 * struct vgpu_engine_desc - an engine of a GPU
 * @name:         "gr", "ce0", ...; unique on the GPU
 * @engine_class: enum vgpu_hw_engine_class
 * @instance:     number within the class
 */
struct vgpu_engine_desc {
	const char *name;
	u32 engine_class;
	u32 instance;
};

/**
 * struct vgpu_gpu_info - what a back end says of its GPU
 * @board:     first part of the types' names ("SG16"), no '.', ':', '/' or space
 * @fb_bytes:  framebuffer to share, whole GiB
 * @channels:  channels to share, at least one per GiB
 * @nr_engines: 1 .. VGPU_MAX_ENGINES
 * @engines:   lives as long as the GPU
 * @placement: how framebuffer is placed
 */
struct vgpu_gpu_info {
	const char *board;
	u64 fb_bytes;
	u32 channels;
	u32 nr_engines;
	const struct vgpu_engine_desc *engines;
	enum vgpu_ctl_placement placement;
};

/**
 * struct vgpu_run - a turn on an engine
 * @instance:    whose turn
 * @deadline_ns: when the engine stops by itself (CLOCK_MONOTONIC)
 */
struct vgpu_run {
	struct vgpu_instance *instance;
	u64 deadline_ns;
};

/* Returned by @region_rw of struct vgpu_gpu_ops. */
#define VGPU_REGION_RESET	1

/**
 * struct vgpu_gpu_ops - a GPU's back end
 * @owner:           pinned while a device of the GPU is open
 * @instance_create: a new instance; set instance->backend. May refuse, then
 *                   says why by vgpu_refuse(). May sleep
 * @instance_destroy: undo @instance_create. Never open here
 * @fb_room:         optional: how many bytes of framebuffer new instances may
 *                   have now, where something else than the GPU's framebuffer
 *                   limits it; beyond, @instance_create refuses. May be called
 *                   with the GPU's lock held, may sleep
 * @describe:        fill in the PCI function. Constant for an instance
 * @instance_open:   someone opened the device: current is charged for its
 *                   memory. Channels are disabled, memory reads zero. May sleep
 * @instance_stop:   disable all channels, registers to their reset values;
 *                   returns when no engine works on the instance. Its DMA is
 *                   aborted by the core before. May sleep. Called with
 *                   state_lock held, before @drop_memory at reset and close
 * @drop_memory:     give back all pages; what is touched later reads zero.
 *                   Called with map_lock held for writing, stopped, when
 *                   nothing is mapped any more
 * @instance_close:  nobody has the device open any more: drop what
 *                   @instance_open took. After @instance_stop, @drop_memory
 * @region_rw:       trapped access to the owned bytes of BAR @bar: registers by
 *                   1, 2, 4 or 8 naturally aligned bytes; memory any @count up
 *                   to a page. @buf is kernel memory, little endian. May sleep
 *                   Returns 0; VGPU_REGION_RESET if a write asks for a device
 *                   reset, done before the access ends; -EINVAL for a width,
 *                   -ENXIO for no such register, -ENOMEM. A failed access
 *                   changed nothing
 * @map_pages:       pages of BAR @bar from page @pgoff on, allocated if need
 *                   be: at least one, up to @nr. They stay until map_lock, which
 *                   is held for reading, is released
 *                   Returns how many; -EAGAIN if the host has no memory at
 *                   the moment; -ENOMEM if whoever is charged has none
 * @backed_bytes:    host memory behind the framebuffer now
 * @channels_show:   optional: one line per enabled channel, for debugfs. May sleep
 * @engine_run:      start @run on the idle engine. Called with the timeline
 *                   lock held, perhaps in a hard interrupt: must not sleep, nor
 *                   take a lock that is held elsewhere with interrupts on. Ends
 *                   with vgpu_engine_done()
 * @engine_preempt:  ask the engine to stop soon, with its work saved. Called
 *                   as @engine_run is
 * @engine_reset:    stop an engine that did not: fault the channel it works
 *                   on with VGPU_HW_FAULT_RESET. When it returns the engine is
 *                   idle and does not report the run. Called from a
 *                   worker, perhaps while other engines are being reset, too;
 *                   may sleep
 * @engine_ran_ns:   how long the engine has been able to work so far; a
 *                   software engine's processor time. Preemption timeouts count
 *                   by it, so that a busy host does not look like a hung
 *                   engine. NULL: time passes as on the clock
 *
 * The core calls no op after vgpu_unregister_gpu() has returned.
 */
struct vgpu_gpu_ops {
	struct module *owner;

	int (*instance_create)(struct vgpu_instance *instance);
	void (*instance_destroy)(struct vgpu_instance *instance);
	u64 (*fb_room)(struct vgpu_gpu *gpu);
	void (*describe)(struct vgpu_instance *instance,
			 struct vgpu_function_desc *desc);
	int (*instance_open)(struct vgpu_instance *instance);
	void (*instance_stop)(struct vgpu_instance *instance);
	void (*drop_memory)(struct vgpu_instance *instance);
	void (*instance_close)(struct vgpu_instance *instance);

	int (*region_rw)(struct vgpu_instance *instance, unsigned int bar,
			 u64 offset, void *buf, size_t count, bool write);
	int (*map_pages)(struct vgpu_instance *instance, unsigned int bar,
			 pgoff_t pgoff, struct page **pages, unsigned int nr);
	u64 (*backed_bytes)(struct vgpu_instance *instance);
	void (*channels_show)(struct vgpu_instance *instance,
			      struct seq_file *m);

	void (*engine_run)(struct vgpu_gpu *gpu, unsigned int engine,
			   const struct vgpu_run *run);
	void (*engine_preempt)(struct vgpu_gpu *gpu, unsigned int engine);
	void (*engine_reset)(struct vgpu_gpu *gpu, unsigned int engine);
	u64 (*engine_ran_ns)(struct vgpu_gpu *gpu, unsigned int engine);
};

/* A back end's calls: the life of a GPU. */

struct vgpu_gpu *vgpu_register_gpu(struct device *dev,
				   const struct vgpu_gpu_ops *ops,
				   const struct vgpu_gpu_info *info,
				   void *backend);
void vgpu_unregister_gpu(struct vgpu_gpu *gpu);
void *vgpu_gpu_backend(const struct vgpu_gpu *gpu);

/*
 * A back end's reports (kernel-doc at the definitions). None of them sleeps
 * but vgpu_refuse().
 *
 * vgpu_work_ready() says that an engine has something to do for an instance;
 * saying it twice, or of the running instance, is harmless, losing it is not.
 * vgpu_engine_done() ends a run: the engine is free; if it says true, @next is
 * to be run at once. idle_ns of the run were spent polling with nothing to do
 * and are not charged, linger_ns likewise but because vgpu_engine_poll() said
 * so, and are.
 *
 * vgpu_engine_poll() says what an engine that has found no work for empty_ns is
 * to do (enum vgpu_poll).
 *
 * vgpu_present() asks whether a frame may be shown: 0, and it is counted, or
 * when to ask again. A channel whose packet is held back so is not ready until
 * then; vgpu_work_ready_at() says when there will be something to do, the
 * earliest of such times counts.
 */

void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine);
bool vgpu_engine_done(struct vgpu_gpu *gpu, unsigned int engine,
		      enum vgpu_run_end end, u64 idle_ns, u64 linger_ns,
		      struct vgpu_run *next);
enum vgpu_poll vgpu_engine_poll(struct vgpu_gpu *gpu, unsigned int engine,
				u64 empty_ns);
u64 vgpu_present(struct vgpu_instance *instance);
void vgpu_work_ready_at(struct vgpu_instance *instance, unsigned int engine,
			u64 ready_ns);
void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine,
			   u32 channel, u64 put);
void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine,
		      u32 channel, u64 index, u8 type, u64 bytes);
void vgpu_channel_fault(struct vgpu_instance *instance, unsigned int engine,
			u32 channel, enum vgpu_hw_fault code, u64 index);
void vgpu_doorbell(struct vgpu_instance *instance, u32 channel);
bool vgpu_instance_quarantined(struct vgpu_instance *instance);
void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector);
__printf(3, 4)
int vgpu_refuse(struct vgpu_instance *instance, int error, const char *fmt, ...);

#define VGPU_DMA_MAX		65536
#define VGPU_DMA_MAX_VEC	17

/**
 * struct vgpu_dma - one access of at most 64 KiB to guest memory
 * @instance: whose guest
 * @addr:     guest physical address
 * @len:      bytes, 1 .. VGPU_DMA_MAX, the sum of the segments
 * @write:    to the guest
 * @vec:      host memory, each page with a reference that the request owns
 *            and drops with itself
 * @nr_vec:   segments in use
 * @work:     NULL, or what the worker does instead, outside of guest memory;
 *            may sleep, but must end soon on a fatal signal. Returns 0 or -errno
 * @result:   valid when done: 0, -EFAULT not mapped, -ECANCELED aborted
 * @complete: called once, by the worker or whoever aborts, without locks, when
 *            @result is set. Must not sleep. After vgpu_dma_forget() has
 *            returned it is not called any more, and does not run
 * @private:  of the submitter
 * @state:    the core's
 * @ref:      the core's
 * @link:     the core's
 *
 * An engine never waits on guest memory past its deadline, so a request can
 * outlive the turn.
 */
struct vgpu_dma {
	struct vgpu_instance *instance;
	u64 addr;
	u32 len;
	bool write;
	unsigned int nr_vec;
	struct bio_vec vec[VGPU_DMA_MAX_VEC];
	int (*work)(struct vgpu_dma *dma);
	int result;
	void (*complete)(struct vgpu_dma *dma);
	void *private;
	atomic_t state;
	struct kref ref;
	struct list_head link;
};

/*
 * alloc gives the submitter a reference, submit takes one of the worker's own.
 * forget waits until guest memory is not touched any more, and for a @complete
 * that another thread is in: hold no lock that these take. None of them sleeps
 * but alloc and forget.
 */
struct vgpu_dma *vgpu_dma_alloc(struct vgpu_instance *instance, gfp_t gfp);
void vgpu_dma_submit(struct vgpu_dma *dma);
void vgpu_dma_forget(struct vgpu_dma *dma);
void vgpu_dma_put(struct vgpu_dma *dma);

/**
 * struct vgpu_front_ops - what a front end does for its instance
 * @guest_rw:  read or write guest memory; called from the instance's worker
 *             only, between vgpu_instance_open() and vgpu_instance_close(). Sleeps,
 *             perhaps as long as the guest's memory likes; a fatal signal ends
 *             it. Returns 0 or -EFAULT
 * @may_dma:   whether the function is bus master. Must not sleep
 * @raise_irq: MSI-X vector. Must not sleep
 * @zap:       unmap all of @bar from the user. Called with map_lock held for writing
 *
 * Asking the user to let go of a device that is to be removed is the front
 * end's own business (VFIO calls it there), so there is no op for it.
 */
struct vgpu_front_ops {
	int (*guest_rw)(struct vgpu_instance *instance, u64 addr, void *buf,
			size_t len, bool write);
	bool (*may_dma)(struct vgpu_instance *instance);
	void (*raise_irq)(struct vgpu_instance *instance, unsigned int vector);
	void (*zap)(struct vgpu_instance *instance, unsigned int bar);
};

/**
 * struct vgpu_front - a kind of front end, told of every GPU
 * @link:       the core's
 * @name:       for messages
 * @add_gpu:    a GPU has come, or was there when the front end registered
 * @remove_gpu: it goes: remove all instances made through this front end
 */
struct vgpu_front {
	struct list_head link;
	const char *name;
	int (*add_gpu)(struct vgpu_gpu *gpu);
	void (*remove_gpu)(struct vgpu_gpu *gpu);
};

#endif /* _LINUX_VGPU_H */
