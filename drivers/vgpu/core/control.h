/* SPDX-License-Identifier: GPL-2.0 */
/* The control node's calls that control.c has in its table and others define. */
#ifndef _VGPU_CONTROL_H
#define _VGPU_CONTROL_H

#include <linux/types.h>

/* control_array.c */
int vgpu_ctl_entry_size(u32 size, u32 first_size);
int vgpu_ctl_entries_put(u64 to, size_t size, const void *entries, size_t known, unsigned int nr);

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
