/* SPDX-License-Identifier: GPL-2.0 */
/* Queues: each has a channel of the device, and a scheduler that hands it jobs. */
#ifndef _VGPU_GUEST_QUEUE_H
#define _VGPU_GUEST_QUEUE_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vgpu_hw.h>

#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>
#include <drm/vgpu_drm.h>

#include "compat.h"

struct guest_bo;
struct guest_done;
struct guest_fence;
struct guest_dev;
struct guest_show;
struct guest_time;
struct guest_vm;

/**
 * struct guest_fault - how a job has failed, see &struct drm_vgpu_queue_query
 * @code:   enum vgpu_hw_fault
 * @id:     work-item
 * @packet: index of the packet
 * @addr:   address
 * @pc:     instruction
 */
struct guest_fault {
	u32 code;
	u32 id[3];
	u64 packet;
	u64 addr;
	u64 pc;
};

/**
 * struct guest_watch - how far a queue with work was when it was last looked at
 * @get:   packets that were done
 * @clock: what the job's time is measured by, in ns
 * @begun: the same when the packet that is under way was seen first
 * @moved: when any of these was seen to have changed, in jiffies
 * @done:  seqno of the first job in the ring, if that was done; else 0
 * @seen:  when that was seen first, in jiffies
 */
struct guest_watch {
	u64 get;
	u64 clock;
	u64 begun;
	unsigned long moved;
	u64 done;
	unsigned long seen;
};

/**
 * struct guest_queue - a queue
 * @gdev:          the device
 * @vm:            in which it works
 * @ref:           handle and jobs
 * @engine:        index of the engine
 * @order:         log2 of the ring's packets
 * @priority:      enum drm_vgpu_priority
 * @label:         whose it is
 * @ring:          the ring
 * @slot:          of the VM's room for rings
 * @ring_va:       where the ring is in the VM
 * @link:          in &struct guest_dev.queues
 * @epoch:         &struct guest_dev.epoch when it was created
 * @channel:       the one that the queue has, or GUEST_NO_CHANNEL; this and what follows until
 *                 @wait is protected by &struct guest_dev.channel_mutex, and does not change while
 *                 @claimed
 * @vector:        by which the channel tells that a job is done
 * @base:          @submitted when it got the channel
 * @since:         when its turn has begun, in jiffies
 * @used:          &struct guest_dev.uses when it last began to use it
 * @watch:         of the jobs in the ring
 * @waiting:       in &struct guest_dev.waiting, while it waits for a channel
 * @turn:          while it waits: those with an earlier one, in jiffies, come before it
 * @waits:         how often it has waited
 * @wait:          while it waits: who is told of the end
 * @page:          the channel's page, or NULL; protected by &struct guest_dev.channel_lock, too
 * @told_ns:       of the channel's service, what @time has got; protected by the channel_lock
 * @time:          of its client
 * @sched:         hands over jobs, as many as the ring has room for: a credit is a packet
 * @entity:        the only one of @sched
 * @submit_lock:   protects what follows, and the order of the jobs of @entity
 * @dead:          the handle is gone, @entity takes no jobs any more
 * @jobs:          jobs that @entity has got
 * @fence_context: of the fences of jobs: the device's, and (the next ones) those that users
 *                 get, and those of waits for a channel
 * @stop_lock:     held while the queue is being stopped
 * @lock:          protects what follows; taken by interrupt handlers
 * @error:         of jobs that have not run before the queue was stopped; 0: it was not
 * @halted:        and does none: it can be taken away
 * @claimed:       a job is being put into the ring, or about to be: the queue keeps its channel
 * @fresh:         a job was put into the empty ring since @watch was taken
 * @state:         enum drm_vgpu_queue_state
 * @fault:         with a state that says so
 * @submitted:     packets that were put into the ring
 * @completed:     of these, packets that are done: what the device said last, if it can be
 * @pending:       struct guest_fence of jobs in the ring, in order
 * @cause:         of @lost: enum drm_vgpu_queue_state
 * @lost:          stops the queue
 * @release:       runs when @ref has gone
 */
struct guest_queue {
	struct guest_dev *gdev;
	struct guest_vm *vm;
	struct kref ref;
	u32 engine;
	u32 order;
	s32 priority;
	struct vgpu_hw_label label;
	struct guest_bo *ring;
	u32 slot;
	u64 ring_va;
	struct list_head link;
	u64 epoch;
	u32 channel;
	u16 vector;
	u64 base;
	unsigned long since;
	u64 used;
	struct guest_watch watch;
	struct list_head waiting;
	unsigned long turn;
	u64 waits;
	struct guest_fence *wait;
	u8 __iomem *page;
	u64 told_ns;
	struct guest_time *time;
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	struct mutex submit_lock;	/* entity */
	bool dead;
	u64 jobs;
	u64 fence_context;
	struct mutex stop_lock;		/* stopping */
	spinlock_t lock;		/* what is under way */
	int error;
	bool halted;
	bool claimed;
	bool fresh;
	u32 state;
	struct guest_fault fault;
	u64 submitted;
	u64 completed;
	struct list_head pending;
	u32 cause;
	struct work_struct lost;
	struct work_struct release;
};

/**
 * struct guest_job - a job
 * @base:   in the queue's scheduler
 * @queue:  the queue
 * @fence:  its end; NULL once that is the queue's
 * @done:   likewise, for users; NULL once they have it
 * @wait:   for when it has to wait for a channel; NULL once it has waited
 * @show:   what it shows, or NULL: nothing, or it is in the ring
 * @nr:     elements of @packet
 * @packet: as they go into the ring
 */
struct guest_job {
	struct drm_sched_job base;
	struct guest_queue *queue;
	struct guest_fence *fence;
	struct guest_done *done;
	struct guest_fence *wait;
	struct guest_show *show;
	u32 nr;
	struct vgpu_hw_packet packet[] __counted_by(nr);
};

extern const struct drm_sched_backend_ops guest_job_ops;

/* Frees a job, and drops its reference to the queue. */
void guest_job_destroy(struct guest_job *job);

/* The queue with that id, or NULL; with a reference. */
struct guest_queue *guest_queue_find(struct drm_file *file, u32 id);
void guest_queue_put(struct guest_queue *queue);

/* Ends the jobs that the device has done. The caller holds the channel_lock; there is a page. */
void guest_queue_progress(struct guest_queue *queue);

/* Likewise, if the queue has a channel. The device is there (drm_dev_enter()). */
void guest_queue_poll(struct guest_queue *queue);

/* Has the queue stopped by a thread, where registers may be read and written; jobs get EIO. */
void guest_queue_lose(struct guest_queue *queue, enum drm_vgpu_queue_state cause);

/* Does so if its channel has faulted. The caller holds the channel_lock. */
void guest_queue_look(struct guest_queue *queue);

/*
 * Stops the queue: no engine works on it any more, and the jobs that are not done get @error. If it
 * is found to have faulted, its state says that, unless @state is OK.
 */
void guest_queue_stop(struct guest_queue *queue, enum drm_vgpu_queue_state state, int error);

/*
 * Puts packets into the ring, and tells the device. There is room for them, the device is there
 * (drm_dev_enter()), and the queue has claimed a channel, or is stopped. @fence becomes the
 * queue's, and is signalled when they are done. Where the queue is stopped, it leaves the fence
 * alone, and returns the error that all its jobs get.
 */
int guest_queue_write(struct guest_queue *queue, struct vgpu_hw_packet *packet, u32 nr,
		      struct guest_fence *fence);

/* Stops the queues that were there before guest_dev_drop(). */
void guest_queue_stop_old(struct guest_dev *gdev, int error);

/* Ends the queues of a file. */
void guest_queue_close(struct drm_file *file);

int guest_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _VGPU_GUEST_QUEUE_H */
