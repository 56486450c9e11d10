// SPDX-License-Identifier: GPL-2.0
/* Numbers by which clients name vGPUs. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct nv_vgpu *number_new(void)
{
	/* Goes on after nvmlShutdown(), so that a number kept from before names nobody. */
	static nvmlVgpuInstance_t last;
	struct nv_vgpu *vgpu;
	unsigned int room;

	if (nv.vgpus == nv.vgpu_room) {
		room = nv.vgpu_room + NV_VGPUS_MAX;
		vgpu = realloc(nv.vgpu, room * sizeof(*vgpu));
		if (!vgpu)
			return NULL;
		nv.vgpu = vgpu;
		nv.vgpu_room = room;
	}
	vgpu = &nv.vgpu[nv.vgpus++];
	vgpu->id = ++last;
	return vgpu;
}

bool nv_vgpu_is(const struct nv_vgpu *vgpu, const struct vgpu_ctl_instance *inst)
{
	return vgpu->created_ns == inst->created_ns &&
	       !memcmp(vgpu->uuid, inst->uuid, sizeof(vgpu->uuid));
}

nvmlVgpuInstance_t nv_vgpu_id(const struct vgpu_ctl_instance *inst)
{
	struct nv_vgpu *vgpu;
	unsigned int i;

	for (i = 0; i < nv.vgpus; i++)
		if (nv_vgpu_is(&nv.vgpu[i], inst))
			return nv.vgpu[i].id;
	vgpu = number_new();
	if (!vgpu)
		return 0;
	vgpu->gpu = inst->gpu;
	memcpy(vgpu->uuid, inst->uuid, sizeof(vgpu->uuid));
	vgpu->created_ns = inst->created_ns;
	return vgpu->id;
}
