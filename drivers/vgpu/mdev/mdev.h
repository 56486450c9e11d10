/* SPDX-License-Identifier: GPL-2.0 */
/* The mdev front end: a vGPU is a mediated device. */
#ifndef _VGPU_MDEV_H
#define _VGPU_MDEV_H

struct attribute_group;

/* mdev.c */
int vgpu_mdev_init(void);
void vgpu_mdev_exit(void);

/* attrs.c */
extern const struct attribute_group *vgpu_mdev_attr_groups[];
void vgpu_mdev_attrs_init(void);

#endif /* _VGPU_MDEV_H */
