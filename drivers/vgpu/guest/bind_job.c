// SPDX-License-Identifier: GPL-2.0
/* Asynchronous changes of an address space: jobs of its scheduler. */
#include "device.h"
#include "done.h"
#include "vm.h"

static struct dma_fence *bind_run(struct drm_sched_job *base)
{
	struct guest_bind_job *job = container_of(base, struct guest_bind_job, base);
	bool cookie = dma_fence_begin_signalling();
	int ret = guest_vm_change_do(&job->change);

	dma_fence_end_signalling(cookie);
	return ret ? ERR_PTR(ret) : NULL;
}

static void bind_cleanup(struct work_struct *work)
{
	struct guest_bind_job *job = container_of(work, struct guest_bind_job, cleanup);

	guest_bind_job_destroy(job);
}

static void bind_free(struct drm_sched_job *base)
{
	struct guest_bind_job *job = container_of(base, struct guest_bind_job, base);

	drm_sched_job_cleanup(base);
	queue_work(guest_wq, &job->cleanup);
}

/* It is never called: run_job does it all, and there is no timeout. */
static enum drm_gpu_sched_stat bind_timedout(struct drm_sched_job *base)
{
	return DRM_GPU_SCHED_STAT_RESET;
}

const struct drm_sched_backend_ops guest_bind_ops = {
	.run_job = bind_run,
	.free_job = bind_free,
	.timedout_job = bind_timedout,
};

struct guest_bind_job *guest_bind_job_create(void)
{
	struct guest_bind_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	INIT_WORK(&job->cleanup, bind_cleanup);
	job->done = guest_done_create();
	if (!job->done) {
		kfree(job);
		return NULL;
	}
	return job;
}

void guest_bind_job_destroy(struct guest_bind_job *job)
{
	guest_vm_change_free(&job->change);
	kfree(job->done);
	kfree(job);
}
