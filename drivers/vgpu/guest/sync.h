/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that users give, and the syncobjs of a job. */
#ifndef _VGPU_GUEST_SYNC_H
#define _VGPU_GUEST_SYNC_H

#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>
#include <drm/vgpu_drm.h>

struct dma_fence_chain;
struct drm_syncobj;

/**
 * struct guest_signal - a syncobj that a job signals
 * @syncobj: referenced
 * @chain:   of a timeline, for the new point; else NULL
 * @point:   likewise
 */
struct guest_signal {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/**
 * struct guest_syncs - what a job signals
 * @nr:     elements of @signal
 * @signal: the syncobjs
 * @few:    where they are if they are not more: a job mostly has one or two
 */
struct guest_syncs {
	u32 nr;
	struct guest_signal *signal;
	struct guest_signal few[4];
};

/*
 * Copies an array of elements that have @size bytes in this driver, and had @first in the first
 * one. Returns NULL for an empty array, or an ERR_PTR; kvfree() frees it.
 */
void *guest_array_copy(const struct drm_vgpu_array *array, u32 size, u32 first, u32 most);

/* Adds what is to be waited for to @job, and takes what is to be signalled. */
int guest_syncs_init(struct guest_syncs *syncs, const struct drm_vgpu_array *array,
		     struct drm_file *file, struct drm_sched_job *job);

/* Gives the syncobjs the fence. Allocates nothing. */
void guest_syncs_signal(struct guest_syncs *syncs, struct dma_fence *fence);
void guest_syncs_free(struct guest_syncs *syncs);

#endif /* _VGPU_GUEST_SYNC_H */
