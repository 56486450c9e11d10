/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels, from 6.12 on. The driver is written for the newest one; this makes
 * older ones look like it. No other file depends on the kernel. Kbuild finds out what there is.
 */
#ifndef _VGPU_GUEST_COMPAT_H
#define _VGPU_GUEST_COMPAT_H

#include <linux/mutex.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_gem.h>
#include <drm/drm_gpuvm.h>
#include <drm/gpu_scheduler.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_device.h>

/* The buddy allocator was DRM's own. */
#ifdef GUEST_HAS_GPU_BUDDY
#include <linux/gpu_buddy.h>
#else
#include <drm/drm_buddy.h>
#define gpu_buddy			drm_buddy
#define gpu_buddy_block			drm_buddy_block
#define gpu_buddy_init			drm_buddy_init
#define gpu_buddy_fini			drm_buddy_fini
#define gpu_buddy_reset_clear		drm_buddy_reset_clear
#define gpu_buddy_alloc_blocks		drm_buddy_alloc_blocks
#define gpu_buddy_free_list		drm_buddy_free_list
#define gpu_buddy_block_offset		drm_buddy_block_offset
#define gpu_buddy_block_size		drm_buddy_block_size
#define gpu_buddy_block_is_clear	drm_buddy_block_is_clear
#define GPU_BUDDY_CLEAR_ALLOCATION	DRM_BUDDY_CLEAR_ALLOCATION
#define GPU_BUDDY_TOPDOWN_ALLOCATION	DRM_BUDDY_TOPDOWN_ALLOCATION
#define GPU_BUDDY_CONTIGUOUS_ALLOCATION	DRM_BUDDY_CONTIGUOUS_ALLOCATION
#endif

#ifndef GUEST_HAS_SCHED_ARGS
/**
 * struct drm_sched_init_args - what a scheduler is made with
 * @ops:          what it calls
 * @submit_wq:    where it runs jobs
 * @timeout_wq:   where it looks for jobs that take too long
 * @num_rqs:      priorities
 * @credit_limit: credits of the jobs that run at a time
 * @hang_limit:   0
 * @timeout:      jiffies that a job may take
 * @score:        NULL
 * @name:         for debugging
 * @dev:          likewise
 */
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};

static inline int guest_sched_init(struct drm_gpu_scheduler *sched,
				   const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs, args->credit_limit,
			      args->hang_limit, args->timeout, args->timeout_wq, args->score,
			      args->name, args->dev);
}

#define drm_sched_init guest_sched_init
#endif

#ifndef GUEST_HAS_SCHED_CLIENT
static inline int guest_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
				       u32 credits, void *owner, u64 client_id)
{
	return drm_sched_job_init(job, entity, credits, owner);
}

#define drm_sched_job_init guest_sched_job_init
#endif

#ifndef GUEST_HAS_SCHED_NO_HANG
/* NO_HANG came together with the new name. */
#define DRM_GPU_SCHED_STAT_RESET DRM_GPU_SCHED_STAT_NOMINAL
#endif

#ifndef GUEST_HAS_MAP_REQ
/**
 * struct drm_gpuvm_map_req - what is to be mapped
 * @map: the mapping
 */
struct drm_gpuvm_map_req {
	struct drm_gpuva_op_map map;
};

static inline int guest_gpuvm_sm_map(struct drm_gpuvm *gpuvm, void *priv,
				     const struct drm_gpuvm_map_req *req)
{
	return drm_gpuvm_sm_map(gpuvm, priv, req->map.va.addr, req->map.va.range, req->map.gem.obj,
				req->map.gem.offset);
}

#define drm_gpuvm_sm_map guest_gpuvm_sm_map
#endif

/**
 * struct guest_gpuva - what an object needs for its list of mappings
 * @lock: protects the list. Later kernels have such a lock in each object
 */
struct guest_gpuva {
#ifndef GUEST_HAS_GPUVA_LOCK
	struct mutex lock;		/* mappings */
#endif
};

#ifdef GUEST_HAS_GPUVA_LOCK
static inline void guest_gpuva_init(struct guest_gpuva *gpuva, struct drm_gem_object *obj)
{
}

static inline void guest_gpuva_fini(struct guest_gpuva *gpuva)
{
}

static inline struct mutex *guest_gpuva_lock(struct guest_gpuva *gpuva, struct drm_gem_object *obj)
{
	return &obj->gpuva.lock;
}
#else
#define DRM_GPUVM_IMMEDIATE_MODE 0

static inline void guest_gpuva_init(struct guest_gpuva *gpuva, struct drm_gem_object *obj)
{
	mutex_init(&gpuva->lock);
	drm_gem_gpuva_set_lock(obj, &gpuva->lock);
}

static inline void guest_gpuva_fini(struct guest_gpuva *gpuva)
{
	mutex_destroy(&gpuva->lock);
}

static inline struct mutex *guest_gpuva_lock(struct guest_gpuva *gpuva, struct drm_gem_object *obj)
{
	return &gpuva->lock;
}
#endif

/* The entry of an object in a VM: @vm_bo, or the one that is there. @lock: guest_gpuva_lock() */
static inline struct drm_gpuvm_bo *guest_gpuvm_bo_obtain(struct drm_gpuvm_bo *vm_bo,
							 struct mutex *lock)
{
#ifndef GUEST_HAS_OBTAIN_LOCKS
	guard(mutex)(lock);
#endif
	return drm_gpuvm_bo_obtain_prealloc(vm_bo);
}

#ifndef GUEST_HAS_FEATURE_GPUVA
#define DRIVER_GEM_GPUVA 0
#endif

/* Of struct drm_driver: while there is one, it must not be NULL. */
#ifdef GUEST_HAS_DRIVER_DATE
#define GUEST_DRIVER_DATE .date = "20261127",
#else
#define GUEST_DRIVER_DATE
#endif

/* Active buffers were always told. */
#ifndef GUEST_HAS_OBJECT_ACTIVE
#define DRM_GEM_OBJECT_ACTIVE 0
#endif

#ifndef GUEST_HAS_TTM_FINI
#define ttm_bo_fini ttm_bo_put
#endif

#ifndef GUEST_HAS_TTM_FLAGS
/* @alloc_flags: 0 */
static inline int guest_ttm_device_init(struct ttm_device *ttm,
					const struct ttm_device_funcs *funcs, struct device *dev,
					struct address_space *mapping,
					struct drm_vma_offset_manager *vma_manager,
					unsigned int alloc_flags)
{
	return ttm_device_init(ttm, funcs, dev, mapping, vma_manager, false, false);
}

#define ttm_device_init guest_ttm_device_init
#endif

#ifndef GUEST_HAS_EXEC_EACH
#undef drm_exec_for_each_locked_object
#define drm_exec_for_each_locked_object(exec, obj)				\
	for (unsigned long guest_i = 0; ((obj) = drm_exec_obj(exec, guest_i)); ++guest_i)
#endif

/* What is not unbound was bound to a processor. */
#ifndef GUEST_HAS_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#endif /* _VGPU_GUEST_COMPAT_H */
