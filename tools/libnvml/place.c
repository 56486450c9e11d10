// SPDX-License-Identifier: GPL-2.0
/* Where vGPUs of a type can be placed, by the driver's own rules. */
#include <string.h>

#include <linux/kernel.h>

#include "core/objects/placement.h"
#include "core/settings/share_rules.h"

#include "mig.h"

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

/* A part of the framebuffer that vGPUs of a type can be in: a partition's, or all of it. */
struct place_region {
	uint32_t partition;
	u32 start_gb;
	u32 size_gb;
	uint32_t guarantees;	/* of the vGPUs that are there, per mille */
};

struct place_regions {
	unsigned int nr;
	struct place_region at[NV_MIGS_MAX];
};

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

/* Wherever there can be a partition for the type, or the whole GPU. */
static nvmlReturn_t place_all(const struct nvmlDevice_st *device, const struct vgpu_ctl_type *type,
			      struct place_regions *regions)
{
	u32 region_gb = (u32)(device->info.fb_bytes >> 30);
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret;
	uint32_t i;

	regions->nr = 0;
	if (!type->slices) {
		regions->at[regions->nr++] = (struct place_region) { .size_gb = region_gb };
		return NVML_SUCCESS;
	}
	ret = nv_profile_of_slices(device, type->slices, &profile);
	if (ret)
		return ret;
	for (i = 0; i < VGPU_PARTITION_EIGHTHS; i++)
		if (profile.starts & 1u << i)
			regions->at[regions->nr++] = (struct place_region) {
				.start_gb = region_gb * i / VGPU_PARTITION_EIGHTHS,
				.size_gb = (u32)(profile.fb_bytes >> 30),
			};
	return NVML_SUCCESS;
}

/* Where there is a partition for the type; of a type that none more fits of now: nowhere. */
static nvmlReturn_t place_there(struct nvmlDevice_st *device, const struct vgpu_ctl_type *type,
				struct place_regions *regions)
{
	nvmlReturn_t ret;
	unsigned int i;

	regions->nr = 0;
	if (!type->available)
		return NVML_SUCCESS;
	if (!type->slices)
		return place_all(device, type, regions);
	ret = nv_migs_read(device);
	for (i = 0; !ret && i < device->migs.nr; i++) {
		const struct nv_mig *mig = &device->migs.mig[i];
		const struct vgpu_ctl_partition *part = &mig->info;

		if (part->slices == type->slices)
			regions->at[regions->nr++] = (struct place_region) {
				.partition = mig->partition,
				.start_gb = (u32)(part->fb_start >> 30),
				.size_gb = (u32)(part->fb_bytes >> 30),
				.guarantees = part->guarantee_sum,
			};
	}
	return ret;
}

/* Could a vGPU of that size be made there, beside those that are in the region? */
static bool place_is_free(const struct nv_vgpus *vgpus, const struct place_region *region,
			  bool homogeneous, u32 start_gb, u32 size_gb)
{
	unsigned int i;

	for (i = 0; i < vgpus->nr; i++) {
		u32 start = vgpus->inst[i].placement_gb;
		u32 size = (u32)(vgpus->inst[i].fb_bytes >> 30);

		if (vgpus->inst[i].partition != region->partition)
			continue;
		if (homogeneous && size != size_gb)
			return false;
		if (start < start_gb + size_gb && start_gb < start + size)
			return false;
	}
	/* It begins with a guarantee, which needs room, too. */
	return vgpu_share_room(region->guarantees, size_gb, region->size_gb, 1);
}

/*
 * Of the first version the array's room is not told: clients make it as long as there can be vGPUs
 * of the type on a GPU. There are more places, if there could be more vGPUs than a GPU may have.
 */
static unsigned int place_room(const nvmlVgpuPlacementList_t *list,
			       const struct vgpu_ctl_type *type)
{
	if (!list->placementIds)
		return 0;
	return list->version == NVML_STRUCT_VERSION(VgpuPlacementList, 1) ? type->max_instances :
								      list->count;
}

/* @vgpus: beside which the places are to be free, or NULL */
static nvmlReturn_t place_put(const struct place_regions *regions, bool homogeneous,
			      const struct vgpu_ctl_type *type, const struct nv_vgpus *vgpus,
			      nvmlVgpuPlacementList_t *list)
{
	u32 size_gb = type->placement_size_gb, id;
	unsigned int nr = 0, room = place_room(list, type), i, k, count;
	const struct place_region *region;
	struct vgpu_placement places;

	for (i = 0; i < regions->nr; i++) {
		region = &regions->at[i];
		vgpu_placement_init(&places, region->size_gb, homogeneous);
		count = vgpu_placement_count(&places, size_gb);
		for (k = 0; k < count; k++) {
			id = region->start_gb + vgpu_placement_id(&places, size_gb, k);
			if (vgpus && !place_is_free(vgpus, region, homogeneous, id, size_gb))
				continue;
			if (nr < room)
				list->placementIds[nr] = id;
			nr++;
		}
	}
	list->placementSize = size_gb;
	list->count = nr;
	return nr <= room ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

static nvmlReturn_t place_list(nvmlDevice_t device, nvmlVgpuTypeId_t id,
			       nvmlVgpuPlacementList_t *list, bool creatable)
{
	nvmlReturn_t ret = nv_enter_host_device(device, list);
	const struct nv_vgpus *vgpus = NULL;
	struct place_regions regions;
	struct vgpu_ctl_type type;

	if (ret)
		return ret;
	ret = place_check(device, list);
	if (!ret)
		ret = nv_device_type(device, id, &type);
	if (!ret && creatable)
		ret = nv_vgpus(device, false, &vgpus);
	if (!ret)
		ret = creatable ? place_there(device, &type, &regions) :
				  place_all(device, &type, &regions);
	if (!ret)
		ret = place_put(&regions, device->info.placement == VGPU_PLACEMENT_HOMOGENEOUS,
				&type, vgpus, list);
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
