/* SPDX-License-Identifier: GPL-2.0 */
/* The control node's calls: what control.c and control_sched.c share. */
#ifndef _VGPU_CONTROL_H
#define _VGPU_CONTROL_H

#include <linux/types.h>

struct vgpu_instance;

/* control.c */
int vgpu_ctl_with_instance(const u8 *uuid, void *arg,
			   int (*func)(struct vgpu_instance *instance,
				       void *arg));

/* control_sched.c: ioctls; arg is the structure, size and flags are checked */
int vgpu_ctl_sched(void *arg);
int vgpu_ctl_sched_set(void *arg);
int vgpu_ctl_shares_set(void *arg);
int vgpu_ctl_sched_log(void *arg);
int vgpu_ctl_hist(void *arg);

#endif /* _VGPU_CONTROL_H */
