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

struct guest_bo;
struct guest_done;
struct guest_dev;
struct guest_vm;

/**
 * struct guest_fence - the end of a job on the device
 * @base: its seqno is &struct guest_queue.submitted behind the job
 * @lock: of @base
 * @link: in &struct guest_queue.pending, with a reference
 */
struct guest_fence {
	struct dma_fence base;
	spinlock_t lock;		/* of base */
	struct list_head link;
};

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
 * struct guest_queue - a queue
 * @gdev:          the device
 * @vm:            in which it works
 * @ref:           handle and jobs
 * @engine:        index of the engine
 * @channel:       of the device
 * @order:         log2 of the ring's packets
 * @vector:        by which the device tells that a job is done
 * @ring:          the ring
 * @page:          the channel's page
 * @sched:         hands over jobs, as many as the ring has room for: a credit is a packet
 * @entity:        the only one of @sched
 * @submit_lock:   protects what follows, and the order of the jobs of @entity
 * @dead:          the handle is gone, @entity takes no jobs any more
 * @jobs:          jobs that @entity has got
 * @fence_context: of the fences of jobs: the device's, and (the next one) those that users get
 * @stop_lock:     held while the queue is being stopped
 * @lock:          protects what follows; taken by interrupt handlers
 * @error:         of jobs that have not run before the queue was stopped; 0: it was not
 * @state:         enum drm_vgpu_queue_state
 * @fault:         with a state that says so
 * @submitted:     packets that were put into the ring
 * @completed:     of these, packets that are done: what the device said last, if it can be
 * @pending:       struct guest_fence of jobs in the ring, in order
 * @lost:          stops the queue
 * @release:       runs when @ref has gone
 */
struct guest_queue {
	struct guest_dev *gdev;
	struct guest_vm *vm;
	struct kref ref;
	u32 engine;
	u32 channel;
	u32 order;
	u16 vector;
	struct guest_bo *ring;
	u8 __iomem *page;
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	struct mutex submit_lock;	/* entity */
	bool dead;
	u64 jobs;
	u64 fence_context;
	struct mutex stop_lock;		/* stopping */
	spinlock_t lock;		/* what is under way */
	int error;
	u32 state;
	struct guest_fault fault;
	u64 submitted;
	u64 completed;
	struct list_head pending;
	struct work_struct lost;
	struct work_struct release;
};

/**
 * struct guest_job - a job
 * @base:   in the queue's scheduler
 * @queue:  the queue
 * @nr:     elements of @packet
 * @packet: as they go into the ring
 * @fence:  its end; NULL once that is the queue's
 * @done:   likewise, for users; NULL once they have it
 */
struct guest_job {
	struct drm_sched_job base;
	struct guest_queue *queue;
	u32 nr;
	struct vgpu_hw_packet *packet;
	struct guest_fence *fence;
	struct guest_done *done;
};

extern const struct drm_sched_backend_ops guest_job_ops;

/* Frees a job, and drops its reference to the queue. */
void guest_job_destroy(struct guest_job *job);

/* The queue with that id, or NULL; with a reference. */
struct guest_queue *guest_queue_find(struct drm_file *file, u32 id);
void guest_queue_put(struct guest_queue *queue);

/* Ends the jobs that the device has done. In any context. */
void guest_queue_progress(struct guest_queue *queue);

/* Stops the queue soon if its channel has faulted. The caller holds the channel_lock. */
void guest_queue_look(struct guest_queue *queue);

/* Stops the queue: no engine works on it any more, and the jobs that are not done get @error. */
void guest_queue_stop(struct guest_queue *queue, enum drm_vgpu_queue_state state, int error);

/*
 * Puts packets into the ring, and tells the device. There is room for them, and the device is there
 * (drm_dev_enter()). @fence becomes the queue's, and is signalled when they are done. Where the
 * queue is stopped, it leaves the fence alone, and returns the error that all its jobs get.
 */
int guest_queue_write(struct guest_queue *queue, const struct vgpu_hw_packet *packet, u32 nr,
		      struct guest_fence *fence);

/* Stops all queues, as the device is gone. */
void guest_queue_stop_all(struct guest_dev *gdev);

/* Ends the queues of a file. */
void guest_queue_close(struct drm_file *file);

int guest_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _VGPU_GUEST_QUEUE_H */
