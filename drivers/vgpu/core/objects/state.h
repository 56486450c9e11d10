/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a paused instance. */
#ifndef _VGPU_STATE_H
#define _VGPU_STATE_H

struct vgpu_instance;
struct vgpu_records;

int vgpu_instance_save(struct vgpu_instance *instance, struct vgpu_records *to);
int vgpu_instance_load(struct vgpu_instance *instance, const struct vgpu_records *from,
		       u64 restarts);
int vgpu_instance_clear(struct vgpu_instance *instance, u64 *restarts);
int vgpu_instance_reload(struct vgpu_instance *instance);

#endif /* _VGPU_STATE_H */
