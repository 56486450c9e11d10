// SPDX-License-Identifier: GPL-2.0
#include "vgpu_test.h"

#include <unistd.h>

#include "nvml_rows.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)

#define F(function, args)		{ #function, (call_t)(void *)function, args, 0 }
#define W(function, args, data, ver)	\
	{ #function, (call_t)(void *)function, args, NVML_STRUCT_VERSION(data, ver) }

const struct row rows[] = {
	F(nvmlSystemGetDriverVersion, "si"),
	F(nvmlSystemGetNVMLVersion, "si"),
	F(nvmlSystemGetCudaDriverVersion_v2, "p"),
	F(nvmlSystemGetProcessName, "isi"),
	F(nvmlDeviceGetCount_v2, "p"),
	F(nvmlDeviceGetHandleByIndex_v2, "ip"),
	F(nvmlDeviceGetHandleByPciBusId_v2, "pp"),
	F(nvmlDeviceGetHandleByUUID, "pp"),
	F(nvmlDeviceGetIndex, "dp"),
	F(nvmlDeviceGetMinorNumber, "dp"),
	F(nvmlDeviceGetName, "dsi"),
	F(nvmlDeviceGetUUID, "dsi"),
	F(nvmlDeviceGetVbiosVersion, "dsi"),
	F(nvmlDeviceGetComputeMode, "dp"),
	F(nvmlDeviceGetBrand, "dp"),
	F(nvmlDeviceGetPciInfo_v3, "dp"),
	F(nvmlDeviceGetPciInfo_v2, "dp"),
	F(nvmlDeviceGetPciInfo, "dp"),
	F(nvmlDeviceGetMemoryInfo, "dp"),
	W(nvmlDeviceGetMemoryInfo_v2, "dw", Memory, 2),
	F(nvmlDeviceGetUtilizationRates, "dp"),
	F(nvmlDeviceGetEncoderUtilization, "dpp"),
	F(nvmlDeviceGetDecoderUtilization, "dpp"),
	F(nvmlDeviceGetDynamicPstatesInfo, "dp"),
	F(nvmlDeviceGetSamples, "diippo"),
	F(nvmlDeviceGetVgpuUtilization, "dippo"),
	W(nvmlDeviceGetVgpuInstancesUtilizationInfo, "dw", VgpuInstancesUtilizationInfo, 1),
	F(nvmlDeviceGetGraphicsRunningProcesses_v3, "dpo"),
	F(nvmlDeviceGetGraphicsRunningProcesses, "dpo"),
	F(nvmlDeviceGetComputeRunningProcesses_v3, "dpo"),
	F(nvmlDeviceGetComputeRunningProcesses, "dpo"),
	F(nvmlDeviceGetMPSComputeRunningProcesses_v3, "dpo"),
	F(nvmlDeviceGetMPSComputeRunningProcesses, "dpo"),
	F(nvmlDeviceGetProcessUtilization, "dopi"),
	F(nvmlDeviceGetVgpuProcessUtilization, "dipo"),
	W(nvmlDeviceGetVgpuProcessesUtilizationInfo, "dw", VgpuProcessesUtilizationInfo, 1),
	F(nvmlDeviceGetVirtualizationMode, "dp"),
	F(nvmlDeviceSetVirtualizationMode, "di"),
	F(nvmlDeviceGetHostVgpuMode, "dp"),
	F(nvmlGetVgpuDriverCapabilities, "ip"),
	F(nvmlDeviceGetVgpuCapabilities, "dip"),
	F(nvmlDeviceSetVgpuCapabilities, "dii"),
	F(nvmlGetVgpuVersion, "pp"),
	F(nvmlSetVgpuVersion, "p"),
	F(nvmlDeviceGetGridLicensableFeatures_v4, "dp"),
	F(nvmlVgpuInstanceGetLicenseStatus, "vp"),
	F(nvmlVgpuInstanceGetLicenseInfo_v2, "vp"),
	F(nvmlDeviceGetSupportedVgpus, "dpo"),
	F(nvmlDeviceGetCreatableVgpus, "dpo"),
	F(nvmlVgpuTypeGetClass, "top"),
	F(nvmlVgpuTypeGetName, "top"),
	F(nvmlVgpuTypeGetLicense, "tsi"),
	F(nvmlVgpuTypeGetGspHeapSize, "tp"),
	F(nvmlVgpuTypeGetFbReservation, "tp"),
	F(nvmlVgpuTypeGetFramebufferSize, "tp"),
	F(nvmlVgpuTypeGetDeviceID, "tpp"),
	F(nvmlVgpuTypeGetNumDisplayHeads, "tp"),
	F(nvmlVgpuTypeGetResolution, "tipp"),
	F(nvmlVgpuTypeGetFrameRateLimit, "tp"),
	F(nvmlVgpuTypeGetMaxInstances, "dtp"),
	F(nvmlVgpuTypeGetMaxInstancesPerVm, "tp"),
	W(nvmlVgpuTypeGetBAR1Info, "tw", VgpuTypeBar1Info, 1),
	F(nvmlVgpuTypeGetCapabilities, "tip"),
	F(nvmlVgpuTypeGetGpuInstanceProfileId, "tp"),
	W(nvmlDeviceGetVgpuHeterogeneousMode, "dw", VgpuHeterogeneousMode, 1),
	W(nvmlDeviceSetVgpuHeterogeneousMode, "dw", VgpuHeterogeneousMode, 1),
	W(nvmlDeviceGetVgpuTypeSupportedPlacements, "dtw", VgpuPlacementList, 2),
	W(nvmlDeviceGetVgpuTypeCreatablePlacements, "dtw", VgpuPlacementList, 2),
	F(nvmlDeviceGetActiveVgpus, "dpo"),
	F(nvmlVgpuInstanceGetVmID, "vsip"),
	F(nvmlVgpuInstanceGetUUID, "vsi"),
	F(nvmlVgpuInstanceGetMdevUUID, "vsi"),
	F(nvmlVgpuInstanceGetVmDriverVersion, "vsi"),
	F(nvmlVgpuInstanceGetGpuPciId, "vop"),
	F(nvmlVgpuInstanceGetFbUsage, "vp"),
	F(nvmlVgpuInstanceGetType, "vp"),
	F(nvmlVgpuInstanceGetFrameRateLimit, "vp"),
	F(nvmlVgpuInstanceGetEccMode, "vp"),
	F(nvmlVgpuInstanceGetGpuInstanceId, "vp"),
	W(nvmlVgpuInstanceGetPlacementId, "vw", VgpuPlacementId, 1),
	F(nvmlVgpuInstanceGetFBCStats, "vp"),
	F(nvmlVgpuInstanceGetFBCSessions, "vpo"),
	F(nvmlDeviceGetFBCStats, "dp"),
	F(nvmlDeviceGetFBCSessions, "dpo"),
	F(nvmlDeviceGetVgpuSchedulerCapabilities, "dp"),
	F(nvmlDeviceGetVgpuSchedulerState, "dp"),
	F(nvmlDeviceGetVgpuSchedulerState_v2, "dp"),
	F(nvmlDeviceSetVgpuSchedulerState, "dp"),
	F(nvmlDeviceSetVgpuSchedulerState_v2, "dp"),
	F(nvmlDeviceGetVgpuSchedulerLog_v2, "dp"),
	F(nvmlDeviceGetVgpuSchedulerLog, "dp"),
	F(nvmlDeviceGetAccountingMode, "dp"),
	F(nvmlDeviceGetAccountingBufferSize, "dp"),
	F(nvmlDeviceGetAccountingPids, "dpo"),
	F(nvmlDeviceGetAccountingStats, "dip"),
	F(nvmlVgpuInstanceGetAccountingMode, "vp"),
	F(nvmlVgpuInstanceGetAccountingPids, "vpo"),
	F(nvmlVgpuInstanceGetAccountingStats, "vip"),
	F(nvmlVgpuInstanceGetMetadata, "vop"),
	F(nvmlDeviceGetVgpuMetadata, "dop"),
	F(nvmlGetVgpuCompatibility, "ppp"),
	F(nvmlDeviceGetPgpuMetadataString, "dop"),
	F(nvmlEventSetCreate, "p"),
	F(nvmlEventSetFree, "e"),
	F(nvmlDeviceGetSupportedEventTypes, "dp"),
	F(nvmlDeviceRegisterEvents, "die"),
	F(nvmlEventSetWait_v2, "epi"),
	F(nvmlEventSetWait, "epi"),
	F(nvmlDeviceGetMigMode, "dpp"),
	F(nvmlDeviceSetMigMode, "dip"),
	F(nvmlDeviceIsMigDeviceHandle, "dp"),
	F(nvmlDeviceGetMaxMigDeviceCount, "dp"),
	F(nvmlDeviceGetMigDeviceHandleByIndex, "dip"),
	F(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, "dp"),
	F(nvmlDeviceGetGpuInstanceId, "dp"),
	F(nvmlDeviceGetComputeInstanceId, "dp"),
	F(nvmlDeviceGetAttributes_v2, "dp"),
	F(nvmlDeviceGetAttributes, "dp"),
	F(nvmlDeviceGetGpuInstanceProfileInfo, "dip"),
	W(nvmlDeviceGetGpuInstanceProfileInfoV, "diw", GpuInstanceProfileInfo, 3),
	W(nvmlDeviceGetGpuInstanceProfileInfoByIdV, "diw", GpuInstanceProfileInfo, 3),
	F(nvmlDeviceGetGpuInstancePossiblePlacements_v2, "diap"),
	F(nvmlDeviceGetGpuInstanceRemainingCapacity, "dip"),
	F(nvmlDeviceCreateGpuInstance, "dip"),
	F(nvmlDeviceCreateGpuInstanceWithPlacement, "dipp"),
	F(nvmlGpuInstanceDestroy, "g"),
	F(nvmlDeviceGetGpuInstances, "diap"),
	F(nvmlDeviceGetGpuInstanceById, "dip"),
	F(nvmlGpuInstanceGetInfo, "gp"),
	F(nvmlGpuInstanceGetComputeInstanceProfileInfo, "giip"),
	W(nvmlGpuInstanceGetComputeInstanceProfileInfoV, "giiw", ComputeInstanceProfileInfo, 3),
	F(nvmlGpuInstanceGetComputeInstancePossiblePlacements, "giap"),
	F(nvmlGpuInstanceGetComputeInstanceRemainingCapacity, "gip"),
	F(nvmlGpuInstanceCreateComputeInstance, "gip"),
	F(nvmlGpuInstanceCreateComputeInstanceWithPlacement, "gipp"),
	F(nvmlComputeInstanceDestroy, "c"),
	F(nvmlGpuInstanceGetComputeInstances, "giap"),
	F(nvmlGpuInstanceGetComputeInstanceById, "gip"),
	F(nvmlComputeInstanceGetInfo_v2, "cp"),
	F(nvmlComputeInstanceGetInfo, "cp"),
};

const unsigned int rows_nr = ARRAY_SIZE(rows);

nvmlDevice_t dev;
nvmlVgpuInstance_t vgpu;
nvmlEventSet_t set;
nvmlGpuInstance_t gi;
nvmlComputeInstance_t ci;
char buffers[ARGS][ROOM];

bool row_is(const struct row *row, void *function)
{
	return row->call == (call_t)function;
}

void row_instance(void)
{
	OK(nvmlDeviceCreateGpuInstance(dev, NVML_GPU_INSTANCE_PROFILE_1_SLICE, &gi));
	OK(nvmlGpuInstanceGetComputeInstanceById(gi, 0, &ci));
}

void row_prepare(const struct row *row, uintptr_t *arg)
{
	unsigned int i;

	memset(buffers, 0, sizeof(buffers));
	for (i = 0; row->args[i]; i++) {
		switch (row->args[i]) {
		case 'd':
			arg[i] = (uintptr_t)dev;
			break;
		case 't':
			arg[i] = TYPE;
			break;
		case 'v':
			arg[i] = vgpu;
			break;
		case 'e':
			arg[i] = (uintptr_t)set;
			break;
		case 'g':
			arg[i] = (uintptr_t)gi;
			break;
		case 'c':
			arg[i] = (uintptr_t)ci;
			break;
		case 'i':
			arg[i] = i && row->args[i - 1] == 's' ? ROOM : 0;
			break;
		default:
			arg[i] = (uintptr_t)buffers[i];
			if (row->args[i] == 'w')
				memcpy(buffers[i], &row->version, sizeof(row->version));
		}
	}
	for (; i < ARGS; i++)
		arg[i] = 0;
	if (row_is(row, nvmlSystemGetProcessName))
		arg[0] = getpid();
}

nvmlReturn_t row_call(const struct row *row, const uintptr_t *arg)
{
	nvmlReturn_t ret = row->call(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	if (row_is(row, nvmlEventSetFree) && !ret)
		OK(nvmlEventSetCreate(&set));
	if (row_is(row, nvmlEventSetCreate) && !ret)
		OK(nvmlEventSetFree(*(nvmlEventSet_t *)arg[0]));
	if (row_is(row, nvmlDeviceCreateGpuInstance) && !ret)
		OK(nvmlGpuInstanceDestroy(*(nvmlGpuInstance_t *)arg[2]));
	if (row_is(row, nvmlComputeInstanceDestroy) && !ret)
		OK(nvmlGpuInstanceDestroy(gi));
	if ((row_is(row, nvmlGpuInstanceDestroy) || row_is(row, nvmlComputeInstanceDestroy)) &&
	    !ret)
		row_instance();
	return ret;
}

void row_check(const struct row *row, const uintptr_t *arg, nvmlReturn_t wanted)
{
	nvmlReturn_t ret = row_call(row, arg);

	check_that(ret == wanted, "%s: %d, not %d", row->name, ret, wanted);
}
