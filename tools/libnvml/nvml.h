/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of NVML that this library has. All other names of NVML are there, too, and return
 * NVML_ERROR_NOT_SUPPORTED: functions.list. What each returns is in Documentation/management.rst.
 *
 * NVML is the programming interface of a vendor's management library, for which many tools were
 * written; this library answers it for the GPUs of /dev/vgpu. Neither its code nor this header are
 * the vendor's.
 */
#ifndef VGPU_NVML_H
#define VGPU_NVML_H

#include "nvml_mig.h"
#include "nvml_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The library */
nvmlReturn_t nvmlInitWithFlags(unsigned int flags);
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length);
const char *nvmlErrorString(nvmlReturn_t result);

/* GPUs */
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *number);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode);
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);

/* Utilization */
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates);
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization,
					     unsigned int *period_us);
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization,
					     unsigned int *period_us);
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
					     nvmlGpuDynamicPstatesInfo_t *info);
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
				  unsigned long long last_us, nvmlValueType_t *value_type,
				  unsigned int *count, nvmlSample_t *samples);
nvmlReturn_t nvmlDeviceGetVgpuUtilization(nvmlDevice_t device, unsigned long long last_us,
					  nvmlValueType_t *value_type, unsigned int *count,
					  nvmlVgpuInstanceUtilizationSample_t *samples);
nvmlReturn_t nvmlDeviceGetVgpuInstancesUtilizationInfo(nvmlDevice_t device,
						       nvmlVgpuInstancesUtilizationInfo_t *info);

/* Processes */
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count,
						   nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
							nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
					     nvmlProcessUtilizationSample_t *samples,
					     unsigned int *count, unsigned long long last_us);
nvmlReturn_t nvmlDeviceGetVgpuProcessUtilization(nvmlDevice_t device, unsigned long long last_us,
						 unsigned int *count,
						 nvmlVgpuProcessUtilizationSample_t *samples);
nvmlReturn_t nvmlDeviceGetVgpuProcessesUtilizationInfo(nvmlDevice_t device,
						       nvmlVgpuProcessesUtilizationInfo_t *info);

/* Virtualization, versions, licences */
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
					     nvmlGpuVirtualizationMode_t *mode);
nvmlReturn_t nvmlDeviceSetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t mode);
nvmlReturn_t nvmlDeviceGetHostVgpuMode(nvmlDevice_t device, nvmlHostVgpuMode_t *mode);
nvmlReturn_t nvmlGetVgpuDriverCapabilities(nvmlVgpuDriverCapability_t capability,
					   unsigned int *result);
nvmlReturn_t nvmlDeviceGetVgpuCapabilities(nvmlDevice_t device,
					   nvmlDeviceVgpuCapability_t capability,
					   unsigned int *result);
nvmlReturn_t nvmlDeviceSetVgpuCapabilities(nvmlDevice_t device,
					   nvmlDeviceVgpuCapability_t capability,
					   nvmlEnableState_t state);
nvmlReturn_t nvmlGetVgpuVersion(nvmlVgpuVersion_t *supported, nvmlVgpuVersion_t *current);
nvmlReturn_t nvmlSetVgpuVersion(nvmlVgpuVersion_t *version);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device,
						    nvmlGridLicensableFeatures_t *features);
nvmlReturn_t nvmlVgpuInstanceGetLicenseStatus(nvmlVgpuInstance_t vgpu, unsigned int *licensed);
nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo_v2(nvmlVgpuInstance_t vgpu,
					       nvmlVgpuLicenseInfo_t *info);

/* Types */
nvmlReturn_t nvmlDeviceGetSupportedVgpus(nvmlDevice_t device, unsigned int *count,
					 nvmlVgpuTypeId_t *types);
nvmlReturn_t nvmlDeviceGetCreatableVgpus(nvmlDevice_t device, unsigned int *count,
					 nvmlVgpuTypeId_t *types);
nvmlReturn_t nvmlVgpuTypeGetClass(nvmlVgpuTypeId_t id, char *name, unsigned int *size);
nvmlReturn_t nvmlVgpuTypeGetName(nvmlVgpuTypeId_t id, char *name, unsigned int *size);
nvmlReturn_t nvmlVgpuTypeGetLicense(nvmlVgpuTypeId_t id, char *license, unsigned int size);
nvmlReturn_t nvmlVgpuTypeGetGspHeapSize(nvmlVgpuTypeId_t id, unsigned long long *bytes);
nvmlReturn_t nvmlVgpuTypeGetFbReservation(nvmlVgpuTypeId_t id, unsigned long long *bytes);
nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(nvmlVgpuTypeId_t id, unsigned long long *bytes);
nvmlReturn_t nvmlVgpuTypeGetDeviceID(nvmlVgpuTypeId_t id, unsigned long long *device_id,
				     unsigned long long *subsystem_id);
nvmlReturn_t nvmlVgpuTypeGetNumDisplayHeads(nvmlVgpuTypeId_t id, unsigned int *heads);
nvmlReturn_t nvmlVgpuTypeGetResolution(nvmlVgpuTypeId_t id, unsigned int display, unsigned int *x,
				       unsigned int *y);
nvmlReturn_t nvmlVgpuTypeGetFrameRateLimit(nvmlVgpuTypeId_t id, unsigned int *fps);
nvmlReturn_t nvmlVgpuTypeGetMaxInstances(nvmlDevice_t device, nvmlVgpuTypeId_t id,
					 unsigned int *max_instances);
nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerVm(nvmlVgpuTypeId_t id, unsigned int *max_instances);
nvmlReturn_t nvmlVgpuTypeGetBAR1Info(nvmlVgpuTypeId_t id, nvmlVgpuTypeBar1Info_t *info);
nvmlReturn_t nvmlVgpuTypeGetCapabilities(nvmlVgpuTypeId_t id, nvmlVgpuCapability_t capability,
					 unsigned int *result);
nvmlReturn_t nvmlVgpuTypeGetGpuInstanceProfileId(nvmlVgpuTypeId_t id, unsigned int *profile);

/* Placements */
nvmlReturn_t nvmlDeviceGetVgpuHeterogeneousMode(nvmlDevice_t device,
						nvmlVgpuHeterogeneousMode_t *mode);
nvmlReturn_t nvmlDeviceSetVgpuHeterogeneousMode(nvmlDevice_t device,
						const nvmlVgpuHeterogeneousMode_t *mode);
nvmlReturn_t nvmlDeviceGetVgpuTypeSupportedPlacements(nvmlDevice_t device, nvmlVgpuTypeId_t type,
						      nvmlVgpuPlacementList_t *list);
nvmlReturn_t nvmlDeviceGetVgpuTypeCreatablePlacements(nvmlDevice_t device, nvmlVgpuTypeId_t type,
						      nvmlVgpuPlacementList_t *list);

/* vGPUs */
nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, unsigned int *count,
				      nvmlVgpuInstance_t *ids);
nvmlReturn_t nvmlVgpuInstanceGetVmID(nvmlVgpuInstance_t vgpu, char *vm_id, unsigned int size,
				     nvmlVgpuVmIdType_t *type);
nvmlReturn_t nvmlVgpuInstanceGetUUID(nvmlVgpuInstance_t vgpu, char *uuid, unsigned int size);
nvmlReturn_t nvmlVgpuInstanceGetMdevUUID(nvmlVgpuInstance_t vgpu, char *uuid, unsigned int size);
nvmlReturn_t nvmlVgpuInstanceGetVmDriverVersion(nvmlVgpuInstance_t vgpu, char *version,
						unsigned int length);
nvmlReturn_t nvmlVgpuInstanceGetGpuPciId(nvmlVgpuInstance_t vgpu, char *pci_id,
					 unsigned int *length);
nvmlReturn_t nvmlVgpuInstanceGetFbUsage(nvmlVgpuInstance_t vgpu, unsigned long long *bytes);
nvmlReturn_t nvmlVgpuInstanceGetType(nvmlVgpuInstance_t vgpu, nvmlVgpuTypeId_t *type);
nvmlReturn_t nvmlVgpuInstanceGetFrameRateLimit(nvmlVgpuInstance_t vgpu, unsigned int *fps);
nvmlReturn_t nvmlVgpuInstanceGetEccMode(nvmlVgpuInstance_t vgpu, nvmlEnableState_t *mode);
nvmlReturn_t nvmlVgpuInstanceGetGpuInstanceId(nvmlVgpuInstance_t vgpu, unsigned int *id);
nvmlReturn_t nvmlVgpuInstanceGetPlacementId(nvmlVgpuInstance_t vgpu, nvmlVgpuPlacementId_t *place);
nvmlReturn_t nvmlVgpuInstanceGetFBCStats(nvmlVgpuInstance_t vgpu, nvmlFBCStats_t *stats);
nvmlReturn_t nvmlVgpuInstanceGetFBCSessions(nvmlVgpuInstance_t vgpu, unsigned int *count,
					    nvmlFBCSessionInfo_t *sessions);
nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *stats);
nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int *count,
				      nvmlFBCSessionInfo_t *sessions);

/* The scheduler */
nvmlReturn_t nvmlDeviceGetVgpuSchedulerCapabilities(nvmlDevice_t device,
						    nvmlVgpuSchedulerCapabilities_t *caps);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerState(nvmlDevice_t device,
					     nvmlVgpuSchedulerGetState_t *state);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerState_v2(nvmlDevice_t device,
						nvmlVgpuSchedulerStateInfo_v2_t *state);
nvmlReturn_t nvmlDeviceSetVgpuSchedulerState(nvmlDevice_t device,
					     nvmlVgpuSchedulerSetState_t *state);
nvmlReturn_t nvmlDeviceSetVgpuSchedulerState_v2(nvmlDevice_t device,
						nvmlVgpuSchedulerState_v2_t *state);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog_v2(nvmlDevice_t device,
					      nvmlVgpuSchedulerLogInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog(nvmlDevice_t device, nvmlVgpuSchedulerLog_t *old);

/* Accounting */
nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t *mode);
nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned int *size);
nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int *count,
					 unsigned int *pids);
nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid,
					  nvmlAccountingStats_t *stats);
nvmlReturn_t nvmlVgpuInstanceGetAccountingMode(nvmlVgpuInstance_t vgpu, nvmlEnableState_t *mode);
nvmlReturn_t nvmlVgpuInstanceGetAccountingPids(nvmlVgpuInstance_t vgpu, unsigned int *count,
					       unsigned int *pids);
nvmlReturn_t nvmlVgpuInstanceGetAccountingStats(nvmlVgpuInstance_t vgpu, unsigned int pid,
						nvmlAccountingStats_t *stats);

/* Metadata and compatibility */
nvmlReturn_t nvmlVgpuInstanceGetMetadata(nvmlVgpuInstance_t vgpu, nvmlVgpuMetadata_t *meta,
					 unsigned int *size);
nvmlReturn_t nvmlDeviceGetVgpuMetadata(nvmlDevice_t device, nvmlVgpuPgpuMetadata_t *meta,
				       unsigned int *size);
nvmlReturn_t nvmlGetVgpuCompatibility(nvmlVgpuMetadata_t *vgpu, nvmlVgpuPgpuMetadata_t *pgpu,
				      nvmlVgpuPgpuCompatibility_t *compatibility);
nvmlReturn_t nvmlDeviceGetPgpuMetadataString(nvmlDevice_t device, char *text, unsigned int *size);

/* Events */
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *out);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types);
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
				      nvmlEventSet_t set);
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int timeout_ms);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *old, unsigned int timeout_ms);

/* Further names of some of these */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetCount(unsigned int *count);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures(nvmlDevice_t device,
						 nvmlGridLicensableFeatures_t *features);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v2(nvmlDevice_t device,
						    nvmlGridLicensableFeatures_t *features);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v3(nvmlDevice_t device,
						    nvmlGridLicensableFeatures_t *features);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *address, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
							nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo(nvmlVgpuInstance_t vgpu, nvmlVgpuLicenseInfo_t *info);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* VGPU_NVML_H */
