/* SPDX-License-Identifier: GPL-2.0 */
/* The control node's calls that control.c has in its table and others define. */
#ifndef _VGPU_CONTROL_H
#define _VGPU_CONTROL_H

#include <linux/types.h>

struct vgpu_ctl_entries;
struct vgpu_gpu;

/* Most bytes of a structure of a caller's, and of an element of his array. */
#define VGPU_CTL_SIZE_MAX	16384

/* Sets what is in a structure from a member on, up to its engine[], to 0. */
#define vgpu_ctl_clear(ctl, member)						\
	memset((u8 *)(ctl) + offsetof(typeof(*(ctl)), member), 0,		\
	       offsetof(typeof(*(ctl)), engine) - offsetof(typeof(*(ctl)), member))

/**
 * struct vgpu_ctl_array - a caller's array that the driver fills with what it knows of a GPU
 * @gpu:        id of the GPU
 * @to:         where the array is in the caller's memory
 * @entry_size: bytes of each element there, as the caller has set it
 * @first_size: bytes of the element in the first version of its call; of one that ends in
 *              engine[], what is before that
 * @known_size: bytes of the element that the driver fills, without engine[]
 * @engine_size: bytes of an element of its engine[]; 0: it has none
 * @nr:         most elements that @fill gives
 * @room:       elements for which the caller has room; those beyond are left out
 * @fill:       fills in elements, and the call's structure @ctl, without a lock, the GPU being
 *              entered by vgpu_gpu_enter(); returns the number of elements, or -errno
 */
struct vgpu_ctl_array {
	u32 gpu;
	u64 to;
	u32 entry_size;
	u32 first_size;
	size_t known_size;
	size_t engine_size;
	unsigned int nr;
	unsigned int room;
	int (*fill)(struct vgpu_gpu *gpu, void *ctl, const struct vgpu_ctl_entries *entries);
};

/* control_array.c */
int vgpu_ctl_entry_size(u32 size, u32 first_size);
int vgpu_ctl_array_read(const struct vgpu_ctl_array *array, void *ctl);

/* Ioctls; arg is the structure, size and flags are checked. control_sched.c */
int vgpu_ctl_sched(void *arg);
int vgpu_ctl_sched_set(void *arg);
int vgpu_ctl_shares_set(void *arg);
int vgpu_ctl_sched_log(void *arg);
int vgpu_ctl_hist(void *arg);

/* control_stats.c */
int vgpu_ctl_stats(void *arg);
int vgpu_ctl_samples(void *arg);
int vgpu_ctl_sessions(void *arg);

#endif /* _VGPU_CONTROL_H */
