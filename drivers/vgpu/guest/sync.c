// SPDX-License-Identifier: GPL-2.0
/* Arrays that users give, and the syncobjs of a job. */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "sync.h"

/* More bytes than this an element never has. */
#define STRIDE_MAX	256

static int array_check(const struct drm_vgpu_array *array, u32 first, u32 most)
{
	if (array->stride < first || array->stride > STRIDE_MAX)
		return -EINVAL;
	return array->count > most ? -E2BIG : 0;
}

/* Copies the element @i of @array, which has @size bytes in this driver. */
static int array_get(const struct drm_vgpu_array *array, void *to, u32 size, u32 i)
{
	return copy_struct_from_user(to, size, u64_to_user_ptr(array->pointer) +
				     (size_t)i * array->stride, array->stride);
}

void *guest_array_copy(const struct drm_vgpu_array *array, u32 size, u32 first, u32 most)
{
	u8 *to;
	u32 i;
	int ret;

	if (!array->count)
		return NULL;
	ret = array_check(array, first, most);
	if (ret)
		return ERR_PTR(ret);
	to = kvmalloc_array(array->count, size, GFP_KERNEL_ACCOUNT);
	if (!to)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < array->count; i++) {
		ret = array_get(array, to + (size_t)i * size, size, i);
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
	struct drm_vgpu_sync sync;
	int ret;
	u32 i;

	syncs->nr = 0;
	syncs->signal = syncs->few;
	if (!array->count)
		return 0;
	ret = array_check(array, sizeof(sync), DRM_VGPU_SYNCS_MAX);
	if (ret)
		return ret;
	if (array->count > ARRAY_SIZE(syncs->few)) {
		syncs->signal = kvcalloc(array->count, sizeof(*syncs->signal), GFP_KERNEL_ACCOUNT);
		if (!syncs->signal)
			return -ENOMEM;
	}
	for (i = 0; !ret && i < array->count; i++) {
		ret = array_get(array, &sync, sizeof(sync), i);
		if (!ret)
			ret = syncs_add(syncs, &sync, file, job);
	}
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
	if (syncs->signal != syncs->few)
		kvfree(syncs->signal);
	syncs->signal = NULL;
	syncs->nr = 0;
}
