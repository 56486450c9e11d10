/* SPDX-License-Identifier: GPL-2.0 */
/* Of the driver of nvml_fake.h: the calls about moves, the scheduler, and its version. */
#ifndef NVML_MOVE_H
#define NVML_MOVE_H

#include "nvml_fake.h"

/* Each is called with the lock of nvml_fake.c, and returns 0 or a negative errno. */
bool fake_has_gpu(uint32_t gpu);
uint32_t fake_flags(unsigned long request);
int fake_version(struct vgpu_ctl_version *version);
int fake_sched(struct vgpu_ctl_sched *sched);
int fake_sched_set(struct vgpu_ctl_sched *sched);

/* @vgpu: number of the vGPU of @vgpus that the call is about; FAKE_VGPUS: there is none. */
int fake_migration(struct vgpu_ctl_migration *call, const struct vgpu_ctl_instance *vgpus,
		   unsigned int vgpu);

#endif /* NVML_MOVE_H */
