/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MIG of the NVML programming interface: types and functions, for nvml.h. A GPU instance is a
 * partition of the driver's; Documentation/management.rst says what a compute instance is here.
 */
#ifndef VGPU_NVML_MIG_H
#define VGPU_NVML_MIG_H

#include "nvml_types.h"

#define NVML_DEVICE_MIG_DISABLE		0u
#define NVML_DEVICE_MIG_ENABLE		1u

/* By slices; numbers up to COUNT that are not here are of profiles that this product has not. */
#define NVML_GPU_INSTANCE_PROFILE_1_SLICE	0u
#define NVML_GPU_INSTANCE_PROFILE_2_SLICE	1u
#define NVML_GPU_INSTANCE_PROFILE_3_SLICE	2u
#define NVML_GPU_INSTANCE_PROFILE_4_SLICE	3u
#define NVML_GPU_INSTANCE_PROFILE_7_SLICE	4u
#define NVML_GPU_INSTANCE_PROFILE_8_SLICE	5u
#define NVML_GPU_INSTANCE_PROFILE_6_SLICE	6u
#define NVML_GPU_INSTANCE_PROFILE_COUNT		0x12u

#define NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE	0u
#define NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE	1u
#define NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE	2u
#define NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE	3u
#define NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE	4u
#define NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE	5u
#define NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE	6u
#define NVML_COMPUTE_INSTANCE_PROFILE_COUNT	9u

#define NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED	0u
#define NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT	1u

#define NVML_DEVICE_NAME_V2_BUFFER_SIZE	96

typedef struct nvmlGpuInstance_st *nvmlGpuInstance_t;
typedef struct nvmlComputeInstance_st *nvmlComputeInstance_t;

typedef struct nvmlDeviceAttributes_st {
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	unsigned int gpuInstanceSliceCount;
	unsigned int computeInstanceSliceCount;
	unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;

typedef struct nvmlGpuInstancePlacement_st {
	unsigned int start;		/* in slices of memory, eighths */
	unsigned int size;
} nvmlGpuInstancePlacement_t;

typedef struct nvmlGpuInstanceProfileInfo_st {
	unsigned int id;
	unsigned int isP2pSupported;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB;
} nvmlGpuInstanceProfileInfo_t;

typedef struct nvmlGpuInstanceProfileInfo_v2_st {
	unsigned int version;
	unsigned int id;
	unsigned int isP2pSupported;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
} nvmlGpuInstanceProfileInfo_v2_t;

typedef struct nvmlGpuInstanceProfileInfo_v3_st {
	unsigned int version;
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	unsigned int capabilities;
} nvmlGpuInstanceProfileInfo_v3_t;

typedef struct nvmlGpuInstanceInfo_st {
	nvmlDevice_t device;
	unsigned int id;
	unsigned int profileId;
	nvmlGpuInstancePlacement_t placement;
} nvmlGpuInstanceInfo_t;

typedef struct nvmlComputeInstancePlacement_st {
	unsigned int start;		/* in slices of the GPU instance's units */
	unsigned int size;
} nvmlComputeInstancePlacement_t;

typedef struct nvmlComputeInstanceProfileInfo_st {
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
} nvmlComputeInstanceProfileInfo_t;

typedef struct nvmlComputeInstanceProfileInfo_v2_st {
	unsigned int version;
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
} nvmlComputeInstanceProfileInfo_v2_t;

typedef struct nvmlComputeInstanceProfileInfo_v3_st {
	unsigned int version;
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	unsigned int capabilities;
} nvmlComputeInstanceProfileInfo_v3_t;

typedef struct nvmlComputeInstanceInfo_st {
	nvmlDevice_t device;
	nvmlGpuInstance_t gpuInstance;
	unsigned int id;
	unsigned int profileId;
	nvmlComputeInstancePlacement_t placement;
} nvmlComputeInstanceInfo_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The mode, and MIG devices */
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current,
				  unsigned int *pending);
nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t *activation);
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is_mig);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
						 nvmlDevice_t *mig_device);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig_device,
							  nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig_device, unsigned int *id);
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t mig_device, unsigned int *id);
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t mig_device, nvmlDeviceAttributes_t *attrs);
nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t mig_device, nvmlDeviceAttributes_t *attrs);

/* GPU instances */
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
						 nvmlGpuInstanceProfileInfo_t *info);
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
						  nvmlGpuInstanceProfileInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int id,
						      nvmlGpuInstanceProfileInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int id,
							   nvmlGpuInstancePlacement_t *places,
							   unsigned int *count);
nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int id,
						       unsigned int *count);
nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int id,
					 nvmlGpuInstance_t *gi);
nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int id,
						      const nvmlGpuInstancePlacement_t *place,
						      nvmlGpuInstance_t *gi);
nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gi);
nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t *gis,
				       unsigned int *count);
nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id,
					  nvmlGpuInstance_t *gi);
nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gi, nvmlGpuInstanceInfo_t *info);

/* Compute instances */
nvmlReturn_t
nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gi, unsigned int profile,
					     unsigned int engine_profile,
					     nvmlComputeInstanceProfileInfo_t *info);
nvmlReturn_t
nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gi, unsigned int profile,
					      unsigned int engine_profile,
					      nvmlComputeInstanceProfileInfo_v2_t *info);
nvmlReturn_t
nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t gi, unsigned int id,
						    nvmlComputeInstancePlacement_t *places,
						    unsigned int *count);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gi,
								unsigned int id,
								unsigned int *count);
nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gi, unsigned int id,
						  nvmlComputeInstance_t *ci);
nvmlReturn_t
nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t gi, unsigned int id,
						  const nvmlComputeInstancePlacement_t *place,
						  nvmlComputeInstance_t *ci);
nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t ci);
nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gi, unsigned int id,
						nvmlComputeInstance_t *cis, unsigned int *count);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gi, unsigned int id,
						   nvmlComputeInstance_t *ci);
nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t ci,
					   nvmlComputeInstanceInfo_t *info);
nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t ci, nvmlComputeInstanceInfo_t *info);

/* A further name */
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(nvmlDevice_t device, unsigned int id,
							nvmlGpuInstancePlacement_t *places,
							unsigned int *count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* VGPU_NVML_MIG_H */
