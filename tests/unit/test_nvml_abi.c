// SPDX-License-Identifier: GPL-2.0
/* What clients of libnvidia-ml.so.1 are built with: sizes, places of members, version words. */
#include "vgpu_test.h"

#include "nvml.h"

#define SIZE(type, size)		{ #type, sizeof(type), size }
#define PLACE(type, member, place)	{ #type "." #member, offsetof(type, member), place }
#define VERSION(data, ver, word)	\
	{ #data " v" #ver, NVML_STRUCT_VERSION(data, ver), word }

static const struct {
	const char *what;
	unsigned long is;
	unsigned long wanted;
} facts[] = {
	SIZE(nvmlReturn_t, 4),
	SIZE(nvmlPciInfo_t, 68),
	PLACE(nvmlPciInfo_t, pciDeviceId, 28),
	PLACE(nvmlPciInfo_t, busId, 36),
	SIZE(nvmlMemory_t, 24),
	SIZE(nvmlMemory_v2_t, 40),
	SIZE(nvmlUtilization_t, 8),
	SIZE(nvmlGpuDynamicPstatesInfo_t, 132),
	PLACE(nvmlGpuDynamicPstatesInfo_t, utilization[0].percentage, 8),
	PLACE(nvmlGpuDynamicPstatesInfo_t, utilization[1], 20),
	SIZE(nvmlProcessInfo_v1_t, 16),
	SIZE(nvmlProcessInfo_v2_t, 24),
	SIZE(nvmlProcessUtilizationSample_t, 32),
	SIZE(nvmlValue_t, 8),
	SIZE(nvmlSample_t, 16),
	SIZE(nvmlVgpuTypeBar1Info_t, 16),
	SIZE(nvmlVgpuHeterogeneousMode_t, 8),
	SIZE(nvmlVgpuPlacementId_t, 8),
	SIZE(nvmlVgpuPlacementList_v1_t, 24),
	SIZE(nvmlVgpuPlacementList_v2_t, 32),
	SIZE(nvmlVgpuInstanceUtilizationSample_t, 48),
	PLACE(nvmlVgpuInstanceUtilizationSample_t, timeStamp, 8),
	PLACE(nvmlVgpuInstanceUtilizationSample_t, smUtil, 16),
	SIZE(nvmlVgpuInstanceUtilizationInfo_v1_t, 64),
	SIZE(nvmlVgpuInstancesUtilizationInfo_t, 32),
	SIZE(nvmlVgpuProcessUtilizationSample_t, 96),
	SIZE(nvmlVgpuProcessUtilizationInfo_v1_t, 104),
	SIZE(nvmlVgpuProcessesUtilizationInfo_t, 24),
	SIZE(nvmlVgpuSchedulerParams_t, 8),
	SIZE(nvmlVgpuSchedulerSetParams_t, 8),
	SIZE(nvmlVgpuSchedulerGetState_t, 16),
	SIZE(nvmlVgpuSchedulerSetState_t, 16),
	SIZE(nvmlVgpuSchedulerCapabilities_t, 40),
	SIZE(nvmlVgpuSchedulerLogEntry_t, 48),
	SIZE(nvmlVgpuSchedulerLog_t, 9624),
	PLACE(nvmlVgpuSchedulerLog_t, schedulerParams, 12),
	PLACE(nvmlVgpuSchedulerLog_t, entriesCount, 20),
	PLACE(nvmlVgpuSchedulerLog_t, logEntries, 24),
	SIZE(nvmlVgpuSchedulerStateInfo_v2_t, 16),
	SIZE(nvmlVgpuSchedulerState_v2_t, 16),
	SIZE(nvmlVgpuSchedulerLogEntry_v2_t, 56),
	SIZE(nvmlVgpuSchedulerLogInfo_v2_t, 11224),
	SIZE(nvmlVgpuLicenseExpiry_t, 16),
	SIZE(nvmlVgpuLicenseInfo_t, 24),
	SIZE(nvmlGridLicensableFeature_t, 284),
	SIZE(nvmlGridLicensableFeatures_t, 860),
	SIZE(nvmlVgpuVersion_t, 8),
	SIZE(nvmlVgpuMetadata_t, 212),
	PLACE(nvmlVgpuMetadata_t, guestDriverVersion, 12),
	PLACE(nvmlVgpuMetadata_t, hostDriverVersion, 92),
	PLACE(nvmlVgpuMetadata_t, vgpuVirtualizationCaps, 196),
	PLACE(nvmlVgpuMetadata_t, guestVgpuVersion, 200),
	PLACE(nvmlVgpuMetadata_t, opaqueDataSize, 204),
	PLACE(nvmlVgpuMetadata_t, opaqueData, 208),
	SIZE(nvmlVgpuPgpuMetadata_t, 128),
	PLACE(nvmlVgpuPgpuMetadata_t, hostDriverVersion, 8),
	PLACE(nvmlVgpuPgpuMetadata_t, pgpuVirtualizationCaps, 88),
	PLACE(nvmlVgpuPgpuMetadata_t, hostSupportedVgpuRange, 112),
	PLACE(nvmlVgpuPgpuMetadata_t, opaqueData, 124),
	SIZE(nvmlVgpuPgpuCompatibility_t, 8),
	SIZE(nvmlFBCStats_t, 12),
	SIZE(nvmlFBCSessionInfo_t, 48),
	SIZE(nvmlAccountingStats_t, 56),
	SIZE(nvmlEventData_v1_t, 24),
	SIZE(nvmlEventData_t, 32),
	SIZE(nvmlDeviceAttributes_t, 40),
	PLACE(nvmlDeviceAttributes_t, gpuInstanceSliceCount, 24),
	PLACE(nvmlDeviceAttributes_t, memorySizeMB, 32),
	SIZE(nvmlGpuInstancePlacement_t, 8),
	SIZE(nvmlGpuInstanceProfileInfo_t, 48),
	PLACE(nvmlGpuInstanceProfileInfo_t, memorySizeMB, 40),
	SIZE(nvmlGpuInstanceProfileInfo_v2_t, 152),
	PLACE(nvmlGpuInstanceProfileInfo_v2_t, name, 56),
	SIZE(nvmlGpuInstanceProfileInfo_v3_t, 152),
	PLACE(nvmlGpuInstanceProfileInfo_v3_t, name, 48),
	PLACE(nvmlGpuInstanceProfileInfo_v3_t, capabilities, 144),
	SIZE(nvmlGpuInstanceInfo_t, 24),
	PLACE(nvmlGpuInstanceInfo_t, placement, 16),
	SIZE(nvmlComputeInstancePlacement_t, 8),
	SIZE(nvmlComputeInstanceProfileInfo_t, 36),
	SIZE(nvmlComputeInstanceProfileInfo_v2_t, 136),
	PLACE(nvmlComputeInstanceProfileInfo_v2_t, name, 40),
	SIZE(nvmlComputeInstanceProfileInfo_v3_t, 140),
	PLACE(nvmlComputeInstanceProfileInfo_v3_t, capabilities, 136),
	SIZE(nvmlComputeInstanceInfo_t, 32),
	PLACE(nvmlComputeInstanceInfo_t, placement, 24),
	VERSION(GpuInstanceProfileInfo, 2, 0x02000098),
	VERSION(GpuInstanceProfileInfo, 3, 0x03000098),
	VERSION(ComputeInstanceProfileInfo, 2, 0x02000088),
	VERSION(ComputeInstanceProfileInfo, 3, 0x0300008c),
	VERSION(Memory, 2, 0x02000028),
	VERSION(VgpuHeterogeneousMode, 1, 0x01000008),
	VERSION(VgpuPlacementId, 1, 0x01000008),
	VERSION(VgpuPlacementList, 1, 0x01000018),
	VERSION(VgpuPlacementList, 2, 0x02000020),
	VERSION(VgpuInstancesUtilizationInfo, 1, 0x01000020),
	VERSION(VgpuProcessesUtilizationInfo, 1, 0x01000018),
	VERSION(VgpuTypeBar1Info, 1, 0x01000010),
};

static void test_layouts(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(facts); i++)
		check_that(facts[i].is == facts[i].wanted, "%s: %#lx, not %#lx", facts[i].what,
			   facts[i].is, facts[i].wanted);
}

static void test_error_texts(void **state)
{
	int i, k;

	for (i = -1; i < 40; i++)
		assert_true(nvmlErrorString(i)[0]);
	assert_string_equal(nvmlErrorString(NVML_ERROR_UNKNOWN), "Unknown Error");
	assert_string_equal(nvmlErrorString(31), "Unknown Error");
	for (i = 0; i < 31; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(nvmlErrorString(i), nvmlErrorString(k));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_error_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
