// SPDX-License-Identifier: GPL-2.0
/* EXEC: what users ask for is checked and pushed as a job. */
#include <linux/capability.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>

#include "device.h"
#include "done.h"
#include "follow.h"
#include "queue.h"
#include "sync.h"
#include "vm.h"

static bool engine_has(u32 class, u8 type)
{
	switch (type) {
	case VGPU_HW_PKT_NOP:
	case VGPU_HW_PKT_FENCE:
	case VGPU_HW_PKT_FILL:
	case VGPU_HW_PKT_COPY:
		return class == VGPU_HW_ENGINE_GR || class == VGPU_HW_ENGINE_CE;
	case VGPU_HW_PKT_PRESENT:
	case VGPU_HW_PKT_DISPATCH:
		return class == VGPU_HW_ENGINE_GR;
	default:
		return false;
	}
}

/* What concerns others than the VM: interrupts, guest memory by its own address, the monitor. */
static int check_packet(u32 class, const struct vgpu_hw_packet *packet)
{
	if (!engine_has(class, packet->type) || packet->vector || packet->op_flags ||
	    packet->flags & ~(VGPU_HW_PKT_BARRIER | VGPU_HW_PKT_SIGNAL) ||
	    (packet->type == VGPU_HW_PKT_FENCE && !(packet->flags & VGPU_HW_PKT_SIGNAL)))
		return -EINVAL;
	if (packet->type != VGPU_HW_PKT_PRESENT)
		return 0;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	/* Rings are the driver's own, and do not stay. */
	return le64_to_cpu(packet->dst) >> GUEST_VA_BITS ? -EINVAL : 0;
}

static int job_copy_packets(struct guest_job *job, const struct drm_vgpu_exec *args)
{
	u32 class = job->queue->gdev->engine[job->queue->engine] >> 8, i;
	int ret;

	job->packet[0].type = VGPU_HW_PKT_NOP;
	if (copy_from_user(job->packet, u64_to_user_ptr(args->packets),
			   (size_t)args->count * sizeof(*job->packet)))
		return -EFAULT;
	for (i = 0; i < args->count; i++) {
		ret = check_packet(class, &job->packet[i]);
		if (ret)
			return ret;
	}
	/* Its vector is that of the channel, which the queue has got when the job runs. */
	job->packet[job->nr - 1].flags |= VGPU_HW_PKT_IRQ;
	return 0;
}

/* Takes the reference to the queue. */
static struct guest_job *job_create(struct guest_queue *queue, const struct drm_vgpu_exec *args)
{
	/* A job without packets is one that does nothing, in its place between the others. */
	u32 nr = max(args->count, 1);
	struct guest_job *job = NULL;
	int ret = -E2BIG;

	if (nr <= 1u << queue->order) {
		ret = -ENOMEM;
		job = kvzalloc(struct_size(job, packet, nr), GFP_KERNEL_ACCOUNT);
	}
	if (!job) {
		guest_queue_put(queue);
		return ERR_PTR(ret);
	}
	job->queue = queue;
	job->nr = nr;
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL_ACCOUNT);
	job->wait = kzalloc(sizeof(*job->wait), GFP_KERNEL_ACCOUNT);
	job->done = guest_done_create();
	if (job->fence && job->wait && job->done)
		ret = job_copy_packets(job, args);
	if (ret) {
		guest_job_destroy(job);
		return ERR_PTR(ret);
	}
	return job;
}

/* Bytes from the first one of a surface to its last; a user's numbers, so it may be any. */
static u64 surface_bytes(const struct vgpu_hw_packet *packet)
{
	u64 rows = le32_to_cpu(packet->present_height), line;

	line = (u64)le32_to_cpu(packet->present_width) * 4;
	return rows ? size_add((rows - 1) * le32_to_cpu(packet->present_pitch), line) : 0;
}

/* Whether a monitor shows it: heads but the first one do not. */
static bool is_shown(const struct vgpu_hw_packet *packet)
{
	return packet->type == VGPU_HW_PKT_PRESENT && !packet->present_head;
}

static bool same_surface(const struct vgpu_hw_packet *a, const struct vgpu_hw_packet *b)
{
	return a->dst == b->dst && surface_bytes(a) == surface_bytes(b);
}

/* Any of the job's surfaces may be the last one, as the job may fail behind it. */
static int job_show(struct guest_job *job, struct drm_gpuvm_exec *exec)
{
	const struct vgpu_hw_packet *packet, *last = NULL;
	u32 first = job->nr, i;
	bool killed = false;
	LIST_HEAD(bos);

	/* With many surfaces and many mappings it takes long. */
	for (i = 0; i < job->nr && !killed; i++) {
		packet = &job->packet[i];
		if (!is_shown(packet) || (last && same_surface(packet, last)))
			continue;
		last = packet;
		first = min(first, i);
		guest_follow_show(exec, le64_to_cpu(packet->dst), surface_bytes(packet), &bos);
		killed = fatal_signal_pending(current);
		cond_resched();
	}
	if (!last)
		return 0;
	job->show = guest_show_create(job, first, &bos);
	if (!job->show)
		return -ENOMEM;
	return killed ? -EINTR : 0;
}

/* From drm_sched_job_arm() on the fence must be signalled, so nothing may fail or allocate. */
static int job_push(struct guest_job *job, struct guest_syncs *syncs)
{
	struct guest_queue *queue = job->queue;
	struct drm_gpuvm_exec exec = {
		.vm = &queue->vm->base,
		.flags = DRM_EXEC_INTERRUPTIBLE_WAIT,
		.num_fences = 1,
	};
	struct dma_fence *fence;
	bool cookie;
	int ret;

	ret = guest_follow_lock(&exec);
	if (ret)
		return ret;
	ret = job_show(job, &exec);
	if (ret)
		goto out_exec;
	mutex_lock(&queue->submit_lock);
	if (queue->dead || READ_ONCE(queue->error)) {
		ret = queue->dead ? -ENOENT : -EIO;
		goto out;
	}
	cookie = dma_fence_begin_signalling();
	drm_sched_job_arm(&job->base);
	guest_done_arm(job->done, queue->fence_context + 1, ++queue->jobs,
		       &job->base.s_fence->finished);
	fence = &job->done->base;
	job->done = NULL;
	drm_gpuvm_exec_resv_add_fence(&exec, fence, DMA_RESV_USAGE_BOOKKEEP,
				      DMA_RESV_USAGE_BOOKKEEP);
	guest_syncs_signal(syncs, fence);
	drm_sched_entity_push_job(&job->base);
	dma_fence_end_signalling(cookie);
	dma_fence_put(fence);
	guest_follow_used(&exec);
out:
	mutex_unlock(&queue->submit_lock);
out_exec:
	drm_gpuvm_exec_unlock(&exec);
	return ret;
}

static int job_submit(struct guest_job *job, const struct drm_vgpu_exec *args,
		      struct drm_file *file)
{
	struct guest_syncs syncs;
	int ret;

	ret = drm_sched_job_init(&job->base, &job->queue->entity, job->nr, job->queue,
				 file->client_id);
	if (ret)
		return ret;
	ret = guest_syncs_init(&syncs, &args->syncs, file, &job->base);
	if (!ret) {
		ret = job_push(job, &syncs);
		guest_syncs_free(&syncs);
	}
	if (ret)
		drm_sched_job_cleanup(&job->base);
	return ret;
}

int guest_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_exec *args = data;
	struct guest_queue *queue;
	struct guest_job *job;
	int ret;

	if (args->flags || args->pad)
		return -EINVAL;
	if (drm_dev_is_unplugged(drm))
		return -ENODEV;
	queue = guest_queue_find(file, args->queue_id);
	if (!queue)
		return -ENOENT;
	job = job_create(queue, args);
	if (IS_ERR(job))
		return PTR_ERR(job);
	ret = job_submit(job, args, file);
	if (ret)
		guest_job_destroy(job);
	return ret;
}
