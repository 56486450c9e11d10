// SPDX-License-Identifier: GPL-2.0
/*
 * Compute instances. The driver does not divide a partition further: it has one, of all its slices,
 * as long as it is there. A process that creates it gets that one, once; one that destroys it does
 * not see it any more, nor its MIG device. Other processes know nothing of either.
 */
#include <string.h>

#include "mig.h"

/* There is one profile: that of all slices of the GPU instance. */
static nvmlReturn_t ci_profile(const struct nv_mig *mig, unsigned int number)
{
	uint32_t slices;
	nvmlReturn_t ret;

	ret = nv_profile_slices(number, NVML_COMPUTE_INSTANCE_PROFILE_COUNT, &slices);
	if (!ret && slices != mig->info.slices)
		ret = NVML_ERROR_NOT_SUPPORTED;
	return ret;
}

static nvmlReturn_t ci_enter(nvmlGpuInstance_t gi, unsigned int profile, const void *out,
			     struct nv_mig **mig)
{
	nvmlReturn_t ret = nv_enter_gi(gi, out, mig);

	if (ret)
		return ret;
	ret = ci_profile(*mig, profile);
	return ret ? nv_leave(ret) : ret;
}

static nvmlComputeInstanceProfileInfo_t ci_profile_info(const struct nv_mig *mig)
{
	return (nvmlComputeInstanceProfileInfo_t) {
		.id = nv_profile_number(mig->info.slices),
		.sliceCount = mig->info.slices,
		.instanceCount = 1,
		.multiprocessorCount = nv_slices_units(mig->device, mig->info.slices),
		.sharedCopyEngineCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_CE),
		.sharedDecoderCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_DEC),
		.sharedEncoderCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_ENC),
	};
}

nvmlReturn_t
nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gi, unsigned int profile,
					     unsigned int engine_profile,
					     nvmlComputeInstanceProfileInfo_t *info)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_gi(gi, info, &mig);

	if (ret)
		return ret;
	if (engine_profile >= NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	ret = ci_profile(mig, profile);
	if (!ret)
		*info = ci_profile_info(mig);
	return nv_leave(ret);
}

/* The third version is the second one with a member more, of capabilities: there are none. */
nvmlReturn_t
nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gi, unsigned int profile,
					      unsigned int engine_profile,
					      nvmlComputeInstanceProfileInfo_v2_t *info)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_gi(gi, info, &mig);
	nvmlComputeInstanceProfileInfo_v3_t all = { 0 };
	nvmlComputeInstanceProfileInfo_t first;

	if (ret)
		return ret;
	all.version = info->version;
	if (all.version != NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 2) &&
	    all.version != NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 3))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	if (engine_profile >= NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	ret = ci_profile(mig, profile);
	if (ret)
		return nv_leave(ret);
	first = ci_profile_info(mig);
	memcpy((char *)&all + offsetof(nvmlComputeInstanceProfileInfo_v3_t, id), &first,
	       sizeof(first));
	nv_profile_name(mig->info.profile, mig->info.fb_bytes, all.name);
	memcpy(info, &all, all.version & 0xffffff);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t
nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t gi, unsigned int id,
						    nvmlComputeInstancePlacement_t *places,
						    unsigned int *count)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = ci_enter(gi, id, count, &mig);

	if (ret)
		return ret;
	if (places)
		places[0] = (nvmlComputeInstancePlacement_t) { .size = mig->info.slices };
	*count = 1;
	return nv_leave(NVML_SUCCESS);
}

/* As many as can be created by this process, which is told of one that is there once. */
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gi,
								unsigned int id,
								unsigned int *count)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = ci_enter(gi, id, count, &mig);

	if (ret)
		return ret;
	*count = mig->state != NV_CI_CREATED;
	return nv_leave(NVML_SUCCESS);
}

static nvmlReturn_t ci_create(struct nv_mig *mig, nvmlComputeInstance_t *ci)
{
	if (mig->state == NV_CI_CREATED)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	mig->state = NV_CI_CREATED;
	*ci = nv_ci_handle(mig);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gi, unsigned int id,
						  nvmlComputeInstance_t *ci)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = ci_enter(gi, id, ci, &mig);

	return ret ? ret : nv_leave(ci_create(mig, ci));
}

nvmlReturn_t
nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t gi, unsigned int id,
						  const nvmlComputeInstancePlacement_t *place,
						  nvmlComputeInstance_t *ci)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = ci_enter(gi, id, ci, &mig);

	if (ret)
		return ret;
	if (!place || place->start || place->size != mig->info.slices)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(ci_create(mig, ci));
}

nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t ci)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_ci(ci, &ci, &mig);

	if (ret)
		return ret;
	if (mig->info.instances)
		return nv_leave(NVML_ERROR_IN_USE);
	nv_ci_forget(mig);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gi, unsigned int id,
						nvmlComputeInstance_t *cis, unsigned int *count)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = ci_enter(gi, id, count, &mig);

	if (ret)
		return ret;
	*count = mig->state != NV_CI_DESTROYED;
	if (cis && *count)
		cis[0] = nv_ci_handle(mig);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gi, unsigned int id,
						   nvmlComputeInstance_t *ci)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_gi(gi, ci, &mig);

	if (ret)
		return ret;
	if (id != NV_CI_ID || mig->state == NV_CI_DESTROYED)
		return nv_leave(NVML_ERROR_NOT_FOUND);
	*ci = nv_ci_handle(mig);
	return nv_leave(NVML_SUCCESS);
}

/* Fills the first @room bytes: the first version of the structure ends before the placement. */
static nvmlReturn_t ci_info(nvmlComputeInstance_t ci, nvmlComputeInstanceInfo_t *info, size_t room)
{
	struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_ci(ci, info, &mig);
	nvmlComputeInstanceInfo_t all;

	if (ret)
		return ret;
	all = (nvmlComputeInstanceInfo_t) {
		.device = mig->device,
		.gpuInstance = nv_gi_handle(mig),
		.id = NV_CI_ID,
		.profileId = nv_profile_number(mig->info.slices),
		.placement = { .size = mig->info.slices },
	};
	memcpy(info, &all, room);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t ci,
					   nvmlComputeInstanceInfo_t *info)
{
	return ci_info(ci, info, sizeof(*info));
}

nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t ci, nvmlComputeInstanceInfo_t *info)
{
	return ci_info(ci, info, offsetof(nvmlComputeInstanceInfo_t, placement));
}
