/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a paused vGPU: ops of struct vgpu_gpu_ops. */
#ifndef _VGPU_SOFT_STATE_H
#define _VGPU_SOFT_STATE_H

struct vgpu_instance;
struct vgpu_record_reader;
struct vgpu_records;

int soft_state_save(struct vgpu_instance *vgpu, struct vgpu_records *to);
int soft_state_load(struct vgpu_instance *vgpu, struct vgpu_record_reader *from);

#endif /* _VGPU_SOFT_STATE_H */
