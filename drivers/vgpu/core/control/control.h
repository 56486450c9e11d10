/* SPDX-License-Identifier: GPL-2.0 */
/* The control node's calls that other files define for the table in control.c. */
#ifndef _VGPU_CONTROL_H
#define _VGPU_CONTROL_H

#include <linux/types.h>

struct vgpu_ctl_entries;
struct vgpu_gpu;

/* Maximum size in bytes of a caller's structure, and of an element of a caller's array. */
#define VGPU_CTL_SIZE_MAX	16384

/* Zeroes the members of a structure from @member on, up to its engine[]. */
#define vgpu_ctl_clear(ctl, member) do {						\
	typeof(ctl) ctl_ = (ctl);							\
	void *from_ = (void *)ctl_ + offsetof(typeof(*ctl_), member);			\
											\
	memset(from_, 0, (void *)ctl_->engine - from_);					\
} while (0)

/**
 * struct vgpu_ctl_array - an array in the caller's memory that the driver fills with data of a GPU
 * @gpu:        id of the GPU
 * @to:         address of the array in the caller's memory
 * @entry_size: bytes of each element there, as set by the caller
 * @first_size: bytes of the element in the first version of its call; of an element that ends in
 *              engine[], the bytes before that
 * @known_size: bytes of the element that the driver fills, without engine[]
 * @engine_size: bytes of an element of the element's engine[]; 0: it has none
 * @nr:         maximum number of elements that @fill returns
 * @room:       number of elements for which the caller has room; further ones are left out
 * @fill:       fills up to @nr elements, and the call's structure @ctl. Called without a lock,
 *              between vgpu_gpu_enter() and vgpu_gpu_leave(). Returns the number of elements, or
 *              -errno
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

/* Ioctls; arg is the structure in kernel memory, size and flags are checked. control_sched.c */
int vgpu_ctl_sched(void *arg);
int vgpu_ctl_sched_set(void *arg);
int vgpu_ctl_shares_set(void *arg);
int vgpu_ctl_sched_log(void *arg);
int vgpu_ctl_hist(void *arg);

/* control_stats.c */
int vgpu_ctl_stats(void *arg);
int vgpu_ctl_samples(void *arg);
int vgpu_ctl_sessions(void *arg);
int vgpu_ctl_channels(void *arg);

/* control_partition.c */
int vgpu_ctl_profile(void *arg);
int vgpu_ctl_partitions(void *arg);
int vgpu_ctl_partition(void *arg);
int vgpu_ctl_partition_create(void *arg);
int vgpu_ctl_partition_remove(void *arg);
int vgpu_ctl_partition_mode(void *arg);

/* control_migration.c */
int vgpu_ctl_migration(void *arg);
int vgpu_ctl_migration_check(void *arg);

#endif /* _VGPU_CONTROL_H */
