/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a vGPU is for one that is to take over its state, and whether two of them fit. Pure logic,
 * compiled in user space too, also into the tools; but for what describes a vGPU (about.c).
 */
#ifndef _VGPU_ABOUT_H
#define _VGPU_ABOUT_H

#include <linux/types.h>
#include <linux/vgpu_migration.h>

/* Versions of streams (struct vgpu_stream_about.version): what is made, and the oldest one read. */
#define VGPU_STREAM_VERSION	2
#define VGPU_STREAM_OLDEST	1

struct vgpu_gpu;
struct vgpu_instance;
struct vgpu_type;

/* about_fits.c */
bool vgpu_about_fits(const struct vgpu_stream_about *mine,
		     const struct vgpu_stream_about *theirs, char *why, size_t size);

/* about.c */
u32 vgpu_gpu_can_move(const struct vgpu_gpu *gpu);
void vgpu_instance_about(struct vgpu_instance *instance, struct vgpu_stream_about *about);
void vgpu_type_about(const struct vgpu_gpu *gpu, const struct vgpu_type *type,
		     struct vgpu_stream_about *about);

#endif /* _VGPU_ABOUT_H */
