/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics of a GPU, its partitions and its vGPUs. */
#ifndef _VGPU_STATS_H
#define _VGPU_STATS_H

#include "../core.h"

/* A GPU's partitions and vGPUs at one time, each with a reference. */
struct vgpu_stats_of {
	struct vgpu_partitions parts;
	struct vgpu_instances all;
};

void vgpu_stats_instance(struct vgpu_instance *instance, struct vgpu_ctl_instance *out);
void vgpu_stats_begin(struct vgpu_gpu *gpu, struct vgpu_stats_of *of);
void vgpu_stats_end(struct vgpu_stats_of *of);
void vgpu_stats_engine(const struct vgpu_stats_of *of, unsigned int engine,
		       struct vgpu_timeline_stats *sum,
		       void (*each)(void *arg, unsigned int index,
				    const struct vgpu_entity_stats *stats), void *arg);
void vgpu_stats_gpu(struct vgpu_gpu *gpu, struct vgpu_ctl_stats *out,
		    const struct vgpu_ctl_entries *entries);

#endif /* _VGPU_STATS_H */
