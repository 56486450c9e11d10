// SPDX-License-Identifier: GPL-2.0
/* Profiles of GPU instances, which are the driver's of partitions, and of compute instances. */
#include <stdio.h>
#include <string.h>

#include "mig.h"

/* Slices of the profiles, by their numbers in NVML. */
static const uint8_t profile_slices[] = {
	[NVML_GPU_INSTANCE_PROFILE_1_SLICE] = 1,
	[NVML_GPU_INSTANCE_PROFILE_2_SLICE] = 2,
	[NVML_GPU_INSTANCE_PROFILE_3_SLICE] = 3,
	[NVML_GPU_INSTANCE_PROFILE_4_SLICE] = 4,
	[NVML_GPU_INSTANCE_PROFILE_7_SLICE] = 7,
	[NVML_GPU_INSTANCE_PROFILE_8_SLICE] = 8,
	[NVML_GPU_INSTANCE_PROFILE_6_SLICE] = 6,
};

unsigned int nv_profile_number(uint32_t slices)
{
	unsigned int i;

	for (i = 0; i < NV_ARRAY_SIZE(profile_slices); i++)
		if (profile_slices[i] == slices)
			return i;
	return NVML_NO_INSTANCE;
}

nvmlReturn_t nv_profile_slices(unsigned int number, unsigned int most, uint32_t *slices)
{
	if (number >= most)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (number >= NV_ARRAY_SIZE(profile_slices))
		return NVML_ERROR_NOT_SUPPORTED;
	*slices = profile_slices[number];
	return NVML_SUCCESS;
}

nvmlReturn_t nv_profile_of_slices(const struct nvmlDevice_st *device, uint32_t slices,
				  struct vgpu_ctl_profile *profile)
{
	nvmlReturn_t ret;
	uint32_t i;

	for (i = 0; i < device->info.profiles; i++) {
		ret = nv_node_profile(device->info.gpu, i, profile);
		if (ret)
			return ret;
		if (profile->slices == slices)
			return profile->fb_bytes ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
	}
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nv_profile(const struct nvmlDevice_st *device, unsigned int number,
			struct vgpu_ctl_profile *profile)
{
	uint32_t slices;
	nvmlReturn_t ret = nv_profile_slices(number, NVML_GPU_INSTANCE_PROFILE_COUNT, &slices);

	return ret ? ret : nv_profile_of_slices(device, slices, profile);
}

/* Places of one profile never overlap. */
unsigned int nv_profile_most(const struct vgpu_ctl_profile *profile)
{
	return (unsigned int)__builtin_popcount(profile->starts);
}

void nv_profile_name(const uint8_t *name, uint64_t fb_bytes, char text[NV_NAME])
{
	snprintf(text, NV_NAME, "MIG %.*s.%ugb", VGPU_PROFILE_NAME_LEN, (const char *)name,
		 (unsigned int)(fb_bytes >> 30));
}

unsigned int nv_engine_count(const struct nvmlDevice_st *device, uint32_t engine_class)
{
	unsigned int i, nr = 0;

	for (i = 0; i < device->info.engines && i < VGPU_MAX_ENGINES; i++)
		nr += device->info.engine[i].engine_class == engine_class;
	return nr;
}

/*
 * The driver tells units only of partitions that are there, and of one that shares CPUs in time it
 * tells all, as in its slots it has them. This is its rule for the others: each engine has one.
 */
unsigned int nv_slices_units(const struct nvmlDevice_st *device, uint32_t slices)
{
	unsigned int i, units, nr = 0;

	for (i = 0; i < device->info.engines && i < VGPU_MAX_ENGINES; i++) {
		if (device->info.engine[i].engine_class != VGPU_HW_ENGINE_GR)
			continue;
		units = device->info.engine[i].units * slices / VGPU_PARTITION_SLICES;
		nr += units ? units : 1;
	}
	return nr;
}
