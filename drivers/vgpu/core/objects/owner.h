/* SPDX-License-Identifier: GPL-2.0 */
/* The holders of a vGPU: the address spaces that may show its memory in their resident sets. */
#ifndef _VGPU_OWNER_H
#define _VGPU_OWNER_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct mm_struct;
struct vgpu_instance;

/* The greatest number of living holders that are known of a vGPU. Later ones are not known. */
#define VGPU_OWNER_MAX	8

/**
 * struct vgpu_holder - an address space that has a vGPU
 * @mm:     the address space, with a reference to its structure
 * @pid:    the process that made it known, if that is its own; else 0
 * @maps:   mappings of BARs in it that are known
 * @called: a call on the device's file was made in it, when its memory cgroup was the one that is
 *          charged
 * @shown:  pages that are counted in its resident set now
 */
struct vgpu_holder {
	struct mm_struct *mm;
	pid_t pid;
	unsigned int maps;
	bool called;
	long shown;
};

/**
 * struct vgpu_owner - the known holders of a vGPU
 * @lock:   protects the following. Tenants and the OOM killer take it, so it is held for a few
 *          steps only, and is a raw spinlock: a tenant that its cgroup does not let run would keep
 *          a mutex. mmdrop() is not called under it
 * @pages:  how many pages are to be shown
 * @nr:     length of @holder
 * @holder: in the order in which they came
 * @caller: the holder that was the last to make a call; read without the lock to see that nothing
 *          has changed
 */
struct vgpu_owner {
	raw_spinlock_t lock;		/* all of it */
	long pages;
	unsigned int nr;
	struct vgpu_holder holder[VGPU_OWNER_MAX];
	struct mm_struct *caller;
};

void vgpu_owner_call(struct vgpu_instance *instance);
void vgpu_owner_map(struct vgpu_instance *instance, struct mm_struct *mm);
void vgpu_owner_touch(struct vgpu_instance *instance, struct mm_struct *mm);
void vgpu_owner_unmap(struct vgpu_instance *instance, struct mm_struct *mm);
bool vgpu_owner_known(struct vgpu_instance *instance);
pid_t vgpu_owner_pid(struct vgpu_instance *instance);
void vgpu_owner_end(struct vgpu_instance *instance);

#endif /* _VGPU_OWNER_H */
