// SPDX-License-Identifier: GPL-2.0
/* Fences: those that schedulers wait for, and those that users get. */
#include <linux/module.h>
#include <linux/slab.h>

#include "device.h"
#include "done.h"

static const char *done_driver_name(struct dma_fence *fence)
{
	return GUEST_NAME;
}

static const char *done_timeline_name(struct dma_fence *fence)
{
	return "jobs";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = done_driver_name,
	.get_timeline_name = done_timeline_name,
};

void guest_fence_init(struct guest_fence *fence, u64 context, u64 seqno)
{
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, context, seqno);
}

/* The module's end waits for this (rcu_barrier()): it returns to the module that it gives up. */
static void done_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct guest_done, base.rcu));
	module_put(THIS_MODULE);
}

static void done_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, done_free);
}

static const struct dma_fence_ops done_ops = {
	.get_driver_name = done_driver_name,
	.get_timeline_name = done_timeline_name,
	.release = done_release,
};

static void done_finished(struct dma_fence *finished, struct dma_fence_cb *cb)
{
	struct guest_done *done = container_of(cb, struct guest_done, cb);

	if (finished->error)
		dma_fence_set_error(&done->base, finished->error);
	dma_fence_signal(&done->base);
	dma_fence_put(&done->base);
}

struct guest_done *guest_done_create(void)
{
	struct guest_done *done = kzalloc(sizeof(*done), GFP_KERNEL_ACCOUNT);

	if (done)
		spin_lock_init(&done->lock);
	return done;
}

void guest_done_arm(struct guest_done *done, u64 context, u64 seqno, struct dma_fence *finished)
{
	__module_get(THIS_MODULE);
	dma_fence_init(&done->base, &done_ops, &done->lock, context, seqno);
	dma_fence_get(&done->base);
	if (dma_fence_add_callback(finished, &done->cb, done_finished))
		done_finished(finished, &done->cb);
}

void guest_entity_end(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity)
{
	drm_sched_wqueue_stop(sched);
	drm_sched_entity_fini(entity);
	/* Jobs that are done are freed there. */
	drm_sched_wqueue_start(sched);
}
