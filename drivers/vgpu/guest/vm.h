/* SPDX-License-Identifier: GPL-2.0 */
/* Address spaces of clients. */
#ifndef _VGPU_GUEST_VM_H
#define _VGPU_GUEST_VM_H

#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include <drm/drm_gpuvm.h>
#include <drm/gpu_scheduler.h>

#include "compat.h"
#include "pt.h"

struct guest_bo;
struct guest_shared;
struct guest_done;
struct guest_dev;

/**
 * struct guest_vm - an address space
 * @base:        its mappings
 * @name:        of it, for debugfs: the process that has made it
 * @gdev:        the device
 * @link:        in &struct guest_dev.vms
 * @ref:         handle, queues and jobs; the mappings go with the last of them
 * @lock:        protects @base's mappings and the page tables; taken where fences are signalled, so
 *               no memory is allocated under it
 * @pt:          the table of the top level; NULL when the VM is being freed
 * @pending:     changes of asynchronous binds that are not done; protected by @lock
 * @fb_bytes:    buffers of the framebuffer that @base has; protected by its reservation
 * @pieces:      only buffers in one piece are brought back; protected likewise
 * @moved:       others were moved for that; protected likewise
 * @pass:        number of the present pass over what is to be brought back; protected likewise
 * @rings:       slots of the upper half that have the ring of a queue
 * @sched:       does asynchronous binds
 * @entity:      the only one of @sched
 * @fence_context: of the fences that users get of @entity's jobs
 * @submit_lock: protects what follows, and the order of the jobs of @entity
 * @jobs:        jobs that @entity has got
 * @dead:        the handle is gone, @entity takes no jobs any more
 * @release:     runs when @ref has gone
 */
struct guest_vm {
	struct drm_gpuvm base;
	char name[TASK_COMM_LEN + 12];
	struct guest_dev *gdev;
	struct list_head link;
	struct kref ref;
	struct mutex lock;		/* mappings and tables */
	struct guest_table *pt;
	struct list_head pending;
	u64 fb_bytes;
	bool pieces;
	bool moved;
	u64 pass;
	struct ida rings;
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	u64 fence_context;
	struct mutex submit_lock;	/* entity */
	u64 jobs;
	bool dead;
	struct work_struct release;
};

/**
 * struct guest_vma - a mapping
 * @base: in &struct guest_vm.base
 * @link: of one that is gone, in &struct guest_vm_change.gone
 * @pte:  VGPU_HW_PTE_R, W, X
 */
struct guest_vma {
	struct drm_gpuva base;
	struct list_head link;
	u64 pte;
};

/**
 * struct guest_vm_op - a change of mappings that only has to be done
 * @vm_bo:  MAP: the buffer in this VM, else NULL
 * @offset: MAP: in the buffer
 * @va:     address
 * @bytes:  length
 * @pte:    MAP: VGPU_HW_PTE_R, W, X
 * @vma:    mappings that the change may need: the new one, and what is left of an old one before
 *          and behind the range
 */
struct guest_vm_op {
	struct drm_gpuvm_bo *vm_bo;
	u64 offset;
	u64 va;
	u64 bytes;
	u64 pte;
	struct guest_vma *vma[3];
};

/**
 * struct guest_vm_change - changes that are done together
 * @vm:   the address space
 * @link: in &struct guest_vm.pending, or empty
 * @nr:   elements of @op
 * @op:   in order
 * @pt:   tables for them
 * @gone: mappings that are no more; they keep their buffers until the change is freed
 */
struct guest_vm_change {
	struct guest_vm *vm;
	struct list_head link;
	u32 nr;
	struct guest_vm_op *op;
	struct guest_pt_change pt;
	struct list_head gone;
};

/**
 * struct guest_bind_job - an asynchronous VM_BIND
 * @base:    in the VM's scheduler
 * @change:  what it does
 * @done:    its end, for users; NULL once they have it
 * @cleanup: frees it, where locks of buffers may be taken
 */
struct guest_bind_job {
	struct drm_sched_job base;
	struct guest_vm_change change;
	struct guest_done *done;
	struct work_struct cleanup;
};

static inline struct guest_vm *to_guest_vm(struct drm_gpuvm *gpuvm)
{
	return container_of(gpuvm, struct guest_vm, base);
}

/* The VM with that id, or NULL; with a reference. */
struct guest_vm *guest_vm_find(struct drm_file *file, u32 id);
struct guest_vm *guest_vm_get(struct guest_vm *vm);
void guest_vm_put(struct guest_vm *vm);

/* What VGPU_HW_CHAN_ROOT takes. */
u32 guest_vm_root(const struct guest_vm *vm);

/* What the buffers share that only this VM maps. */
struct guest_shared *guest_vm_shared(struct guest_vm *vm);

/* Returns when the device uses nothing any more that @change has dropped. */
void guest_vm_invalidate(struct guest_vm *vm, const struct guest_pt_change *change);

/*
 * Maps framebuffer for the driver's own use: read-only, at an address of the upper half, which
 * guest_vm_unmap_own() frees again.
 */
int guest_vm_map_own(struct guest_vm *vm, u64 va, const struct guest_bo *bo);
void guest_vm_unmap_own(struct guest_vm *vm, u64 va, u64 bytes);

/* Makes room for @nr ops. What it has is freed by guest_vm_change_free() in any case. */
int guest_vm_change_init(struct guest_vm_change *change, struct guest_vm *vm, u32 nr);

/* Adds an op, with all that it needs. @bo: NULL to unmap. The range is one of a client. */
int guest_vm_change_add(struct guest_vm_change *change, u64 va, u64 bytes, struct guest_bo *bo,
			u64 offset, u64 pte);

/* It will be done: until then it is in &struct guest_vm.pending. */
void guest_vm_change_pend(struct guest_vm_change *change);

/* Does it, without allocating. -ENODEV: the device is gone. */
int guest_vm_change_do(struct guest_vm_change *change);
void guest_vm_change_free(struct guest_vm_change *change);

/* What drm_gpuvm calls while a change is done. */
int guest_vm_step_map(struct drm_gpuva_op *op, void *priv);
int guest_vm_step_remap(struct drm_gpuva_op *op, void *priv);
int guest_vm_step_unmap(struct drm_gpuva_op *op, void *priv);

/* Drops a reference, where no lock of the buffer and no reservation is held. */
void guest_vm_bo_put(struct drm_gpuvm_bo *vm_bo);

/* Ends the VMs of a file. */
void guest_vm_close(struct drm_file *file);

extern const struct drm_sched_backend_ops guest_bind_ops;

/* A job whose change is not yet made; guest_bind_job_destroy() frees it with its change. */
struct guest_bind_job *guest_bind_job_create(void);
void guest_bind_job_destroy(struct guest_bind_job *job);

int guest_vm_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_vm_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _VGPU_GUEST_VM_H */
