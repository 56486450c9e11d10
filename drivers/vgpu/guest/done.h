/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fences: those that schedulers wait for, and those that users get. A scheduler's own read its
 * name at any time, also when they are long signalled, and it goes with its queue: so these stay
 * within the driver.
 */
#ifndef _VGPU_GUEST_DONE_H
#define _VGPU_GUEST_DONE_H

#include <linux/dma-fence.h>

#include <drm/gpu_scheduler.h>

/**
 * struct guest_fence - what a scheduler waits for: the end of a job on the device, or a channel
 * @base: the fence
 * @lock: of @base
 * @link: in a list of its owner, with a reference
 */
struct guest_fence {
	struct dma_fence base;
	spinlock_t lock;		/* of base */
	struct list_head link;
};

void guest_fence_init(struct guest_fence *fence, u64 context, u64 seqno);

/**
 * struct guest_done - the end of a job, for users
 * @base: the fence
 * @lock: of @base
 * @cb:   at the scheduler's fence, until that is signalled; it has a reference
 */
struct guest_done {
	struct dma_fence base;
	spinlock_t lock;		/* of base */
	struct dma_fence_cb cb;
};

/* Returns NULL where there is no memory. kfree() frees one that is not armed. */
struct guest_done *guest_done_create(void);

/*
 * Makes it the fence @seqno of @context, which is signalled when @finished is, with the same error.
 * Allocates nothing. The caller has a reference.
 */
void guest_done_arm(struct guest_done *done, u64 context, u64 seqno, struct dma_fence *finished);

/*
 * Ends the only entity of a scheduler, for drm_sched_entity_fini(): what that ends, a worker of the
 * scheduler may take as well. When one has taken a job, and there is another one, it puts the
 * entity back to those that are looked at, also if it was taken off meanwhile. May sleep.
 */
void guest_entity_end(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity);

#endif /* _VGPU_GUEST_DONE_H */
