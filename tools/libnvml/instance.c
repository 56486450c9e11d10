// SPDX-License-Identifier: GPL-2.0
/* vGPUs: those of a GPU that are open, and their properties. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

static nvmlReturn_t instance_active(const struct nv_vgpus *vgpus, unsigned int *count,
				    nvmlVgpuInstance_t *ids)
{
	unsigned int i, nr = 0;

	for (i = 0; i < vgpus->nr; i++) {
		nvmlVgpuInstance_t id;

		if (vgpus->inst[i].state != VGPU_STATE_STARTED)
			continue;
		id = nv_vgpu_id(&vgpus->inst[i]);
		if (!id)
			return NVML_ERROR_MEMORY;
		if (ids && nr < *count)
			ids[nr] = id;
		nr++;
	}
	return nv_put_count(ids, count, nr);
}

/* Active are those that somebody has open. */
nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, unsigned int *count,
				      nvmlVgpuInstance_t *ids)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);
	const struct nv_vgpus *vgpus;

	if (ret)
		return ret;
	ret = nv_vgpus(device, false, &vgpus);
	return nv_leave(ret ? ret : instance_active(vgpus, count, ids));
}

/* What runs a VM is a process of the host: its pid is all that the driver knows of the VM. */
nvmlReturn_t nvmlVgpuInstanceGetVmID(nvmlVgpuInstance_t vgpu, char *vm_id, unsigned int size,
				     nvmlVgpuVmIdType_t *type)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, vm_id, &inst);
	char text[16];

	if (ret)
		return ret;
	if (!type)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (!inst.owner_pid)
		return nv_leave(NVML_ERROR_NOT_FOUND);
	*type = NVML_VGPU_VM_ID_DOMAIN_ID;
	snprintf(text, sizeof(text), "%d", inst.owner_pid);
	return nv_leave(nv_put_text(vm_id, size, text));
}

nvmlReturn_t nvmlVgpuInstanceGetUUID(nvmlVgpuInstance_t vgpu, char *uuid, unsigned int size)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, uuid, &inst);
	char text[NV_UUID_TEXT];

	if (ret)
		return ret;
	nv_uuid_text(inst.uuid, text);
	return nv_leave(nv_put_text(uuid, size, text));
}

nvmlReturn_t nvmlVgpuInstanceGetMdevUUID(nvmlVgpuInstance_t vgpu, char *uuid, unsigned int size)
{
	return nvmlVgpuInstanceGetUUID(vgpu, uuid, size);
}

/* If the guest does not tell, it is the text for a guest without a driver. */
nvmlReturn_t nvmlVgpuInstanceGetVmDriverVersion(nvmlVgpuInstance_t vgpu, char *version,
						unsigned int length)
{
	char told[VGPU_GUEST_NAME_LEN + 1];
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, version, &inst);

	if (ret)
		return ret;
	ret = nv_guest_driver(&inst, told);
	return nv_leave(ret ? ret : nv_put_text(version, length, *told ? told : "Not Available"));
}

nvmlReturn_t nvmlVgpuInstanceGetGpuPciId(nvmlVgpuInstance_t vgpu, char *pci_id,
					 unsigned int *length)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, length, &inst);

	return ret ? ret : nv_leave(nv_put_text_size(pci_id, length, "00000000:00:00.0"));
}

nvmlReturn_t nvmlVgpuInstanceGetFbUsage(nvmlVgpuInstance_t vgpu, unsigned long long *bytes)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu_now(vgpu, bytes, &inst);

	if (ret)
		return ret;
	*bytes = inst.fb_backed_bytes;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetType(nvmlVgpuInstance_t vgpu, nvmlVgpuTypeId_t *type)
{
	const struct nvmlDevice_st *device;
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, type, &inst);

	if (ret)
		return ret;
	device = nv_device_of(inst.gpu);
	if (!device || inst.type_index >= device->types)
		return nv_leave(NVML_ERROR_UNKNOWN);
	*type = device->type[inst.type_index]->id;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetFrameRateLimit(nvmlVgpuInstance_t vgpu, unsigned int *fps)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, fps, &inst);

	if (ret)
		return ret;
	if (!inst.frl_fps)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	*fps = inst.frl_fps;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetEccMode(nvmlVgpuInstance_t vgpu, nvmlEnableState_t *mode)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, mode, &inst);

	if (ret)
		return ret;
	*mode = NVML_FEATURE_DISABLED;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetGpuInstanceId(nvmlVgpuInstance_t vgpu, unsigned int *id)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, id, &inst);

	if (ret)
		return ret;
	*id = inst.partition ? inst.partition : NVML_NO_INSTANCE;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetPlacementId(nvmlVgpuInstance_t vgpu, nvmlVgpuPlacementId_t *place)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, place, &inst);

	if (ret)
		return ret;
	if (place->version != NVML_STRUCT_VERSION(VgpuPlacementId, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	place->placementId = inst.placement_gb;
	return nv_leave(NVML_SUCCESS);
}

/* Nobody captures framebuffers here, so there are no sessions that do. */
static nvmlReturn_t instance_no_stats(nvmlFBCStats_t *stats)
{
	memset(stats, 0, sizeof(*stats));
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetFBCStats(nvmlVgpuInstance_t vgpu, nvmlFBCStats_t *stats)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, stats, &inst);

	return ret ? ret : instance_no_stats(stats);
}

nvmlReturn_t nvmlVgpuInstanceGetFBCSessions(nvmlVgpuInstance_t vgpu, unsigned int *count,
					    nvmlFBCSessionInfo_t *sessions)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, count, &inst);

	return ret ? ret : nv_leave(nv_put_count(sessions, count, 0));
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *stats)
{
	nvmlReturn_t ret = nv_enter_device(device, stats);

	return ret ? ret : instance_no_stats(stats);
}

nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int *count,
				      nvmlFBCSessionInfo_t *sessions)
{
	nvmlReturn_t ret = nv_enter_device(device, count);

	return ret ? ret : nv_leave(nv_put_count(sessions, count, 0));
}
