/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a paused instance. */
#ifndef _VGPU_STATE_H
#define _VGPU_STATE_H

struct vgpu_instance;

int vgpu_instance_reload(struct vgpu_instance *instance);

#endif /* _VGPU_STATE_H */
