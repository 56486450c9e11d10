/* SPDX-License-Identifier: GPL-2.0 */
/* The control node's calls that control.c has in its table and control_sched.c defines. */
#ifndef _VGPU_CONTROL_H
#define _VGPU_CONTROL_H

/* control_sched.c: ioctls; arg is the structure, size and flags are checked */
int vgpu_ctl_sched(void *arg);
int vgpu_ctl_sched_set(void *arg);
int vgpu_ctl_shares_set(void *arg);
int vgpu_ctl_sched_log(void *arg);
int vgpu_ctl_hist(void *arg);

#endif /* _VGPU_CONTROL_H */
