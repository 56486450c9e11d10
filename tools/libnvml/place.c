// SPDX-License-Identifier: GPL-2.0
/* Where vGPUs of a type can be placed, by the driver's own rule (core/objects/placement.c). */
#include <string.h>

#include <linux/kernel.h>

#include "core/objects/placement.h"

#include "internal.h"

nvmlReturn_t nvmlDeviceGetVgpuHeterogeneousMode(nvmlDevice_t device,
						nvmlVgpuHeterogeneousMode_t *mode)
{
	nvmlReturn_t ret = nv_enter_host_device(device, mode);

	if (ret)
		return ret;
	if (mode->version != NVML_STRUCT_VERSION(VgpuHeterogeneousMode, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	mode->mode = device->info.placement == VGPU_PLACEMENT_MIXED;
	return nv_leave(NVML_SUCCESS);
}

/* It is chosen when the driver is loaded: only what is set already can be set. */
nvmlReturn_t nvmlDeviceSetVgpuHeterogeneousMode(nvmlDevice_t device,
						const nvmlVgpuHeterogeneousMode_t *mode)
{
	nvmlReturn_t ret = nv_enter_host_device(device, mode);
	unsigned int now;

	if (ret)
		return ret;
	if (mode->version != NVML_STRUCT_VERSION(VgpuHeterogeneousMode, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	if (mode->mode > NVML_FEATURE_ENABLED)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	now = device->info.placement == VGPU_PLACEMENT_MIXED;
	return nv_leave(mode->mode == now ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
}

static const struct nv_type *place_type(const struct nvmlDevice_st *device, nvmlVgpuTypeId_t id)
{
	unsigned int i;

	for (i = 0; i < device->types; i++)
		if (device->type[i]->id == id)
			return device->type[i];
	return NULL;
}

/* Of the second version the mode is given, too; there are places for the one that is in force. */
static nvmlReturn_t place_check(const struct nvmlDevice_st *device,
				const nvmlVgpuPlacementList_t *list)
{
	if (list->version == NVML_STRUCT_VERSION(VgpuPlacementList, 1))
		return NVML_SUCCESS;
	if (list->version != NVML_STRUCT_VERSION(VgpuPlacementList, 2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (list->mode > NVML_VGPU_PGPU_HOMOGENEOUS_MODE)
		return NVML_ERROR_INVALID_ARGUMENT;
	return list->mode == (device->info.placement == VGPU_PLACEMENT_HOMOGENEOUS) ?
	       NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

/* Could a vGPU of that size be made there, beside those that are there? */
static bool place_is_free(const struct nv_vgpus *vgpus, bool homogeneous, u32 start_gb,
			  u32 size_gb)
{
	unsigned int i;

	if (!vgpus)
		return true;
	for (i = 0; i < vgpus->nr; i++) {
		u32 start = vgpus->inst[i].placement_gb;
		u32 size = (u32)(vgpus->inst[i].fb_bytes >> 30);

		if (homogeneous && size != size_gb)
			return false;
		if (start < start_gb + size_gb && start_gb < start + size)
			return false;
	}
	return vgpus->nr < VGPU_PLACEMENT_MAX;
}

/*
 * Of the first version the array's room is not told: clients make it as long as there can be vGPUs
 * of the type on a GPU, so that it takes all places.
 */
static unsigned int place_room(const nvmlVgpuPlacementList_t *list)
{
	if (!list->placementIds)
		return 0;
	return list->version == NVML_STRUCT_VERSION(VgpuPlacementList, 1) ? VGPU_PLACEMENT_MAX :
								      list->count;
}

static nvmlReturn_t place_put(const struct nvmlDevice_st *device, const struct nv_type *type,
			      const struct nv_vgpus *vgpus, nvmlVgpuPlacementList_t *list)
{
	bool homogeneous = device->info.placement == VGPU_PLACEMENT_HOMOGENEOUS;
	u32 size_gb = type->info.placement_size_gb, id;
	unsigned int nr = 0, room = place_room(list), i, count;
	struct vgpu_placement places;

	vgpu_placement_init(&places, (u32)(device->info.fb_bytes >> 30), homogeneous);
	count = vgpu_placement_count(&places, size_gb);
	list->placementSize = size_gb;
	for (i = 0; i < count; i++) {
		id = vgpu_placement_id(&places, size_gb, i);
		if (!place_is_free(vgpus, homogeneous, id, size_gb))
			continue;
		if (nr < room)
			list->placementIds[nr] = id;
		nr++;
	}
	list->count = nr;
	return nr <= room ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

static nvmlReturn_t place_list(nvmlDevice_t device, nvmlVgpuTypeId_t id,
			       nvmlVgpuPlacementList_t *list, bool creatable)
{
	nvmlReturn_t ret = nv_enter_host_device(device, list);
	const struct nv_vgpus *vgpus = NULL;
	const struct nv_type *type;

	if (ret)
		return ret;
	ret = place_check(device, list);
	if (ret)
		return nv_leave(ret);
	type = place_type(device, id);
	if (!type)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (creatable)
		ret = nv_vgpus(device, false, &vgpus);
	if (!ret)
		ret = place_put(device, type, vgpus, list);
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetVgpuTypeSupportedPlacements(nvmlDevice_t device, nvmlVgpuTypeId_t type,
						      nvmlVgpuPlacementList_t *list)
{
	return place_list(device, type, list, false);
}

nvmlReturn_t nvmlDeviceGetVgpuTypeCreatablePlacements(nvmlDevice_t device, nvmlVgpuTypeId_t type,
						      nvmlVgpuPlacementList_t *list)
{
	return place_list(device, type, list, true);
}
