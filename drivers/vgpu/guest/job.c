// SPDX-License-Identifier: GPL-2.0
/* Jobs, from the scheduler to the ring. */
#include "channel.h"
#include "device.h"
#include "done.h"
#include "queue.h"

static struct guest_job *to_guest_job(struct drm_sched_job *base)
{
	return container_of(base, struct guest_job, base);
}

/* The scheduler asks again when the fence is signalled. */
static struct dma_fence *job_prepare(struct drm_sched_job *base, struct drm_sched_entity *entity)
{
	struct guest_job *job = to_guest_job(base);
	struct dma_fence *fence = NULL;
	bool cookie = dma_fence_begin_signalling();
	int idx;

	if (drm_dev_enter(&job->queue->gdev->drm, &idx)) {
		fence = guest_channel_claim(job->queue, &job->wait);
		drm_dev_exit(idx);
	}
	dma_fence_end_signalling(cookie);
	return fence;
}

static struct dma_fence *job_run(struct drm_sched_job *base)
{
	struct guest_job *job = to_guest_job(base);
	struct guest_fence *fence = job->fence;
	bool cookie = dma_fence_begin_signalling();
	int ret = -ENODEV, idx;

	if (drm_dev_enter(&job->queue->gdev->drm, &idx)) {
		if (job->show)
			guest_show_begin(job->show);
		ret = guest_queue_write(job->queue, job->packet, job->nr, fence);
		drm_dev_exit(idx);
	}
	if (!ret) {
		job->fence = NULL;
		if (job->show)
			guest_show_follow(job->show, fence);
		job->show = NULL;
	}
	dma_fence_end_signalling(cookie);
	return ret ? ERR_PTR(ret) : &fence->base;
}

void guest_job_destroy(struct guest_job *job)
{
	struct guest_queue *queue = job->queue;

	guest_show_drop(job->show);
	kfree(job->fence);
	kfree(job->done);
	kfree(job->wait);
	kvfree(job);
	/* The module may go with the queue. */
	guest_queue_put(queue);
}

static void job_free(struct drm_sched_job *base)
{
	drm_sched_job_cleanup(base);
	guest_job_destroy(to_guest_job(base));
}

/* It is never called: watch.c knows what time the engine had for a job; a scheduler does not. */
static enum drm_gpu_sched_stat job_timedout(struct drm_sched_job *base)
{
	return DRM_GPU_SCHED_STAT_RESET;
}

const struct drm_sched_backend_ops guest_job_ops = {
	.prepare_job = job_prepare,
	.run_job = job_run,
	.free_job = job_free,
	.timedout_job = job_timedout,
};
