/* SPDX-License-Identifier: GPL-2.0 */
/* How a GPU is scheduled. */
#ifndef VGPUCTL_SCHED_H
#define VGPUCTL_SCHED_H

#include "setting.h"

/* Set by and read from struct vgpu_ctl_sched. */
extern const struct setting_table sched_settings;

#endif /* VGPUCTL_SCHED_H */
