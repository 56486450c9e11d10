// SPDX-License-Identifier: GPL-2.0
/* Arrays that users give, and the syncobjs of a job. */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "sync.h"

/* More bytes than this an element never has. */
#define STRIDE_MAX	256

void *guest_array_copy(const struct drm_vgpu_array *array, u32 size, u32 first, u32 most)
{
	const u8 __user *from = u64_to_user_ptr(array->pointer);
	u8 *to;
	u32 i;
	int ret;

	if (!array->count)
		return NULL;
	if (array->stride < first || array->stride > STRIDE_MAX)
		return ERR_PTR(-EINVAL);
	if (array->count > most)
		return ERR_PTR(-E2BIG);
	to = kvmalloc_array(array->count, size, GFP_KERNEL_ACCOUNT);
	if (!to)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < array->count; i++) {
		ret = copy_struct_from_user(to + (size_t)i * size, size,
					    from + (size_t)i * array->stride, array->stride);
		if (ret) {
			kvfree(to);
			return ERR_PTR(ret);
		}
	}
	return to;
}

static int syncs_add(struct guest_syncs *syncs, const struct drm_vgpu_sync *sync,
		     struct drm_file *file, struct drm_sched_job *job)
{
	bool timeline = sync->flags & DRM_VGPU_SYNC_TIMELINE;
	struct guest_signal *signal;
	struct dma_fence *fence;
	int ret;

	if (sync->flags & ~(DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE) ||
	    timeline != !!sync->point)
		return -EINVAL;
	if (!(sync->flags & DRM_VGPU_SYNC_SIGNAL)) {
		ret = drm_syncobj_find_fence(file, sync->handle, sync->point, 0, &fence);
		return ret ? ret : drm_sched_job_add_dependency(job, fence);
	}
	signal = &syncs->signal[syncs->nr];
	signal->syncobj = drm_syncobj_find(file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;
	syncs->nr++;
	signal->point = sync->point;
	signal->chain = timeline ? dma_fence_chain_alloc() : NULL;
	return timeline && !signal->chain ? -ENOMEM : 0;
}

int guest_syncs_init(struct guest_syncs *syncs, const struct drm_vgpu_array *array,
		     struct drm_file *file, struct drm_sched_job *job)
{
	const struct drm_vgpu_sync *sync;
	int ret = 0;
	u32 i;

	syncs->nr = 0;
	syncs->signal = NULL;
	sync = guest_array_copy(array, sizeof(*sync), sizeof(*sync), DRM_VGPU_SYNCS_MAX);
	if (IS_ERR_OR_NULL(sync))
		return PTR_ERR_OR_ZERO(sync);
	syncs->signal = kvcalloc(array->count, sizeof(*syncs->signal), GFP_KERNEL_ACCOUNT);
	if (!syncs->signal)
		ret = -ENOMEM;
	for (i = 0; !ret && i < array->count; i++)
		ret = syncs_add(syncs, &sync[i], file, job);
	kvfree(sync);
	if (ret)
		guest_syncs_free(syncs);
	return ret;
}

void guest_syncs_signal(struct guest_syncs *syncs, struct dma_fence *fence)
{
	struct guest_signal *signal;
	u32 i;

	for (i = 0; i < syncs->nr; i++) {
		signal = &syncs->signal[i];
		if (!signal->chain) {
			drm_syncobj_replace_fence(signal->syncobj, fence);
			continue;
		}
		/* The chain belongs to the syncobj now. */
		drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
		signal->chain = NULL;
	}
}

void guest_syncs_free(struct guest_syncs *syncs)
{
	u32 i;

	for (i = 0; i < syncs->nr; i++) {
		drm_syncobj_put(syncs->signal[i].syncobj);
		dma_fence_chain_free(syncs->signal[i].chain);
	}
	kvfree(syncs->signal);
	syncs->signal = NULL;
	syncs->nr = 0;
}
