// SPDX-License-Identifier: GPL-2.0
/* GPU instances, the driver's partitions: their profiles, places, creation and removal. */
#include <string.h>

#include "mig.h"

/* Of all versions; the first one has neither version nor name. */
static nvmlGpuInstanceProfileInfo_v2_t gi_profile_info(const struct nvmlDevice_st *device,
						       const struct vgpu_ctl_profile *profile)
{
	nvmlGpuInstanceProfileInfo_v2_t info = {
		.id = nv_profile_number(profile->slices),
		.sliceCount = profile->slices,
		.instanceCount = nv_profile_most(profile),
		.multiprocessorCount = nv_slices_units(device, profile->slices),
		.copyEngineCount = nv_engine_count(device, VGPU_HW_ENGINE_CE),
		.decoderCount = nv_engine_count(device, VGPU_HW_ENGINE_DEC),
		.encoderCount = nv_engine_count(device, VGPU_HW_ENGINE_ENC),
		.memorySizeMB = profile->fb_bytes >> 20,
	};

	nv_profile_name(profile->name, profile->fb_bytes, info.name);
	return info;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
						 nvmlGpuInstanceProfileInfo_t *info)
{
	nvmlReturn_t ret = nv_enter_divided(device, info);
	nvmlGpuInstanceProfileInfo_v2_t all;
	struct vgpu_ctl_profile found;

	if (ret)
		return ret;
	ret = nv_profile(device, profile, &found);
	if (ret)
		return nv_leave(ret);
	all = gi_profile_info(device, &found);
	*info = (nvmlGpuInstanceProfileInfo_t) {
		.id = all.id,
		.sliceCount = all.sliceCount,
		.instanceCount = all.instanceCount,
		.multiprocessorCount = all.multiprocessorCount,
		.copyEngineCount = all.copyEngineCount,
		.decoderCount = all.decoderCount,
		.encoderCount = all.encoderCount,
		.memorySizeMB = all.memorySizeMB,
	};
	return nv_leave(NVML_SUCCESS);
}

static void gi_put_v3(const nvmlGpuInstanceProfileInfo_v2_t *all, void *to)
{
	nvmlGpuInstanceProfileInfo_v3_t info = {
		.version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3),
		.id = all->id,
		.sliceCount = all->sliceCount,
		.instanceCount = all->instanceCount,
		.multiprocessorCount = all->multiprocessorCount,
		.copyEngineCount = all->copyEngineCount,
		.decoderCount = all->decoderCount,
		.encoderCount = all->encoderCount,
		.memorySizeMB = all->memorySizeMB,
	};

	memcpy(info.name, all->name, sizeof(info.name));
	memcpy(to, &info, sizeof(info));
}

/* A profile's number and its id are the same. */
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
						  nvmlGpuInstanceProfileInfo_v2_t *info)
{
	nvmlReturn_t ret = nv_enter_divided(device, info);
	nvmlGpuInstanceProfileInfo_v2_t all;
	struct vgpu_ctl_profile found;
	unsigned int version;

	if (ret)
		return ret;
	version = info->version;
	if (version != NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2) &&
	    version != NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	ret = nv_profile(device, profile, &found);
	if (ret)
		return nv_leave(ret);
	all = gi_profile_info(device, &found);
	all.version = version;
	if (version == NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2))
		*info = all;
	else
		gi_put_v3(&all, info);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int id,
						      nvmlGpuInstanceProfileInfo_v2_t *info)
{
	return nvmlDeviceGetGpuInstanceProfileInfoV(device, id, info);
}

/* The lock is held if it is SUCCESS. */
static nvmlReturn_t gi_enter(nvmlDevice_t device, unsigned int id, const void *out,
			     struct vgpu_ctl_profile *profile)
{
	nvmlReturn_t ret = nv_enter_divided(device, out);

	if (ret)
		return ret;
	ret = nv_profile(device, id, profile);
	return ret ? nv_leave(ret) : ret;
}

/* All places, free or not. Clients make the array as long as the profile's instanceCount. */
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int id,
							   nvmlGpuInstancePlacement_t *places,
							   unsigned int *count)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret = gi_enter(device, id, count, &profile);
	unsigned int i, nr = 0;

	if (ret)
		return ret;
	for (i = 0; places && i < VGPU_PARTITION_EIGHTHS; i++)
		if (profile.starts & 1u << i)
			places[nr++] = (nvmlGpuInstancePlacement_t) {
				.start = i,
				.size = profile.eighths,
			};
	*count = nv_profile_most(&profile);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int id,
						       unsigned int *count)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret = gi_enter(device, id, count, &profile);

	if (ret)
		return ret;
	*count = (unsigned int)__builtin_popcount(profile.fits);
	return nv_leave(NVML_SUCCESS);
}

/* It can be removed by somebody else at once. */
static nvmlReturn_t gi_create(struct nvmlDevice_st *device, const struct vgpu_ctl_profile *profile,
			      uint32_t start, nvmlGpuInstance_t *gi)
{
	struct vgpu_ctl_partition_create call = {
		.size = sizeof(call),
		.gpu = device->info.gpu,
		.profile = profile->index,
		.start = start,
	};
	const struct nv_mig *mig;
	nvmlReturn_t ret;

	ret = nv_node_call(VGPU_IOC_PARTITION_CREATE, &call);
	if (!ret)
		ret = nv_migs_read(device);
	if (ret)
		return ret;
	mig = nv_mig_find(device, call.partition);
	if (!mig)
		return NVML_ERROR_NOT_FOUND;
	*gi = nv_gi_handle(mig);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int id,
					 nvmlGpuInstance_t *gi)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret = gi_enter(device, id, gi, &profile);

	if (ret)
		return ret;
	return nv_leave(gi_create(device, &profile, VGPU_PARTITION_ANYWHERE, gi));
}

nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int id,
						      const nvmlGpuInstancePlacement_t *place,
						      nvmlGpuInstance_t *gi)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret = gi_enter(device, id, gi, &profile);

	if (ret)
		return ret;
	if (!place || place->size != profile.eighths || place->start >= VGPU_PARTITION_EIGHTHS)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(gi_create(device, &profile, place->start, gi));
}

/* Its compute instance goes with it: only vGPUs keep it. */
nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gi)
{
	struct vgpu_ctl_partition_remove call = { .size = sizeof(call) };
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_gi(gi, &gi, &mig);

	if (ret)
		return ret;
	call.gpu = mig->device->info.gpu;
	call.partition = mig->partition;
	ret = nv_node_call(VGPU_IOC_PARTITION_REMOVE, &call);
	return nv_leave(ret == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : ret);
}

/* Clients do not tell the array's room: it is the profile's instanceCount. */
nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t *gis,
				       unsigned int *count)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret = gi_enter(device, id, count, &profile);
	unsigned int i, nr = 0;

	if (ret)
		return ret;
	ret = nv_migs_read(device);
	if (ret)
		return nv_leave(ret);
	for (i = 0; i < device->migs.nr; i++) {
		const struct nv_mig *mig = &device->migs.mig[i];

		if (mig->info.slices != profile.slices || nr == nv_profile_most(&profile))
			continue;
		if (gis)
			gis[nr] = nv_gi_handle(mig);
		nr++;
	}
	*count = nr;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id,
					  nvmlGpuInstance_t *gi)
{
	nvmlReturn_t ret = nv_enter_divided(device, gi);
	const struct nv_mig *mig;

	if (ret)
		return ret;
	ret = nv_migs_read(device);
	if (ret)
		return nv_leave(ret);
	mig = nv_mig_find(device, id);
	if (!mig)
		return nv_leave(NVML_ERROR_NOT_FOUND);
	*gi = nv_gi_handle(mig);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gi, nvmlGpuInstanceInfo_t *info)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_gi(gi, info, &mig);

	if (ret)
		return ret;
	*info = (nvmlGpuInstanceInfo_t) {
		.device = mig->device,
		.id = mig->partition,
		.profileId = nv_profile_number(mig->info.slices),
		.placement = { .start = mig->info.start, .size = mig->info.eighths },
	};
	return nv_leave(NVML_SUCCESS);
}
